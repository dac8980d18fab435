"""Five Up and its family of domino games: for people, agents and learners."""

import gymnasium
import pettingzoo

from fiveup_env import drawing as _drawing  # lets games draw themselves
from fiveup_env.encoders import Encoder, Piece, get_encoder, register_encoder
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.aec import env, raw_env
from fiveup_env.envs.batch import Batch
from fiveup_env.errors import FiveUpError, IllegalMoveError, InvalidMoveError
from fiveup_env.game import Deal, Game
from fiveup_env.opponents import Agent, make_agent, register_agent
from fiveup_env.opponents.networks import flat_belief as _flat_belief  # registers its encoder
from fiveup_env.opponents.networks import lookahead as _lookahead  # so does this
from fiveup_env.opponents.networks.wrapped import as_agent
from fiveup_env.rules import MOVES, PRESETS, TILES, Move, Rules, Tile

del _drawing, _flat_belief, _lookahead

__version__ = "0.1.0"

__all__ = [
    "MOVES",
    "PRESETS",
    "TILES",
    "Agent",
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
    "as_agent",
    "env",
    "get_encoder",
    "legal_masks",
    "make_agent",
    "raw_env",
    "register_agent",
    "register_encoder",
]

pettingzoo.register("aec", "fiveup/FiveUp-v0", "fiveup_env.envs.aec:env")
gymnasium.register(
    "fiveup/FiveUp-v0",
    "fiveup_env.envs.single:FiveUpEnv",
    vector_entry_point="fiveup_env.envs.vector:FiveUpVectorEnv",
)
