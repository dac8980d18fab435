"""The messages of fiveup-agent, a JSON object to a line: how both sides write and read them.

Nothing that is read is unpickled or run.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import as_views
from fiveup_env.errors import InputError, shown
from fiveup_env.game.view_json import rules_json, rules_of, views_from, views_json
from fiveup_env.rules.actions import MOVES, Move
from fiveup_env.rules.fields import Rules
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from fiveup_env.files import Json

PROTOCOL: Final = "fiveup-agent"
VERSION: Final = 1
FORMS: Final = ("json", "struct")  # how views are sent: as objects, or as VIEW structs in base64
LONGEST: Final = 1 << 26  # bytes of a line
LONGEST_ANSWER: Final = 1 << 21
MOST_VIEWS: Final = 1 << 16  # in a question


class MessageError(InputError):
    """A message that the protocol does not allow."""


def line_of(message: Json) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def message_in(line: bytes, longest: int) -> Json:
    """Return the message of a line; raise MessageError if it is none."""
    if len(line) >= longest:
        raise MessageError(f"a line has fewer than {longest:,} bytes, and this has more")
    try:
        message = parse_json(line)
    except ValueError as error:
        raise MessageError(f"a line is a JSON object, but this is not JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise MessageError(f'a line is a JSON object with a "type", not {shown(message)}')
    return message


def part(message: Json, name: str, kind: type, what: str) -> Any:
    """Return a part of a message; raise MessageError if it is missing or of another type."""
    if not isinstance(message.get(name), kind) or isinstance(message[name], bool):
        given = shown(message[name]) if name in message else "missing"
        raise MessageError(f"{message['type']}: {name} is {what}; it is {given}")
    return message[name]


# --- hello


def hello() -> Json:
    """Return our greeting, which says which forms of views can be sent."""
    return {
        "type": "hello",
        "protocol": PROTOCOL,
        "version": VERSION,
        "views": list(FORMS),
        "view_bytes": VIEW.itemsize,
    }


def check_hello(message: Json) -> None:
    """Raise MessageError unless a message greets by this version of the protocol."""
    if message["type"] != "hello":
        raise MessageError(f"the first message is a hello, not {shown(message['type'])}")
    if message.get("protocol") != PROTOCOL or message.get("version") != VERSION:
        raise MessageError(
            f"hello: this is version {VERSION} of {PROTOCOL}, not version "
            f"{shown(message.get('version'))} of {shown(message.get('protocol'))}"
        )


def form_of(greeting: Json) -> str:
    """Return the form of views that a program asks for in its greeting."""
    form = greeting.get("views", "json")
    if form not in FORMS:
        raise MessageError(f"hello: views is json or struct, not {shown(form)}")
    return str(form)


# --- choose


def question(number: int, views: np.ndarray, chance: str, seconds: float | None, form: str) -> Json:
    """Return the question for a move in each of some views [N], all of the same rules."""
    return {
        "type": "choose",
        "id": number,
        "rules": rules_json(Rules.from_struct(views[0]["public"]["rules"])),
        "chance": chance,
        "seconds": seconds,
        "views": b64encode(views.tobytes()).decode() if form == "struct" else views_json(views),
    }


def views_in(message: Json) -> np.ndarray:
    """Return the views of a question, in whichever form they came: sound, and each with a move."""
    given = message.get("views")
    if isinstance(given, str):
        views = _structs(given)
    else:
        listed = part(message, "views", list, "a list of views, or structs in base64")
        if len(listed) > MOST_VIEWS:
            raise MessageError(f"choose: at most {MOST_VIEWS:,} views, not {len(listed):,}")
        try:
            views = views_from(rules_of(message.get("rules")), listed)
        except InputError as error:
            raise MessageError(f"choose: {error}") from None
    public = views["public"]
    idle = np.flatnonzero((public["phase"] != 0) | (public["turn"] != views["seat"]))
    if len(idle) or not len(views):
        problem = f"view {idle[0]} is not" if len(idle) else "there is no view"
        raise MessageError(f"choose: every view is of a seat that is to move; {problem}")
    return views


def _structs(text: str) -> np.ndarray:
    try:
        content = b64decode(text, validate=True)
    except ValueError as error:
        raise MessageError(f"choose: views are not base64: {error}") from None
    if len(content) % VIEW.itemsize:
        raise MessageError(
            f"choose: views are structs of {VIEW.itemsize} bytes, not {len(content)} bytes"
        )
    try:
        return as_views(np.frombuffer(bytearray(content), VIEW))
    except InputError as error:
        raise MessageError(f"choose: {error}") from None


# --- chance: the state of NumPy's PCG64 in hexadecimal, of which others take what they need


def chance_of(rng: np.random.Generator) -> str:
    """Return a generator as text, and let it go on elsewhere.

    It is the state and the increment of PCG64, 32 digits each, then the 32 bits that the generator
    has left over, if there are any. Of another generator, these are drawn.
    """
    bits = rng.bit_generator
    if not isinstance(bits, np.random.PCG64):
        return rng.bytes(32).hex()
    state: Any = bits.state
    text = f"{state['state']['state']:032x}{state['state']['inc']:032x}"
    if state["has_uint32"]:
        text += f"{state['uinteger']:08x}"
    bits.advance(1 << 64)
    return text


def rng_of(message: Json) -> np.random.Generator:
    """Return the generator of a question."""
    text = part(message, "chance", str, "16 to 72 hexadecimal digits")
    try:
        number = int(text, 16) if text.isalnum() and 16 <= len(text) <= 72 else -1
    except ValueError:
        number = -1
    if number < 0:
        raise MessageError(f"choose: chance is 16 to 72 hexadecimal digits, not {shown(text)}")
    if len(text) not in {64, 72}:
        return np.random.default_rng(number)
    rng = np.random.default_rng(0)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(text[:32], 16), "inc": int(text[32:64], 16) | 1},
        "has_uint32": int(len(text) == 72),
        "uinteger": int(text[64:] or "0", 16),
    }
    return rng


# --- chosen


def answer(number: int, actions: np.ndarray) -> Json:
    """Return the answer to a question: a move for each view, or a number where it is none."""
    return {
        "type": "chosen",
        "id": number,
        "moves": [
            str(MOVES[action]) if 0 <= action < len(MOVES) else action
            for action in actions.tolist()
        ],
    }


def actions_in(message: Json, count: int) -> np.ndarray:
    """Return the actions of an answer [N], legal or not.

    Raises MessageError unless it has a move for each view, as text or as the number of an action.
    """
    moves = part(message, "moves", list, "a list of moves")
    if len(moves) != count:
        raise MessageError(f"chosen: {count} views need {count} moves, not {len(moves)}")
    return np.array([_action(move, k) for k, move in enumerate(moves)], np.int64)


def _action(move: Any, k: int) -> int:
    if type(move) is int and -(1 << 62) < move < 1 << 62:
        return move
    try:
        return Move.parse(move).action
    except InputError:
        raise MessageError(
            f"chosen: moves[{k}] is {shown(move)}; a move is written 5-3 (a lead), 5-3@5 (on a "
            "plain end), 5-3@5x (on the double), draw or pass"
        ) from None


def checked_actions(actions: Any, count: int) -> np.ndarray:
    """Return the actions of an agent as integers [N], or raise MessageError."""
    actions = np.asarray(actions)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        given = "NaN" if actions.dtype.kind == "f" and np.isnan(actions).any() else "an array"
        raise MessageError(
            f"returned {given} of {actions.dtype} of shape {actions.shape}; {count} views need "
            "one integer each"
        )
    return actions
