"""A hand as one SVG that moves: it shows every move for a while, and then starts again.

The movement is in its style, so a page may show the file as an image. It begins with the end of the
hand, and where nothing moves, because a reader asked for that, it shows only that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fiveup_env.drawing.replay import moments_by_part, moments_of, reach_of
from fiveup_env.drawing.scene import layout_height, picture_of
from fiveup_env.drawing.svg import Svg, part_svg, svg_of
from fiveup_env.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.game.game import Game

SECONDS: Final = 1.4  # that each moment is shown
LAST: Final = 3  # times as long the last one is shown


def hand_svg(game: Game, number: int = 0) -> Svg:
    """Return a hand of a game as an SVG that moves; hands are numbered from 0.

    Raises InputError if the game has no hand with that number.
    """
    moments = [snapshot for snapshot, _ in moments_of(game) if snapshot.number == number]
    if len(moments) > 1 and not game.outcome() and number == game.hand_number:
        moments.pop()  # the game as it stands, which the last move has shown
    if not moments:
        raise InputError(f"hand must be from 0 to {len(game.hand_states()) - 1}, not {number}")
    reach = reach_of(moments)
    room = max(layout_height(snapshot.placement) for snapshot in moments)
    pictures = [picture_of(replace(snapshot, reach=reach), room) for snapshot in moments]
    shown = {part: tuple(on) for part, on in moments_by_part(pictures).items()}
    spans = list(dict.fromkeys(shown.values()))
    groups = [f'<g class="m{spans.index(on)}">{part_svg(part)}</g>' for part, on in shown.items()]
    style = "".join(_rule(k, span, len(pictures)) for k, span in enumerate(spans))
    return svg_of(
        [f"<style>{style}</style>", *groups],
        pictures[-1].width,
        pictures[-1].height,
        f"Hand {number}, move by move",
    )


def _rule(k: int, on: Sequence[int], count: int) -> str:
    """Return the style of what is shown at the moments `on`, as class `m<k>`."""
    if len(on) == count:
        return ""
    still = "visible" if on[-1] == count - 1 else "hidden"
    length, steps, shown = count - 1 + LAST, [], None
    for moment in range(count):
        if (now := moment in on) != shown:
            state = "visible" if now else "hidden"
            steps.append(f"{100 * moment / length:.4g}%{{visibility:{state}}}")
            shown = now
    timing = f"{SECONDS * length:g}s step-end {SECONDS * (1 - count):g}s infinite"
    return (
        f".m{k}{{visibility:{still}}}@keyframes k{k}{{{''.join(steps)}}}"
        f"@media(prefers-reduced-motion:no-preference){{.m{k}{{animation:k{k} {timing}}}}}\n"
    )
