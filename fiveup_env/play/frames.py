"""What the browser is sent: frames, one for each moment, and the state of a table.

A frame holds what a Sight holds, drawn by the project's own SVG. A picture that has not changed
since the frame before is left out.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fiveup_env.drawing.scene import back_picture, layout_picture, tile_picture, track_picture
from fiveup_env.drawing.snapshot import Snapshot, placement_of
from fiveup_env.drawing.svg import part_svg, picture_svg
from fiveup_env.drawing.words import score_line
from fiveup_env.rules.tiles import TILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.drawing.placement import Placement
    from fiveup_env.files import Json
    from fiveup_env.play.sights import Sight
    from fiveup_env.play.table import Table
    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.fields import Rules

LAYOUT: Final = {False: (46, (36, 14)), True: (24, (24, 20))}  # by narrow: bound, least cells
BOARD_WIDTH: Final = {False: 960.0, True: 400.0}


def frames_of(sights: Sequence[Sight], *, narrow: bool = False) -> list[Json]:
    """Return the frames of some moments in a row.

    All layouts of a hand are placed as its last one, so that no tile moves from frame to frame.
    """
    frames: list[Json] = []
    last = {sight.number: sight.plays for sight in sights}
    boards: dict[str, str] = {}  # by the scores, which most moments share
    for sight in sights:
        snapshot = snapshot_of(sight, last[sight.number], narrow=narrow)
        frame = _frame(sight)
        frame["felt"] = felt_svg(snapshot, narrow=narrow)
        scores = f"{snapshot.scores} {snapshot.before}"
        if scores not in boards:
            boards[scores] = board_svg(snapshot, narrow=narrow)
        frame["board"] = boards[scores]
        frames.append(frame)
    for frame, following in zip(frames[-2::-1], frames[:0:-1], strict=True):
        for picture in ("felt", "board"):
            if following[picture] == frame[picture]:
                del following[picture]
    return frames


def _frame(sight: Sight) -> Json:
    """Return one moment without its pictures."""
    return {
        "kind": sight.kind,
        "said": sight.said,
        "number": sight.number,
        "lead": sight.lead,
        "turn": sight.turn,
        "total": sight.total,
        "scores": sight.scores,
        "sizes": sight.sizes,
        "hand": [str(tile) for tile in sight.hand],
        "boneyard": sight.boneyard,
    }


def snapshot_of(sight: Sight, plays: tuple[Move, ...], *, narrow: bool) -> Snapshot:
    """Return what a picture shows of a sight, but for hands, which the page draws itself.

    Tiles lie as they do after `plays`, which may go on from those of the sight.
    """
    return Snapshot(
        rules=sight.rules,
        number=sight.number,
        plays=sight.plays,
        placement=_placement(plays, sight.rules, LAYOUT[narrow][0]),
        hands=[],
        turn=sight.turn,
        boneyard=sight.boneyard,
        scores=sight.scores,
        before=sight.behind,
    )


@lru_cache(maxsize=1024)
def _placement(plays: tuple[Move, ...], rules: Rules, width: int) -> Placement | None:
    return placement_of(plays, rules, width)


def felt_svg(snapshot: Snapshot, *, narrow: bool) -> str:
    """Return the layout in the size of the page."""
    picture = layout_picture(snapshot, LAYOUT[narrow][1])
    count = len(snapshot.plays)
    title = f"{count} tile{'' if count == 1 else 's'} on the table"
    return picture_svg(picture, title, fluid=False)


def board_svg(snapshot: Snapshot, *, narrow: bool) -> str:
    """Return the board, with its scores for those who cannot see it."""
    picture = track_picture(snapshot, BOARD_WIDTH[narrow])
    return picture_svg(picture, f"Scores {score_line(snapshot.scores)}", fluid=False)


def state_of(table: Table, sights: Sequence[Sight], *, narrow: bool = False) -> Json:
    """Return a table after some moments, the last of which is how it stands now."""
    setup, rules = table.setup, table.setup.rules
    frames = frames_of(sights, narrow=narrow)
    agents = iter(setup.specs)
    return {
        "version": table.version,
        "rules": _name(rules),
        "target": rules.target,
        "multiple": rules.multiple,
        "sides": [rules.side_of(seat) for seat in range(rules.players)],
        "players": ["you" if seat == setup.seat else next(agents) for seat in range(rules.players)],
        "seat": setup.seat,
        "setup": {
            "rules": rules.name,
            "players": rules.players,
            "seat": setup.seat,
            "opponents": setup.opponents,
        },
        "frames": frames,
        "choices": [
            {
                "move": str(choice.move),
                "tile": None if choice.move.tile is None else str(choice.move.tile),
                "end": end_of(choice.move),
                "total": choice.total,
                "points": choice.points,
            }
            for choice in table.choices()
        ],
        "over": table.is_over,
        "undo": table.can_undo,
    }


def end_of(move: Move) -> str | None:
    """Return the end that a move goes on, as pictures name it: `5`, `5x` for the double."""
    return None if move.pip is None else f"{move.pip}{'x' if move.end == 'double' else ''}"


def _name(rules: Rules) -> str:
    return (rules.name or "custom rules").replace("_", " ").title()


def tile_symbols() -> str:
    """Return every tile, and a tile face down, as symbols of an SVG that a page may use by name."""
    pictures = {f"tile-{tile}": tile_picture(tile) for tile in TILES} | {"back": back_picture()}
    symbols = "".join(
        f'<symbol id="{name}" viewBox="0 0 {picture.width:g} {picture.height:g}">'
        f"{''.join(map(part_svg, picture.parts))}</symbol>"
        for name, picture in pictures.items()
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="symbols">{symbols}</svg>'
