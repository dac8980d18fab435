"""A model's talk at its seat: what it is asked and told, what its answers cost, what moves lose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from fiveup_env.analysis.trials import REFERENCE, Trials, checked_reference, key_of, shortfalls
from fiveup_env.checks import finite, is_one_of, whole
from fiveup_env.doors.text.prompts import KINDS, move_in, notes_after, prompt
from fiveup_env.doors.text.tools import MOST_ASKED, asked_in, checked_tools, how_to_ask, told
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.episodes import REWARDS, RewardName
from fiveup_env.envs.options import check_fields
from fiveup_env.errors import IllegalMoveError, InvalidMoveError, OptionError, shown, unknown
from fiveup_env.game.view_words import move_words
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import RuleFields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from fiveup_env.doors.text.prompts import PromptKind
    from fiveup_env.rules.actions import Move

TextReward: TypeAlias = RewardName | Literal["loss"]
LONGEST_ANSWER: Final = 50_000  # characters; of a longer one the last count
MOST_WORLDS: Final = 100_000


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


class Heard(NamedTuple):
    """What an answer comes to.

    Attributes:
        move: the move, or None if there is none.
        said: what the model is told before it is asked again.
        reward: what the answer brings by itself, not above 0.
        over: whether it ends the episode.
        info: what is to be said of it.
    """

    move: Move | None
    said: str
    reward: float
    over: bool
    info: dict[str, Any]


class TalkOptions(RuleFields, total=False):
    """The keywords of `Talk`, and fields of the rules."""

    reward: TextReward
    prompt: PromptKind
    list_moves: bool
    costs: Costs | None
    tools: str | Collection[str]
    worlds: int


def told_apart(options: Mapping[str, Any], taker: Callable[..., Any]) -> tuple[Talk, Any]:
    """Return a talk with its options among those of `taker`, and the fields of the rules.

    Raises UnexpectedOptionError for a keyword of neither, and as `Talk` does.
    """
    check_fields(options, taker, Talk)
    fields = {name: value for name, value in options.items() if name in RuleFields.__annotations__}
    return Talk(**{name: options[name] for name in options.keys() - fields.keys()}), fields


class Talk:
    """The talk of one model at one seat, episode after episode.

    Args:
        reward: `win`, `points` or `margin`, as in the game, or `loss`: what each move costs against
            the best one in expected points, taken from 0.
        prompt: `bare`, `deductions` or `notes`.
        list_moves: Whether the prompt lists the legal moves.
        costs: What wrong answers cost.
        tools: What the model may ask before it moves: see `doors.text.tools`.
        worlds: In how many sampled worlds each legal move is judged; 0: in as many as studies do
            if the reward is `loss`, else in none.

    Attributes:
        costs: what wrong answers cost.
        pays_loss: whether the reward of a move is what it loses.
        points: what the game itself is rewarded for.
        usage: the numbers of `answers`, of those that were `unreadable` or `illegal`, and of those
            that `asked` a tool, so far.
    """

    def __init__(
        self,
        *,
        reward: TextReward = "win",
        prompt: PromptKind = "bare",
        list_moves: bool = True,
        costs: Costs | None = None,
        tools: str | Collection[str] = (),
        worlds: int = 0,
    ) -> None:
        """Check the options; raise OptionError or AgentError for what is not allowed."""
        for what, given, known in (
            ("prompt", prompt, KINDS),
            ("reward", reward, (*REWARDS, "loss")),
        ):
            if not is_one_of(given, known):
                raise OptionError(unknown(what, given, known))
        if whole(worlds, 0, MOST_WORLDS) is None or worlds in range(1, 4):
            raise OptionError(f"worlds is 0, or from 4 to {MOST_WORLDS}, not {shown(worlds)}")
        self.pays_loss, self._kind, self._list_moves = reward == "loss", prompt, list_moves
        self.points: RewardName = "margin" if reward == "loss" else reward
        self.costs, self._tools = Costs() if costs is None else costs, checked_tools(tools)
        judge = checked_reference(REFERENCE)
        judge = replace(judge, worlds=int(worlds) or judge.worlds)
        self._trials = Trials(judge) if worlds or self.pays_loss else None
        self.usage = Counter[str]()
        self.begin()

    def begin(self) -> None:
        """Forget the episode before."""
        self._notes, self._wrong, self._asked = "", 0, 0

    def prompt(self, view: np.ndarray) -> str:
        """Return the question at a view."""
        asking = how_to_ask(self._tools)
        return prompt(view, self._kind, notes=self._notes, moves=self._list_moves, asking=asking)

    def hear(self, answer: str, view: np.ndarray) -> Heard:
        """Take an answer at a view; raise InvalidMoveError if it is not text."""
        if not isinstance(answer, str):
            raise InvalidMoveError(f"an answer must be text, not {shown(answer)}")
        self.usage["answers"] += 1
        self._notes, answer = notes_after(self._notes, answer), answer[-LONGEST_ANSWER:]
        tool = asked_in(answer, self._tools) if self._asked < MOST_ASKED else None
        try:
            if tool is not None:
                said = told(*tool, view)
                self._asked += 1
                self.usage["asked"] += 1
                return Heard(None, said, 0.0, over=False, info={"asked": tool[0]})
            move = move_in(answer, view)
        except (InvalidMoveError, IllegalMoveError) as error:
            return self._refused(error)
        self._wrong = self._asked = 0
        return Heard(move, "", 0.0, over=False, info={"move": move_words(move)})

    def _refused(self, error: InvalidMoveError | IllegalMoveError) -> Heard:
        costs, unreadable = self.costs, not isinstance(error, IllegalMoveError)
        self._wrong += 1
        self.usage["unreadable" if unreadable else "illegal"] += 1
        over = self._wrong >= costs.tries
        reward = (costs.forfeit if over else 0.0) - (
            costs.unreadable if unreadable else costs.illegal
        )
        said = str(error).encode("ascii", "replace").decode()
        return Heard(None, said, reward, over, {"error": str(error), "unreadable": unreadable})

    def loss(self, move: Move, view: np.ndarray, number: int) -> dict[str, float] | None:
        """Return what a move loses, as `analysis.judge` has it, or None if moves are not judged.

        `number` is that of the move in the game.
        """
        if self._trials is None:
            return None
        allowed = legal_masks(view)[0].nonzero()[0]
        if len(allowed) == 1:
            return {"chance": 0.0, "points": 0.0}
        values = self._trials(view, allowed, key_of(0, number))
        chance, points = shortfalls(values, int(np.searchsorted(allowed, move.action)))
        return {"chance": chance.mean, "points": points.mean}


def legal_words(view: np.ndarray) -> list[str]:
    """Return the legal moves of a view in words."""
    return [move_words(MOVES[action]) for action in legal_masks(view)[0].nonzero()[0].tolist()]
