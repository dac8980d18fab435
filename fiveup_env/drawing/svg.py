"""The table as SVG: one picture that needs no other file, no fonts and no scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fiveup_env.drawing.scene import Dots, Part, Picture, Rect, Text, layout_height, picture_of
from fiveup_env.drawing.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fiveup_env.game.game import Game

FONTS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


class Svg(str):
    """A picture as text, which notebooks show."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def game_svg(game: Game, *, hands: Collection[int] | None = None, finished: bool = False) -> Svg:
    """Return the table as it stands.

    The hands of other seats than `hands` lie face down (None: none does). With `finished`, it is
    the hand that ended last, before the next one was dealt.
    """
    snapshot = Snapshot.of(game, finished=finished)
    picture = picture_of(snapshot, layout_height(snapshot.placement), hands=hands)
    return picture_svg(picture, repr(game).strip("<>"))


def picture_svg(picture: Picture, title: str) -> Svg:
    """Return a picture, with a title for those who cannot see it."""
    return svg_of(map(part_svg, picture.parts), picture.width, picture.height, title)


def svg_of(parts: Iterable[str], width: float, height: float, title: str) -> Svg:
    """Return the picture with these parts, which shrinks with its page."""
    size = f'viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
    inherited = f'font-family="{FONTS}" font-weight="600" stroke-linecap="round" role="img"'
    style = 'style="max-width:100%;height:auto"'
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {inherited} {style}>\n'
        f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def part_svg(part: Part) -> str:
    """Return a part as a group that says what it stands for."""
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in part.data)
    return f'<g class="{part.kind}"{data}>{"".join(map(_shape, part.shapes))}</g>'


def _shape(shape: Rect | Dots | Text) -> str:
    if isinstance(shape, Rect):
        fill, x, y, width, height, radius = shape
        size = f'width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}"'
        return f'<rect fill="{fill}" x="{_n(x)}" y="{_n(y)}" {size}/>'
    if isinstance(shape, Dots):  # the round caps of lines of no length
        line = "".join(f"M{_n(x)} {_n(y)}h0" for x, y in shape.points)
        return f'<path stroke="{shape.fill}" stroke-width="{_n(2 * shape.radius)}" d="{line}"/>'
    fill, x, y, size_, text, anchor = shape
    place = f'x="{_n(x)}" y="{_n(y + 0.35 * size_)}" font-size="{_n(size_)}"'
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text fill="{fill}" {place}{anchored}>{escape(text)}</text>'


def _n(number: float) -> str:
    """Return a number to two decimal places, without needless zeros."""
    return f"{round(number, 2):g}"
