"""TextArena, with a model in every seat: importing this registers FiveUp-v0."""

from __future__ import annotations

from typing import Any, Final

from fiveup_env.doors.text.prompts import HOW, move_in
from fiveup_env.errors import IllegalMoveError, InvalidMoveError, MissingExtraError
from fiveup_env.game import Game, rules_text, view_text

try:
    import textarena as ta
except ImportError as error:
    raise MissingExtraError(
        "TextArena is needed: pip install 'fiveup-env[textarena]'", error
    ) from None

NAME: Final = "FiveUp-v0"


class FiveUp(ta.Env):
    """A game, whose rules are `rules` and `fields`; `error_allowance` is for each position."""

    def __init__(self, rules: Any = "five_up", *, error_allowance: int = 3, **fields: Any) -> None:
        self._rules, self._fields, self._allowance = rules, fields, error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal the game that a seed names."""
        self._game = Game(self._rules, num_players, seed=seed, **self._fields)
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._allowance)
        text = f"You play dominoes.\n\n{rules_text(self._game.rules)}\n\n{HOW}"
        self.state.reset(game_state={}, player_prompt_function=lambda *_, **__: text)
        self._show()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Make the move of the player to move, or report to it alone why it is illegal."""
        state, player, rules = self.state, self.state.current_player_id, self._game.rules
        # What a model writes may name its tiles, so nobody else is shown it.
        state.add_observation(action, ta.ObservationType.PLAYER_ACTION, player, player)
        try:
            self._game.push(move_in(action, self._game.view()))
        except (InvalidMoveError, IllegalMoveError) as error:
            if state.set_invalid_move(f"{error}."):  # and it may not try again
                side, seats = rules.side_of(player), range(rules.players)
                winners = [seat for seat in seats if rules.side_of(seat) != side]
                state.set_winners(winners, f"Player {player} made too many illegal moves.")
        else:
            self._show()
        return state.step(rotate_player=False)

    def _show(self) -> None:
        """Show the position to the player to move, or end the game."""
        if outcome := self._game.outcome():
            reason = f"Side {outcome.winner} has won the game."
            self.state.set_winners([*outcome.seats], reason)
        else:
            self.state.manually_set_current_player_id(self._game.turn)
            text = view_text(self._game.view())
            self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=self._game.turn)


ta.envs.registration.register(NAME, FiveUp)
