"""The question to a language model, and the move in its answer.

    bare         the rules, the position, how to answer
    deductions   and what follows exactly about the hidden tiles
    notes        and the notes that the model has made for itself

A prompt holds what one seat may know, and nothing of what is hidden.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from fiveup_env import belief
from fiveup_env.engine.view import as_view, legal_masks
from fiveup_env.errors import IllegalMoveError
from fiveup_env.game.rules_words import number_of, rules_text
from fiveup_env.game.view_words import move_of_words, move_words, view_text
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.tiles import TILES

if TYPE_CHECKING:
    from fiveup_env.rules.actions import Move

PromptKind: TypeAlias = Literal["bare", "deductions", "notes"]
KINDS: Final = ("bare", "deductions", "notes")
MOST_NOTES: Final = 2_000  # characters; older ones are forgotten
HOW: Final = (
    "Answer with one legal move in your last line, in words or in short: lead 5-3, set 5-3 on the "
    "5, set 5-3 on the double 5, draw a tile, pass; or 5-3, 5-3@5, 5-3@5x, draw, pass."
)
HOW_TO_NOTE: Final = (
    "Before that you may write lines that begin with 'note:'. They are shown to you again."
)
_NOTE: Final = re.compile(r"\s*note:\s*(.*)", re.IGNORECASE)
_LEAD_IN: Final = re.compile(r"(?:(?:my|the) )?(?:move|answer)(?: is)?:?\s*", re.IGNORECASE)


def prompt(
    view: np.ndarray,
    kind: PromptKind = "bare",
    *,
    notes: str = "",
    moves: bool = True,
    asking: str = "",
) -> str:
    """Return the prompt for a view, an array of one VIEW struct, whose seat is to move.

    Args:
        view: What the seat may know.
        kind: One of KINDS.
        notes: What the model has noted, if the kind is `notes`.
        moves: Whether the legal moves are listed.
        asking: What may be asked instead of a move, in words.
    """
    view = as_view(view)
    rules = Rules.from_struct(view[0]["public"]["rules"])
    parts = [
        f"You play a game of dominoes. The rules:\n\n{rules_text(rules)}",
        f"The position:\n\n{view_text(view, moves=moves)}",
    ]
    if kind == "deductions":
        parts.append(f"What follows about the hidden tiles:\n\n{deductions(view)}")
    if kind == "notes":
        parts.append(f"Your notes:\n\n{notes or 'none'}")
        parts.append(HOW_TO_NOTE)
    return "\n\n".join([*parts, HOW, *filter(None, [asking])])


def deductions(view: np.ndarray) -> str:
    """Return a view's exact deductions about the hidden tiles, in words."""
    view = as_view(view)
    public, seat = view[0]["public"], int(view[0]["seat"])
    shares, count = belief.marginals(view)[0], belief.count(view)
    agree = "agrees" if count == 1 else "agree"
    arrangements = f"{number_of(count, 'arrangement')} of the hidden tiles, all equally likely,"
    lines = [f"{arrangements} {agree} with what you know."]
    places = {s: f"seat {s}" for s in range(int(public["rules"]["players"])) if s != seat}
    places[belief.BONEYARD] = "the boneyard"
    for tile, name in enumerate(TILES):
        where = [
            f"{places[place]} {100 * shares[place, tile]:.0f} %"
            for place in places
            if shares[place, tile] > 0
        ]
        if where:
            lines.append(f"{name}: {', '.join(where)}")
    return "\n".join(lines)


def move_in(answer: str, view: np.ndarray) -> Move:
    """Return the move that an answer says in its last line.

    Raises InvalidMoveError if that is not a move, IllegalMoveError if it is not legal.
    """
    lines = [line for line in answer.splitlines() if line.strip()]
    last = lines[-1].strip().strip("*_`'\" ") if lines else ""
    return legal_move(move_of_words(_LEAD_IN.sub("", last, count=1)), view)


def legal_move(move: Move, view: np.ndarray) -> Move:
    """Return a move; raise IllegalMoveError if it is not legal."""
    mask = legal_masks(view)[0]
    if not mask[move.action]:
        allowed = ", ".join(move_words(MOVES[action]) for action in np.flatnonzero(mask))
        raise IllegalMoveError(f"'{move_words(move)}' is not legal here; legal: {allowed}")
    return move


def notes_after(notes: str, answer: str) -> str:
    """Return the notes with those of an answer added, in ASCII; the oldest are forgotten."""
    added = [match[1].strip() for line in answer.splitlines() if (match := _NOTE.match(line))]
    text = "\n".join(filter(None, [notes, *added]))
    plain = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return plain.encode("ascii", "replace").decode()[-MOST_NOTES:]
