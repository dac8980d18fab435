"""Windows in compiled code: those of the laboratory, deal by deal and reward by reward."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from agents.learn.rewards import BATCH_REWARDS, Rewards
from fiveup_env import Batch, Rules
from fiveup_env.encoders.flat import FLAT_SIZE
from fiveup_env.learning.gradients import memory_for
from fiveup_env.learning.runs import Run, play, run_in
from fiveup_env.learning.selfplay import SelfPlay
from fiveup_env.learning.threads import alone
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.seats import NOBODY, SeatAdvantages, seat_advantages
from fiveup_env.seats.advantages import WAITING

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
    window = run.window
    games: list[list[Decided]] = [[] for _ in range(GAMES)]
    size = len(window.values) // len(window.counts)
    for part, count in enumerate(window.counts):
        for n in range(part * size, part * size + count):
            place = window.decisions.action_ends[n] + window.targets.chosen[n]
            game, seat = divmod(int(window.owners[n]), MAX_PLAYERS)
            games[game].append(Decided(n, seat, int(window.decisions.actions[place])))
    return games


class Laboratory:
    """The same games in a Batch, and what the laboratory makes of them, tick by tick."""

    def __init__(self, reward: str, horizon: str) -> None:
        self.batch = Batch(GAMES, RULES, PLAYERS, reward=BATCH_REWARDS[reward], seed=5)
        self.batch.reset()
        self.by_hand = horizon == "hand"
        self.rewards_of, self.ticks = Rewards(reward, self.batch), 0
        shape = 2 * TICKS, GAMES
        self.seats = np.full(shape, NOBODY, np.int8)
        self.rewards = np.zeros((*shape, 4), np.float32)
        self.values, self.ended = np.zeros(shape, np.float32), np.zeros(shape, np.bool_)

    def step(self, actions: np.ndarray) -> None:
        """Make a move in every game."""
        batch, tick = self.batch, self.ticks
        hands = batch.states["public"]["hand_number"].copy()
        batch.step(actions)
        hand_over = batch.terminated | (batch.states["public"]["hand_number"] != hands)
        self.rewards[tick] = self.rewards_of.of(batch, hand_over)
        self.ended[tick] = hand_over if self.by_hand else batch.terminated
        self.ticks += 1

    def estimate(self) -> SeatAdvantages:
        """Return the advantages of all that was decided so far."""
        done = slice(self.ticks)
        seats, values = self.seats[done], self.values[done]
        rewards, ended = self.rewards[done], self.ended[done]
        return seat_advantages(rewards, values, seats, ended, 0.9, 0.95)


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
    self_play, noise = SelfPlay.begin(rules, **settings), np.random.default_rng(1)
    self_play.network.vector[:] = noise.normal(size=self_play.network.vector.size) * 0.2
    run, other, carried = run_in(self_play._block), Laboratory(reward, horizon), 0
    batch, window = other.batch, run.window
    waiting: dict[tuple[int, int], int] = {}  # the tick of a seat's last decision, if it waits
    for _ in range(2):
        play(run, memory_for(self_play.network.weights), alone())
        left, decisions = decided(run), np.full((2 * TICKS, GAMES), -1)
        for game, listed in enumerate(left):
            for _ in range(sum(own == game for own, _ in waiting)):
                again = listed.pop(0)
                since = waiting[game, again.seat]
                assert window.values[again.decision] == other.values[since, game]
                decisions[since, game] = again.decision
        for _ in range(TICKS):
            actions, tick = batch.action_mask.argmax(1), other.ticks
            for game in np.flatnonzero(batch.action_mask.sum(1) > 1).tolist():
                own = left[game].pop(0)
                assert own.seat == batch.turn[game]
                assert batch.action_mask[game, own.action]
                assert (row_of(run, own.decision) == batch.observation[game]).all()
                actions[game], other.seats[tick, game] = own.action, own.seat
                decisions[tick, game] = own.decision
                other.values[tick, game] = window.values[own.decision]
            other.step(actions)
        assert not any(left)
        estimated = other.estimate()
        there = decisions[: other.ticks] >= 0
        mine, known = decisions[: other.ticks][there], estimated.known[there]
        assert ((window.following[mine] != WAITING) == known).all()
        advantages = estimated.advantages[there][known]
        assert np.allclose(window.targets.advantages[mine[known]], advantages, atol=1e-5)
        assert np.abs(advantages).max() > 0.1
        pairs = np.ndenumerate(estimated.waiting.ticks)
        waiting = {(game, seat): int(tick) for (game, seat), tick in pairs if tick >= 0}
        carried += len(waiting)
    assert carried > 100
    assert (batch.states == run.games.states).all()


def row_of(run: Run, n: int) -> np.ndarray:
    """Return the row of a decision of a plain network."""
    decisions, row = run.window.decisions, np.zeros(FLAT_SIZE, np.int8)
    first, end = decisions.entry_ends[n : n + 2]
    row[decisions.entries[first:end]] = decisions.numbers[first:end]
    return row
