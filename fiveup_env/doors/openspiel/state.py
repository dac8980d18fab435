"""A state of the game for OpenSpiel: chance deals, chooses who leads and draws; players move."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import numpy as np
import pyspiel

from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.doors.openspiel.text import TILE_TEXTS, history_text
from fiveup_env.envs.playthrough import (
    CHANCE,
    DEALING,
    LEAD,
    MOVING,
    NOBODY,
    Playthrough,
    hand_actions,
)
from fiveup_env.errors import BeliefError
from fiveup_env.game.view_json import view_json
from fiveup_env.rules.actions import MOVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.doors.openspiel.observer import FiveUpObserver
    from fiveup_env.files import Json


class ViewStruct:
    """A player's view, as JSON; with the methods of OpenSpiel's structs.

    Those cannot be made in Python, so this is not one of them.
    """

    def __init__(self, content: Json) -> None:
        self._content = content

    def to_dict(self) -> Json:
        """Return the content as plain values."""
        return copy.deepcopy(self._content)

    def to_json(self) -> str:
        """Return the content as text."""
        return json.dumps(self._content)


class FiveUpState(pyspiel.State):
    """A state of the game; everything that is not OpenSpiel's own is in its `playthrough`."""

    def __init__(self, game: pyspiel.Game, playthrough: Playthrough | None = None) -> None:
        """Begin at the game's beginning, or with the playthrough given."""
        super().__init__(game)
        self.playthrough = game.playthrough.copy() if playthrough is None else playthrough

    # OpenSpiel's interface

    def current_player(self) -> int:
        """Return who acts: a player, or OpenSpiel's number for chance or for the end."""
        return self.playthrough.mover

    def is_terminal(self) -> bool:
        """Return whether the episode is over."""
        return self.playthrough.mover == NOBODY

    def is_chance_node(self) -> bool:
        """Return whether chance acts."""
        return self.playthrough.mover == CHANCE

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of chance with their probabilities: tiles, or the seat that leads."""
        return self.playthrough.outcomes()

    def returns(self) -> list[float]:
        """Return the returns of all players: zeros before the end of the episode."""
        returns: list[float] = self.playthrough.returns().tolist()
        return returns

    def _legal_actions(self, player: int) -> list[int]:
        """Return the legal actions of the player to move."""
        del player
        actions: list[int] = self.playthrough.mask().nonzero()[0].tolist()
        return actions

    def _apply_action(self, action: int) -> None:
        self.playthrough.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        playthrough = self.playthrough
        if player != CHANCE:
            return str(MOVES[action])
        if playthrough.stage == LEAD:
            return f"seat {action} leads"
        if playthrough.stage == DEALING:
            seat = len(playthrough.dealt) // playthrough.rules.hand_size
            return f"deal {TILE_TEXTS[action]} to {seat}"
        return f"seat {playthrough.drawer} draws {TILE_TEXTS[action]}"

    def __str__(self) -> str:
        """Return everything that has happened."""
        return history_text(self.playthrough, range(self.num_players()))

    # C++ has these as well, but calls back into this state many times for each

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for every legal action of a player (by default the one to move), else 0."""
        mover = self.playthrough.mover
        if mover < 0 or (player is not None and player != mover):
            return super().legal_actions_mask(mover if player is None else player)
        mask: list[int] = self.playthrough.mask().tolist()
        return mask

    def observation_tensor(self, player: int | None = None) -> list[float]:
        """Return a player's observation (by default that of the one to move)."""
        return self._tensor(self.get_game().observer, player)

    def information_state_tensor(self, player: int | None = None) -> list[float]:
        """Return a player's information state (by default that of the one to move)."""
        return self._tensor(self.get_game().recalling_observer, player)

    def _tensor(self, observer: FiveUpObserver, player: int | None) -> list[float]:
        observer.set_from(self, self.playthrough.mover if player is None else player)
        numbers: list[float] = observer.tensor.tolist()
        return numbers

    def to_observation_struct(self, player: int | None = None) -> ViewStruct:
        """Return a player's view, as JSON (by default that of the one to move)."""
        mover = self.playthrough.mover
        if self.playthrough.stage != MOVING or mover == NOBODY:
            raise BeliefError("there is a view only where somebody is to move")
        return ViewStruct(view_json(self.playthrough.view(mover if player is None else player)))

    # States that a player cannot tell from this one

    def resample_from_infostate(
        self, player_id: int, probability_sampler: Callable[[], float]
    ) -> FiveUpState:
        """Return a random state that is consistent with what a player has seen.

        States are as likely as their deals. Earlier hands stay as they were, because nothing
        depends on them any more.
        """
        playthrough = self.playthrough
        if playthrough.stage != MOVING or playthrough.mover == NOBODY:
            raise BeliefError("states can be resampled only where somebody is to move")
        view = playthrough.view(player_id)
        rng = np.random.default_rng(int(probability_sampler() * 2**53))
        world = worlds_to_games(view, sample(view, 1, rng))
        actions = list(hand_actions(world, by_lot=playthrough.by_lot))
        before = self.history()[: -len(actions)]
        return self.get_game().replayed([*before, *actions], playthrough.beginning())
