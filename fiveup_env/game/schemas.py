"""JSON Schemas of what is written as JSON: rules, views and records.

`fiveup schema NAME` prints one. What is allowed comes from where the code has it: the structs, the
fields of the rules and their bounds, the tiles and the action table.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.engine.view import VIEW
from fiveup_env.game.records import FORMAT, VERSION
from fiveup_env.game.values import DOUBLE_STATES, ENDINGS
from fiveup_env.game.view_json import DERIVED_KEYS, FACT_KEYS, MOST, RULE_KEYS
from fiveup_env.rules.actions import ACTION_COUNT, DRAW, END_NAMES, MOVES
from fiveup_env.rules.fields import BOUNDS, CHOICES, MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.presets import NAMED_RULES
from fiveup_env.rules.tiles import MAX_PIP, TILES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fiveup_env.files import Json

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def _whole(low: int, high: int) -> Json:
    return {"type": "integer", "minimum": low, "maximum": high}


def _list(items: Json, low: int, high: int) -> Json:
    return {"type": "array", "items": items, "minItems": low, "maxItems": high}


def _object(parts: Mapping[str, Any], optional: tuple[str, ...] = ()) -> Json:
    needed = [name for name in parts if name not in optional]
    return {
        "type": "object",
        "properties": dict(parts),
        "required": needed,
        "additionalProperties": False,
    }


def _or_null(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


_PUBLIC: Final = VIEW["public"]
_TILES: Final = _PUBLIC["play_action"].shape[0]
_SEAT: Final = _whole(0, MAX_PLAYERS - 1)
_PIP: Final = _whole(0, MAX_PIP)
_TILE: Final[Json] = {"enum": [str(tile) for tile in TILES]}
_ENDED: Final[Json] = {"enum": list(ENDINGS)}
_BY_SIDE: Final = _list(_whole(-MOST, MOST), 2, _PUBLIC["scores"].shape[0])
_COUNT: Final = _whole(0, _TILES)


def rules_schema() -> Json:
    """Return the schema of rules: all fields, as views and questions have them."""
    kinds = {field.name: field.type for field in dataclasses.fields(Rules)}
    parts: Json = {"players": _whole(MIN_PLAYERS, MAX_PLAYERS)}
    for name in RULE_KEYS[1:]:
        if name in CHOICES:
            parts[name] = {"enum": list(CHOICES[name])}
        elif kinds[name] == "bool":
            parts[name] = {"type": "boolean"}
        else:
            parts[name] = _whole(*BOUNDS[name])
    return _object(parts)


def view_schema() -> Json:
    """Return the schema of a view with its rules."""
    end = _object(
        {"pip": _PIP, "kind": {"enum": list(END_NAMES)}, "counts": _whole(0, 2 * MAX_PIP)}
    )
    event = _object(
        {"seat": _SEAT, "move": {"enum": list(map(str, MOVES))}, "tile": _TILE}, ("tile",)
    )
    parts = {
        "seat": _SEAT,
        "hand": _list(_TILE, 0, _TILES),
        "turn": _or_null(_SEAT),
        "scores": _BY_SIDE,
        "hand_number": _whole(0, MOST),
        "lead": _SEAT,
        "forced_lead": _or_null(_TILE),
        "ended": _ENDED,
        "end_points": _BY_SIDE,
        "winner": _or_null(_SEAT),
        "history": _list(event, 0, _TILES * (MAX_PLAYERS + 2)),
        "sizes": _list(_COUNT, MIN_PLAYERS, _PUBLIC["sizes"].shape[0]),
        "boneyard": _COUNT,
        "lacked": _list(_list(_PIP, 0, MAX_PIP + 1), MIN_PLAYERS, _PUBLIC["lacked"].shape[0]),
        "layout": _object(
            {
                "total": _whole(0, _most_total()),
                "ends": _list(end, 0, _TILES),
                "doubles": _list({"enum": list(DOUBLE_STATES)}, MAX_PIP + 1, MAX_PIP + 1),
            }
        ),
        "legal": _list({"enum": list(map(str, MOVES))}, 0, ACTION_COUNT),
    }
    assert tuple(parts) == (*FACT_KEYS, *DERIVED_KEYS)
    return _object({"rules": rules_schema(), **parts}, DERIVED_KEYS)


def record_schema() -> Json:
    """Return the schema of a game record. `fiveup check` says whether one is also true."""
    tile: Json = {"type": "string", "pattern": f"^[0-{MAX_PIP}]-[0-{MAX_PIP}]$"}
    tiles = _list(tile, 0, _TILES)
    on = _or_null(_object({"pip": _PIP, "end": {"enum": list(END_NAMES)}}))
    play = _object({"play": tile, "on": on})
    made = _object(
        {
            "player": _SEAT,
            "draws": tiles,
            "play": tile,
            "on": on,
            "total": _whole(0, _most_total()),
            "points": _whole(0, MOST),
            "legal": _list(play, 1, DRAW),
        },
        ("legal",),
    )
    passed = _object({"player": _SEAT, "draws": tiles, "play": {"type": "null"}})
    hand = _object(
        {
            "lead": _SEAT,
            "deal": _list(tiles, MIN_PLAYERS, MAX_PLAYERS),
            "boneyard": tiles,
            "scores_before": _BY_SIDE,
            "moves": {"type": "array", "items": {"anyOf": [made, passed]}},
            "ended": _ENDED,
            "end_points": _or_null(_BY_SIDE),
            "scores_after": _BY_SIDE,
        }
    )
    fields = {
        name: part
        for name, part in rules_schema()["properties"].items()
        if name not in {"players", "teams"}
    }
    return _object(
        {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "rules": _object({"preset": {"enum": [*NAMED_RULES, None]}, **fields}),
            "players": _whole(MIN_PLAYERS, MAX_PLAYERS),
            "teams": {"type": "boolean"},
            "complete": {"type": "boolean"},
            "winner": _or_null(_SEAT),
            "hands": {"type": "array", "items": hand},
        }
    )


def _most_total() -> int:
    """Return a total that no layout exceeds: all pips of the set."""
    return sum(tile.pips for tile in TILES)


SCHEMAS: Final[Mapping[str, Callable[[], Json]]] = {
    "rules": rules_schema,
    "view": view_schema,
    "record": record_schema,
}


def schema(name: str) -> Json:
    """Return one of SCHEMAS with its dialect and its title."""
    return {"$schema": DIALECT, "title": f"fiveup {name}", **SCHEMAS[name]()}
