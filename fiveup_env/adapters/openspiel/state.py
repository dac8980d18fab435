"""A state of the game for OpenSpiel: chance deals, names the leader and draws; players move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyspiel

from fiveup_env.adapters.openspiel.course import (
    CHANCE,
    DEALING,
    LEAD,
    MOVING,
    NOBODY,
    Course,
    hand_actions,
)
from fiveup_env.adapters.openspiel.text import TILE_TEXTS, history_text
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.errors import BeliefError
from fiveup_env.rules.actions import MOVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.adapters.openspiel.observer import FiveUpObserver


class FiveUpState(pyspiel.State):
    """A state of the game; all that is not OpenSpiel's own is in its `course`."""

    def __init__(self, game: pyspiel.Game, course: Course | None = None) -> None:
        """Begin as the game does, or with another course."""
        super().__init__(game)
        self.course = game.course.copy() if course is None else course

    # OpenSpiel's interface

    def current_player(self) -> int:
        """Who acts."""
        return self.course.mover

    def is_terminal(self) -> bool:
        """Whether it is over."""
        return self.course.mover == NOBODY

    def is_chance_node(self) -> bool:
        """Whether chance acts."""
        return self.course.mover == CHANCE

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What chance may bring, and how probably: tiles, or the seat that leads."""
        return self.course.outcomes()

    def returns(self) -> list[float]:
        """What the episode has brought each player; nothing before its end."""
        answer: list[float] = self.course.returns().tolist()
        return answer

    def _legal_actions(self, player: int) -> list[int]:
        """What the player to move may do."""
        del player
        actions: list[int] = self.course.mask().nonzero()[0].tolist()
        return actions

    def _apply_action(self, action: int) -> None:
        self.course.go_on(action)

    def _action_to_string(self, player: int, action: int) -> str:
        course = self.course
        if player != CHANCE:
            return str(MOVES[action])
        if course.stage == LEAD:
            return f"seat {action} leads"
        if course.stage == DEALING:
            return f"deal {TILE_TEXTS[action]} to {len(course.dealt) // course.rules.hand_size}"
        return f"seat {course.drawer} draws {TILE_TEXTS[action]}"

    def __str__(self) -> str:
        """Everything that has happened."""
        return history_text(self.course, range(self.num_players()))

    # What C++ answers as well, but asks this state many questions for it

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """1 for every action that a player may do (the one to move, if none is named)."""
        mover = self.course.mover
        if mover < 0 or (player is not None and player != mover):
            return super().legal_actions_mask(mover if player is None else player)
        mask: list[int] = self.course.mask().tolist()
        return mask

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """What a player observes (the one to move, if none is named)."""
        return self._tensor(self.get_game().observer, player)

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """What a player has seen (the one to move, if none is named)."""
        return self._tensor(self.get_game().recalling_observer, player)

    def _tensor(self, observer: FiveUpObserver, player: int | None) -> list[float]:
        observer.set_from(self, self.course.mover if player is None else player)
        numbers: list[float] = observer.tensor.tolist()
        return numbers

    # Other states that a player cannot tell from this one

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> FiveUpState:
        """Any state with what a player has seen, each as likely as its deal.

        Hands before this one stay as they were: nothing depends on them any more.
        """
        course = self.course
        if course.stage != MOVING or course.mover == NOBODY:
            raise BeliefError("states are drawn from what a player knows where somebody is to move")
        view = course.view(player_id)
        random = np.random.default_rng(int(probability_sampler() * 2**53))
        world = worlds_to_games(view, sample(view, 1, random))
        actions = list(hand_actions(world, by_lot=course.by_lot))
        before = self.history()[: -len(actions)]
        return self.get_game().replayed([*before, *actions], course.beginning())
