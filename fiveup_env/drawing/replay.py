"""A whole game as one HTML file that shows it move by move.

The last layout of each hand is placed once, so that every tile appears where it will stay. A part
of the picture that looks the same at several moments is in the file once, with those moments.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from fiveup_env.drawing.scene import Part, Picture, layout_height, picture_of
from fiveup_env.drawing.snapshot import Snapshot, placement_of
from fiveup_env.drawing.svg import part_svg, svg_of
from fiveup_env.drawing.words import ENDED, hand_end, move_text, outcome_line, score_line
from fiveup_env.game.records import record_of
from fiveup_env.game.values import plays_of
from fiveup_env.rules.tiles import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fiveup_env.files import Json
    from fiveup_env.game.game import Game

LAYERS = ("wood", "felt", "board", "seat", "link", "last", "tile")  # back to front; others follow


def replay_html(game: Game) -> str:
    """Return the page, which needs no other file and no network."""
    moments = list(moments_of(game))
    reach = reach_of(snapshot for snapshot, _ in moments)
    room = max(layout_height(snapshot.placement) for snapshot, _ in moments)
    pictures = [picture_of(replace(snapshot, reach=reach), room) for snapshot, _ in moments]
    parts = [
        part_svg(_timed(part, on, len(pictures))) for part, on in moments_by_part(pictures).items()
    ]
    steps = [[snapshot.number, line] for snapshot, line in moments]
    page = files("fiveup_env.drawing").joinpath("replay.html").read_text("utf-8")
    for name, content in (
        ("title", f"Five Up: {outcome_line(game)}"),
        ("picture", svg_of(parts, pictures[-1].width, pictures[-1].height, "The table")),
        # It stands inside a script element.
        ("steps", json.dumps(steps, separators=(",", ":")).replace("<", "\\u003c")),
    ):
        page = page.replace(f"<!-- {name} -->", content)
    return page


def reach_of(snapshots: Iterable[Snapshot]) -> tuple[int, ...]:
    """Return all scores of some moments, which their boards must include to look alike."""
    return tuple(sorted({score for snapshot in snapshots for score in snapshot.scores}))


def moments_by_part(pictures: Sequence[Picture]) -> dict[Part, list[int]]:
    """Return the moments at which each part is visible; the parts are ordered back to front."""
    shown: dict[Part, list[int]] = {}
    for number, picture in enumerate(pictures):
        for part in picture.parts:
            shown.setdefault(part, []).append(number)
    layers = sorted(shown, key=lambda part: (*LAYERS, part.kind).index(part.kind))
    return {part: shown[part] for part in layers}


def _timed(part: Part, numbers: Sequence[int], count: int) -> Part:
    """Return the part with the moments at which it is visible (`data-on`), unless it always is."""
    if len(numbers) == count:
        return part
    return part._replace(data=(*part.data, ("on", _spans(numbers))))


def _spans(numbers: Iterable[int]) -> str:
    """Return ascending numbers as spans: `3-9 12`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return " ".join("-".join(map(str, span)) for span in spans)


def moments_of(game: Game) -> Iterator[tuple[Snapshot, str]]:
    """Yield what is seen, and what happened, after each deal, move and hand; then the outcome."""
    before = (0,) * game.rules.sides
    for number, hand in enumerate(record_of(game)["hands"]):
        for snapshot, line in _hand(game, number, hand, before):
            before = snapshot.before
            yield snapshot, f"{line}; scores {score_line(snapshot.scores)}"
    yield Snapshot.of(game), outcome_line(game)


def _hand(
    game: Game, number: int, hand: Json, before: tuple[int, ...]
) -> Iterator[tuple[Snapshot, str]]:
    """Yield the moments of one hand, from its record."""
    history = game.hand_states()[number][0]["public"]
    plays = plays_of(history)
    snapshot = Snapshot(
        rules=game.rules,
        number=number,
        plays=(),
        placement=placement_of(plays, game.rules),
        hands=[[Tile.parse(name) for name in tiles] for tiles in hand["deal"]],
        turn=hand["lead"],
        boneyard=len(hand["boneyard"]),
        scores=tuple(hand["scores_before"]),
        before=before,
        status=f"seat {hand['lead']} leads",
    )
    yield snapshot, f"Hand {number}: seat {hand['lead']} leads"
    turns = [*(move["player"] for move in hand["moves"][1:]), None]
    for move, turn in zip(hand["moves"], turns, strict=True):
        status = "" if turn is None else f"seat {turn} to move"
        snapshot = replace(snapshot.after(move, plays), turn=turn, status=status)
        yield snapshot, f"Seat {move['player']} {move_text(move)}"
    if hand["ended"]:
        how = f"hand {number} {ENDED[hand['ended']]}"
        line = f"Hand {number} {hand_end(hand)}"
        yield replace(snapshot.scored(hand["scores_after"]), note=how), line
