"""The PettingZoo AEC environment, `env` and `raw_env`.

    env = fiveup_env.env(players=4, render_mode="ansi")
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        done = termination or truncation
        env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))

| | |
| --- | --- |
| agents | `player_0` ... `player_4`, by seat |
| observation | `{"observation": row of the encoder, "action_mask": int8, 1 where legal}` |
| rows | int8; with `scaled=True` float32, each entry multiplied by its factor |
| action | `Discrete(121)`, the action table of `fiveup_env.rules.actions` |
| turns | forced draws and passes take no turn; a player may move twice in a row |
| rewards | see docs/understand/rewards.md |
| end | all agents terminate together; `max_hands` truncates |
| infos | at the end, for every agent: `winner` (a side, or -1), `scores` (by side) and `ended` |
| state | seat 0's `flat` observation, then what is hidden from seat 0 |

`ended` says how the last hand ended: `domino`, `blocked` or `target`, or `illegal` where an illegal
action ended the episode.

Version history: v0, the first.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from fiveup_env.checks import is_one_of, whole
from fiveup_env.encoders import Encoder, bounds, get_encoder, row_size
from fiveup_env.encoders.truth import TRUTH_PIECES, TRUTH_SIZE, write_truths
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.legality import is_legal_at
from fiveup_env.engine.state import GAME, VIEW
from fiveup_env.engine.view import observe_seats, unchecked_masks
from fiveup_env.envs.episodes import (
    CUT_OFF,
    ENDED,
    HOW_TO_TERMINATE,
    Episodes,
    refusal,
    results_of,
    start_episodes,
    state_to_start,
    step_games,
)
from fiveup_env.envs.options import EpisodeOptions, check_fields
from fiveup_env.envs.rewards import RewardFunction, checked_rewards
from fiveup_env.envs.rows import Rows, RowSpace
from fiveup_env.envs.streams import Stream
from fiveup_env.errors import (
    GameOverError,
    IllegalMoveError,
    OptionError,
    SeatError,
    WrongMomentError,
    shown,
    unknown,
)
from fiveup_env.game.game import Game
from fiveup_env.rules.actions import ACTION_COUNT, MOVES
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from typing_extensions import Unpack

    from fiveup_env.envs.episodes import EpisodeName, IllegalName, RewardName
    from fiveup_env.rules.fields import RuleFields

RenderMode: TypeAlias = Literal["ansi", "human", "rgb_array", "rgb_array_list", "svg"]
Eyes: TypeAlias = int | Literal["mover", "all"]
RENDER_MODES: Final[tuple[RenderMode, ...]] = get_args(RenderMode)
FIRST = np.zeros(1, np.int64)  # the index of the only game


class Options(EpisodeOptions, total=False):
    """The keywords of `raw_env`, but for `eyes`."""

    reward: RewardName | RewardFunction
    render_mode: RenderMode | None


def env(
    rules: str | Rules = "five_up",
    players: int | None = None,
    *,
    eyes: Eyes = "mover",
    **options: Unpack[Options],
) -> AECEnv:
    """Return a `raw_env`, wrapped in PettingZoo's check that its methods are called in order.

    The options are those of `raw_env`, which refuses actions out of bounds itself, and ends an
    episode at an illegal action on request: it needs no other wrapper.

    >>> game = env(players=2)
    >>> game.reset(seed=7)
    >>> observation, reward, termination, truncation, info = game.last()
    >>> game.agent_selection, observation["observation"].shape, observation["action_mask"].sum()
    ('player_0', (557,), np.int64(5))
    """
    return wrappers.OrderEnforcingWrapper(raw_env(rules, players, eyes=eyes, **options))


class raw_env(AECEnv[str, "dict[str, np.ndarray]", int]):  # noqa: N801  (PettingZoo's name for it)
    """The environment without wrappers.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as `rules` has, and 4 for a preset.
        episode: A whole `game`, or a single `hand`.
        reward: What a move brings each seat: `win`, `points` or `margin`
            (docs/understand/rewards.md), or a function of (before, move, after), a `Game` before
            the move, the `Move`, and a `Game` after it, which returns a number for each seat. It is
            called for every move, an illegal one excepted, before the environment makes it: if it
            raises or returns anything else, nothing has changed. Its price: the environment then
            keeps a `Game` beside its own state, and copies it at every move.
        max_hands: The number of hands after which an episode is cut off; 0 means never.
        illegal: Whether an illegal action raises an `error`, or makes the episode `terminate` with
            `illegal_reward` for its player and 0 for the others.
        illegal_reward: That reward.
        encoder: The encoder of the observations, or its name.
        scaled: Whether observations are float32, each entry multiplied by its factor
            (docs/understand/encoding.md), as networks need them; otherwise they are int8.
        render_mode: One of RENDER_MODES: text (`ansi`), a window (`human`), an RGB array
            (`rgb_array`), the list of those of all moves since the last call (`rgb_array_list`),
            or SVG (`svg`).
        eyes: The seat that pictures are drawn for, or the `mover`, the seat to move: other hands
            lie face down until the hand has ended. `all` shows them all.
        **fields: Fields of the rules that override those of `rules`.

    Attributes:
        rules: the rules of the game.
        encoder: the encoder of the observations.
        render_mode: the render mode, or None.
        eyes: the seat that pictures are drawn for, `mover` or `all`; it may be set at any time.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If the number of players is not from 2 to 5, or there is no seat `eyes`.
        EncoderError: If there is no such encoder.
        OptionError: If another option has a value that is not allowed.
    """

    metadata: Mapping[str, Any] = {
        "name": "fiveup_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        episode: EpisodeName = "game",
        reward: RewardName | RewardFunction = "win",
        max_hands: int = 0,
        illegal: IllegalName = "error",
        illegal_reward: float = -1.0,
        encoder: str | Encoder = "flat",
        scaled: bool = False,
        render_mode: RenderMode | None = None,
        eyes: Eyes = "mover",
        **fields: Unpack[RuleFields],
    ) -> None:
        """Make the environment; `reset` starts its first episode."""
        super().__init__()
        check_fields(fields, raw_env)
        if render_mode is not None and not is_one_of(render_mode, RENDER_MODES):
            raise OptionError(unknown("render mode", render_mode, RENDER_MODES))
        self.rules = Rules.of(rules, players, **fields)
        self._reward = reward if callable(reward) else None
        self._options = Episodes(
            episode, "points" if callable(reward) else reward, max_hands, illegal, illegal_reward
        )
        self._rows = Rows(encoder, scaled=scaled)
        self.encoder = self._rows.encoder
        self.eyes: Eyes = checked_eyes(eyes, self.rules.players, "mover")
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self.agents: list[str] = []
        self._names = tuple(self.possible_agents)
        self._seats = {name: np.array([seat]) for seat, name in enumerate(self._names)}
        self._observation_spaces = {name: self._space() for name in self._names}
        self._action_spaces = {name: Discrete(ACTION_COUNT) for name in self._names}
        self._games = np.zeros(1, GAME)
        self._games["public"]["rules"] = self.rules.to_struct()
        self._views = np.zeros(1, VIEW)
        self._rewards = np.zeros((1, self.rules.players), np.float32)
        self._ending = np.zeros(1, np.int8)
        self._actions = np.zeros(1, np.int64)
        self._stream = Stream(secrets.randbits(63))
        self._seed: int | None = None
        self._start: Game | None = None  # which the episode continues
        self._game: Game | None = None
        self._made: list[int] = []
        self._over = False  # by the last move, which ended a hand
        self._film: Game | None = None  # at the last picture of `rgb_array_list`
        self._window: Any = None

    def _space(self) -> Dict:
        mask = Box(0, 1, (ACTION_COUNT,), np.int8)
        return Dict({"observation": self._rows.space(), "action_mask": mask})

    def observation_space(self, agent: str) -> Dict:
        """Return the space of an agent's observations."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Return the space of an agent's actions."""
        return self._action_spaces[agent]

    @property
    def state_space(self) -> Box:
        """The space of `state()`: one int8 for each entry, which is never scaled."""
        low, high = bounds(flat := get_encoder("flat"))
        truth = np.concatenate([np.full(piece.size, piece.high, np.int8) for piece in TRUTH_PIECES])
        least = np.concatenate([low, np.zeros(TRUTH_SIZE, np.int8)])
        most = np.concatenate([high, truth])
        return RowSpace(least, most, np.dtype(np.int8), "state", flat.version)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start an episode with this seed, or with the next one of the stream.

        A seed names the deal, `Game(seed=seed)`, and starts the stream of later episodes anew. The
        first stream is random if no seed is given. The option `game` continues a `Game` by the same
        rules instead of a new deal; other options are ignored. Raises SeedError, or OptionError for
        a game that an episode cannot continue.
        """
        start = options.get("game") if isinstance(options, dict) else None
        state = None if start is None else self.state_to_start(start)
        if seed is None:
            seed = self._stream.next()
        else:
            seed = checked_seed(seed)
            self._stream = Stream(seed)
        self._seed, self._start = seed, None if start is None else start.copy()
        if state is None:
            start_episodes(self._games, FIRST, np.array([seed], np.uint64))
        else:
            self._games[:] = state
        self._game, self._made = None, []
        self._over, self._film = False, None
        self.agents = list(self._names)
        self.rewards = dict.fromkeys(self._names, 0.0)
        self._cumulative_rewards = dict.fromkeys(self._names, 0.0)
        self.terminations = dict.fromkeys(self._names, False)
        self.truncations = dict.fromkeys(self._names, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self._names}
        self.agent_selection = self._names[self._turn]
        self._skip_agent_selection = None
        if self.render_mode == "human":
            self.render()

    def state_to_start(self, game: Game) -> np.ndarray:
        """Return the state from which `reset` continues a game; raise as that does."""
        return state_to_start(game, self.rules, self._options)

    def step(self, action: int | None) -> None:
        """Make the move of `agent_selection`; the action is None once its episode is over.

        Raises IllegalMoveError if the action is illegal, and then changes nothing; raises
        GameOverError if there is no episode.
        """
        if not self.agents:
            raise GameOverError("there is no episode to step: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = whole(action, 0, ACTION_COUNT - 1)
        legal = number is not None and is_legal_at(self._games, 0, number)
        if not legal and not self._options.terminates:
            raise IllegalMoveError(f"{agent}: {refusal(self._games, 0, action)}{HOW_TO_TERMINATE}")
        self._actions[0] = -1 if number is None else number
        self._move(legal=legal)
        self._cumulative_rewards[agent] = 0.0
        for name, reward in zip(self._names, self._rewards[0].tolist(), strict=True):
            self.rewards[name] = reward
            self._cumulative_rewards[name] += reward
        ending = self._ending[0]
        if ending == ENDED:
            self.terminations = dict.fromkeys(self._names, True)
        elif ending == CUT_OFF:
            self.truncations = dict.fromkeys(self._names, True)
        if ending:
            episode = self._options.codes.episode
            results = results_of(self._games, FIRST, episode, self.rules.sides)
            self.infos = {name: results.of(0) for name in self._names}
        self.agent_selection = self._names[self._turn]
        if self.render_mode == "human":
            if legal and not self._over and self._replayed().hand_over:
                self._show(finished=True)
            self.render()

    def _move(self, *, legal: bool) -> None:
        """Make the move in `_actions`, and write what it brought every seat."""
        # A reward that is refused leaves everything as it was.
        brought = self._brought(self._reward) if self._reward and legal else None
        step_games(
            self._games, FIRST, self._actions, self._options.codes, self._rewards, self._ending
        )
        if legal:
            self._made.append(int(self._actions[0]))
            self._over = bool(self._ending[0])
        if brought is not None:
            self._rewards[0] = brought

    def _brought(self, reward: RewardFunction) -> np.ndarray:
        """Return the rewards by a reward function for the move in `_actions`, one per seat."""
        before, move = self.game, MOVES[self._actions[0]]
        after = before.copy()
        after.push(move)
        return checked_rewards(reward(before, move, after), self.rules.players)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return an agent's observation; its mask is all 0 unless the agent is to move."""
        self._look(agent)
        row = self._rows.empty(1)
        self._rows.write(self._views, row)
        return {"observation": row[0], "action_mask": unchecked_masks(self._views)[0]}

    def view(self, agent: str) -> np.ndarray:
        """Return the view of an agent, as opponents take it: an array of one VIEW struct."""
        self._look(agent)
        return self._views.copy()

    def _look(self, agent: str) -> None:
        """Write the view of an agent to `_views`."""
        self._check_started()
        if agent not in self._seats:
            raise SeatError(unknown("agent", agent, self._names))
        observe_seats(self._games, FIRST, self._seats[agent], self._views)

    def state(self) -> np.ndarray:
        """Return the full state (int8): seat 0's `flat` row, then what is hidden from seat 0."""
        self._check_started()
        flat, first = get_encoder("flat"), self._names[0]
        row = np.empty((1, row_size(flat)), np.int8)
        flat.encode(self.view(first), row)
        return np.concatenate([row[0], self.hidden_from(first)])

    def hidden_from(self, agent: str) -> np.ndarray:
        """Return what is hidden from an agent: the row that `Batch(oracle=True)` has (int8)."""
        self._look(agent)
        hidden = np.empty((1, TRUTH_SIZE), np.int8)
        write_truths(self._games, self._seats[agent], hidden)
        return hidden[0]

    @property
    def game(self) -> Game:
        """A copy of the episode so far as a `Game`, to inspect, record or play on from here.

        Where the episode is a single hand, the `Game` goes on with the next one.
        """
        return self._replayed().copy()

    def _replayed(self) -> Game:
        """Return the environment's own `Game`, brought up to the last move."""
        self._check_started()
        if self._game is None:
            self._game = self._begun()
        for action in self._made[len(self._game.moves) - self._moves_before :]:
            self._game.push(MOVES[action])
        return self._game

    def _begun(self) -> Game:
        """Return the game as the episode began."""
        return self._start.copy() if self._start else Game(self.rules, seed=self._seed)

    @property
    def _moves_before(self) -> int:
        return len(self._start.moves) if self._start else 0

    def _check_started(self) -> None:
        if self._seed is None:
            raise WrongMomentError("call reset() first: no episode has started")

    def render(self) -> str | np.ndarray | list[np.ndarray] | None:
        """Draw the game: return text, SVG or RGB arrays, or show a window and return None.

        `render_mode` chooses which. At the end of an episode, the last hand is drawn as it ended.
        With `rgb_array_list`, there is a picture of every position since the last call or `reset`,
        of the opponents' moves too, and one of every hand as it ended. Raises OptionError if the
        environment has no render mode.
        """
        if self.render_mode is None:
            raise OptionError(
                f"make the environment with a render_mode to render it: {', '.join(RENDER_MODES)}"
            )
        game, over = self._replayed(), self._over
        if self.render_mode == "ansi":
            from fiveup_env.drawing.transcript import table_text

            return table_text(game, hands=self._hands(game, finished=over), finished=over)
        if self.render_mode == "svg":
            return self._repr_svg_()
        if self.render_mode == "human":
            self._show(finished=over)
            return None
        from fiveup_env.drawing.window import pixels

        if self.render_mode == "rgb_array":
            return pixels(game, hands=self._hands(game, finished=over), finished=over)
        return [
            pixels(game, hands=self._hands(game, finished=finished), finished=finished)
            for game, finished in self._positions()
        ]

    def _positions(self) -> Iterator[tuple[Game, bool]]:
        """Yield the game at every position since the last picture, and whether to draw its end."""
        if self._film is None:
            self._film = self._begun()
            yield self._film, False
        for number in range(len(self._film.moves) - self._moves_before, len(self._made)):
            self._film.push(MOVES[self._made[number]])
            last = self._over and number + 1 == len(self._made)
            if self._film.hand_over or last:
                yield self._film, True
            if not last:
                yield self._film, False

    def _show(self, *, finished: bool) -> None:
        """Show the game in the window."""
        from fiveup_env.drawing.window import Window

        if self._window is None:
            self._window = Window(self.metadata["render_fps"])
        game = self._replayed()
        self._window.show(game, hands=self._hands(game, finished=finished), finished=finished)

    def _hands(self, game: Game, *, finished: bool) -> Collection[int] | None:
        """Return the seats whose hands a picture shows; None means all."""
        seat = game.turn if self.eyes == "mover" else self.eyes
        return None if finished or seat is None or seat == "all" else (seat,)

    def _repr_svg_(self) -> str:
        """Return the game drawn as SVG, which notebooks show."""
        from fiveup_env.drawing.svg import game_svg

        game, over = self._replayed(), self._over
        return game_svg(game, hands=self._hands(game, finished=over), finished=over)

    def close(self) -> None:
        """Close the window, if one is open."""
        if self._window is not None:
            self._window.close()
            self._window = None

    @property
    def _turn(self) -> int:
        return int(self._games["public"]["turn"][0])


def checked_eyes(eyes: object, players: int, follower: str) -> Any:
    """Return a seat, `all` or the word for eyes that change; raise a SeatError if it is neither."""
    if is_one_of(eyes, (follower, "all")):
        return eyes
    seat = whole(eyes, 0, players - 1)
    if seat is None:
        raise SeatError(
            f"eyes must be from 0 to {players - 1}, {follower} or all, not {shown(eyes)}"
        )
    return seat
