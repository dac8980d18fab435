"""`fiveup audit`: how often an agent plays what no person would understand."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.analysis.audit import REASONS, Oddity, oddities
from fiveup_env.analysis.trials import NORMAL, REFERENCE, checked_reference
from fiveup_env.arena.statistics.bootstrap import with_bounds
from fiveup_env.cli.shared import RulesOptions, add_command, option
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError
from fiveup_env.game.game import Game
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 5  # oddities
PER = 1_000  # decisions


@dataclass(frozen=True, kw_only=True)
class AuditOptions(RulesOptions):
    """The agent, and the games that it plays."""

    agent: str = option("agent", metavar="AGENT", help="a spec; it plays in all seats")
    games: int = option(type=int, default=10, help="number of games (default: 10)")
    seed: int = option(type=int, default=0, help="game k has seed SEED + k (default: 0)")
    reference: str = option(default=REFERENCE, help=f"what judges (default: {REFERENCE})")


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "count an agent's plays that no person would understand"
    add_command(commands, "audit", about, run, AuditOptions)


def run(options: AuditOptions) -> int:
    """Play the games, print what is odd in them, and return the exit status."""
    if options.games < 1:
        raise InputError(f"--games must be at least 1, not {options.games}")
    checked_seed(options.seed + options.games - 1)
    checked_reference(options.reference)
    plays, odd = 0, list[tuple[int, Oddity]]()
    for game, seen in progress(_audited(options), options.games, "games"):
        plays += len(seen)
        odd += [(game, oddity) for oddity in seen if oddity]
    odd_games = {game for game, _ in odd}
    print(f"{options.agent}: {plays:,} plays with a choice; games: {options.games:,}")
    if not plays:
        return 0
    ends = [PER * end for end in _interval(len(odd), plays)]
    print(f"{with_bounds(PER * len(odd) / plays, ends, '.1f')} of {PER:,} make no sense to people")
    reasons = Counter(oddity.reason for _, oddity in odd)
    for reason in REASONS:
        rate = PER * reasons[reason] / plays
        print(f"{rate:6.1f} of {PER:,}: another, as good or better, {reason}")
    lost = 100 * sum(oddity.gain.mean for _, oddity in odd) / options.games
    print(f"games with such a play: {len(odd_games)}; points of chance lost a game: {lost:.1f}")
    for seed, oddity in sorted(odd, key=lambda pair: -pair[1].gain.mean)[:SHOWN]:
        print(
            f"game {seed}, move {oddity.number}, seat {oddity.seat}: {oddity.move} where "
            f"{oddity.other} {oddity.reason} ({100 * oddity.gain.mean:+.1f} points)"
        )
    return 0


def _interval(count: int, plays: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of plays, which has a width at 0 too (Wilson's).

    >>> _interval(0, 996)[1] < 0.004 < _interval(1, 996)[1]
    True
    """
    prior, share = NORMAL**2 / plays, count / plays
    half = math.sqrt(prior * (share * (1 - share) + prior / 4))
    return (share + prior / 2 - half) / (1 + prior), (share + prior / 2 + half) / (1 + prior)


def _audited(options: AuditOptions) -> Iterator[tuple[int, list[Oddity | None]]]:
    rules, agent = options.chosen_rules(), make_agent(options.agent)
    for seed in range(options.seed, options.seed + options.games):
        game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
        while game.outcome() is None:
            game.push(game.ask(agent, rng))
        yield seed, list(oddities(game, reference=options.reference, seed=seed))
