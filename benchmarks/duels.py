"""Duels of several agents with one rival on the same deals, for the benchmarks of strength."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.statistics.duels import Duel, duel_between, duel_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fiveup_env.rules.fields import Rules

CHUNK: Final = 50  # deals of one task


def duels_with(
    rival: str,
    agents: Iterable[str],
    rules: Rules,
    deals: int,
    seed: int,
    *,
    cores: int,
    results: str | None = None,
) -> dict[str, Duel]:
    """Return every agent's duel with the rival; what the file `results` holds is not played again.

    Raises:
        KeyboardInterrupt: not all was played.
    """
    specs = tuple(dict.fromkeys(agents))
    tournament = Tournament((*specs, rival), Terms(rules), deals, seed, rival, CHUNK)
    outcome = play_tournament(tournament, cores, results)
    if outcome.interrupted:
        raise KeyboardInterrupt
    duels = {pair: duel_of(outcome.chunks_of(pair), rules) for pair in tournament.meetings}
    return {spec: duel_between(spec, rival, duels, rules.sides) for spec in specs}
