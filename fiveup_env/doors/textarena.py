"""TextArena: every seat is a language model, and each is told what its own seat may know.

    import textarena as ta
    import fiveup_env.doors.textarena      # registers FiveUp-v0

    env = ta.make("FiveUp-v0", rules="muggins")
    env.reset(num_players=2, seed=7)

A move that is not legal is said to its player alone, and may be made again as often as
`error_allowance` says; then the game ends and that player's side has lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fiveup_env.doors.prompts import HOW, move_in
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import IllegalMoveError, InvalidMoveError, MissingExtraError
from fiveup_env.game.game import Game
from fiveup_env.game.rules_words import rules_text
from fiveup_env.game.view_words import view_text
from fiveup_env.rules.fields import Rules

try:
    import textarena as ta
except ImportError:
    raise MissingExtraError(
        "the adapter needs TextArena: pip install 'fiveup-env[textarena]'"
    ) from None

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from fiveup_env.rules.fields import RuleFields

NAME: Final = "FiveUp-v0"


class FiveUp(ta.Env):
    """A game of the family, in TextArena's way.

    Args:
        rules: The name of a preset, or a `Rules`.
        error_allowance: How many wrong moves a player may make in one position.
        list_moves: Whether the legal moves are listed.
        **fields: Fields of the rules that override those of `rules`.
    """

    def __init__(
        self,
        rules: str | Rules = "five_up",
        *,
        error_allowance: int = 3,
        list_moves: bool = True,
        **fields: Unpack[RuleFields],
    ) -> None:
        """Make the environment; `reset` deals a game."""
        self._rules, self._fields = rules, fields
        self._errors, self._list_moves = error_allowance, list_moves

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a game; a seed names it as `Game` does."""
        rules = Rules.of(self._rules, num_players, **self._fields)
        self._game = Game(rules, seed=None if seed is None else checked_seed(seed))
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._errors)
        self.state.reset(game_state={}, player_prompt_function=self._prompt)
        self._give_turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Take the answer of the player whose turn it is."""
        state, player = self.state, self.state.current_player_id
        # What a model writes may name its tiles: nobody else is shown it.
        state.add_observation(action, ta.ObservationType.PLAYER_ACTION, player, player)
        try:
            move = move_in(action, self._game.view())
        except (InvalidMoveError, IllegalMoveError) as error:
            if state.set_invalid_move(f"{error}."):
                self._forfeit(player)
            return state.step(rotate_player=False)
        self._game.push(move)
        if outcome := self._game.outcome():
            state.set_winners(list(outcome.seats), f"Side {outcome.winner} has won the game.")
        else:
            self._give_turn()
        return state.step(rotate_player=False)

    def _prompt(self, player_id: int, game_state: dict[str, Any]) -> str:  # noqa: ARG002
        rules = rules_text(self._game.rules)
        return f"You play a game of dominoes, in seat {player_id}. The rules:\n\n{rules}\n\n{HOW}"

    def _give_turn(self) -> None:
        """Show the position to the player whose turn it is."""
        turn = self._game.turn
        assert turn is not None
        self.state.manually_set_current_player_id(turn)
        text = view_text(self._game.view(turn), moves=self._list_moves)
        self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=turn)

    def _forfeit(self, player: int) -> None:
        rules = self._game.rules
        others = [s for s in range(rules.players) if rules.side_of(s) != rules.side_of(player)]
        self.state.set_winners(others, f"Player {player} made too many moves that are not legal.")


ta.envs.registration.register(NAME, FiveUp)
