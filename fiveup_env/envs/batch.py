"""`Batch`: thousands of games at once, arrays in and arrays out.

    batch = Batch(4096, seed=0)
    batch.reset()
    while learning:
        batch.step(choose(batch.observation, batch.action_mask))
        learn(batch.reward, batch.terminated)

The arrays are allocated once and overwritten in place, so that other libraries can share their
memory; copy what is to be kept.
"""

from __future__ import annotations

import copy
import itertools
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.encoders.truth import TRUTH_SIZE, write_truths
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.state import GAME, PLAYING, VIEW
from fiveup_env.engine.valid import FAULTS, first_unsound_game
from fiveup_env.engine.view import observe_seats
from fiveup_env.envs.episodes import (
    CUT_OFF,
    ENDED,
    HOW_TO_TERMINATE,
    Episodes,
    first_illegal,
    first_repeated,
    observe_games,
    refusal,
    restart_ended,
    results_of,
    start_episodes,
    state_to_start,
    step_games,
)
from fiveup_env.envs.options import EpisodeOptions, check_fields, checked_flag, row_of_integers
from fiveup_env.envs.rewards import checked_rewards
from fiveup_env.envs.rows import Rows
from fiveup_env.envs.streams import fill_chances, fill_keys, fill_seeds
from fiveup_env.errors import IllegalMoveError, OptionError, SeatError, WrongMomentError, shown
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules
from fiveup_env.sealed import seal, sealed_array, unseal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymnasium.spaces import Box
    from typing_extensions import Unpack

    from fiveup_env.encoders import Encoder
    from fiveup_env.envs.episodes import EpisodeName, IllegalName, Results, RewardName
    from fiveup_env.envs.rewards import BatchRewardFunction
    from fiveup_env.game.game import Game
    from fiveup_env.rules.fields import RuleFields

SLICE: Final = 2048  # games that a thread steps, observes and encodes together
MOST_GAMES: Final = 1 << 24
MOST_THREADS: Final = 1 << 10
MOST_EPISODES: Final = 1 << 53  # in a saved state, from which their number goes up
SAVED: Final = "saved batch"
STATE: Final = ("_games", "_finals", "_keys", "_episodes_played", "reward", "_endings")  # saved

P = ParamSpec("P")
Result = TypeVar("Result")


class BatchOptions(EpisodeOptions, total=False):
    """The keywords of `Batch`, for interfaces that hand them on."""

    reward: RewardName | BatchRewardFunction
    seed: int | None
    threads: int
    oracle: bool


class _Scratch(threading.local):
    """Scratch views that each thread has for itself, few enough to stay in its cache."""

    def __init__(self) -> None:
        self.views = np.zeros(SLICE, VIEW)


def _alone(
    method: Callable[Concatenate[Batch, P], Result],
) -> Callable[Concatenate[Batch, P], Result]:
    """Let a method of a batch wait until no other thread uses the batch."""

    @wraps(method)
    def waiting(self: Batch, /, *args: P.args, **named: P.kwargs) -> Result:
        with self._busy:
            return method(self, *args, **named)

    return waiting


class Batch:
    """Many games, played side by side.

    Threads that step, read, save or copy a batch at once wait for each other.

    Args:
        num_envs: The number of games.
        rules: The name of a preset, a `Rules`, or a list of them.
        players: 2 to 5, or a list of numbers; None means as many as the rules have. The games take
            every combination of `rules` and `players` in turn.
        encoder: The encoder of the observations, or its name; `NoRows()` where only views are read.
        scaled: Whether observations are float32, each entry multiplied by its factor, as networks
            need them; otherwise they are int8.
        episode: A whole `game`, or a single `hand`.
        reward: What a move brings each seat: `win`, `points` or `margin`
            (docs/understand/rewards.md), or a function of (before, actions, after), GAME structs
            before the moves in some games, the actions, and GAME structs after them. It returns
            numbers [games, players] and is called once for all games that move, illegal actions
            excepted: if it raises or returns anything else, nothing has changed.
        max_hands: The number of hands after which an episode is cut off; 0 means never.
        illegal: Whether an illegal action raises an `error`, or makes the episode `terminate` with
            `illegal_reward` for its player and 0 for the others.
        illegal_reward: That reward.
        seed: Names the streams of deals: the first `reset` starts stream `(seed, i)` in game i.
            None chooses one at random.
        threads: The number of threads that step the games.
        oracle: Whether to write `oracle`.
        **fields: Fields of the rules that override those of `rules`.

    Every array has a row or an entry for every game.

    Attributes:
        observation: what the seat to move observes, as the encoder writes it (int8; float32 if
            `scaled`).
        action_mask: 1 for every legal action, else 0 (int8, [num_envs, 121]).
        turn: the seat to move (int8).
        reward: what the last step brought each seat (float32, [num_envs, players]).
        terminated: whether the last step ended the episode (bool); the next one has started.
        truncated: whether it was cut off instead, after `max_hands` (bool); the next has started.
        oracle: with `oracle=True`, what is hidden from the seat to move (int8); never part of
            an observation.
        rules: the list of `Rules` that the games take in turn.
        encoder: the encoder of the observations.
        seed: the seed of the streams; a random one if none was given.
        threads: the number of threads.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If a number of players is not from 2 to 5.
        SeedError: If the seed is not from 0 to 2**64 - 1.
        EncoderError: If there is no such encoder.
        OptionError: If another option has a value that is not allowed.
    """

    def __init__(
        self,
        num_envs: int = 4096,
        rules: str | Rules | Sequence[str | Rules] = "five_up",
        players: int | Sequence[int] | None = None,
        *,
        encoder: str | Encoder = "flat",
        scaled: bool = False,
        episode: EpisodeName = "game",
        reward: RewardName | BatchRewardFunction = "win",
        max_hands: int = 0,
        illegal: IllegalName = "error",
        illegal_reward: float = -1.0,
        seed: int | None = None,
        threads: int = 1,
        oracle: bool = False,
        **fields: Unpack[RuleFields],
    ) -> None:
        """Make the games; `reset` deals them."""
        check_fields(fields, Batch)
        games = _checked_count(num_envs, MOST_GAMES, "game")
        threads = _checked_count(threads, MOST_THREADS, "thread")
        self.rules = [
            Rules.of(named, count, **fields)
            for named, count in itertools.product(_listed(rules), _listed(players))
        ]
        if not self.rules:
            raise OptionError("a batch needs rules, and numbers of players, not an empty list")
        self._reward = reward if callable(reward) else None
        self._options = Episodes(
            episode, "points" if callable(reward) else reward, max_hands, illegal, illegal_reward
        )
        self._rows = Rows(encoder, scaled=scaled)
        self.encoder = self._rows.encoder
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self.threads = threads
        self._games = np.zeros(games, GAME)
        for k, chosen in enumerate(self.rules):
            self._games["public"]["rules"][k :: len(self.rules)] = chosen.to_struct()
        most = max(chosen.players for chosen in self.rules)
        self._sides = max(chosen.sides for chosen in self.rules)
        self.observation = self._rows.empty(games)
        self.observation[:] = 0
        self.action_mask = np.zeros((games, ACTION_COUNT), np.int8)
        self.turn = np.zeros(games, np.int8)
        self.reward = np.zeros((games, most), np.float32)
        self.terminated = np.zeros(games, np.bool_)
        self.truncated = np.zeros(games, np.bool_)
        sees_all = checked_flag(oracle, "oracle")
        self.oracle = np.zeros((games if sees_all else 0, TRUTH_SIZE), np.int8)
        self._endings = np.zeros(games, np.int8)
        self._finals = np.zeros(games, GAME)
        self._keys = np.zeros(games, np.uint64)
        self._episodes_played = np.zeros(games, np.int64)
        self._all = np.arange(games)
        self._seen = np.zeros(games, np.int8)
        self._slices = [slice(k, min(k + SLICE, games)) for k in range(0, games, SLICE)]
        self._dealt = False
        self._make_workers()

    def _make_workers(self) -> None:
        """Create the resources of this process: a lock, threads and their memory."""
        self._busy = threading.RLock()
        self._scratch = _Scratch()
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @_alone
    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy or pickle: all but the resources, with copies of the arrays."""
        state = self.__dict__ | {"_busy": None, "_scratch": None, "_pool": None}
        return {
            name: _copied(value) if isinstance(value, np.ndarray) else value
            for name, value in state.items()
        }

    def __deepcopy__(self, memo: object) -> Batch:
        """Return a copy, which has arrays of its own."""
        return copy.copy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_workers()

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self._games)

    def observation_space(self, count: int | None = None) -> Box:
        """Return the space of one observation, or of an array of this many."""
        return self._rows.space(count)

    @property
    def states(self) -> np.ndarray:
        """The GAME structs themselves, hidden tiles included, which no agent may see."""
        return self._games

    @_alone
    def reset(self, seed: int | Sequence[int] | np.ndarray | None = None) -> None:
        """Start an episode in every game.

        With a seed, the streams start anew from it. None starts those of the seed that the batch
        was made with, a random one if it was None too, and later goes on to the next episode of
        every stream. A sequence with a seed for each game names the deals themselves:
        game i plays what `Game(seed=seed[i])` plays, and its stream goes on from there. Raises
        SeedError, or OptionError if the sequence does not have one integer for each game.
        """
        if isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim):
            seeds = self._checked_seeds(seed)
            fill_keys(seeds, 0, self._keys)
            self._episodes_played[:] = 0
        else:
            seeds = self._stream_seeds(seed)
        start_episodes(self._games, self._all, seeds)
        self.reward[:], self._endings[:] = 0, 0
        self._dealt = True
        self._update_endings()
        self._on_slices(self._observe_slice)

    @_alone
    def adopt(self, games: Sequence[Game], indices: np.ndarray | None = None) -> None:
        """Continue a `Game` in each of the games `indices`, by default in all of them.

        Their streams go on with the next episodes. Raises OptionError if a game is over, by other
        rules than the one in its place, or has deals for later hands; then nothing has changed.
        """
        self._check_dealt()
        indices = self._all if indices is None else self._checked_games(indices)
        self._games[indices] = self.states_to_adopt(games, indices)
        self.reward[indices], self._endings[indices] = 0, 0
        self._update_endings()
        self._on_slices(self._observe_slice)

    def states_to_adopt(self, games: Sequence[Game], indices: np.ndarray) -> np.ndarray:
        """Return the states of games to `adopt`, as GAME structs; raise as that does."""
        listed = _listed(games)
        if len(listed) != len(indices):
            raise OptionError(f"there must be {len(indices)} games, not {len(listed)}")
        states = np.zeros(len(indices), GAME)
        for k, (i, game) in enumerate(zip(indices.tolist(), listed, strict=True)):
            states[k : k + 1] = state_to_start(game, self.rules[i % len(self.rules)], self._options)
        return states

    def _stream_seeds(self, seed: object) -> np.ndarray:
        """Return the seeds that the streams give next; with a seed, they start anew from it."""
        if seed is not None:
            self.seed = checked_seed(seed)
        if seed is not None or not self._dealt:
            fill_keys(np.full(len(self), self.seed, np.uint64), 0, self._keys)
            self._episodes_played[:] = 0
        else:
            self._episodes_played += 1
        seeds = np.zeros(len(self), np.uint64)
        fill_seeds(self._keys, self._episodes_played, seeds)
        return seeds

    @_alone
    def step(self, actions: np.ndarray) -> None:
        """Make a move in every game, and update the observations and all other arrays.

        Takes an integer for each game. A game whose episode ended starts the next one of its
        stream. Raises IllegalMoveError if an action is illegal (unless `illegal="terminate"`), and
        OptionError if the array is of another shape or kind; then nothing has changed.
        """
        actions = self._checked_actions(actions, self._all)

        if self._reward:
            self._move_and_reward(self._all, actions, self._reward)

        def step_and_observe(part: slice) -> None:
            if not self._reward:
                self._move(self._all[part], actions[part])
            self._restart(self._all[part])
            self._observe_slice(part)

        self._on_slices(step_and_observe)
        self._update_endings()

    @_alone
    def advance(self, actions: np.ndarray, indices: np.ndarray, *, strictly: bool = False) -> None:
        """Make a move in each of the games `indices`; a game whose episode ends stays at its end.

        For interfaces that let opponents move: they choose from `views`, `begin` starts the next
        episodes, and `observe` updates the observations. Raises as `step` does; `strictly`, an
        illegal action is an error even with `illegal="terminate"`.
        """
        indices = self._checked_games(indices)
        if first_repeated(indices, self._seen) >= 0:
            raise OptionError("each game can make one move: an index is there twice")
        actions = self._checked_actions(actions, indices, strictly=strictly)
        if self._reward:
            self._move_and_reward(indices, actions, self._reward)
        else:
            self._move(indices, actions)
        self.turn[indices] = self._games["public"]["turn"][indices]
        self._update_endings()

    @_alone
    def begin(self, indices: np.ndarray) -> None:
        """Start the next episode in each of the games `indices`."""
        self._check_dealt()
        indices = self._checked_games(indices)
        self._endings[indices] = ENDED
        self._restart(indices)
        self._endings[indices] = 0
        self.turn[indices] = self._games["public"]["turn"][indices]

    @_alone
    def views(self, indices: np.ndarray | None = None) -> np.ndarray:
        """Return the VIEW structs of the seats to move, in all games or some; update the masks."""
        self._check_dealt()
        indices = self._all if indices is None else self._checked_games(indices)
        views = np.zeros(len(indices), VIEW)
        observe_games(self._games, indices, views, self.action_mask, self.turn)
        return views

    @_alone
    def chances(self, indices: np.ndarray, place: int) -> np.ndarray:
        """Return a number from 0 to 1 for the episode of each of some games, for draws by episode.

        It stays the same throughout an episode, depends on the stream and the number of the episode
        alone, and is another one for each `place`.
        """
        indices, chances = self._checked_games(indices), np.zeros(len(indices))
        fill_chances(self._keys[indices], self._episodes_played[indices], place, chances)
        return chances

    @_alone
    def observations_of(self, indices: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return the observations of one seat in each of some games, whoever is to move."""
        self._check_dealt()
        return self._rows_of(self._games, indices, seats)

    @_alone
    def final_observations_of(self, indices: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return the last observations of one seat in the last finished episode of some games.

        Raises WrongMomentError where no episode of a game has ended yet.
        """
        self._check_ended(indices)
        return self._rows_of(self._finals, indices, seats)

    @_alone
    def results_of(self, indices: np.ndarray) -> Results:
        """Return the results of the episodes that `advance` has left at their ends."""
        self._check_dealt()
        return self._results_of(self._games, indices)

    @_alone
    def final_results_of(self, indices: np.ndarray) -> Results:
        """Return the result of the last finished episode of some games: the winner, and the scores.

        Raises WrongMomentError where no episode of a game has ended yet.

        >>> batch = Batch(64, players=2, episode="hand", seed=1)
        >>> batch.reset()
        >>> while not batch.terminated.any():
        ...     batch.step(batch.action_mask.argmax(1))
        >>> results = batch.final_results_of(batch.terminated.nonzero()[0])
        >>> results.scores.shape == (len(results.winner), 2)
        True
        """
        self._check_ended(indices)
        return self._results_of(self._finals, indices)

    def _results_of(self, games: np.ndarray, indices: np.ndarray) -> Results:
        indices = self._checked_games(indices)
        return results_of(games, indices, self._options.codes.episode, self._sides)

    def _check_ended(self, indices: np.ndarray) -> None:
        indices = self._checked_games(indices)
        if (self._finals["public"]["rules"]["players"][indices] == 0).any():
            raise WrongMomentError("no episode of these games has ended yet")

    def _rows_of(self, games: np.ndarray, indices: np.ndarray, seats: np.ndarray) -> np.ndarray:
        indices = self._checked_games(indices)
        seats = self._checked_seats(seats, indices)
        views = np.zeros(len(indices), VIEW)
        observe_seats(games, indices, seats, views)
        rows = self._rows.empty(len(indices))
        self._rows.write(views, rows)
        return rows

    @_alone
    def observe(self) -> None:
        """Update the observation of every seat to move."""
        self._check_dealt()
        self._on_slices(self._observe_slice)

    def random_actions(self, rng: np.random.Generator) -> np.ndarray:
        """Return a legal action for every game, each with the same probability."""
        ranks = rng.random(self.action_mask.shape, np.float32)
        ranks -= self.action_mask == 0
        return ranks.argmax(1)

    @_alone
    def save(self) -> bytes:
        """Return the whole state of the batch, for `load`."""
        arrays = {name: getattr(self, name).view(np.uint8) for name in STATE}
        return seal(SAVED, arrays, self._about())

    def load(self, state: bytes) -> None:
        """Continue from a state that a batch with the same options has saved.

        Raises SealError if the state is damaged, and OptionError if it is of another batch, or such
        as no play leads to.
        """
        self.restore(self.read(state))

    def read(self, state: bytes) -> dict[str, np.ndarray]:
        """Return the arrays of a saved state for `restore`; raise as `load` does."""
        arrays, about = unseal(SAVED, state)
        for name, value in self._about().items():
            if about.get(name) != value:
                given = shown(about.get(name))
                raise OptionError(f"the saved batch has {name} {given}, but this one has {value!r}")
        kept = {}
        for name in STATE:
            own = getattr(self, name)
            kept[name] = np.empty_like(own)
            kept[name].view(np.uint8)[:] = sealed_array(arrays, name, own.view(np.uint8))
        self._check(kept)
        return kept

    def _check(self, kept: dict[str, np.ndarray]) -> None:
        """Raise an OptionError for the arrays of a state that no play leads to."""
        rules, finals = self._games["public"]["rules"], kept["_finals"]
        ended = np.flatnonzero(finals["public"]["rules"]["players"])  # in others no episode has
        for games, own in ((kept["_games"], rules), (finals[ended], rules[ended])):
            i, fault = first_unsound_game(games)
            if i >= 0:
                raise OptionError(f"the saved batch has a game that is not valid: {FAULTS[fault]}")
            if (games["public"]["rules"] != own).any():
                raise OptionError("the saved batch has a game by other rules than this one")
        endings, going = kept["_endings"], kept["_games"]["public"]["phase"] == PLAYING
        right = going & (endings == 0) | (endings == ENDED) | (endings == CUT_OFF)
        played = kept["_episodes_played"]
        right &= (played >= 0) & (played <= MOST_EPISODES) & np.isfinite(kept["reward"]).all(1)
        if not right.all():
            raise OptionError("the saved batch has rewards or endings that no play leads to")

    @_alone
    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from the arrays that `read` has returned."""
        for name, array in arrays.items():
            getattr(self, name)[:] = array
        self._dealt = True
        self._update_endings()
        self._on_slices(self._observe_slice)

    def _about(self) -> dict[str, Any]:
        """Return the settings that a saved state must share with the batch that loads it."""
        return {
            "games": len(self),
            "version": 1,
            "struct": GAME.itemsize,
            "rules": [[r.players, r.teams, *r.fields().values()] for r in self.rules],
            "episode": list(self._options.codes),
            "seats": self.reward.shape[1],
        }

    # The boundary in front of compiled code

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise WrongMomentError("call reset() before the first step")

    def _checked_games(self, indices: np.ndarray) -> np.ndarray:
        """Return indices of games as compiled code takes them."""
        checked = row_of_integers(indices, "indices of games")
        if checked.size and not 0 <= checked.min() <= checked.max() < len(self):
            raise OptionError(f"indices of games must be from 0 to {len(self) - 1}, not {checked}")
        return checked

    def _checked_seats(self, seats: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """Return a seat for each of some games as compiled code takes them."""
        checked = row_of_integers(seats, "seats", len(indices))
        players = self._games["public"]["rules"]["players"][indices]
        wrong = np.flatnonzero((checked < 0) | (checked >= players))
        if len(wrong):
            k = wrong[0]
            raise SeatError(
                f"game {indices[k]} has seats 0 to {players[k] - 1}, so not seat {checked[k]}"
            )
        return checked

    def _checked_seeds(self, seeds: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return a seed for each game as compiled code takes them."""
        if len(seeds) != len(self) or (
            isinstance(seeds, np.ndarray) and (seeds.ndim != 1 or seeds.dtype.kind not in "iu")
        ):
            raise OptionError(f"seeds must be {len(self)} integers, one for each game")
        return np.array([checked_seed(seed) for seed in seeds], np.uint64)

    def _checked_actions(
        self, actions: np.ndarray, indices: np.ndarray, *, strictly: bool = False
    ) -> np.ndarray:
        """Return the actions as compiled code takes them; raise an error if one is illegal."""
        self._check_dealt()
        actions = row_of_integers(actions, "actions", len(indices))
        if self._options.terminates and not strictly:
            return actions
        wrong = first_illegal(self._games, indices, actions)
        if wrong >= 0:
            i = int(indices[wrong])
            why = refusal(self._games, i, int(actions[wrong]))
            hint = "" if strictly else HOW_TO_TERMINATE
            raise IllegalMoveError(f"game {i}, seat {self.turn[i]}: {why}{hint}")
        return actions

    def _move(self, indices: np.ndarray, actions: np.ndarray) -> None:
        codes = self._options.codes
        step_games(self._games, indices, actions, codes, self.reward, self._endings)

    def _move_and_reward(
        self, indices: np.ndarray, actions: np.ndarray, reward: BatchRewardFunction
    ) -> None:
        """Make moves, and write what a function returns for them; undo them if it fails."""
        arrays: tuple[np.ndarray, ...] = self._games, self.reward, self._endings
        before = [array[indices] for array in arrays]
        self._move(indices, actions)
        after = self._games[indices]
        # An illegal action ends an episode without a move, and so before its hand is over.
        forfeits = (self._endings[indices] != 0) & (after["public"]["phase"] == PLAYING)
        moved = np.flatnonzero(~forfeits)
        if not len(moved):
            return
        players = after["public"]["rules"]["players"][moved]
        absent = np.arange(self.reward.shape[1]) >= players[:, None]
        try:
            rewards = reward(before[0][moved], actions[moved], after[moved])
            self.reward[indices[moved]] = np.where(
                absent, 0, checked_rewards(rewards, *absent.shape)
            )
        except BaseException:
            for array, kept in zip(arrays, before, strict=True):
                array[indices] = kept
            raise

    def _restart(self, indices: np.ndarray) -> None:
        restart_ended(
            self._games, indices, self._endings, self._keys, self._episodes_played, self._finals
        )

    def _observe_slice(self, part: slice) -> None:
        views = self._scratch.views[: part.stop - part.start]
        observe_games(self._games, self._all[part], views, self.action_mask, self.turn)
        self._rows.write(views, self.observation[part])
        if len(self.oracle):
            write_truths(self._games[part], self.turn[part].astype(np.int64), self.oracle[part])

    def _update_endings(self) -> None:
        np.equal(self._endings, ENDED, out=self.terminated)
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

        working = [self._pool.submit(work_on_share, share) for share in shares]
        try:
            for thread in working:
                thread.result()
        finally:
            wait(working)  # nobody works on once this has been interrupted, or one has failed


def _copied(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array, with the bytes between the fields of structs."""
    copied = np.empty_like(array)
    copied.view(np.uint8)[:] = array.view(np.uint8)
    return copied


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _checked_count(value: object, most: int, kind: str) -> int:
    count = whole(value, 1, most)
    if count is None:
        raise OptionError(f"a batch needs 1 to {most:,} {kind}s, not {shown(value)}")
    return count
