"""`Game`, a game in the manner of python-chess, the values it returns, and game records."""

from fiveup_env.game.game import Game, LegalMoves, draw_games_with
from fiveup_env.game.records import dumps, loads, read_file
from fiveup_env.game.values import Deal, End, HandEnd, Layout, Outcome, Step
from fiveup_env.game.view_json import view_json, view_of

__all__ = [
    "Deal",
    "End",
    "Game",
    "HandEnd",
    "Layout",
    "LegalMoves",
    "Outcome",
    "Step",
    "draw_games_with",
    "dumps",
    "loads",
    "read_file",
    "view_json",
    "view_of",
]
