"""A whole game as one HTML file that shows it move by move.

Every hand's last layout is placed once, and its tiles appear where they will stay. Parts of the
picture that look the same at several moments are in the file once, with the moments of each.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from fiveup_env.actions import MOVES
from fiveup_env.drawing.scene import (
    Part,
    Table,
    layout_height,
    picture_of,
    placement_of,
    play_note,
)
from fiveup_env.drawing.svg import part_svg, svg_of
from fiveup_env.drawing.transcript import ENDED, _deed, _outcome, _scores
from fiveup_env.records import Json, record_of
from fiveup_env.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from fiveup_env.actions import Move
    from fiveup_env.game import Game

LAYERS = ("wood", "felt", "board", "seat", "link", "last", "tile")  # all else lies above


def replay_html(game: Game) -> str:
    """The page; it needs nothing else, and no network."""
    moments = list(_moments(game))
    reached = [score for table, _ in moments for score in table.scores]
    reach = min(reached), max(reached)
    room = max(layout_height(table.placement) for table, _ in moments)
    shown: dict[Part, list[int]] = {}
    height = 0.0
    for number, (table, _) in enumerate(moments):
        height, parts = picture_of(replace(table, reach=reach), room)
        for part in parts:
            shown.setdefault(part, []).append(number)
    layers = sorted(shown, key=lambda part: (*LAYERS, part.kind).index(part.kind))
    svg = [part_svg(_timed(part, shown[part], len(moments))) for part in layers]
    steps = [[table.number, line] for table, line in moments]
    page = files("fiveup_env.drawing").joinpath("replay.html").read_text("utf-8")
    for name, content in (
        ("title", f"Five Up: {_outcome(game)}"),
        ("picture", svg_of(svg, height, "The table")),
        ("steps", json.dumps(steps, separators=(",", ":")).replace("<", "\\u003c")),
    ):
        page = page.replace(f"<!-- {name} -->", content)
    return page


def _timed(part: Part, numbers: Sequence[int], count: int) -> Part:
    """The part with the moments at which it is seen, unless that is always."""
    if len(numbers) == count:
        return part
    return part._replace(data=(*part.data, ("on", _spans(numbers))))


def _spans(numbers: Iterable[int]) -> str:
    """Rising numbers as spans: `3-9 12`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return " ".join("-".join(map(str, span)) for span in spans)


def _moments(game: Game) -> Iterator[tuple[Table, str]]:
    """The table after each move, deal and end of a hand, and what happened; then how it ended."""
    past = (0,) * game.rules.sides
    for number, hand in enumerate(record_of(game)["hands"]):
        for table, line in _hand(game, number, hand, past):
            yield table, line
            past = table.before
    yield Table.of(game), _outcome(game)


def _hand(
    game: Game, number: int, hand: Json, past: tuple[int, ...]
) -> Iterator[tuple[Table, str]]:
    plays = _plays(game.hand_states[number])
    table = Table(
        rules=game.rules,
        number=number,
        plays=(),
        placement=placement_of(plays, game.rules),
        hands=[[Tile.parse(name) for name in tiles] for tiles in hand["deal"]],
        turn=hand["lead"],
        boneyard=len(hand["boneyard"]),
        scores=tuple(hand["scores_before"]),
        before=past,
        reach=(0, 0),
        note="",
        status=f"seat {hand['lead']} leads",
    )
    yield table, f"Hand {number}: seat {hand['lead']} leads; scores {_scores(table.scores)}"
    turns = [*(move["player"] for move in hand["moves"][1:]), None]
    for move, turn in zip(hand["moves"], turns, strict=True):
        table = _after(table, move, turn, plays)
        yield table, f"Seat {move['player']} {_deed(move)}; scores {_scores(table.scores)}"
    if hand["ended"]:
        table = _scored(
            replace(table, note=f"hand {number} {ENDED[hand['ended']]}", status=""),
            hand["scores_after"],
        )
        brought = f", {_scores(hand['end_points'])} points" if hand["end_points"] else ""
        yield (
            table,
            f"Hand {number} {ENDED[hand['ended']]}{brought}; scores {_scores(table.scores)}",
        )


def _plays(state: np.ndarray) -> tuple[Move, ...]:
    """The tiles set in a hand, from its GAME record."""
    table = state[0]["table"]
    return tuple(MOVES[action] for action in table["play_action"][: table["plies"]])


def _after(table: Table, move: Json, turn: int | None, plays: Sequence[Move]) -> Table:
    """The table after a recorded move."""
    seat, name = move["player"], move["play"]
    hands = [list(hand) for hand in table.hands]
    hands[seat] = sorted([*hands[seat], *map(Tile.parse, move["draws"])], key=lambda tile: tile.id)
    table = replace(
        table,
        hands=hands,
        turn=turn,
        boneyard=table.boneyard - len(move["draws"]),
        note=f"seat {seat} passed",
        status="" if turn is None else f"seat {turn} to move",
    )
    if name is None:
        return table
    hands[seat].remove(Tile.parse(name))
    side = table.rules.side_of(seat)
    scores = [score + move["points"] * (k == side) for k, score in enumerate(table.scores)]
    note = play_note(seat, Tile.parse(name), move["points"])
    return _scored(replace(table, plays=plays[: len(table.plays) + 1], note=note), scores)


def _scored(table: Table, scores: Sequence[int]) -> Table:
    """The table with new scores: the pegs behind go where those in front were."""
    before = tuple(
        old if old != new else behind
        for old, new, behind in zip(table.scores, scores, table.before, strict=True)
    )
    return replace(table, scores=tuple(scores), before=before)
