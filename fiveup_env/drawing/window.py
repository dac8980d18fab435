"""The table as pixels, and in a window; pygame is imported only when either is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.drawing.scene import WIDTH, WOOD, Dots, Rect, Text, frame_height, picture_of
from fiveup_env.drawing.snapshot import Snapshot
from fiveup_env.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Collection

    from fiveup_env.game.game import Game

SUPERSAMPLING = 2  # drawn this many times as large, then scaled down, for smooth edges
MIN_LAYOUT_HEIGHT = 200.0


def pixels(
    game: Game,
    width: int = 960,
    height: int = 640,
    *,
    hands: Collection[int] | None = None,
    finished: bool = False,
) -> np.ndarray:
    """Return the table as it stands, as uint8 of shape [height, width, 3].

    `hands` and `finished` are those of `game_svg`.
    """
    pygame = _pygame()
    picture = _draw(pygame, Snapshot.of(game, finished=finished), (width, height), hands)
    columns = pygame.surfarray.array3d(picture)
    return np.ascontiguousarray(columns.swapaxes(0, 1))


class Window:
    """A window that shows games; once its user has closed it, it stays closed."""

    def __init__(self, fps: float, width: int = 960, height: int = 640) -> None:
        """Show at most `fps` pictures a second; the window opens with the first."""
        self.fps = fps
        self.size = width, height
        self.closed = False
        self._pygame: Any = None
        self._screen: Any = None
        self._clock: Any = None

    def show(
        self, game: Game, *, hands: Collection[int] | None = None, finished: bool = False
    ) -> None:
        """Show the table as it stands; `hands` and `finished` are those of `game_svg`."""
        if self.closed:
            return
        if self._screen is None:
            self._pygame = _pygame()
            self._pygame.display.init()
            self._pygame.display.set_caption("Five Up")
            self._screen = self._pygame.display.set_mode(self.size)
            self._clock = self._pygame.time.Clock()
        if any(event.type == self._pygame.QUIT for event in self._pygame.event.get()):
            self.close()
            return
        picture = _draw(self._pygame, Snapshot.of(game, finished=finished), self.size, hands)
        self._screen.blit(picture, (0, 0))
        self._pygame.display.flip()
        self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window, if it is open."""
        self.closed = True
        if self._screen is not None:
            self._screen = None
            self._pygame.display.quit()


def _pygame() -> Any:
    """Return pygame, ready to draw, or raise a MissingExtraError that says how to install it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise MissingExtraError(
            "drawing pixels needs pygame: pip install 'fiveup-env[render]' (or, to record videos "
            "too, 'fiveup-env[video]')",
            error,
        ) from None
    pygame.font.init()
    return pygame


def _draw(
    pygame: Any, snapshot: Snapshot, size: tuple[int, int], hands: Collection[int] | None
) -> Any:
    """Return a surface of this size with the picture in its middle, as large as it fits."""
    width, height = size
    room = max(MIN_LAYOUT_HEIGHT, WIDTH * height / width - frame_height(snapshot.rules))
    picture = picture_of(snapshot, room, hands=hands)
    scale = SUPERSAMPLING * min(width / WIDTH, height / picture.height)
    drawn = round(WIDTH * scale), round(picture.height * scale)
    large = pygame.Surface((SUPERSAMPLING * width, SUPERSAMPLING * height), depth=32)
    large.fill(WOOD)
    corner = (SUPERSAMPLING * width - drawn[0]) // 2, (SUPERSAMPLING * height - drawn[1]) // 2
    canvas = large.subsurface((corner, drawn))
    for part in picture.parts:
        for shape in part.shapes:
            _draw_shape(pygame, canvas, shape, scale)
    return pygame.transform.smoothscale(large, (width, height))


def _draw_shape(pygame: Any, canvas: Any, shape: Rect | Dots | Text, scale: float) -> None:
    if isinstance(shape, Rect):
        left, top = round(shape.x * scale), round(shape.y * scale)
        right = max(left + 1, round((shape.x + shape.width) * scale))
        bottom = max(top + 1, round((shape.y + shape.height) * scale))
        box = left, top, right - left, bottom - top
        pygame.draw.rect(canvas, shape.fill, box, border_radius=round(shape.radius * scale))
    elif isinstance(shape, Dots):
        for x, y in shape.points:
            middle = x * scale, y * scale
            pygame.draw.circle(canvas, shape.fill, middle, shape.radius * scale)
    elif shape.text:
        font = pygame.font.Font(pygame.font.get_default_font(), max(1, round(shape.size * scale)))
        text = font.render(shape.text, True, shape.fill)
        anchor = {"start": "midleft", "middle": "center", "end": "midright"}[shape.anchor]
        canvas.blit(text, text.get_rect(**{anchor: (shape.x * scale, shape.y * scale)}))
