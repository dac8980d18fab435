"""The rules as data: tiles, the fields in which the games differ, presets, and actions."""

from fiveup_env.rules.actions import ACTION_COUNT, MOVES, Move
from fiveup_env.rules.fields import RuleFields, Rules
from fiveup_env.rules.presets import MINIS, PRESETS
from fiveup_env.rules.tiles import TILES, Tile

__all__ = [
    "ACTION_COUNT",
    "MINIS",
    "MOVES",
    "PRESETS",
    "TILES",
    "Move",
    "RuleFields",
    "Rules",
    "Tile",
]
