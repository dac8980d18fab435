"""The game for OpenSpiel: made from parameters, it makes states and observers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyspiel

from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.doors.openspiel.observer import FiveUpObserver
from fiveup_env.doors.openspiel.parameters import (
    DEFAULTS,
    SHORT_NAME,
    TYPE,
    chances_at_most,
    episodes_in,
    info_of,
    parameters_of,
    rules_in,
)
from fiveup_env.doors.openspiel.state import FiveUpState
from fiveup_env.envs.episodes import Episodes
from fiveup_env.envs.options import check_fields
from fiveup_env.envs.playthrough import Playthrough, hand_actions
from fiveup_env.rules.fields import MAX_TARGET, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from typing_extensions import Unpack

    from fiveup_env.envs.episodes import EpisodeName
    from fiveup_env.rules.fields import RuleFields

FAR_BELOW = -MAX_TARGET  # a score from which no hand reaches a target


class FiveUpGame(pyspiel.Game):
    """The game under some rules, with some kind of episode.

    Attributes:
        rules: the rules.
        episodes: what an episode is, and what it brings.
        playthrough: a playthrough that has not begun.
        observer, recalling_observer: write a player's observation and information state.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Make the game that the parameters describe."""
        chosen = {**DEFAULTS, **(params or {})}
        self.rules, self.episodes = rules_in(chosen), episodes_in(chosen)
        super().__init__(TYPE, info_of(self.rules, self.episodes), dict(params or {}))
        self.playthrough = Playthrough(self.rules, self.episodes)
        self.observer, self.recalling_observer = (
            self.make_py_observer(pyspiel.IIGObservationType(perfect_recall=recall))
            for recall in (False, True)
        )

    def new_initial_state(self) -> FiveUpState:
        """Return a state in which nothing has been dealt yet."""
        return FiveUpState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the largest number of chance nodes."""
        return chances_at_most(self.rules, self.episodes)

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: dict[str, Any] | None = None,
    ) -> FiveUpObserver:
        """Return an observer of states (by default without perfect recall)."""
        return FiveUpObserver(
            iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )

    def state_of(self, view: np.ndarray, rng: np.random.Generator) -> FiveUpState:
        """Return a random state that is consistent with a seat's view.

        States are as likely as their deals. The hand is an episode of its own here, and it leads to
        the scores that the view shows.
        """
        public = view[0]["public"]
        by_lot = self.rules.lead_tile == "any"
        leader = None if by_lot or public["forced_lead"] >= 0 else int(public["lead"])
        world = worlds_to_games(view, sample(view, 1, rng))
        playthrough = self.playthrough.beginning(FAR_BELOW, leader)
        state = self.replayed(hand_actions(world, by_lot=by_lot), playthrough)
        state.playthrough.set_scores(public["scores"])
        return state

    def replayed(self, actions: Iterable[int], playthrough: Playthrough) -> FiveUpState:
        """Return the state that actions, those of chance included, lead to from a playthrough."""
        state = FiveUpState(self, playthrough)
        for action in actions:
            state.apply_action(action)
        return state


def load(
    rules: str | Rules = "five_up",
    players: int | None = None,
    *,
    episode: EpisodeName = "hand",
    reward: Literal["margin", "win"] = "margin",
    max_hands: int = 100,
    **fields: Unpack[RuleFields],
) -> FiveUpGame:
    """Return the OpenSpiel game of `Rules`, or of a preset with some of its fields changed.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as `rules` has, and 2 for a preset.
        episode: A single `hand`, or a whole `game`.
        reward: What an episode brings: `margin` or `win`, which are zero-sum.
        max_hands: The number of hands after which a game is cut off, 1 or more.
        **fields: Fields of the rules that override those of `rules`.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If the number of players is not from 2 to 5.
        OptionError: If another option has a value that is not allowed.
    """
    check_fields(fields, load)
    if not isinstance(rules, Rules):
        players = players or DEFAULTS["players"]
    chosen = Rules.of(rules, players, **fields)
    episodes = Episodes(episode, reward, max_hands)
    return pyspiel.load_game(SHORT_NAME, parameters_of(chosen, episodes))
