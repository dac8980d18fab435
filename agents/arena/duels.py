"""The arena: agents meet on duplicate deals, and the deal is the unit of all statistics.

Every deal stream (a game's seed) is played under all seat assignments: partners both ways, others
in all rotations. Hand k of a stream is the same deal for everybody, so luck cancels out.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.registry import AgentError, make_agent
from fiveup_env.batch import Batch
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.opponents import Policy
    from fiveup_env.rules import Rules

CHUNK = 256  # deals that are played together; fixed, so that results do not depend on anything else
RESAMPLES = 2_000


@dataclass(frozen=True)
class Duel:
    """Two agents on the same deals: what the first won against the second, deal by deal."""

    wins: np.ndarray  # the share of each deal's games that the first won (a tie is half)
    margins: np.ndarray  # points of the first's side less the other's, a hand, by deal

    def interval(self, values: np.ndarray, seed: int = 0) -> tuple[float, float]:
        """The 95 % interval of a mean, by bootstrap over the deals."""
        random = np.random.default_rng(seed)
        picks = random.integers(len(values), size=(RESAMPLES, len(values)))
        low, high = np.percentile(values[picks].mean(1), [2.5, 97.5])
        return float(low), float(high)


def seatings(rules: Rules) -> np.ndarray:
    """Who sits where in each game of a deal: 0 the first agent, 1 the second, by seat.

    With more than two sides the first agent plays one side, the second all others.
    """
    sides = np.array([rules.side_of(seat) for seat in range(rules.players)])
    return np.array([(sides != own).astype(np.int64) for own in range(rules.sides)])


def duel(agents: Sequence[Policy], rules: Rules, seeds: np.ndarray, episode: str = "game") -> Duel:
    """Play two agents against each other on the deals of some seeds."""
    parts = [
        _play(agents, rules, seeds[k : k + CHUNK], episode) for k in range(0, len(seeds), CHUNK)
    ]
    return Duel(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def pairs_of(specs: str, rules: Rules, seeds: np.ndarray, episode: str) -> list[dict[str, Any]]:
    """Every pair of some agents, as `evaluate.py` reports it: specs come parted by commas.

    A comma also parts the options of a spec: a part that is no agent's name goes with the last.
    """
    names = split_specs(specs)
    made = [make_agent(name) for name in names]
    if len(made) < 2:
        raise AgentError("an arena needs two agents at least, such as --agents greedy,random")
    if not len(seeds):
        raise AgentError("an arena needs one deal at least")
    pairs = list(itertools.combinations(range(len(names)), 2))
    rows = []
    for a, b in progress(pairs, len(pairs), "pairs"):
        played = duel([made[a], made[b]], rules, seeds, episode)
        rows.append(
            {
                "a": names[a],
                "b": names[b],
                "deals": len(seeds),
                "win_rate": float(played.wins.mean()),
                "win_rate_ci": list(played.interval(played.wins)),
                "margin": float(played.margins.mean()),
                "margin_ci": list(played.interval(played.margins)),
            }
        )
    return rows


def split_specs(specs: str) -> list[str]:
    """The specs of `greedy,pimc:worlds=50,ms=20,random`."""
    names: list[str] = []
    for part in filter(None, specs.split(",")):
        if names and "=" in part and ":" not in part:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def pairs_table(pairs: Sequence[dict[str, Any]]) -> str:
    """The results of pairs as text."""
    lines = [f"{'a':<20}{'b':<20}{'deals':>7}  {'a wins, of 100 games':<24}points a hand"]
    for pair in pairs:
        low, high = (100 * share for share in pair["win_rate_ci"])
        wins = f"{100 * pair['win_rate']:.1f} ({low:.1f} .. {high:.1f})"
        low, high = pair["margin_ci"]
        margin = f"{pair['margin']:+.2f} ({low:+.2f} .. {high:+.2f})"
        lines.append(f"{pair['a']:<20}{pair['b']:<20}{pair['deals']:>7}  {wins:<24}{margin}")
    return "\n".join(lines)


def _play(
    agents: Sequence[Policy], rules: Rules, seeds: np.ndarray, episode: str
) -> tuple[np.ndarray, np.ndarray]:
    """Wins and margins of the first agent on each deal of a chunk."""
    ways = seatings(rules)
    seated = np.tile(ways, (len(seeds), 1))
    batch = Batch(len(seated), rules, episode=episode)
    batch.reset(np.repeat(seeds, len(ways)))
    streams = [np.random.default_rng([int(seeds[0]), number]) for number in range(len(agents))]
    going = np.arange(len(batch))
    while len(going):
        to_move = seated[going, batch.turn[going]]
        for number, agent in enumerate(agents):
            which = going[to_move == number]
            if len(which):
                views = batch.views(which)
                batch.advance(agent(views, batch.mask[which], streams[number]), which)
        going = going[~batch.done[going]]
    return _results(batch, rules, len(seeds))


def _results(batch: Batch, rules: Rules, deals: int) -> tuple[np.ndarray, np.ndarray]:
    tables = batch.games["table"]
    scores = tables["scores"][:, : rules.sides].reshape(deals, rules.sides, rules.sides)
    hands = (tables["hand_number"] + 1).reshape(deals, rules.sides)
    own = np.arange(rules.sides)
    mine = scores[:, own, own].astype(np.float64)
    others = (scores.sum(2) - mine) / (rules.sides - 1)
    best = scores.max(2)
    shared = (scores == best[..., None]).sum(2)
    wins = np.where(mine == best, 1 / shared, 0)
    return wins.mean(1), ((mine - others) / hands).mean(1)
