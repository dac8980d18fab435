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
from typing import TYPE_CHECKING, Any, Final

import gymnasium
from gymnasium.spaces import Text

from fiveup_env.doors.text.talk import LONGEST_ANSWER, legal_words, told_apart
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import WrongMomentError

if TYPE_CHECKING:
    from collections import Counter

    import numpy as np
    from typing_extensions import Unpack

    from fiveup_env.doors.text.talk import TalkOptions
    from fiveup_env.envs.episodes import EpisodeName
    from fiveup_env.envs.opponents import OpponentChoice
    from fiveup_env.game.game import Game
    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.fields import Rules

LONGEST_PROMPT: Final = 50_000  # characters
CHARACTERS: Final = "".join(sorted(set(string.printable) - set("\x0b\x0c\r\t")))


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
        **options: Those of `Talk`, `reward`, `prompt`, `list_moves`, `costs`, `tools` and `worlds`;
            and fields of the rules that override those of `rules`.

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
        max_hands: int = 0,
        **options: Unpack[TalkOptions],
    ) -> None:
        """Make the environment; `reset` starts its first episode."""
        self._talk, fields = told_apart(options, TextEnv)
        self._env = FiveUpEnv(
            rules,
            players,
            opponents=opponents,
            seat=seat,
            episode=episode,
            reward=self._talk.points,
            max_hands=max_hands,
            **fields,
        )
        self.observation_space = Text(LONGEST_PROMPT, charset=CHARACTERS)
        self.action_space = Text(LONGEST_ANSWER, min_length=0, charset=CHARACTERS)
        self._view: np.ndarray | None = None  # at the learner's turn

    @property
    def usage(self) -> Counter[str]:
        """The numbers of answers, and of those that were wrong or asked, as `Talk` counts them."""
        return self._talk.usage

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
        self._env.reset(seed=seed, options=options)
        super().reset(seed=seed)
        self._view = self._env.game.view(self.seat)
        self._talk.begin()
        return self._prompt(), self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take an answer; raise WrongMomentError if the episode is over."""
        if self._view is None:
            raise WrongMomentError("there is no episode to step: call reset()")
        heard = self._talk.hear(action, self._view)
        if heard.move is not None:
            return self._make(heard.move, self._view, heard.info)
        info = heard.info
        if heard.over:
            self._view, info = None, info | {"ended": "illegal", "win": 0}
        again = f"{heard.said}\n\n{self._prompt()}"
        return again, heard.reward, heard.over, False, self._info() | info

    def _make(
        self, move: Move, view: np.ndarray, info: dict[str, Any]
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        loss = self._talk.loss(move, view, len(self._env.game.moves))
        _, reward, terminated, truncated, env_info = self._env.step(move.action)
        over = terminated or truncated
        self._view = None if over else self._env.game.view(self.seat)
        info = self._info() | info
        if loss is not None:
            info["loss"] = loss
        if loss is not None and self._talk.pays_loss:
            info["outcome"], reward = reward, -loss["points"]
        if over:
            info |= self._end(env_info)
        return self._prompt(), reward, terminated, truncated, info

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
        return "The episode is over." if self._view is None else self._talk.prompt(self._view)

    def _info(self) -> dict[str, Any]:
        return {"legal": [] if self._view is None else legal_words(self._view)}
