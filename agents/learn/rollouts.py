"""Rollouts: windows of play, and the decisions of every seat that can be learnt from.

A tick is one move in every game. Decisions that still wait when a window ends come again in the
next one (`fiveup_env.seats`), so none is learnt from before its seat's next one, or the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from agents.learn.rewards import BATCH_REWARDS, Rewards
from fiveup_env.envs.batch import Batch
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.registry import make_agent
from fiveup_env.seats import NOBODY, SeatTrajectories

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
        self.window = SeatTrajectories(config.n_steps, *batch.reward.shape)
        self._forced_too = config.forced
        self._hand_by_hand = config.horizon == "hand"
        self._discount = config.gamma, config.gae_lambda
        self._rewards = Rewards(config.reward, batch)

    def play(self, networks: Sequence[Choose], rng: np.random.Generator) -> Lesson:
        """Play a window, and return the decisions that can be learnt from.

        Seat k is played by the k-th of some networks, or again from the first.
        """
        while not self.window.is_full:
            self._tick(networks, rng)
        decisions = self.window.take()
        advantages = decisions.advantages(decisions["values"], *self._discount)
        known = decisions.known
        return Lesson(
            networks=decisions.seats[known] % len(networks),
            advantages=advantages[known],
            **{name: column[known] for name, column in decisions.columns.items()},
        )

    def state(self) -> dict[str, np.ndarray]:
        """Return the state that the next window depends on, apart from the games themselves."""
        return self.window.state() | self._rewards.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a saved state."""
        self.window.restore(state)
        self._rewards.restore(state)

    def _tick(self, networks: Sequence[Choose], rng: np.random.Generator) -> None:
        """Make one move in every game; forced moves are decisions only with `forced`."""
        batch = self._batch
        free = self._forced_too | (batch.action_mask.sum(1, dtype=np.int16) > 1)
        actions = batch.action_mask.argmax(1)
        mine = free.copy()
        for others in self._others:
            theirs = others.to_move(batch)
            others.move(batch, np.flatnonzero(free & theirs), actions, rng)
            mine &= ~theirs
        asked = np.flatnonzero(mine)
        logs, values = np.zeros((2, len(batch)), np.float32)
        for number, choose in enumerate(networks):
            own = asked[batch.turn[asked] % len(networks) == number]
            truths = batch.oracle[own] if len(batch.oracle) else None
            chosen = choose(batch.observation[own], batch.action_mask[own], truths)
            actions[own], logs[own], values[own] = chosen
        self.window.decide(
            np.where(mine, batch.turn, NOBODY),
            rows=batch.observation,
            masks=batch.action_mask,
            actions=actions,
            log_probabilities=logs,
            values=values,
            **({"truths": batch.oracle} if len(batch.oracle) else {}),
        )
        hands = batch.states["public"]["hand_number"].copy()
        batch.step(actions)
        hand_over = batch.terminated | (batch.states["public"]["hand_number"] != hands)
        ends = hand_over if self._hand_by_hand else batch.terminated
        self.window.reward(self._rewards.of(batch, hand_over), ends)
        for others in self._others:
            others.meet(batch, rng)
