"""Pictures of games: text, SVG, pixels, a window, and replays as HTML files.

    felt, placement                     where each tile lies on the table
    snapshot, scene                     what a picture shows
    text, transcript, words             games as text
    svg, window, replay, moving         games as pictures
    beliefs                             what a seat can know about the hidden tiles

Importing this package lets games draw themselves; the drawing modules are loaded on first
use.
"""

from __future__ import annotations

from fiveup_env.game.game import Game, draw_games_with


def _text(game: Game) -> str:
    from fiveup_env.drawing.transcript import table_text

    return table_text(game)


def _svg(game: Game) -> str:
    from fiveup_env.drawing.svg import game_svg

    return game_svg(game)


draw_games_with(text=_text, svg=_svg)
