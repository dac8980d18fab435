"""Five Up and its family of domino games: for people, agents and learners."""

from fiveup_env.actions import MOVES, Move
from fiveup_env.errors import FiveUpError, IllegalMoveError, InvalidMoveError
from fiveup_env.game import Deal, Game
from fiveup_env.rules import PRESETS, Rules
from fiveup_env.tiles import TILES, Tile

__version__ = "0.1.0"

__all__ = [
    "MOVES",
    "PRESETS",
    "TILES",
    "Deal",
    "FiveUpError",
    "Game",
    "IllegalMoveError",
    "InvalidMoveError",
    "Move",
    "Rules",
    "Tile",
]
