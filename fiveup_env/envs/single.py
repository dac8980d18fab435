"""The Gymnasium environment: one learner, with opponents in all other seats.

    env = gymnasium.make("fiveup/FiveUp-v0", players=2, opponents="random")

A step is the learner's move and everything up to its next turn. Its reward is for all of that, the
end of the episode included. `info["action_mask"]` (int8) and `env.unwrapped.action_masks()` (bool)
have an entry for each of the 121 actions, true where it is legal; at the end of an episode, they
allow the pass alone. With `mask="observation"`, observations are a dict of `observation` and
`action_mask` (bool), and `info` has no mask. At the end, `info` has `winner` (a side, or -1),
`scores` (by side) and `ended` (`domino`, `blocked`, `target` or `illegal`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete

from fiveup_env.checks import whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.view import unchecked_masks
from fiveup_env.envs.aec import checked_eyes, raw_env
from fiveup_env.envs.episodes import not_allowed
from fiveup_env.envs.opponents import OpponentChoice, Opponents
from fiveup_env.envs.options import check_fields, checked_flag, reset_options
from fiveup_env.envs.rows import masks_in_observations, space_with_mask, with_mask
from fiveup_env.envs.streams import FIRST_OF_STREAMS
from fiveup_env.errors import IllegalMoveError, SeatError, WrongMomentError, shown
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.actions import ACTION_COUNT, PASS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fiveup_env.envs.aec import Options
    from fiveup_env.envs.rows import MaskPlace
    from fiveup_env.game.game import Game
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules


class FiveUpEnv(gymnasium.Env[Any, int]):
    """One learner among opponents; with partners, one of the opponents is its partner.

    Observations are rows of int8, as the encoder writes them, or of float32 with `scaled=True`,
    and with `mask="observation"` a dict of such a row and the legal actions; actions are
    `Discrete(121)`.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as `rules` has, and 4 for a preset.
        opponents: An agent or its spec for all other seats; a list with one for each of them, in
            order of play from the seat after the learner's, wherever that is; or a dict by seat of
            the game, which needs a fixed `seat`.
        seat: The learner's seat; None draws it anew in every episode.
        mask: Where the legal actions are: in `info`, or in the `observation`, which is then a dict.
        oracle: Whether `info["oracle"]` has what is hidden from the learner, as
            docs/understand/encoding.md lists it (int8); never part of an observation.
        eyes: The seat that pictures are drawn for, or the `learner`: other hands lie face down
            until the hand has ended. `all` shows them all.
        **options: Those of `raw_env`, and fields of the rules that override those of `rules`.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If there is no such seat, or not that number of players.
        AgentError: If there is no such agent.
        EncoderError: If there is no such encoder.
        OptionError: If another option has a value that is not allowed.

    >>> env = gymnasium.make("fiveup/FiveUp-v0", players=2, opponents="greedy", seat=0)
    >>> observation, info = env.reset(seed=7)
    >>> action = info["action_mask"].argmax()
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> observation.shape, reward, terminated
    ((557,), 0.0, False)
    """

    metadata = raw_env.metadata  # type: ignore[assignment]

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        opponents: OpponentChoice = "random",
        seat: int | None = None,
        mask: MaskPlace = "info",
        oracle: bool = False,
        eyes: int | Literal["learner", "all"] = "learner",
        **options: Unpack[Options],
    ) -> None:
        """Make the environment; `reset` starts its first episode."""
        check_fields(options, FiveUpEnv, raw_env)
        self._aec = raw_env(rules, players, **options)
        self._eyes = checked_eyes(eyes, self.rules.players, "learner")
        self._fixed_seat = None if seat is None else whole(seat, 0, self.rules.players - 1)
        if seat is not None and self._fixed_seat is None:
            raise SeatError(f"seat must be from 0 to {self.rules.players - 1}, not {shown(seat)}")
        self.set_opponents(opponents)
        self._agent = self._aec.possible_agents[self._fixed_seat or 0]
        self._masked = masks_in_observations(mask)
        self._sees_all = checked_flag(oracle, "oracle")
        rows: Any = self._aec.observation_space(self._agent)["observation"]
        self.observation_space = space_with_mask(rows) if self._masked else rows
        self.action_space = Discrete(ACTION_COUNT)  # type: ignore[assignment]
        self.render_mode = self._aec.render_mode
        self._mask = np.zeros(ACTION_COUNT, np.int8)
        self._before_first_turn = 0.0
        self._started = False
        self._episodes = 0  # begun since the last seed
        self._chances: dict[str, np.random.Generator] = {}  # by opponent, in this episode
        self._choices: dict[int, Agent] = {}  # by seat, in this episode

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._aec.rules

    @property
    def game(self) -> Game:
        """The episode so far, with the moves of all seats; as a copy."""
        return self._aec.game

    @property
    def seat(self) -> int:
        """The learner's seat in this episode."""
        return self._aec.possible_agents.index(self._agent)

    def action_masks(self) -> np.ndarray:
        """Return the learner's legal actions as sb3-contrib takes them: an array of 121 bool."""
        return self._mask.astype(np.bool_)

    def set_opponents(self, opponents: OpponentChoice) -> None:
        """Play against other opponents, from the next `reset` on; they are given as at the start.

        Raises as making the environment does.
        """
        self._opponents = Opponents(opponents, [self.rules.players], self._fixed_seat)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode and let the others move up to the learner's first turn.

        A seed fixes all that follows: the deals, the seats, and the chance of the opponents. The
        option `deal` names the deal instead: `options={"deal": 7}` plays what `Game(seed=7)` plays;
        the option `game` continues a `Game` by the same rules.
        What happens before the learner's first turn is part of the reward of its first step. If the
        episode ends before that turn, as it can with small hands, the next one is started.
        """
        named, game = reset_options(options, "deal", "game")
        deal = None if named is None else checked_seed(named)
        if game is not None:
            self._aec.state_to_start(game)  # refused, it changes nothing
        super().reset(seed=None if seed is None else checked_seed(seed))
        if seed is not None:
            self._episodes = 0
        if self._fixed_seat is None:
            self._agent = str(self.np_random.choice(self._aec.possible_agents))
        self._begin(self._next_deal() if deal is None else deal, game)
        while self._over:
            self._begin(self._next_deal())
        return self._observation()

    def _begin(self, deal: int, game: Game | None = None) -> None:
        """Start an episode, in which every opponent has chance of its own."""
        self._aec.eyes = self.seat if self._eyes == "learner" else self._eyes
        self._aec.reset(deal, {"game": game})
        self._episodes += 1
        self._chances = {
            name: keyed_rng("gymnasium", self.np_random_seed, self._episodes, deal, name)
            for name in self._aec.possible_agents
            if name != self._agent
        }
        key = self.np_random_seed, self._episodes, deal
        self._choices = self._opponents.seated(self.seat, self.rules.players, *key)
        self._before_first_turn = self._others_move()

    def _next_deal(self) -> int:
        """Return the seed of an episode that nobody has named: one that only streams reach."""
        return int(self.np_random.integers(FIRST_OF_STREAMS, 1 << 64, dtype=np.uint64))

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make the learner's move, and let the others move up to its next turn.

        Raises IllegalMoveError if the action is illegal, WrongMomentError if the episode is over.
        """
        if not self._started or self._over:
            raise WrongMomentError("there is no episode to step: call reset()")
        self._aec.step(action)
        reward = self._before_first_turn + self._aec.rewards[self._agent]
        reward += self._others_move()
        self._before_first_turn = 0.0
        terminated = self._aec.terminations[self._agent]
        truncated = self._aec.truncations[self._agent]
        observation, info = self._observation()
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """Draw the game as `raw_env.render` does."""
        return self._aec.render()

    def close(self) -> None:
        """Close the window, if one is open."""
        self._aec.close()

    @property
    def _over(self) -> bool:
        return self._aec.terminations[self._agent] or self._aec.truncations[self._agent]

    def _others_move(self) -> float:
        """Move the others until the learner's turn; return the learner's reward for that.

        If it raises, the episode is half moved, and the next one has to be started.
        """
        self._started = False
        reward = 0.0
        while not self._over and self._aec.agent_selection != self._agent:
            mover = self._aec.agent_selection
            view = self._aec.view(mover)
            mask = unchecked_masks(view)[0]
            seat = self._aec.possible_agents.index(mover)
            action = self._choices[seat](view, self._chances[mover])[0]
            number = whole(action, 0, ACTION_COUNT - 1)
            if number is None or not mask[number]:
                raise IllegalMoveError(f"the opponent {mover}: {not_allowed(mask, action)}")
            self._aec.step(number)
            reward += self._aec.rewards[self._agent]
        self._started = True
        return reward

    def _observation(self) -> tuple[Any, dict[str, Any]]:
        observed = self._aec.observe(self._agent)
        row, self._mask = observed["observation"], observed["action_mask"]
        if self._over:
            self._mask[PASS] = 1
        info = self._aec.infos[self._agent].copy()
        if self._sees_all:
            info["oracle"] = self._aec.hidden_from(self._agent)
        if self._masked:
            return with_mask(row, self._mask), info
        return row, {"action_mask": self._mask.copy(), **info}
