"""Windows in compiled code: those of the laboratory, deal by deal and reward by reward."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from agents.learn.advantages import NOBODY, estimate
from agents.learn.rewards import BATCH_REWARDS, Rewards
from fiveup_env import Batch, Rules
from fiveup_env.learning import windows
from fiveup_env.learning.runs import Run, play_parts, run_in
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.rules.fields import MAX_PLAYERS

GAMES, TICKS = 70, 40  # a whole part, and one that is not
RULES = ("five_up", "all_fives")
PLAYERS = (4, 3)


class Decided(NamedTuple):
    """What one seat decided in a game, in the order of play."""

    decision: int
    seat: int
    action: int


def decided(run: Run) -> list[list[Decided]]:
    """Return the decisions of every game, oldest first."""
    window, games = run.window, [[] for _ in range(GAMES)]  # type: list[list[Decided]]
    size = len(window.values) // len(window.counts)
    for part, count in enumerate(window.counts):
        for n in range(part * size, part * size + count):
            place = window.decisions.action_ends[n] + window.targets.chosen[n]
            game, seat = divmod(int(window.owners[n]), MAX_PLAYERS)
            games[game].append(Decided(n, seat, int(window.decisions.actions[place])))
    return games


@pytest.mark.parametrize(
    ("reward", "horizon"), [("margin", "hand"), ("outlook", "hand"), ("win", "game")]
)
def test_windows_are_those_of_the_laboratory(reward: str, horizon: str) -> None:
    settings: dict[str, Any] = {
        "games": GAMES,
        "ticks": TICKS,
        "width": 4,
        "batch_size": 64,
        "seed": 5,
        "gamma": 0.9,
        "reward": reward,
        "horizon": int(horizon == "game"),
        "network": "plain",
    }
    rules = [Rules.preset(name, players) for name in RULES for players in PLAYERS]
    self_play = SelfPlay.begin(rules, **settings)
    batch = Batch(GAMES, RULES, PLAYERS, reward=BATCH_REWARDS[reward], seed=5)
    batch.reset()
    rewards_of, run, carried = Rewards(reward, batch), run_in(self_play._block), 0
    noise = np.random.default_rng(1)
    self_play.network.vector[:] = noise.normal(size=self_play.network.vector.size) * 0.2
    window = run.window
    length = 2 * TICKS
    shape = length, GAMES
    seats, decisions = np.full(shape, NOBODY, np.int8), np.full(shape, -1)
    rewards, values = np.zeros((*shape, 4), np.float32), np.zeros(shape, np.float32)
    ended, rows = np.zeros(shape, np.bool_), []
    waiting: dict[tuple[int, int], tuple[int, float]] = {}
    for half in range(2):
        play_parts(self_play._block, 0, len(window.counts))
        left = decided(run)
        for game, listed in enumerate(left):
            again = [d for d in listed if (game, d.seat) in waiting][: _carried(waiting, game)]
            left[game] = listed[len(again) :]
            for d in again:
                tick, value = waiting[game, d.seat]
                assert window.values[d.decision] == value
                decisions[tick, game] = d.decision
        for tick in range(half * TICKS, (half + 1) * TICKS):
            actions = batch.action_mask.argmax(1)
            for game in np.flatnonzero(batch.action_mask.sum(1) > 1):
                d = left[game].pop(0)
                assert d.seat == batch.turn[game]
                assert batch.action_mask[game, d.action]
                actions[game], seats[tick, game] = d.action, d.seat
                decisions[tick, game], values[tick, game] = d.decision, window.values[d.decision]
                places = window.decisions.entry_ends[d.decision : d.decision + 2]
                row = np.zeros(batch.observation.shape[1], np.int8)
                row[window.decisions.entries[slice(*places)]] = window.decisions.numbers[
                    slice(*places)
                ]
                rows.append((row == batch.observation[game]).all())
            hands = batch.states["public"]["hand_number"].copy()
            batch.step(actions)
            hand_over = batch.terminated | (batch.states["public"]["hand_number"] != hands)
            rewards[tick] = rewards_of.of(batch, hand_over)
            ended[tick] = hand_over if horizon == "hand" else batch.terminated
        assert not any(left)
        estimated = estimate(
            seats[: (half + 1) * TICKS],
            values[: (half + 1) * TICKS],
            rewards[: (half + 1) * TICKS],
            ended[: (half + 1) * TICKS],
            0.9,
            0.95,
        )
        known, own = estimated.known, decisions[: (half + 1) * TICKS]
        now = known & (own >= 0)
        assert np.allclose(
            window.targets.advantages[own[now]], estimated.advantages[now], atol=1e-5
        )
        following = window.following[own[(own >= 0)]]
        assert ((following != windows.WAITING) == known[own >= 0]).all()
        waiting = {
            (game, seat): (int(tick), float(values[tick, game]))
            for (game, seat), tick in np.ndenumerate(estimated.waiting)
            if tick >= 0
        }
        decisions[:] = -1  # those that are done have gone
        carried += len(waiting)
    assert all(rows)
    assert carried > 100
    assert np.abs(estimated.advantages).max() > 0.1
    assert (batch.states == run.games.states).all()


def _carried(waiting: dict[tuple[int, int], tuple[int, float]], game: int) -> int:
    return sum(own == game for own, _ in waiting)
