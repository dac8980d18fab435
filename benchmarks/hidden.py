"""Measure what the chances of a `lookahead` row know: `python -m benchmarks.hidden --save`.

Agents play games with copies of themselves. In positions of these, worlds are drawn from the exact
belief, and weighed: by the odds of each hidden tile that a row is made of, by the linear model of
searches, and in games of `partner` by that very player. What each tells is the logarithm of how
much more it lets the true deal count than a possible one counts on average.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.fitting.fitting import BURN_IN, played
from agents.results import add_save, cell, publish
from benchmarks.ceiling import Player, log_likelihood
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.compiled import Array, compiled, lowest_bit
from fiveup_env.engine.exponentials import log
from fiveup_env.engine.state import GAME, ONE
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.heuristics.hidden import HIDDEN, LAPSE, WEIGHTS, write_chances
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.search.inference import log_weights, shipped_model
from fiveup_env.opponents.search.world_statistics import LOWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.files import Json

PLAYERS: Final = ("policy:partners", "student", "partner")
SEED: Final = 2_600_000_000
LEAST: Final = 1e-12  # what an impossible tile counts as
LAPSES: Final = np.full(2, 0.001)  # of `partner`, against itself
NORMAL: Final = 1.96


@compiled
def weigh_by_odds(view: Array, worlds: Array, hidden: Array, logs: Array) -> None:
    """Write the logarithm of the product of the odds of all tiles in the others' hands."""
    write_chances(view[0], WEIGHTS, LAPSE, hidden[0])
    for w in range(len(worlds)):
        logs[w] = 0.0
        for seat in range(view[0].public.rules.players):
            hand = worlds[w].hands[seat]
            while seat != view[0].seat and hand:
                logs[w] += log(max(LEAST, hidden[0].odds[seat, lowest_bit(hand)]))
                hand &= hand - ONE


@compiled
def weigh_by_player(worlds: Array, seat: int, player: Player, logs: Array) -> None:
    """Write how likely the player makes the others' moves in every world, as logarithms."""
    for w in range(len(worlds)):
        logs[w] = log_likelihood(worlds[w], seat, player, LOWEST)


def positions(player: str, count: int, worlds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield views with a choice, each with the true deal and then worlds."""
    rng = np.random.default_rng(SEED)
    for batch, views, _ in played(player, SEED, BURN_IN):
        open_games = np.flatnonzero(batch.action_mask.sum(1) > 1)
        for i in rng.choice(open_games, -(-count // BURN_IN)):
            view = views[i : i + 1]
            others = worlds_to_games(view, sample(view, worlds, rng))
            yield view, np.concatenate([batch.states[i : i + 1], others])


def told(logs: np.ndarray) -> float:
    """Return how much more the first world counts than the others do on average, in nats."""
    return float(logs[0] - logs.max() - np.log(np.exp(logs[1:] - logs.max()).mean()))


def row(player: str, count: int, worlds: int) -> Json:
    """Return what each way to weigh worlds tells of a player's games."""
    names = ["the odds of a row", "the linear model", "itself"][: 3 if player == "partner" else 2]
    nats: dict[str, list[float]] = {name: [] for name in names}
    itself = Player(weights_of("partner"), LAPSES, np.zeros(1, GAME), np.zeros(1, SCRATCH))
    hidden = np.zeros(1, HIDDEN)
    for view, deals in positions(player, count, worlds):
        logs = np.empty(len(deals))
        weigh_by_odds(view, deals, hidden, logs)
        ways = [told(logs), told(log_weights(view, deals, shipped_model()))]
        if player == "partner":
            weigh_by_player(deals, int(view["seat"][0]), itself, logs)
            ways.append(told(logs))
        for name, value in zip(names, ways, strict=True):
            nats[name].append(value)
    figures: Json = {"moves of": f"`{player}`", "positions": len(nats["the odds of a row"])}
    for name, values in nats.items():
        mean, error = np.mean(values), NORMAL * np.std(values) / len(values) ** 0.5
        figures[name] = cell(float(mean), (mean - error, mean + error), ".2f")
    return figures


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_save(parser)
    parser.add_argument("--positions", type=int, default=600, help="of each player")
    parser.add_argument("--worlds", type=int, default=500, help="of each position")
    options = parser.parse_args()
    rows = [row(player, options.positions, options.worlds) for player in PLAYERS]
    for missing in rows:
        missing.setdefault("itself", "")
    publish("hidden", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
