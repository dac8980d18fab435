"""`Game`, a game in the manner of python-chess, the values it returns, and game records."""

from fiveup_env.game.game import Game, LegalMoves, draw_games_with
from fiveup_env.game.records import dumps, loads, read_file
from fiveup_env.game.rules_words import rules_text
from fiveup_env.game.values import Deal, End, HandEnd, Layout, Outcome, Step
from fiveup_env.game.view_json import view_json, view_of
from fiveup_env.game.view_line import view_line, view_of_line
from fiveup_env.game.view_words import move_of_words, move_words, step_text, view_text

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
    "move_of_words",
    "move_words",
    "read_file",
    "rules_text",
    "step_text",
    "view_json",
    "view_line",
    "view_of",
    "view_of_line",
    "view_text",
]
