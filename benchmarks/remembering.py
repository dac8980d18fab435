"""Measure how many worlds outlive the others' moves: `python -m benchmarks.remembering`.

A search might keep the worlds that it has drawn and weighed for its next decision in the same hand,
but only those in which all that has happened since could have happened. Students play, worlds are
drawn at every decision, and the real moves are made in them until the same seat has a choice again.
"""

from __future__ import annotations

import argparse
from typing import Final, NamedTuple

import numpy as np

from fiveup_env.arena.statistics import interval, resampled_ratios
from fiveup_env.arena.tables import columns, percent
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.envs.batch import Batch
from fiveup_env.opponents.inference import log_weights, shipped_model
from fiveup_env.opponents.student import Student
from fiveup_env.progress import progress
from fiveup_env.rules.actions import ACTION_COUNT

SEED: Final = 2_310_000_000
PLAYERS: Final = (4, 3, 2)


class Worlds(NamedTuple):
    """The worlds that a seat drew at a decision, and whether each is still possible."""

    hand: int
    seat: int
    games: np.ndarray
    weights: np.ndarray  # by the others' moves; they sum to 1
    possible: np.ndarray


def draw(view: np.ndarray, count: int, chance: np.random.Generator) -> Worlds:
    """Return worlds of a view, an array of one VIEW struct."""
    games = worlds_to_games(view, sample(view, count, chance))
    logs = log_weights(view, games, shipped_model())
    weights = np.exp(logs - logs.max())
    hand, seat = int(view["public"]["hand_number"][0]), int(view["seat"][0])
    return Worlds(hand, seat, games, weights / weights.sum(), np.ones(count, np.bool_))


def outlived(players: int, count: int, worlds: int) -> np.ndarray:
    """Return three numbers for each of some games.

    They are the decisions before which the seat had another in the same hand, and the sums over
    them of the share of that other's worlds that are still possible, and of their weights.
    """
    batch, student = Batch(count, players=players, seed=SEED), Student()
    chance = np.random.default_rng(0)
    found, playing = np.zeros((count, 3)), np.ones(count, np.bool_)
    drawn: list[dict[int, Worlds]] = [{} for _ in range(count)]
    batch.reset()
    while playing.any():
        views = batch.views()
        actions = student(views, batch.mask, chance)
        for g in np.flatnonzero(playing):
            hand, seat = int(views["public"]["hand_number"][g]), int(views["seat"][g])
            drawn[g] = {k: kept for k, kept in drawn[g].items() if kept.hand == hand}
            if batch.mask[g].sum() > 1:
                if seat in drawn[g]:
                    kept = drawn[g][seat]
                    still = kept.possible & (kept.games["hands"][:, seat] == views["hand"][g])
                    found[g] += 1, still.mean(), kept.weights[still].sum()
                drawn[g][seat] = draw(views[g : g + 1], worlds, chance)
            for kept in drawn[g].values():
                move(kept.games, actions[g], kept.possible)
        batch.step(actions)
        playing &= ~batch.terminated
    return found


@compiled
def move(games: Array, action: int, possible: Array) -> None:
    """Make a move in all games in which it is legal; note the others as not possible."""
    legal = np.empty(ACTION_COUNT, np.int64)
    for w in range(len(games)):
        if possible[w]:
            game = games[w]
            count = list_legal(game.public, game.hands[game.public.turn], legal)
            possible[w] = action in legal[:count]
            if possible[w]:
                play(game, action)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--worlds", type=int, default=200)
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = [("players", "decisions", "worlds (%)", "their weight (%)")]
    for players in progress(PLAYERS, len(PLAYERS), "players"):
        found = outlived(players, options.games, options.worlds)
        means, resamples = resampled_ratios(found)
        low, high = interval(resamples)
        shares = [percent(means[k], (low[k], high[k])) for k in range(2)]
        rows.append((str(players), f"{int(found[:, 0].sum()):,}", *shares))
    print(columns(rows, right={0, 1}))


if __name__ == "__main__":
    main()
