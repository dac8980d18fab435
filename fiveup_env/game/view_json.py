"""A view as JSON: everything that one seat may know, in plain names, and back to its VIEW struct.

    content = view_json(game.view())    # ready for json.dumps
    view = view_of(content)             # equal, byte for byte

Programs in other languages read views in this form (docs/use/programs.md). What follows from the
history may be left out of what is read; what is given must be right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from fiveup_env.checks import whole
from fiveup_env.engine.state import NOBODY
from fiveup_env.engine.view import as_view, unchecked_masks
from fiveup_env.errors import InputError, shown, unknown
from fiveup_env.game.facts import HIDDEN, Event, Facts, facts_of, views_of, with_passes
from fiveup_env.game.values import DOUBLE_STATES, ENDINGS, Layout
from fiveup_env.rules.actions import DRAW, MOVES, PASS
from fiveup_env.rules.fields import FIELDS, Rules
from fiveup_env.rules.tiles import PIP_COUNT, TILES, tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from fiveup_env.files import Json

MOST: Final = 1 << 30  # points and hands
RULE_KEYS: Final = ("players", "teams", *FIELDS)
FACT_KEYS: Final = (
    *("seat", "hand", "turn", "scores", "hand_number", "lead", "forced_lead"),
    *("ended", "end_points", "winner", "history"),
)
DERIVED_KEYS: Final = ("sizes", "boneyard", "lacked", "layout", "legal")

_MOVE_NAMES: Final = tuple(map(str, MOVES))
_TILE_NAMES: Final = tuple(map(str, TILES))
_ACTIONS: Final[Mapping[str, int]] = {name: k for k, name in enumerate(_MOVE_NAMES)} | {
    f"{name[2]}-{name[0]}{name[3:]}": k for k, name in enumerate(_MOVE_NAMES) if k < DRAW
}
_TILES: Final[Mapping[str, int]] = {name: k for k, name in enumerate(_TILE_NAMES)} | {
    name[::-1]: k for k, name in enumerate(_TILE_NAMES)
}
_PIPS: Final = tuple(
    [p for p in range(PIP_COUNT) if mask >> p & 1] for mask in range(1 << PIP_COUNT)
)


def view_json(view: np.ndarray) -> Json:
    """Return a view, an array of one VIEW struct, as JSON with its rules.

    >>> from fiveup_env import Game
    >>> view_json(Game("five_up", players=2, seed=7).view())["legal"]
    ['0-0', '2-1', '4-2', '5-1', '6-4']
    """
    view = as_view(view)
    rules = Rules.from_struct(view[0]["public"]["rules"])
    return {"rules": rules_json(rules), **views_json(view)[0]}


def view_of(content: object) -> np.ndarray:
    """Return the view that JSON describes, as an array of one VIEW struct; raise InputError."""
    if not isinstance(content, dict) or "rules" not in content:
        raise InputError(f"a view is an object with its rules, not {shown(content)}")
    rest = {name: value for name, value in content.items() if name != "rules"}
    return views_from(rules_of(content["rules"]), [rest])


# --- Rules


def rules_json(rules: Rules) -> Json:
    """Return all fields of some rules, the number of players and the partners first."""
    return {"players": rules.players, "teams": rules.teams, **rules.fields()}


def rules_of(content: object) -> Rules:
    """Return the rules that JSON describes; raise InputError unless it has every field."""
    if not isinstance(content, dict):
        raise InputError(f"rules are an object with every field, not {shown(content)}")
    _check_keys("the rules", "field of the rules", content, RULE_KEYS)
    return Rules(**content)


# --- Views


def views_json(views: np.ndarray) -> list[Json]:
    """Return views, an array of VIEW structs [N] that the library made, as JSON without rules."""
    return [
        {**_facts_json(facts), **derived}
        for facts, derived in zip(facts_of(views), _derived_json(views), strict=True)
    ]


def _facts_json(facts: Facts) -> Json:
    return {
        "seat": facts.seat,
        "hand": [str(tile) for tile in tiles_in(facts.hand)],
        "turn": None if facts.turn == NOBODY else facts.turn,
        "scores": facts.scores,
        "hand_number": facts.hand_number,
        "lead": facts.lead,
        "forced_lead": None if facts.forced_lead < 0 else _TILE_NAMES[facts.forced_lead],
        "ended": ENDINGS[facts.ended],
        "end_points": facts.end_points,
        "winner": None if facts.winner == NOBODY else facts.winner,
        "history": list(map(_event_json, with_passes(facts))),
    }


def _derived_json(views: np.ndarray) -> Iterator[Json]:
    """Yield what follows from the facts of each view."""
    public = views["public"]
    layout = public["layout"]
    columns = zip(
        public["rules"]["players"].tolist(),
        public["sizes"].tolist(),
        (public["boneyard"] - public["drawn"]).tolist(),
        public["lacked"].tolist(),
        layout["total"].tolist(),
        layout["plain"].tolist(),
        layout["double"].tolist(),
        unchecked_masks(views),
        strict=True,
    )
    for players, sizes, boneyard, lacked, total, plain, double, mask in columns:
        yield {
            "sizes": sizes[:players],
            "boneyard": boneyard,
            "lacked": [_PIPS[pips].copy() for pips in lacked[:players]],
            "layout": _layout_json(total, plain, double),
            "legal": [_MOVE_NAMES[action] for action in mask.nonzero()[0].tolist()],
        }


def _event_json(event: Event) -> Json:
    content: Json = {"seat": event.seat, "move": _MOVE_NAMES[event.action]}
    if event.tile != HIDDEN:
        content["tile"] = _TILE_NAMES[event.tile]
    return content


def _layout_json(total: int, plain: list[int], double: list[int]) -> Json:
    ends = [
        {"pip": end.pip, "kind": end.kind, "counts": end.counts}
        for end in Layout.ends_of(plain, double)
    ]
    return {"total": total, "ends": ends, "doubles": [DOUBLE_STATES[state] for state in double]}


def views_from(rules: Rules, contents: Sequence[object]) -> np.ndarray:
    """Return the views [N] that JSON without rules describes.

    Raises InputError, which names the view and the field, for whatever no view holds.
    """
    read = [_facts_from(rules, content, f"view {i}") for i, content in enumerate(contents)]
    views = views_of([facts for facts, _ in read])
    derived = _derived_json(views)
    for i, ((facts, history), content, right) in enumerate(
        zip(read, contents, derived, strict=True)
    ):
        if len(history) > len(facts.events) and history != list(with_passes(facts)):
            raise InputError(f"view {i}: history has other passes than those that follow from it")
        assert isinstance(content, dict)
        for name in right.keys() & content.keys():
            if not _same(content[name], right[name]):
                raise InputError(
                    f"view {i}: {name} is {shown(content[name])}, but the rules and the history "
                    f"give {shown(right[name])}"
                )
    return views


def _same(given: Any, right: Any) -> bool:
    """Return whether a part is as it must be; moves may differ in their order and their halves."""
    try:
        if given == right:
            return True
    except (TypeError, ValueError):  # such as an array, which JSON has not
        return False
    if not isinstance(given, list) or not isinstance(right, list) or len(given) != len(right):
        return False
    actions = [_ACTIONS.get(name) if isinstance(name, str) else None for name in given]
    return None not in actions and {*actions} == {_ACTIONS.get(str(name)) for name in right}


def _facts_from(rules: Rules, content: object, where: str) -> tuple[Facts, list[Event]]:
    """Return the facts of a view, and its history with whatever passes it has."""
    if not isinstance(content, dict):
        raise InputError(f"{where} is an object, not {shown(content)}")
    _check_keys(where, f"field of {where}", content, FACT_KEYS, DERIVED_KEYS)
    ask = _Asked(content, where, rules)
    ended = content["ended"]
    if ended is not None and ended not in ENDINGS:
        ask.refuse("ended", "null, domino, blocked or target")
    turn, winner, forced = content["turn"], content["winner"], content["forced_lead"]
    if (turn is None) != (ended is not None):
        ask.refuse("turn", "null once the hand has ended, and else the seat to move")
    history = list(ask.events())
    facts = Facts(
        rules=rules,
        seat=ask.seat("seat"),
        hand=ask.hand(),
        scores=ask.points("scores"),
        hand_number=ask.number("hand_number", 0, MOST),
        lead=ask.seat("lead"),
        forced_lead=-1 if forced is None else ask.tile("forced_lead", forced),
        turn=NOBODY if turn is None else ask.seat("turn"),
        ended=ENDINGS.index(ended),
        end_points=ask.points("end_points"),
        winner=NOBODY if winner is None else ask.number("winner", 0, rules.sides - 1),
        events=[event for event in history if event.action != PASS],
    )
    return facts, history


class _Asked:
    """The fields of a view that JSON describes, each checked when it is asked for."""

    def __init__(self, content: Json, where: str, rules: Rules) -> None:
        self.content, self.where, self.rules = content, where, rules

    def refuse(self, name: str, wanted: str, value: object = ...) -> NoReturn:
        given = self.content[name] if value is ... else value
        raise InputError(f"{self.where}: {name} must be {wanted}, not {shown(given)}")

    def number(self, name: str, low: int, high: int) -> int:
        value = whole(self.content[name], low, high)
        if value is None:
            self.refuse(name, f"a whole number from {low} to {high}")
        return value

    def seat(self, name: str) -> int:
        return self.number(name, 0, self.rules.players - 1)

    def tile(self, name: str, value: object) -> int:
        if not isinstance(value, str) or value not in _TILES:
            self.refuse(name, "written with tiles such as 5-3", value)
        return _TILES[value]

    def hand(self) -> int:
        tiles = self.content["hand"]
        if not isinstance(tiles, list):
            self.refuse("hand", "a list of tiles")
        mask = 0
        for tile in tiles:
            mask |= 1 << self.tile("hand", tile)
        if mask.bit_count() != len(tiles):
            self.refuse("hand", "a list of different tiles")
        return mask

    def points(self, name: str) -> list[int]:
        values, sides = self.content[name], self.rules.sides
        if not isinstance(values, list) or len(values) != sides:
            self.refuse(name, f"a list of {sides} numbers, one for each side")
        checked = [whole(value, -MOST, MOST) for value in values]
        if None in checked:
            self.refuse(name, f"whole numbers from {-MOST} to {MOST}")
        return [value for value in checked if value is not None]

    def events(self) -> Iterator[Event]:
        history = self.content["history"]
        if not isinstance(history, list):
            self.refuse("history", "a list of what was done, in order")
        plays = draws = 0
        for k, entry in enumerate(history):
            where = f"history[{k}]"
            if not isinstance(entry, dict) or entry.keys() | {"tile"} != {"seat", "move", "tile"}:
                self.refuse(where, 'an object such as {"seat": 0, "move": "5-3@5"}', entry)
            seat, move, tile = (
                whole(entry["seat"], 0, self.rules.players - 1),
                entry["move"],
                HIDDEN,
            )
            if seat is None:
                self.refuse(where, f"of a seat from 0 to {self.rules.players - 1}", entry)
            if not isinstance(move, str) or move not in _ACTIONS:
                self.refuse(where, "a move such as 5-3, 5-3@5, 5-3@5x, draw or pass", entry)
            action = _ACTIONS[move]
            if "tile" in entry:
                tile = self.tile(where, entry["tile"])
                if action != DRAW or seat != self.content["seat"]:
                    self.refuse(where, "without a tile, but for draws of the viewer's own", entry)
            plays, draws = plays + (action < DRAW), draws + (action == DRAW)
            if max(plays, draws) > len(TILES):
                self.refuse("history", f"at most {len(TILES)} plays and as many draws")
            yield Event(seat, action, tile)


def _check_keys(
    name: str, kind: str, content: Json, needed: Sequence[str], more: Sequence[str] = ()
) -> None:
    """Raise InputError unless an object has all fields that are needed, and at most `more`."""
    for key in content:
        if key not in (*needed, *more):
            raise InputError(unknown(kind, key, (*needed, *more)))
    if missing := [key for key in needed if key not in content]:
        raise InputError(f"{name} lacks {', '.join(missing)}")
