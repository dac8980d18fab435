"""The arena: tournaments on duplicate deals, their statistics and their reports.

    tournament  every pair of some agents, chunk by chunk
    workers     the processes that play the chunks
    apart       an agent in a process of its own
    games       two agents on one chunk of deals
    tally       the compiled loop of a chunk, which counts as it plays
    faults      what is reported of an agent at fault
    results     the file that holds what has been played
    duels       two agents compared on the same deals
    statistics  bootstrap intervals over deals
    ratings     Elo and Nash averaging
    sequential  a test of two agents that ends as soon as it can tell
    standings   everything that the tables and the report show
    tables      the standings as tables
    report      the standings as an HTML page
    page        pages of text, plots and tables
    plots       the plots of pages and runs, by matplotlib
    benchmark   named protocols, score cards, entries of the leaderboard

`fiveup evaluate` is the command line; docs/understand/arena.md explains what it prints.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fiveup_env.arena.duels import Duel, duel
    from fiveup_env.arena.games import Terms
    from fiveup_env.arena.standings import Standings, standings_of
    from fiveup_env.arena.tables import standings_text
    from fiveup_env.arena.tournament import Tournament, play_tournament

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
    "Duel": "duels",
    "Standings": "standings",
    "Terms": "games",
    "Tournament": "tournament",
    "duel": "duels",
    "play_tournament": "tournament",
    "standings_of": "standings",
    "standings_text": "tables",
}


def __getattr__(name: str) -> object:
    """Import what the package exports once it is asked for: agents apart start without it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
