"""The arena: tournaments on duplicate deals, their statistics and their reports.

    play        games of a tournament, in processes, kept in a results file
    statistics  intervals, ratings, sequential tests, standings
    benchmark   named protocols, score cards, entries of the leaderboard
    tables      the standings as tables
    report      the standings as an HTML page
    page        pages of text, plots and tables
    plots       the plots of pages and runs, by matplotlib

`fiveup evaluate` is the command line; docs/understand/arena.md explains what it prints.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fiveup_env.arena.play.games import Terms
    from fiveup_env.arena.play.tournament import Tournament, play_tournament
    from fiveup_env.arena.statistics.duels import Duel, duel
    from fiveup_env.arena.statistics.standings import Standings, standings_of
    from fiveup_env.arena.tables import standings_text

__all__ = [
    "Duel",
    "Standings",
    "Terms",
    "Tournament",
    "duel",
    "play_tournament",
    "standings_of",
    "standings_text",
]

_MODULES: Final = {
    "Duel": "statistics.duels",
    "Standings": "statistics.standings",
    "Terms": "play.games",
    "Tournament": "play.tournament",
    "duel": "statistics.duels",
    "play_tournament": "play.tournament",
    "standings_of": "statistics.standings",
    "standings_text": "tables",
}


def __getattr__(name: str) -> object:
    """Import what the package exports once it is asked for: agents apart start without it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
