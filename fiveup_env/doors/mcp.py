"""A table for language models: an MCP server, by whose tools a model sits down, looks and moves.

    fiveup mcp --keep game.json
    fiveup play --watch game.json

It knows what the seat knows, and plays against agents of the library. A person watches in the
terminal by `--show`, or in the browser.
"""

from __future__ import annotations

import logging
from functools import wraps
from typing import TYPE_CHECKING, Any

from fiveup_env.doors.text.prompts import deductions
from fiveup_env.drawing.transcript import table_text
from fiveup_env.errors import FiveUpError, InputError, MissingExtraError, WrongMomentError
from fiveup_env.game.rules_words import rules_text
from fiveup_env.game.view_line import view_line
from fiveup_env.game.view_words import move_of_words, move_words
from fiveup_env.opponents.registry import split_specs
from fiveup_env.opponents.trust import check_spec
from fiveup_env.play.table import Setup, Table
from fiveup_env.rules.fields import Rules

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
except ImportError as error:
    raise MissingExtraError(
        "the MCP server needs mcp: pip install 'fiveup-env[mcp]'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ABOUT = (
    "Dominoes: Five Up and its family. Start a game, have the rules explained, look at the "
    "position, and play legal moves until the game is over."
)


def server_for(
    default: Setup, show: Callable[[str], None] | None = None, file: Path | None = None
) -> MCPServer:
    """Return a server with one table.

    Args:
        default: What is played unless the model chooses otherwise.
        show: Is called with the table as text, for a person who watches; None: for none.
        file: Where the game is kept as it goes.
    """
    server = MCPServer("fiveup", instructions=ABOUT)
    seat = Seat(default, show, file)
    for tool in (
        *(seat.start_game, seat.explain_rules, seat.look, seat.list_moves),
        *(seat.play, seat.what_is_known, seat.position_line),
    ):
        server.tool()(_answering(tool))
    return server


def _answering(tool: Callable[..., str]) -> Callable[..., str]:
    """Return a tool whose refusals reach the model as sentences."""

    @wraps(tool)
    def answer(*args: Any, **kwargs: Any) -> str:
        try:
            return tool(*args, **kwargs)
        except FiveUpError as error:
            raise ToolError(str(error)) from None

    return answer


class Seat:
    """The model's seat at a table. Its public methods are the tools, by their names."""

    def __init__(
        self, default: Setup, show: Callable[[str], None] | None, file: Path | None
    ) -> None:
        self._default, self._show, self._file = default, show, file
        self._table: Table | None = None

    def start_game(
        self,
        rules: str = "",
        players: int = 0,
        opponents: str = "",
        seat: int = -1,
        seed: int = -1,
    ) -> str:
        """Start a new game, and return the position at your first turn.

        Args:
            rules: A preset: five_up, all_fives, muggins and others; empty for the usual one.
            players: 2 to 5; 0 for as many as usual.
            opponents: Agents for the other seats: level:1, the weakest, to level:10; empty for the
                usual ones.
            seat: Your seat, from 0; -1 for the usual one.
            seed: Names the deals; -1 for any.
        """
        default = self._default
        if opponents not in {"", default.opponents}:
            for spec in split_specs(opponents):
                check_spec(spec)  # a model names agents as a file may
        chosen = default.rules
        if rules or players:
            chosen = Rules.preset(rules or chosen.name or "five_up", players or chosen.players)
        setup = Setup(
            rules=chosen,
            seat=min(default.seat, chosen.players - 1) if seat == -1 else seat,
            opponents=opponents or default.opponents,
            seed=None if seed == -1 else seed,
        )
        self._table = Table(setup)
        return self._seen(self._table.go_on())

    def explain_rules(self) -> str:
        """Return the rules of your game in words."""
        table = self._table
        return rules_text(table.setup.rules if table else self._default.rules)

    def look(self) -> str:
        """Return the position as you may know it."""
        return self._position()

    def list_moves(self) -> str:
        """Return your legal moves, each with the total and the points that it brings at once."""
        table = self._seated()
        choices = table.choices()
        if not choices:
            raise WrongMomentError("the game is over: there are no moves")
        return "\n".join(
            f"{move_words(step.move)}: total {step.total}, {step.points:+d} points"
            for step in choices
        )

    def play(self, move: str) -> str:
        """Play a legal move, and return what happened up to your next turn.

        Args:
            move: Such as `lead 5-3`, `set 5-3 on the double 5`, `draw a tile`, `pass`, or in short
                `5-3`, `5-3@5x`, `draw`, `pass`.
        """
        table = self._seated()
        return self._seen(table.play(move_of_words(move)))

    def what_is_known(self) -> str:
        """Return what follows exactly about the hidden tiles from all that you have seen."""
        table = self._seated()
        if table.game.is_game_over():
            raise WrongMomentError("the game is over: nothing is hidden any more")
        return deductions(table.game.view(table.setup.seat))

    def position_line(self) -> str:
        """Return the position as one exact line, as FEN is for chess."""
        table = self._seated()
        return view_line(table.game.view(table.setup.seat))

    def _seated(self) -> Table:
        if self._table is None:
            raise WrongMomentError("there is no game yet: call start_game")
        return self._table

    def _seen(self, said: list[str]) -> str:
        table = self._seated()
        if self._show:
            self._show("\n".join([*said, "", table_text(table.game, hands={table.setup.seat})]))
        if self._file:
            _keep(table, self._file)
        return "\n".join([*said, "", self._position()]).strip()

    def _position(self) -> str:
        table = self._seated()
        return table.game.text(table.setup.seat)


def _keep(table: Table, file: Path) -> None:
    """Save the game to be watched; if that fails, the move is made all the same."""
    names = table.setup.specs
    names.insert(table.setup.seat, "model")
    try:
        table.save(file, names)
    except InputError as error:
        logging.getLogger(__name__).warning("%s", error)
