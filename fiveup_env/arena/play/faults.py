"""Reports of agents at fault: what went wrong, what the agent saw, the record of its game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.drawing.text import layout_text
from fiveup_env.drawing.words import score_line, tile_names
from fiveup_env.errors import InputError
from fiveup_env.game.game import Game
from fiveup_env.game.records import dumps
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.tiles import tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fiveup_env.rules.fields import Rules


class ArenaError(InputError):
    """A tournament that cannot be played, or an agent at fault that ends it."""

    def __str__(self) -> str:
        """Return the message as it is: the report of a fault has several lines."""
        return ValueError.__str__(self)


def fault(agent: str, why: str, game: Game) -> str:
    """Return a report: a sentence, the view of the seat to move, the record of the game so far."""
    return (
        f"{agent} {why}\n\n"
        f"What it saw:\n{view_text(game)}\n\n"
        f"The record of the game so far:\n{dumps(game)}"
    )


def view_text(game: Game) -> str:
    """Return the view of the seat to move as text; it shows nothing that is hidden."""
    rules, view = game.rules, game.view()[0]
    public, seat = view["public"], int(view["seat"])
    others = [
        f"seat {other} holds {public['sizes'][other]} tiles, has drawn {public['draws'][other]}"
        for other in range(rules.players)
        if other != seat
    ]
    return "\n".join(
        [
            layout_text(game.plays, rules.spinners),
            f"seat {seat} is to move and holds {tile_names(tiles_in(int(view['hand'])))}",
            *others,
            (
                f"boneyard {game.boneyard_count}, hand {game.hand_number}, "
                f"scores {score_line(game.scores)}"
            ),
            f"allowed: {game.legal_moves}",
        ]
    )


def replayed(rules: Rules, seed: int, actions: Iterable[int]) -> Game:
    """Return the game of a seed after these actions."""
    game = Game(rules, seed=seed)
    for action in actions:
        game.push(MOVES[action])
    return game
