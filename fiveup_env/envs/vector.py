"""The Gymnasium vector environment: thousands of learners, each among opponents, in arrays.

    envs = gymnasium.make_vec("fiveup/FiveUp-v0", num_envs=4096, opponents="partner")

Every game has one learner; with partners, one of the opponents is its partner. A step is the
learners' moves and everything up to their next turns: its rewards are for all of that, the ends of
episodes included. The games are one `Batch`, so opponents choose for all games at once.

| | |
| --- | --- |
| observations | int8 (float32 with `scaled=True`), [num_envs, entries of the encoder's row] |
| actions | `MultiDiscrete([121] * num_envs)`; legal ones by `infos["action_mask"]` (int8) |
| `mask="observation"` | a dict of such arrays, `observation` and `action_mask` (bool), instead |
| ends of episodes | by `autoreset_mode`, as Gymnasium defines the three modes |
| how they ended | `winner` (a side, or -1), `scores` and `ended`, where `_winner` is true |
| final observations | `infos["final_obs"]`, where `infos["_final_obs"]` is true (same-step mode) |

How episodes ended is in `infos`, and in same-step mode in `infos["final_info"]`. A game that waits
at its end for a reset takes no action. Its mask allows the pass alone, action 120, which is
ignored: a masked distribution over it is certain, and so has neither entropy nor a gradient.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv

from fiveup_env.checks import is_one_of, whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.state import PLAYING
from fiveup_env.envs.batch import Batch, BatchOptions
from fiveup_env.envs.opponents import OpponentChoice, Opponents
from fiveup_env.envs.options import as_array, check_fields, reset_options, row_of_integers
from fiveup_env.envs.rows import masks_in_observations, space_with_mask, with_mask
from fiveup_env.errors import (
    IllegalMoveError,
    OptionError,
    SeatError,
    WrongMomentError,
    shown,
    unknown,
)
from fiveup_env.native import Bools, Doubles, FloatRows, Int8s, Int64s, compiled
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.actions import ACTION_COUNT, PASS
from fiveup_env.sealed import seal, sealed_array, unseal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Unpack

    from fiveup_env.envs.episodes import Results
    from fiveup_env.envs.rows import MaskPlace
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

ModeName: TypeAlias = Literal["NextStep", "SameStep", "Disabled"]

SAVED: Final = "saved vector environment"
STATE: Final = ("_seats", "_fresh", "_over", "_before_first_turn")  # saved, beside the batch


class VectorOptions(BatchOptions, total=False):
    """The keywords of `FiveUpVectorEnv`, for interfaces that hand them on."""

    opponents: OpponentChoice
    seat: int | None


class FiveUpVectorEnv(VectorEnv[Any, np.ndarray, np.ndarray]):
    """Games with one learner each.

    Args:
        num_envs: The number of games.
        rules: The name of a preset, a `Rules`, or a list of them.
        players: 2 to 5, or a list of numbers; None means as many as the rules have. The games take
            every combination of `rules` and `players` in turn.
        opponents: An agent or its spec for all other seats; a list with one for each of them, in
            order of play from the seat after the learner's, wherever that is; or a dict by seat of
            the game, which needs a fixed `seat`.
        seat: The learner's seat; None moves it on by one seat in every episode.
        mask: Where the legal actions are: in `info`, or in the `observation`, which is then a dict.
        autoreset_mode: One of Gymnasium's modes, or its value.
        render_mode: None; many games cannot be rendered.
        **options: Those of `Batch`, and fields of the rules that override those of `rules`.

    Attributes:
        batch: the games.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If a game does not have the seat, or that number of players.
        SeedError: If the seed is not from 0 to 2**64 - 1.
        AgentError: If there is no such agent.
        EncoderError: If there is no such encoder.
        OptionError: If another option has a value that is not allowed.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012  (Gymnasium's)

    def __init__(
        self,
        num_envs: int = 256,
        rules: str | Rules | Sequence[str | Rules] = "five_up",
        players: int | Sequence[int] | None = None,
        *,
        opponents: OpponentChoice = "random",
        seat: int | None = None,
        mask: MaskPlace = "info",
        autoreset_mode: ModeName | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
        **options: Unpack[BatchOptions],
    ) -> None:
        """Make the games; `reset` deals them."""
        check_fields(options, FiveUpVectorEnv, Batch)
        if render_mode is not None:
            raise OptionError("many games cannot be rendered; make one, with gymnasium.make")
        self.batch = Batch(num_envs, rules, players, **options)
        self.num_envs = len(self.batch)
        self._players = self.batch.states["public"]["rules"]["players"].astype(np.int64)
        fewest = int(self._players.min())
        self._fixed_seat = None if seat is None else whole(seat, 0, fewest - 1)
        if seat is not None and self._fixed_seat is None:
            raise SeatError(
                f"seat must be from 0 to {fewest - 1} to exist in every game, not {shown(seat)}"
            )
        self._lineups = [self._made(opponents)]
        self._lineup = np.zeros(self.num_envs, np.int64)  # the index of a game's opponents
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        self._masked = masks_in_observations(mask)
        spaces = self.batch.observation_space(), self.batch.observation_space(self.num_envs)
        self.single_observation_space, self.observation_space = (
            map(space_with_mask, spaces) if self._masked else spaces
        )
        self.single_action_space = Discrete(ACTION_COUNT)
        self.action_space = MultiDiscrete(np.full(self.num_envs, ACTION_COUNT))
        self._random = keyed_rng("vector", self.batch.seed)
        self._started = False
        self._all = np.arange(self.num_envs)
        self._seats = np.zeros(self.num_envs, np.int64)
        self._fresh = np.ones(self.num_envs, np.bool_)  # the learner has not had a turn yet
        self._over = np.zeros(self.num_envs, np.bool_)  # at its end, and waiting for a reset
        self._before_first_turn = np.zeros(self.num_envs)
        self._waiting = np.zeros(self.num_envs, np.int64)  # scratch

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of every learner: bool, [num_envs, 121]."""
        return self._masks().astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every game, and let the others move up to the learners' first turns.

        A seed fixes all that follows. None starts from the seed that the environment was made with,
        a random one if it was None too; later, every game goes on to its next episode. The
        option `deals` names the deal of each game instead (`Game(seed=deals[i])`), `games` has a
        `Game` for each to continue, and `reset_mask` (an array of bool) says which games to reset.
        """
        deals, games, chosen = reset_options(options, "deals", "games", "reset_mask")
        if chosen is not None:
            if not (seed is deals is games is None):
                raise OptionError("reset_mask takes neither a seed nor deals nor games: all go on")
            self._restart(self._checked_mask(chosen))
            self._others_move(np.zeros(self.num_envs), _Ends(self.num_envs))
            return self._observations(), self._infos()
        rng = self._random if seed is None else keyed_rng("vector", checked_seed(seed))
        if games is not None:
            self.batch.states_to_adopt(games, self._all)  # refused, it changes nothing
        self.batch.reset(seed if deals is None else deals)
        if games is not None:
            self.batch.adopt(games)
        self._random = rng
        self._seats[:] = self._all % self._players if self._fixed_seat is None else self._fixed_seat
        self._fresh[:], self._over[:], self._before_first_turn[:] = True, False, 0
        self._lineup[:] = len(self._lineups) - 1
        self._others_move(np.zeros(self.num_envs), _Ends(self.num_envs))
        return self._observations(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Make the learners' moves, and let the others move up to the learners' next turns.

        In next-step mode, games that ended with the last step are reset instead of moved. Raises
        IllegalMoveError if a learner's action is illegal (unless `illegal="terminate"`), and then
        changes nothing; raises WrongMomentError before the first `reset`.
        """
        if not self._started:
            raise WrongMomentError("call reset() before step()")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise WrongMomentError(
                "episodes have ended: call reset(options={'reset_mask': terminated | truncated})"
            )
        actions = row_of_integers(actions, "actions", self.num_envs)
        waiting, moving = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        self.batch.advance(actions[moving], moving)
        rewards = np.where(self._over, 0, self._before_first_turn)
        self._before_first_turn[moving] = 0
        ends = _Ends(self.num_envs)
        self._collect(moving, rewards, ends)
        self._restart(waiting)
        self._others_move(rewards, ends)
        return (
            self._observations(),
            rewards,
            ends.terminated,
            ends.truncated,
            self._infos() | ends.infos(),
        )

    def set_opponents(self, opponents: OpponentChoice) -> None:
        """Play against other opponents, in each game from its next episode on.

        They are given as at the start. Games that are loaded are against them at once: a saved
        state holds no opponents. Raises as making the environment does.
        """
        newest = self._made(opponents)
        met, self._lineup = np.unique(self._lineup, return_inverse=True)
        self._lineups = [*(self._lineups[k] for k in met), newest]

    def _made(self, opponents: OpponentChoice) -> Opponents:
        return Opponents(opponents, self._players.tolist(), self._fixed_seat)

    def save(self) -> bytes:
        """Return the whole state of the games, but for the opponents, for `load`."""
        arrays = {name: getattr(self, name) for name in STATE}
        arrays["batch"] = np.frombuffer(self.batch.save(), np.uint8)
        return seal(SAVED, arrays, {"chance": self._random.bit_generator.state})

    def load(self, state: bytes) -> None:
        """Continue from a state that games with the same options have saved.

        Raises SealError if the state is damaged, and OptionError if it is of other games, or such
        as no play leads to.
        """
        arrays, about = unseal(SAVED, state)
        kept = {name: sealed_array(arrays, name, getattr(self, name)) for name in STATE}
        games = self.batch.read(arrays["batch"].tobytes() if "batch" in arrays else b"")
        self._check(games["_games"]["public"], kept)
        self._set_chance(about.get("chance"))
        self.batch.restore(games)
        for name, array in kept.items():
            getattr(self, name)[:] = array
        self._lineup[:] = len(self._lineups) - 1
        self._started = True

    def _check(self, public: np.ndarray, kept: dict[str, np.ndarray]) -> None:
        """Raise an OptionError unless every learner is to move, or its episode is over."""
        seats, fresh, over, before = (kept[name] for name in STATE)
        to_move = (public["phase"] == PLAYING) & (public["turn"] == seats) & ~fresh
        right = (seats >= 0) & (seats < self._players) & (over | to_move) & np.isfinite(before)
        flags = np.concatenate([fresh, over]).view(np.uint8)
        if flags.max() > 1 or not right.all():
            raise OptionError("the saved games have learners that are not to move")

    def _set_chance(self, state: Any) -> None:
        """Set the state of the generator; raise an OptionError if it is not one."""
        try:
            self._random.bit_generator.state = state
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError):
            raise OptionError("the saved games have no state of their chance") from None

    def _observations(self) -> Any:
        """Return the observation of every learner: at its turn, or at the end of its episode."""
        self.batch.observe()
        rows = self.batch.observation.copy()
        over = np.flatnonzero(self._over)
        if len(over):
            rows[over] = self.batch.observations_of(over, self._seats[over])
        return with_mask(rows, self._masks()) if self._masked else rows

    def _finals(self, games: np.ndarray) -> list[Any]:
        """Return the final observations of the learners of some games."""
        rows = self.batch.observations_of(games, self._seats[games])
        if not self._masked:
            return list(rows)
        mask = np.arange(ACTION_COUNT) == PASS
        return [with_mask(row, mask) for row in rows]

    def _infos(self) -> dict[str, Any]:
        if self._masked:
            return {}
        return {"action_mask": self._masks(), "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _masks(self) -> np.ndarray:
        """Return the legal actions of every learner, and only the pass where it has no turn."""
        masks = self.batch.action_mask.copy()
        masks[self._over] = 0
        masks[self._over, PASS] = 1
        return masks

    def _others_move(self, rewards: np.ndarray, ends: _Ends) -> None:
        """Move the opponents in every game until it is the learner's turn, or over.

        Raises IllegalMoveError if an opponent chooses an illegal action; the games are then half
        moved, and have to be reset.
        """
        self._started = False
        while count := find_waiting(
            self.batch.turn, self._seats, self._over, self._fresh, self._waiting
        ):
            waiting = self._waiting[:count]
            for agent, games in self._shares(waiting):
                chosen = agent(self.batch.views(games), self._random)
                try:
                    self.batch.advance(chosen, games, strictly=True)
                except (IllegalMoveError, OptionError) as error:
                    raise IllegalMoveError(f"an opponent chose wrongly: {error}") from error
                self._collect(games, rewards, ends)
        self._started = True

    def _shares(self, waiting: np.ndarray) -> Iterator[tuple[Agent, np.ndarray]]:
        """Yield what chooses in games that wait for an opponent, and the indices of its games."""
        lineup = self._lineup[waiting]
        for k, opponents in enumerate(self._lineups):
            games = waiting if len(self._lineups) == 1 else waiting[lineup == k]
            seats = self.batch.turn[games].astype(np.int64)
            for agent, positions in opponents.shares(
                seats,
                self._seats[games],
                self._players[games],
                partial(self._chances, games),
            ):
                yield agent, games[positions]

    def _chances(self, games: np.ndarray, positions: np.ndarray, place: int) -> np.ndarray:
        """Return the keys that draw the members of mixtures, for the games at some positions."""
        return self.batch.chances(games[positions], place)

    def _collect(self, moved: np.ndarray, rewards: np.ndarray, ends: _Ends) -> None:
        """Add the rewards of a move to the learners, and end their episodes.

        What happens before a learner's first turn counts towards its first step. An episode that
        ends before that turn is followed by the next one, and no learner hears of it.
        """
        batch = self.batch
        add_rewards(moved, self._seats, batch.reward, self._fresh, self._before_first_turn, rewards)
        ended = (batch.terminated | batch.truncated)[moved]
        if not ended.any():
            return
        fresh = self._fresh[moved]
        over, restarted = moved[ended & ~fresh], moved[ended & fresh]
        if len(over):
            ends.terminated[over] = batch.terminated[over]
            ends.truncated[over] = batch.truncated[over]
            ends.keep(over, batch.results_of(over))
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                ends.keep_finals(over, self._finals(over))
                restarted = moved[ended]
            else:
                self._over[over] = True
        if len(restarted):
            self._restart(restarted)

    def _restart(self, indices: np.ndarray) -> None:
        """Start the next episode in some of the games."""
        if not len(indices):
            return
        self._before_first_turn[indices] = 0
        self._fresh[indices], self._over[indices] = True, False
        self._lineup[indices] = len(self._lineups) - 1
        self.batch.begin(indices)
        if self._fixed_seat is None:
            self._seats[indices] = (self._seats[indices] + 1) % self._players[indices]

    def _checked_mask(self, chosen: object) -> np.ndarray:
        """Return the indices where a reset mask is true."""
        if not self._started:
            raise WrongMomentError("call reset() without a reset_mask first")
        wanted = f"an array of {self.num_envs} bool with one that is true"
        mask = as_array(chosen, "reset_mask", wanted)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise OptionError(f"reset_mask must be {wanted}")
        return np.flatnonzero(mask)


@compiled
def find_waiting(turn: Int8s, seats: Int64s, over: Bools, fresh: Bools, waiting: Int64s) -> int:
    """List the games in which an opponent is to move, and return how many they are.

    Where a learner is to move, its episode is fresh no more.
    """
    count = 0
    for i in range(len(turn)):
        if over[i]:
            continue
        if turn[i] == seats[i]:
            fresh[i] = False
        else:
            waiting[count] = i
            count += 1
    return count


@compiled
def add_rewards(
    moved: Int64s,
    seats: Int64s,
    brought: FloatRows,
    fresh: Bools,
    before: Doubles,
    rewards: Doubles,
) -> None:
    """Add the rewards of a move to each learner's step, or to those before its first turn."""
    for i in moved:
        if fresh[i]:
            before[i] += brought[i, seats[i]]
        else:
            rewards[i] += brought[i, seats[i]]


class _Ends:
    """The episodes that ended with a step."""

    def __init__(self, games: int) -> None:
        self.terminated = np.zeros(games, np.bool_)
        self.truncated = np.zeros(games, np.bool_)
        self._finals: np.ndarray | None = None
        self._results: dict[str, np.ndarray] = {}

    def keep(self, games: np.ndarray, results: Results) -> None:
        """Keep how the episodes ended that have ended in these games."""
        for name, values in results._asdict().items():
            if name not in self._results:
                shape = (len(self.terminated), *values.shape[1:])
                empty = None if values.dtype == object else 0
                self._results[name] = np.full(shape, empty, values.dtype)
                self._results[f"_{name}"] = np.zeros(len(self.terminated), np.bool_)
            self._results[name][games], self._results[f"_{name}"][games] = values, True

    def keep_finals(self, games: np.ndarray, observations: list[Any]) -> None:
        """Keep what learners observe at their ends, where the next episodes start at once."""
        if self._finals is None:
            self._finals = np.full(len(self.terminated), None, object)
        for game, observation in zip(games.tolist(), observations, strict=True):
            self._finals[game] = observation

    def infos(self) -> dict[str, Any]:
        """Return Gymnasium's infos on what ended."""
        if self._finals is None:
            return self._results
        over = self.terminated | self.truncated
        return {
            "final_obs": self._finals,
            "_final_obs": over,
            "final_info": self._results,
            "_final_info": over,
        }


def _mode(chosen: ModeName | AutoresetMode) -> AutoresetMode:
    """Return a mode of Gymnasium's, given as such or by its value."""
    modes = [mode.value for mode in AutoresetMode]
    if not isinstance(chosen, AutoresetMode) and not is_one_of(chosen, modes):
        raise OptionError(unknown("autoreset_mode", chosen, modes))
    return AutoresetMode(chosen)
