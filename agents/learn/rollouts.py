"""Rollouts: windows of play that hold what every seat saw, did and received, tick by tick.

A tick is one move in every game. The first rows of a window are the decisions that were still
waiting at the end of the previous one, a row for each seat; the ticks of this window follow. So
nothing is lost between windows, and no decision is learnt from before its seat's next one, or the
end, has been seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from agents.learn.rewards import BATCH_REWARDS, Rewards
from fiveup_env.envs.batch import Batch
from fiveup_env.learning.advantages import NOBODY, estimate
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agents.learn.partners import Partners
    from agents.learn.rivals import Rivals
    from agents.runs.config import Config
    from fiveup_env.envs.episodes import EpisodeName

# From encoded rows, masks and the rows of hidden tiles (or None): an action, its log-probability
# and the value, for every row.
Choice: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
Choose: TypeAlias = "Callable[[np.ndarray, np.ndarray, np.ndarray | None], Choice]"

BURN_IN: Final = (300, 900)  # moves; games take some 100 to 350, so scores are well mixed by then


def make_batch(config: Config, encoder: str) -> Batch:
    """Return the games of a run, with their first episodes begun."""
    batch = Batch(
        config.games,
        config.rules,
        config.players,
        encoder=encoder,
        episode=cast("EpisodeName", config.episode),
        reward=BATCH_REWARDS[config.reward],
        seed=config.seed,
        oracle=config.oracle,
    )
    batch.reset()
    return batch


def burn_in(batch: Batch, rng: np.random.Generator) -> None:
    """Let `greedy` play every game on, each for its own number of moves.

    At the beginning all games stand at 0 : 0, and for hundreds of moves hardly any is near its end.
    Afterwards, positions at all scores are as frequent as in a long run of games.
    """
    greedy, moves = unchecked(make_agent("greedy")), rng.integers(*BURN_IN, len(batch))
    for done in range(moves.max()):
        indices = np.flatnonzero(moves > done)
        views = batch.views(indices)
        batch.advance(greedy(views, rng), indices)
        batch.begin(np.flatnonzero(batch.terminated | batch.truncated))
    batch.observe()


class Window:
    """The arrays of a window, allocated once for all windows."""

    def __init__(self, batch: Batch, ticks: int) -> None:
        games, players = batch.reward.shape
        self.carried = players  # rows at the beginning: the decisions of the previous window
        length = players + ticks
        shape = (length, games)
        self.rows = np.zeros((*shape, batch.observation.shape[1]), np.int8)
        self.truths = np.zeros(
            (*shape, batch.oracle.shape[1]) if len(batch.oracle) else (0,), np.int8
        )
        self.masks = np.zeros((*shape, ACTION_COUNT), np.int8)
        self.actions = np.zeros(shape, np.int64)
        self.log_probabilities = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.seats = np.full(shape, NOBODY, np.int8)
        self.rewards = np.zeros((length, games, players), np.float32)
        self.ended = np.zeros(shape, np.bool_)

    def carry(self, waiting: np.ndarray, since: np.ndarray) -> None:
        """Begin the next window with the decisions that still wait, and their rewards so far.

        Copying in place is safe: a seat's row is filled from a tick of this window or from itself,
        never from the row of another seat.
        """
        self.rewards[: self.carried] = 0
        games = np.arange(len(waiting))
        for seat in range(self.carried):
            ticks = waiting[:, seat]
            for array in self.decisions().values():
                array[seat] = array[ticks, games]
                array[seat, ticks < 0] = 0
            self.seats[seat] = np.where(ticks < 0, NOBODY, seat)
            self.rewards[seat, :, seat] = since[:, seat]

    def decisions(self) -> dict[str, np.ndarray]:
        """Return the arrays, by name, that describe a decision; `carry` copies their rows."""
        arrays: dict[str, np.ndarray] = {
            "rows": self.rows,
            "masks": self.masks,
            "actions": self.actions,
            "log_probabilities": self.log_probabilities,
            "values": self.values,
        }
        return arrays | ({"truths": self.truths} if self.truths.size else {})

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of the rows that the next window begins with."""
        return {name: array.copy() for name, array in self._first_rows().items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Begin with the rows that another window's `state` returned."""
        for name, array in self._first_rows().items():
            array[:] = state[name]

    def _first_rows(self) -> dict[str, np.ndarray]:
        arrays = self.decisions() | {"seats": self.seats, "rewards": self.rewards}
        return {name: array[: self.carried] for name, array in arrays.items()}


@dataclass(frozen=True)
class Lesson:
    """The decisions of a window that can be learnt from, one per row."""

    rows: np.ndarray
    masks: np.ndarray
    actions: np.ndarray
    log_probabilities: np.ndarray
    values: np.ndarray
    advantages: np.ndarray
    networks: np.ndarray  # the number of the network that decided
    truths: np.ndarray | None = None

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.actions)

    def of_network(self, number: int) -> Lesson:
        """Return the decisions that one of the networks made."""
        own = self.networks == number
        if own.all():
            return self
        held: dict[str, Any] = {
            name: array[own] for name, array in vars(self).items() if array is not None
        }
        return Lesson(**held)

    @property
    def returns(self) -> np.ndarray:
        """The targets of the values: the values at the time, plus the advantages."""
        return self.values + self.advantages


class Rollouts:
    """The games of a run, played one window at a time."""

    def __init__(self, config: Config, batch: Batch, others: Sequence[Rivals | Partners]) -> None:
        self._batch, self._others = batch, others
        self.window = Window(batch, config.n_steps)
        self._forced_too = config.forced
        self._hand_by_hand = config.horizon == "hand"
        self._discount = config.gamma, config.gae_lambda
        self._rewards = Rewards(config.reward, batch)

    def play(self, networks: Sequence[Choose], rng: np.random.Generator) -> Lesson:
        """Play a window, and return the decisions that can be learnt from.

        Seat k is played by the k-th of some networks, or again from the first.
        """
        window = self.window
        for tick in range(window.carried, len(window.seats)):
            self._tick(tick, networks, rng)
        seats, values = window.seats, window.values
        estimated = estimate(seats, values, window.rewards, window.ended, *self._discount)
        known = estimated.known.ravel()
        lesson = Lesson(
            networks=(seats % len(networks)).ravel()[known],
            advantages=estimated.advantages.ravel()[known],
            **{
                name: array.reshape(len(known), *array.shape[2:])[known]
                for name, array in window.decisions().items()
            },
        )
        window.carry(estimated.waiting, estimated.since)
        return lesson

    def state(self) -> dict[str, np.ndarray]:
        """Return the state that the next window depends on, apart from the games themselves."""
        return self.window.state() | self._rewards.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a saved state."""
        self.window.restore(state)
        self._rewards.restore(state)

    def _tick(self, tick: int, networks: Sequence[Choose], rng: np.random.Generator) -> None:
        """Make one move in every game; forced moves are decisions only with `forced`."""
        batch, window = self._batch, self.window
        free = self._forced_too | (batch.action_mask.sum(1, dtype=np.int16) > 1)
        actions = batch.action_mask.argmax(1)
        mine = free.copy()
        for others in self._others:
            theirs = others.to_move(batch)
            others.move(batch, np.flatnonzero(free & theirs), actions, rng)
            mine &= ~theirs
        asked = np.flatnonzero(mine)
        window.rows[tick], window.masks[tick] = batch.observation, batch.action_mask
        if window.truths.size:
            window.truths[tick] = batch.oracle
        for number, choose in enumerate(networks):
            own = asked[batch.turn[asked] % len(networks) == number]
            truths = batch.oracle[own] if window.truths.size else None
            chosen = choose(batch.observation[own], batch.action_mask[own], truths)
            actions[own], window.log_probabilities[tick, own], window.values[tick, own] = chosen
        window.actions[tick] = actions
        window.seats[tick] = NOBODY
        window.seats[tick, asked] = batch.turn[asked]
        hands = batch.states["public"]["hand_number"].copy()
        batch.step(actions)
        hand_over = batch.terminated | (batch.states["public"]["hand_number"] != hands)
        window.rewards[tick] = self._rewards.of(batch, hand_over)
        window.ended[tick] = hand_over if self._hand_by_hand else batch.terminated
        for others in self._others:
            others.meet(batch, rng)
