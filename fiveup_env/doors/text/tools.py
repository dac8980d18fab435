"""What a model may ask before it moves, where a tool is switched on by its name.

    belief    where the hidden tiles may be, exactly
    ends      the open ends, what each counts, and their total
    score     what a move brings at once, such as `score 5-3`
    history   what was done in this hand

A model asks in the last line of an answer: `ask score 5-3`. It is told no more than its view holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fiveup_env.doors.text.prompts import deductions, legal_move
from fiveup_env.engine.layout import total_after
from fiveup_env.engine.scoring import FIVES, gain
from fiveup_env.engine.state import side_of
from fiveup_env.errors import AgentError, unknown
from fiveup_env.game.rules_words import number_of
from fiveup_env.game.view_words import ends_text, history_text, move_of_words, move_words
from fiveup_env.native import uncompiled

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np

TOOLS: Final = ("belief", "ends", "score", "history")
MOST_ASKED: Final = 16  # times in one position; then asking is a wrong answer
_ASK: Final = re.compile(r"[*_`'\" ]*ask:? +(\w+)(.*?)[*_`'\" .]*", re.IGNORECASE)


def checked_tools(names: str | Collection[str]) -> tuple[str, ...]:
    """Return tools by their names, which a text joins by `+`; raise AgentError for any other."""
    named = [*filter(None, names.split("+"))] if isinstance(names, str) else [*names]
    for name in named:
        if name not in TOOLS:
            raise AgentError(unknown("tool", name, TOOLS))
    return tuple(tool for tool in TOOLS if tool in named)


def how_to_ask(tools: Collection[str]) -> str:
    """Return what a prompt says of the tools that are switched on, or nothing."""
    words = (f"'ask {tool}{' 5-3' * (tool == 'score')}'" for tool in tools)
    return f"Instead you may ask in your last line: {', '.join(words)}." if tools else ""


def asked_in(answer: str, tools: Collection[str]) -> tuple[str, str] | None:
    """Return the tool that an answer asks in its last line, and about what, or None."""
    lines = [line for line in answer.splitlines() if line.strip()]
    match = _ASK.fullmatch(lines[-1].strip()) if lines else None
    return (match[1].lower(), match[2].strip()) if match and match[1].lower() in tools else None


def told(tool: str, about: str, view: np.ndarray) -> str:
    """Return what a tool says; raise InvalidMoveError or IllegalMoveError for a wrong move."""
    if tool == "belief":
        return deductions(view)
    if tool == "ends":
        return ends_text(view)
    if tool == "history":
        return history_text(view)
    move, public = legal_move(move_of_words(about), view), view.copy()[0]["public"]
    if move.tile is None:
        return f"'{move_words(move)}' brings nothing at once."
    total = uncompiled(total_after, public["layout"], move.action)
    side = uncompiled(side_of, public["rules"], int(public["turn"]))
    points = uncompiled(gain, public, side, int(FIVES[public["rules"]["multiple"], total]))
    return f"'{move_words(move)}': total {total}, {number_of(points, 'point')}."
