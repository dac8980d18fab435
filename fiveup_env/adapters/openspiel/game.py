"""The game as OpenSpiel's: made from parameters, it makes states and observers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyspiel

from fiveup_env.adapters.openspiel.course import Course, hand_actions
from fiveup_env.adapters.openspiel.observer import FiveUpObserver
from fiveup_env.adapters.openspiel.parameters import (
    DEFAULTS,
    SHORT_NAME,
    TYPE,
    chances_at_most,
    episodes_in,
    info_of,
    parameters_of,
    rules_in,
)
from fiveup_env.adapters.openspiel.state import FiveUpState
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.envs.episodes import Episodes
from fiveup_env.rules.fields import MAX_TARGET, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

FAR_BELOW = -MAX_TARGET  # scores from which no hand reaches a target


class FiveUpGame(pyspiel.Game):
    """The game of some rules, and what an episode of it is.

    Attributes:
        rules: the rules.
        episodes: what an episode is, and what it brings.
        course: one that has not begun.
        observer, recalling_observer: what tells a player's observation and information state.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Make the game that the parameters describe."""
        chosen = {**DEFAULTS, **(params or {})}
        self.rules, self.episodes = rules_in(chosen), episodes_in(chosen)
        super().__init__(TYPE, info_of(self.rules, self.episodes), dict(params or {}))
        self.course = Course(self.rules, self.episodes)
        self.observer, self.recalling_observer = (
            self.make_py_observer(pyspiel.IIGObservationType(perfect_recall=recall))
            for recall in (False, True)
        )

    def new_initial_state(self) -> FiveUpState:
        """A state in which nothing has been dealt yet."""
        return FiveUpState(self)

    def max_chance_nodes_in_history(self) -> int:
        """How many times chance decides at most."""
        return chances_at_most(self.rules, self.episodes)

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: dict[str, Any] | None = None,
    ) -> FiveUpObserver:
        """What observes states."""
        return FiveUpObserver(
            iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params
        )

    def state_of(self, view: np.ndarray, random: np.random.Generator) -> FiveUpState:
        """Any state in which a seat sees what it sees in a view, each as likely as its deal.

        The hand is an episode of its own here; it leads to the scores that the view tells.
        """
        world = worlds_to_games(view, sample(view, 1, random))
        state = self.replayed(hand_actions(world, by_lot=True), self.course.beginning(FAR_BELOW))
        state.course.count_from(view[0]["public"]["scores"])
        return state

    def replayed(self, actions: Iterable[int], course: Course) -> FiveUpState:
        """The state that actions lead to from a course's beginning, those of chance among them."""
        state = FiveUpState(self, course)
        for action in actions:
            state.apply_action(action)
        return state


def load(
    rules: str | Rules = "five_up",
    players: int | None = None,
    *,
    episode: str = DEFAULTS["episode"],
    reward: str = DEFAULTS["reward"],
    max_hands: int = DEFAULTS["max_hands"],
    **fields: Any,
) -> FiveUpGame:
    """OpenSpiel's game of some rules, chosen as everywhere in this library."""
    if not isinstance(rules, Rules):
        players = players or DEFAULTS["players"]
    chosen = Rules.of(rules, players, **fields)
    episodes = Episodes(episode, reward, max_hands)
    return pyspiel.load_game(SHORT_NAME, parameters_of(chosen, episodes))
