"""Five Up and its family of domino games: for people, agents and learners."""

import gymnasium
import pettingzoo

from fiveup_env.actions import MOVES, Move
from fiveup_env.aec import env, raw_env
from fiveup_env.batch import Batch
from fiveup_env.encoders import Encoder, Piece, get_encoder, register_encoder
from fiveup_env.errors import FiveUpError, IllegalMoveError, InvalidMoveError
from fiveup_env.game import Deal, Game
from fiveup_env.rules import PRESETS, Rules
from fiveup_env.tiles import TILES, Tile

__version__ = "0.1.0"

__all__ = [
    "MOVES",
    "PRESETS",
    "TILES",
    "Batch",
    "Deal",
    "Encoder",
    "FiveUpError",
    "Game",
    "IllegalMoveError",
    "InvalidMoveError",
    "Move",
    "Piece",
    "Rules",
    "Tile",
    "env",
    "get_encoder",
    "raw_env",
    "register_encoder",
]

pettingzoo.register("aec", "fiveup/FiveUp-v0", "fiveup_env.aec:env")
gymnasium.register("fiveup/FiveUp-v0", "fiveup_env.single:FiveUpEnv")
