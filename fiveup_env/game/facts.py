"""The facts of a view: what no other part of it says, as plain numbers.

    VIEW struct <-> Facts <-> JSON (`view_json`) or a line of text (`view_line`)

The layout, the sizes of the hands, the pips that seats lack and the passes all follow from the
rules and the history. So they are not facts: `views_of` works them out again, and checks the rest.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.engine.state import BLOCKED, GAME_OVER, HAND_OVER, NOBODY, NOT_ENDED, PLAYING, VIEW
from fiveup_env.engine.valid import FAULTS, complete_views
from fiveup_env.errors import InputError
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.fields import MAX_PLAYERS, Rules
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HIDDEN = -1  # the tile of an event whose tile is not seen
# Of plays and draws, by their order: fields of the PUBLIC struct, and the last one of VIEW.
HISTORY: Final = ("play_seat", "play_action", "draw_seat", "draw_ply", "drawn")


class Event(NamedTuple):
    """An action of a seat; for a draw the tile, if the viewer drew it, else HIDDEN."""

    seat: int
    action: int
    tile: int = HIDDEN


class Facts(NamedTuple):
    """What one seat may know, from which all else follows. Seats, sides and tiles are numbers."""

    rules: Rules
    seat: int
    hand: int  # a mask of tiles
    scores: list[int]  # by side
    hand_number: int
    lead: int
    forced_lead: int  # a tile, or -1
    turn: int  # NOBODY once the hand has ended
    ended: int
    end_points: list[int]  # by side
    winner: int  # a side, or NOBODY
    events: list[Event]  # plays and draws, without passes


def facts_of(views: np.ndarray) -> Iterator[Facts]:
    """Yield the facts of each VIEW struct of an array."""
    public = views["public"]
    known: dict[bytes, Rules] = {}
    standing = ("scores", "hand_number", "lead", "forced_lead", "turn", "ended", "end_points")
    turns = ("winner", "plies", "play_seat", "play_action", "drawn", "draw_seat", "draw_ply")
    columns = zip(
        *(views[name].tolist() for name in ("seat", "hand", "drawn")),
        *(public[name].tolist() for name in (*standing, *turns)),
        strict=True,
    )
    for i, (seat, hand, own, *values) in enumerate(columns):
        scores, number, lead, forced, turn, ended, points, winner, *history = values
        key = public[i]["rules"].tobytes()
        if key not in known:
            known[key] = Rules.from_struct(public[i]["rules"])
        rules = known[key]
        yield Facts(
            rules=rules,
            seat=seat,
            hand=hand,
            scores=scores[: rules.sides],
            hand_number=number,
            lead=lead,
            forced_lead=forced,
            turn=NOBODY if ended else turn,
            ended=ended,
            end_points=points[: rules.sides],
            winner=winner,
            events=_events(own, *history),
        )


def _events(
    own: list[int],
    plies: int,
    seats: list[int],
    actions: list[int],
    drawn: int,
    drawers: list[int],
    draw_plies: list[int],
) -> list[Event]:
    """Return plays and draws in their order."""
    events, k = [], 0
    for ply in range(plies + 1):
        while k < drawn and draw_plies[k] == ply:
            events.append(Event(drawers[k], DRAW, own[k]))
            k += 1
        if ply < plies:
            events.append(Event(seats[ply], actions[ply]))
    return events


def with_passes(facts: Facts) -> Iterator[Event]:
    """Yield all events, the passes among them, which follow from the seats."""
    players, seat, passes = facts.rules.players, facts.lead, 0
    for event in facts.events:
        while seat != event.seat:
            yield Event(seat, PASS)
            seat, passes = (seat + 1) % players, passes + 1
        yield event
        if event.action != DRAW:
            seat, passes = (seat + 1) % players, 0
    while (
        passes < players
        if facts.ended == BLOCKED
        else facts.ended == NOT_ENDED and seat != facts.turn
    ):
        yield Event(seat, PASS)
        seat, passes = (seat + 1) % players, passes + 1


def views_of(facts: Sequence[Facts]) -> np.ndarray:
    """Return the VIEW structs [N] of some facts, whose numbers are those of seats, sides and tiles.

    Raises InputError, with the number of the view, for what no play leads to.
    """
    views = np.zeros(len(facts), VIEW)
    if facts:
        _fill(views, facts)
    i, fault = complete_views(views)
    if i >= 0:
        raise InputError(f"view {i} is not valid: {FAULTS[fault]}")
    return views


def _fill(views: np.ndarray, facts: Sequence[Facts]) -> None:
    public = views["public"]
    structs: dict[Rules, np.ndarray] = {}
    for name in ("seat", "hand"):
        views[name] = [getattr(item, name) for item in facts]
    for name in ("hand_number", "lead", "forced_lead", "ended", "winner"):
        public[name] = [getattr(item, name) for item in facts]
    for name in ("scores", "end_points"):
        public[name] = [_padded(getattr(item, name), MAX_PLAYERS, 0) for item in facts]
    public["turn"] = [max(0, item.turn) for item in facts]
    public["phase"] = [
        PLAYING if item.ended == NOT_ENDED else HAND_OVER if item.winner < 0 else GAME_OVER
        for item in facts
    ]
    public["boneyard"] = [item.rules.boneyard_size for item in facts]
    rows: dict[str, list[list[int]]] = {name: [] for name in HISTORY}
    for i, item in enumerate(facts):
        if item.rules not in structs:
            structs[item.rules] = item.rules.to_struct()
        public["rules"][i] = structs[item.rules]
        history: dict[str, list[int]] = {name: [] for name in HISTORY}
        for event in item.events:
            if event.action == DRAW:
                history["draw_ply"].append(len(history["play_seat"]))
                history["draw_seat"].append(event.seat)
                history["drawn"].append(event.tile)
            else:
                history["play_seat"].append(event.seat)
                history["play_action"].append(event.action)
        public["plies"][i], public["drawn"][i] = len(history["play_seat"]), len(history["drawn"])
        for name, values in history.items():
            rows[name].append(_padded(values, TILE_COUNT, -1))
    for name in HISTORY[:-1]:
        public[name] = rows[name]
    views["drawn"] = rows["drawn"]


def _padded(values: list[int], length: int, filler: int) -> list[int]:
    return [*values, *repeat(filler, length - len(values))]
