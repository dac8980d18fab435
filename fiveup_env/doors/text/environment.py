r"""The environment for language models: text in, text out, in Gymnasium's way.

    env = TextEnv("five_up", players=2, opponents="greedy", prompt="deductions")
    prompt, info = env.reset(seed=7)
    prompt, reward, terminated, truncated, info = env.step("I lead high.\nlead 5-0")

A step is one answer. A legal move is made, and the others move up to the next turn. An answer that
is not a legal move costs what `Costs` says; the prompt is then the same, after a
sentence that says what was wrong. After `Costs.tries` of them in one position the episode ends.
"""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Text

from fiveup_env.analysis.trials import REFERENCE, Trials, key_of, shortfalls
from fiveup_env.checks import finite, is_one_of, whole
from fiveup_env.doors.text.prompts import KINDS, move_in, notes_after, prompt
from fiveup_env.doors.text.tools import MOST_ASKED, asked_in, checked_tools, how_to_ask, told
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.episodes import REWARDS
from fiveup_env.envs.options import check_fields
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import (
    IllegalMoveError,
    InvalidMoveError,
    OptionError,
    WrongMomentError,
    shown,
    unknown,
)
from fiveup_env.game.view_words import move_words
from fiveup_env.rules.actions import MOVES

if TYPE_CHECKING:
    from collections.abc import Collection

    from typing_extensions import Unpack

    from fiveup_env.doors.text.prompts import PromptKind
    from fiveup_env.envs.episodes import EpisodeName, RewardName
    from fiveup_env.envs.opponents import OpponentChoice
    from fiveup_env.game.game import Game
    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.fields import RuleFields, Rules

LONGEST_PROMPT: Final = 50_000  # characters
LONGEST_ANSWER: Final = 50_000
MOST_WORLDS: Final = 100_000
CHARACTERS: Final = "".join(sorted(set(string.printable) - set("\x0b\x0c\r\t")))


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Penalties for unreadable answers and illegal moves.

    Args:
        unreadable: Taken from the reward for an answer that is not a move.
        illegal: Taken from the reward for a move that is not legal.
        tries: How many such answers in one position end the episode.
        forfeit: The reward for an episode that ends so.
    """

    unreadable: float = 0.1
    illegal: float = 0.1
    tries: int = 3
    forfeit: float = -1.0

    def __post_init__(self) -> None:
        """Refuse costs that are not numbers, and no tries at all."""
        for name in ("unreadable", "illegal", "forfeit"):
            if finite(getattr(self, name)) is None:
                raise OptionError(f"{name} is a finite number, not {shown(getattr(self, name))}")
        if whole(self.tries, 1, 1_000) is None:
            raise OptionError(f"tries is a whole number from 1 to 1000, not {shown(self.tries)}")


class TextEnv(gymnasium.Env[str, str]):
    """One language model among opponents.

    `info` has the `legal` moves in words and, after a step, the `move` that was made, or the tool
    that was `asked`, or the `error` of the answer and whether it was `unreadable`. Where moves are
    judged, it has the `loss` of the move: `chance`, of winning the game, and `points`, of the hand,
    as `analysis.judge` says them; with `reward="loss"` also the points as `outcome`. At the end it
    has the `win` (1, or 0), the `margin` over the best other side, and the `winner`, the `scores`
    and how it `ended`, as `FiveUpEnv` says them.

    Args:
        rules, players, opponents, seat, episode, max_hands: Those of `FiveUpEnv`.
        reward: `win`, `points` or `margin`, as there, or `loss`: what each move costs against the
            best one in expected points, taken from 0.
        prompt: `bare`, `deductions` or `notes`.
        list_moves: Whether the prompt lists the legal moves.
        costs: What wrong answers and weak moves cost.
        tools: What the model may ask before it moves: see `doors.text.tools`.
        worlds: In how many sampled worlds each legal move is judged; 0: in as many as studies do
            if the reward is `loss`, else in none.
        **fields: Fields of the rules that override those of `rules`.

    Raises:
        OptionError: If an option has a value that is not allowed; else as `FiveUpEnv` does.

    >>> env = TextEnv("five_up", players=2, opponents="greedy", seat=0)
    >>> text, info = env.reset(options={"deal": 7})
    >>> info["legal"][0]
    'lead 0-0'
    >>> env.step("lead 0-0")[4]["move"]
    'lead 0-0'
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (Gymnasium's own type)

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        opponents: OpponentChoice = "greedy",
        seat: int | None = None,
        episode: EpisodeName = "game",
        reward: RewardName | Literal["loss"] = "win",
        max_hands: int = 0,
        prompt: PromptKind = "bare",
        list_moves: bool = True,
        costs: Costs | None = None,
        tools: str | Collection[str] = (),
        worlds: int = 0,
        **fields: Unpack[RuleFields],
    ) -> None:
        """Make the environment; `reset` starts its first episode."""
        check_fields(fields, TextEnv)
        if not is_one_of(prompt, KINDS):
            raise OptionError(unknown("prompt", prompt, KINDS))
        if not is_one_of(reward, rewards := (*REWARDS, "loss")):
            raise OptionError(unknown("reward", reward, rewards))
        self._env = FiveUpEnv(
            rules,
            players,
            opponents=opponents,
            seat=seat,
            episode=episode,
            reward="margin" if reward == "loss" else reward,
            max_hands=max_hands,
            **fields,
        )
        self._kind, self._list_moves = prompt, list_moves
        self.costs = Costs() if costs is None else costs
        if whole(worlds, 0, MOST_WORLDS) is None or worlds in range(1, 4):
            raise OptionError(f"worlds is 0, or from 4 to {MOST_WORLDS}, not {shown(worlds)}")
        self._pays_loss, self._tools = reward == "loss", checked_tools(tools)
        judge = f"pimc:worlds={worlds},weighed=16,playout=partner" if worlds else REFERENCE
        self._trials = Trials(judge) if worlds or self._pays_loss else None
        self.usage = Counter[str]()
        self.observation_space = Text(LONGEST_PROMPT, charset=CHARACTERS)
        self.action_space = Text(LONGEST_ANSWER, min_length=0, charset=CHARACTERS)
        self._view: np.ndarray | None = None  # at the learner's turn
        self._notes, self._wrong, self._asked = "", 0, 0

    @property
    def game(self) -> Game:
        """The episode so far, with the moves of all seats; as a copy."""
        return self._env.game

    @property
    def seat(self) -> int:
        """The model's seat in this episode."""
        return self._env.seat

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode as `FiveUpEnv` does; return the first prompt."""
        super().reset(seed=seed)
        self._env.reset(seed=seed, options=options)
        self._view = self._env.game.view(self.seat)
        self._notes, self._wrong, self._asked = "", 0, 0
        return self._prompt(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take an answer; raise WrongMomentError if the episode is over."""
        if self._view is None:
            raise WrongMomentError("there is no episode to step: call reset()")
        if not isinstance(action, str):
            raise InvalidMoveError(f"an answer is text, not {shown(action)}")
        self._notes, answer = notes_after(self._notes, action), action[-LONGEST_ANSWER:]
        self.usage["answers"] += 1
        tool = asked_in(answer, self._tools) if self._asked < MOST_ASKED else None
        try:
            if tool is not None:
                return self._tell(tool, self._view)
            move = move_in(answer, self._view)
        except InvalidMoveError as error:
            return self._refuse(str(error), self.costs.unreadable, unreadable=True)
        except IllegalMoveError as error:
            return self._refuse(str(error), self.costs.illegal, unreadable=False)
        return self._make(move, self._view)

    def _tell(
        self, tool: tuple[str, str], view: np.ndarray
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Answer what the model asks; the position stays as it is."""
        said = told(*tool, view)
        self._asked += 1
        self.usage["asked"] += 1
        return f"{said}\n\n{self._prompt()}", 0.0, False, False, self._info() | {"asked": tool[0]}

    def _make(self, move: Move, view: np.ndarray) -> tuple[str, float, bool, bool, dict[str, Any]]:
        loss = self._loss(move, view)
        _, reward, terminated, truncated, env_info = self._env.step(move.action)
        self._wrong = self._asked = 0
        over = terminated or truncated
        self._view = None if over else self._env.game.view(self.seat)
        info: dict[str, Any] = self._info() | {"move": move_words(move)}
        if loss is not None:
            info["loss"] = loss
        if self._pays_loss:
            info["outcome"], reward = reward, -loss["points"] if loss else 0.0
        if over:
            info |= self._end(env_info)
        return self._prompt(), reward, terminated, truncated, info

    def _refuse(
        self, error: str, cost: float, *, unreadable: bool
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the cost of a wrong answer, and ask again or end the episode."""
        self._wrong += 1
        self.usage["unreadable" if unreadable else "illegal"] += 1
        over = self._wrong >= self.costs.tries
        if over:
            self._view = None
        info: dict[str, Any] = self._info() | {"error": error, "unreadable": unreadable}
        if over:
            info |= {"ended": "illegal", "win": 0}
        again = f"{error}\n\n{self._prompt()}".encode("ascii", "replace").decode()
        return again, (self.costs.forfeit if over else 0.0) - cost, over, False, info

    def _loss(self, move: Move, view: np.ndarray) -> dict[str, float] | None:
        """Return what a move loses, as `analysis.judge` has it, or None if moves are not judged."""
        allowed = legal_masks(view)[0].nonzero()[0]
        if self._trials is None:
            return None
        if len(allowed) == 1:
            return {"chance": 0.0, "points": 0.0}
        values = self._trials(view, allowed, key_of(0, len(self._env.game.moves)))
        chance, points = shortfalls(values, int(np.searchsorted(allowed, move.action)))
        return {"chance": chance.mean, "points": points.mean}

    def _end(self, env_info: dict[str, Any]) -> dict[str, Any]:
        """Return the `info` of a finished episode."""
        scores, side = (
            [int(score) for score in env_info["scores"]],
            self._env.rules.side_of(self.seat),
        )
        return {
            "win": int(env_info["winner"] == side),
            "margin": scores[side] - max(s for k, s in enumerate(scores) if k != side),
            "winner": int(env_info["winner"]),
            "scores": scores,
            "ended": env_info["ended"],
        }

    def _prompt(self) -> str:
        if self._view is None:
            return "The episode is over."
        asking = how_to_ask(self._tools)
        return prompt(
            self._view, self._kind, notes=self._notes, moves=self._list_moves, asking=asking
        )

    def _info(self) -> dict[str, Any]:
        if self._view is None:
            return {"legal": []}
        actions = legal_masks(self._view)[0].nonzero()[0].tolist()
        return {"legal": [move_words(MOVES[action]) for action in actions]}
