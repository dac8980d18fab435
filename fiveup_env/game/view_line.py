"""A view as one exact line, as FEN is for chess: to paste a position, and to get it back.

    five_up/2 1 5-3,2-1 7:5 0 0 0.5-5,1+,1.5-0@5x,0+3-1 t1

Its parts are the rules, the seat whose view it is, its hand, the scores by side, the number of the
hand, the leader, the history, and how the hand stands:

    rules    a preset, the number of players, and the fields that differ: `five_up/2,target=30`
    leader   the seat; with the tile that it had to lead, if it had to: `0!6-6`
    history  `0.5-5` a seat set a tile, `1+` a seat drew, `0+3-1` the viewer drew this tile
    stand    `t1` seat 1 is to move; `domino:0:-2` how the hand ended and what that brought by
             side; and with `!1` the side that has won the game

A part that is empty is a dash. Passes are not written: they follow from the seats.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.checks import whole
from fiveup_env.engine.state import NOBODY
from fiveup_env.engine.view import as_view
from fiveup_env.errors import InputError, shown, unknown
from fiveup_env.game.facts import HIDDEN, Event, Facts, facts_of, views_of
from fiveup_env.game.values import ENDINGS
from fiveup_env.rules.actions import DRAW, MOVES, Move
from fiveup_env.rules.fields import MAX_PLAYERS, Rules, parse_assignment
from fiveup_env.rules.tiles import TILE_COUNT, TILES, Tile, mask_of, tiles_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

EMPTY: Final = "-"
PARTS: Final = ("rules", "seat", "hand", "scores", "number", "leader", "history", "stand")
LONGEST: Final = 4_000  # characters
MOST: Final = 1 << 30
_EVENT: Final = re.compile(r"(\d)(?:\.([^,+]+)|\+([0-6]-[0-6])?)", re.ASCII)


def view_line(view: np.ndarray) -> str:
    """Return a view, an array of one VIEW struct, as a line.

    >>> from fiveup_env import Game
    >>> view_line(Game("five_up", players=2, seed=7).view())
    'five_up/2 0 0-0,2-1,4-2,5-1,6-4 0:0 0 0 - t0'
    """
    (facts,) = facts_of(as_view(view))
    return line_of(facts)


def view_of_line(line: object) -> np.ndarray:
    """Return the view of a line, as an array of one VIEW struct; raise InputError."""
    try:
        return views_of([facts_in(line)])
    except InputError as error:
        raise InputError(f"not a position: {str(error).replace('view 0', 'it')}") from None


def line_of(facts: Facts) -> str:
    """Return the line of a view's facts."""
    forced = "" if facts.forced_lead < 0 else f"!{TILES[facts.forced_lead]}"
    points = ":".join(map(str, facts.end_points))
    stand = f"{ENDINGS[facts.ended]}:{points}" if facts.ended else f"t{facts.turn}"
    return " ".join(
        [
            rules_word(facts.rules),
            str(facts.seat),
            ",".join(map(str, tiles_in(facts.hand))) or EMPTY,
            ":".join(map(str, facts.scores)),
            str(facts.hand_number),
            f"{facts.lead}{forced}",
            ",".join(map(_event_word, facts.events)) or EMPTY,
            f"{stand}{'' if facts.winner == NOBODY else f'!{facts.winner}'}",
        ]
    )


def rules_word(rules: Rules) -> str:
    """Return rules as a word: a preset, the number of players, and what is changed."""
    name, changes = rules.nearest()
    words = (f",{field}={str(value).lower()}" for field, value in changes.items())
    return f"{name}/{rules.players}{''.join(words)}"


def rules_in(word: str) -> Rules:
    """Return the rules of a word; raise InputError."""
    head, *changes = word.split(",")
    name, slash, players = head.partition("/")
    if not slash or not re.fullmatch(r"\d", players, re.ASCII):
        raise InputError(f"rules are written five_up/2 or five_up/2,target=30, not {shown(word)}")
    fields: Any = dict(map(parse_assignment, changes))
    return Rules.preset(name, int(players), **fields)


def _event_word(event: Event) -> str:
    if event.action == DRAW:
        return f"{event.seat}+{'' if event.tile == HIDDEN else TILES[event.tile]}"
    return f"{event.seat}.{MOVES[event.action]}"


def facts_in(line: object) -> Facts:
    """Return the facts of a line; raise InputError if it is not a valid line."""
    if not isinstance(line, str) or len(line) > LONGEST:
        raise InputError(f"a position is a line of text, not {shown(line)}")
    words = line.split()
    if len(words) != len(PARTS):
        raise InputError(
            f"a line has {len(PARTS)} parts ({', '.join(PARTS)}), not {len(words)}: {shown(line)}"
        )
    word = dict(zip(PARTS, words, strict=True))
    rules = rules_in(word["rules"])
    leader, _, forced = word["leader"].partition("!")
    stand, _, winner = word["stand"].partition("!")
    ended, *points = stand.split(":")
    if ended not in ENDINGS and not re.fullmatch(r"t\d", ended, re.ASCII):
        raise InputError(unknown("stand", ended, ["t0", *filter(None, ENDINGS)]))
    seat = _number("seat", word["seat"], 0, rules.players - 1)
    over = ended in ENDINGS
    return Facts(
        rules=rules,
        seat=seat,
        hand=_hand(word["hand"]),
        scores=_points("scores", word["scores"].split(":"), rules),
        hand_number=_number("number of the hand", word["number"], 0, MOST),
        lead=_number("leader", leader, 0, rules.players - 1),
        forced_lead=Tile.parse(forced).id if forced else -1,
        turn=NOBODY if over else _number("turn", ended[1:], 0, rules.players - 1),
        ended=ENDINGS.index(ended) if over else 0,
        end_points=_points("end points", points, rules) if over else [0] * rules.sides,
        winner=_number("winner", winner, 0, rules.sides - 1) if winner else NOBODY,
        events=_events(word["history"], seat),
    )


def _number(what: str, text: str, low: int, high: int) -> int:
    number = int(text) if re.fullmatch(r"-?\d{1,10}", text, re.ASCII) else None
    if whole(number, low, high) is None or number is None:
        raise InputError(f"the {what} is a whole number from {low} to {high}, not {shown(text)}")
    return number


def _points(what: str, texts: Sequence[str], rules: Rules) -> list[int]:
    if len(texts) != rules.sides:
        raise InputError(f"there are {rules.sides} {what}, one for each side, not {len(texts)}")
    return [_number(f"entry of the {what}", text, -MOST, MOST) for text in texts]


def _hand(text: str) -> int:
    tiles = [] if text == EMPTY else [Tile.parse(name) for name in text.split(",")]
    if len(set(tiles)) != len(tiles):
        raise InputError(f"a hand has different tiles, not {text}")
    return mask_of(tiles)


def _events(text: str, viewer: int) -> list[Event]:
    events = []
    for word in [] if text == EMPTY else text.split(","):
        match = _EVENT.fullmatch(word)
        if match is None or int(match[1]) >= MAX_PLAYERS:
            raise InputError(f"an event is written 0.5-3@5, 1+ or 0+3-1, not {shown(word)}")
        seat = int(match[1])
        if match[2] is None:
            tile = Tile.parse(match[3]).id if match[3] else HIDDEN
            if tile != HIDDEN and seat != viewer:
                raise InputError(f"only the viewer's own draws have a tile, not {word}")
            events.append(Event(seat, DRAW, tile))
            continue
        action = Move.parse(match[2]).action
        if action >= DRAW:
            raise InputError(f"a draw is written {seat}+ and a pass is not written: {shown(word)}")
        events.append(Event(seat, action))
    draws = sum(event.action == DRAW for event in events)
    if max(draws, len(events) - draws) > TILE_COUNT:
        raise InputError(f"a history has at most {TILE_COUNT} plays and as many draws")
    return events
