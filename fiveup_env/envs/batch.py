"""`Batch`: thousands of games at once, arrays in and arrays out.

    batch = Batch(games=4096, seed=0)
    batch.reset()
    while learning:
        batch.step(choose(batch.observation, batch.mask))   # then batch.reward, batch.done

The arrays are allocated once and overwritten in place, so that other libraries can share their
memory; copy what is to be kept.
"""

from __future__ import annotations

import io
import itertools
import json
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.encoders import Encoder, get_encoder, row_size
from fiveup_env.encoders.truth import TRUTH_SIZE, write_truths
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.state import GAME
from fiveup_env.engine.view import VIEW
from fiveup_env.envs.episodes import (
    CUT_OFF,
    ENDED,
    Episodes,
    first_illegal,
    observe_games,
    observe_seats,
    refusal,
    start_episodes,
    step_games,
)
from fiveup_env.errors import IllegalMoveError, OptionError, WrongMomentError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

SLICE = 2048  # games that a thread steps, observes and encodes together


class _Scratch(threading.local):
    """Scratch views that each thread has for itself, few enough to stay in its cache."""

    def __init__(self) -> None:
        self.views = np.zeros(SLICE, VIEW)


class Batch:
    """Many games, played side by side.

    Attributes, each with a row or an entry for every game:
        observation: what the seat to move observes, as the encoder writes it (int8).
        mask: 1 for every legal action, else 0 (int8, games x 121).
        turn: the seat to move (int8).
        reward: what the last step brought each seat (float32, games x players).
        done: whether the last step ended the episode (bool); the next one has started.
        truncated: whether it was cut off instead, after `max_hands` (bool); the next has started.
        oracle: with `oracle=True`, what is hidden from the seat to move (int8); never part of
            an observation.
    """

    def __init__(
        self,
        games: int = 4096,
        rules: str | Rules | Sequence[str | Rules] = "five_up",
        players: int | Sequence[int] | None = None,
        *,
        encoder: str | Encoder = "flat",
        episode: str = "game",
        reward: str = "win",
        max_hands: int = 0,
        seed: int = 0,
        threads: int = 1,
        oracle: bool = False,
        **fields: Any,
    ) -> None:
        """Make the games; `reset` deals them.

        If `rules` or `players` is a list, the games take every combination in turn. Game i has seed
        `seed` + i in its first episode, and `games` more in each later one. `episode`, `reward`,
        `max_hands` and rule fields are those of `raw_env`. Raises RulesError, SeatError, SeedError,
        EncoderError or OptionError for a value that is not allowed.
        """
        if games < 1:
            raise OptionError(f"a batch needs at least one game, not {games!r}")
        if threads < 1:
            raise OptionError(f"a batch needs at least one thread, not {threads!r}")
        self.rules = [
            Rules.of(one, count, **fields)
            for one, count in itertools.product(_listed(rules), _listed(players))
        ]
        self.episodes = Episodes(episode, reward, max_hands)
        self.encoder = get_encoder(encoder)
        self.seed = checked_seed(seed)
        self.threads = threads
        self._games = np.zeros(games, GAME)
        for k, one in enumerate(self.rules):
            self._games["public"]["rules"][k :: len(self.rules)] = one.to_struct()
        most = max(one.players for one in self.rules)
        self.observation = np.zeros((games, row_size(self.encoder)), np.int8)
        self.mask = np.zeros((games, ACTION_COUNT), np.int8)
        self.turn = np.zeros(games, np.int8)
        self.reward = np.zeros((games, most), np.float32)
        self.done = np.zeros(games, np.bool_)
        self.truncated = np.zeros(games, np.bool_)
        self.oracle = np.zeros((games if oracle else 0, TRUTH_SIZE), np.int8)
        self._endings = np.zeros(games, np.int8)
        self._all = np.arange(games)
        self._scratch = _Scratch()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._slices = [slice(k, min(k + SLICE, games)) for k in range(0, games, SLICE)]
        self._dealt = False

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self._games)

    @property
    def states(self) -> np.ndarray:
        """The GAME structs themselves, hidden tiles included, which no agent may see."""
        return self._games

    @property
    def games(self) -> np.ndarray:
        """The name of `states` in version 0.1, deprecated."""
        warnings.warn("Batch.games is now Batch.states", DeprecationWarning, stacklevel=2)
        return self.states

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Start an episode in every game: game i with `seed` + i (None: with the previous seed).

        An array of integers gives each game its own seed, so that deals can be repeated. Raises
        SeedError, or OptionError if the array does not have one integer for each game.
        """
        if isinstance(seed, np.ndarray):
            if seed.shape != self._all.shape or seed.dtype.kind not in "iu":
                raise OptionError(f"seeds must be {len(self)} whole numbers, one for each game")
            seeds = seed.astype(np.uint64)
        else:
            self.seed = self.seed if seed is None else checked_seed(seed)
            seeds = np.uint64(self.seed) + self._all.astype(np.uint64)
        start_episodes(self._games, self._all, seeds)
        self.reward[:], self.done[:], self.truncated[:] = 0, False, False
        self._dealt = True
        self._on_slices(self._observe_slice)

    def step(self, actions: np.ndarray) -> None:
        """Make a move in every game, and update the observations and all other arrays.

        Takes an integer for each game. Raises IllegalMoveError if an action is illegal, OptionError
        if the array is of another shape or kind; then nothing has changed.
        """
        actions = self._checked(actions, self._all)

        def step_and_observe(part: slice) -> None:
            self._move(self._all[part], actions[part], seed_step=len(self))
            self._observe_slice(part)

        self._on_slices(step_and_observe)
        self._update_endings()

    def advance(self, actions: np.ndarray, which: np.ndarray) -> None:
        """Make a move in each of the games `which`; a game whose episode ends stays at its end.

        For interfaces that let opponents move: they choose from `views`, `begin` starts the next
        episodes, and `observe` updates the observations. Raises as `step` does.
        """
        which = np.ascontiguousarray(which, np.int64)
        self._move(which, self._checked(actions, which), seed_step=0)
        self.turn[which] = self._games["public"]["turn"][which]
        self._update_endings()

    def begin(self, which: np.ndarray) -> None:
        """Start the next episode in each of the games `which`."""
        which = np.ascontiguousarray(which, np.int64)
        start_episodes(self._games, which, self._games["seed"][which] + np.uint64(len(self)))
        self.turn[which] = self._games["public"]["turn"][which]

    def views(self, which: np.ndarray | None = None) -> np.ndarray:
        """Return the VIEW structs of the seats to move, in all games or some; update the masks."""
        which = self._all if which is None else np.ascontiguousarray(which, np.int64)
        views = np.empty(len(which), VIEW)
        observe_games(self._games, which, views, self.mask, self.turn)
        return views

    def observations_of(self, which: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return what one seat observes in each of some games (int8), whoever is to move."""
        which = np.ascontiguousarray(which, np.int64)
        views = np.empty(len(which), VIEW)
        observe_seats(
            self._games, which, seats, views, np.empty((len(which), ACTION_COUNT), np.int8)
        )
        rows = np.empty((len(which), self.observation.shape[1]), np.int8)
        self.encoder.encode(views, rows)
        return rows

    def observe(self) -> None:
        """Update the observation of every seat to move."""
        self._on_slices(self._observe_slice)

    def random_actions(self, random: np.random.Generator) -> np.ndarray:
        """Return a legal action for every game, each with the same probability."""
        ranks = random.random(self.mask.shape, np.float32)
        ranks -= self.mask == 0
        return ranks.argmax(1)

    def save(self) -> bytes:
        """Return the whole state of the batch, for `load`."""
        content = io.BytesIO()
        np.savez(
            content,
            about=np.frombuffer(json.dumps(self._about()).encode(), np.uint8),
            games=np.frombuffer(self._games.tobytes(), np.uint8),
            reward=self.reward,
            endings=self._endings,
        )
        return content.getvalue()

    def load(self, state: bytes) -> None:
        """Continue from a state that a batch with the same options has saved.

        Raises OptionError if the state is damaged or of another batch.
        """
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as saved:
                about = json.loads(saved["about"].tobytes())
                games = saved["games"].tobytes()
                reward, endings = saved["reward"], saved["endings"]
        except (ValueError, KeyError, OSError, EOFError) as error:
            raise OptionError(f"not a saved batch: {error}") from None
        for name, value in self._about().items():
            if about.get(name) != value:
                raise OptionError(
                    f"the saved batch has {name} {about.get(name)!r}, but this one has {value!r}"
                )
        self._games[:] = np.frombuffer(games, GAME)
        self.reward[:], self._endings[:] = reward, endings
        self._dealt = True
        self._update_endings()
        self._on_slices(self._observe_slice)

    def _about(self) -> dict[str, Any]:
        """Return what a saved state must have in common with the batch that loads it."""
        return {
            "games": len(self),
            "record": GAME.itemsize,
            "rules": [[one.players, one.teams, *one.fields().values()] for one in self.rules],
            "episode": list(self.episodes.codes),
        }

    def _checked(self, actions: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Return the actions as compiled code takes them; raise an error if one is illegal."""
        if not self._dealt:
            raise WrongMomentError("call reset() before the first step")
        actions = np.asarray(actions)
        if actions.shape != which.shape or actions.dtype.kind not in "iu":
            raise OptionError(
                f"actions must be {len(which)} whole numbers, one for each game, "
                f"not an array of {actions.dtype} of shape {actions.shape}"
            )
        actions = np.ascontiguousarray(actions, np.int64)
        wrong = first_illegal(self._games, which, actions)
        if wrong >= 0:
            i = int(which[wrong])
            why = refusal(self._games, i, int(actions[wrong]))
            raise IllegalMoveError(f"game {i}, seat {self.turn[i]}: {why}")
        return actions

    def _move(self, which: np.ndarray, actions: np.ndarray, seed_step: int) -> None:
        codes = self.episodes.codes
        step_games(self._games, which, actions, codes, seed_step, self.reward, self._endings)

    def _observe_slice(self, part: slice) -> None:
        views = self._scratch.views[: part.stop - part.start]
        observe_games(self._games, self._all[part], views, self.mask, self.turn)
        self.encoder.encode(views, self.observation[part])
        if len(self.oracle):
            write_truths(self._games[part], self.turn[part], self.oracle[part])

    def _update_endings(self) -> None:
        np.equal(self._endings, ENDED, out=self.done)
        np.equal(self._endings, CUT_OFF, out=self.truncated)

    def _on_slices(self, work: Any) -> None:
        """Call `work` on every slice; with threads, each thread takes some neighbouring slices."""
        if self._pool is None:
            for part in self._slices:
                work(part)
            return
        shares = np.array_split(np.arange(len(self._slices)), self.threads)

        def work_on_share(share: np.ndarray) -> None:
            for k in share:
                work(self._slices[k])

        for done in [self._pool.submit(work_on_share, share) for share in shares]:
            done.result()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
