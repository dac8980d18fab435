"""The table as pixels, and in a window; pygame is imported only when either is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.drawing.scene import WIDTH, WOOD, Dots, Rect, Text, frame_height, picture_of
from fiveup_env.drawing.snapshot import Snapshot
from fiveup_env.errors import MissingExtraError

if TYPE_CHECKING:
    from fiveup_env.game.game import Game

SUPERSAMPLING = 2  # drawn this many times as large, then scaled down, for smooth edges
MIN_LAYOUT_HEIGHT = 200.0


def pixels(game: Game, width: int = 960, height: int = 640) -> np.ndarray:
    """Return the table as it stands, as height x width x 3 bytes."""
    pygame = _pygame()
    columns = pygame.surfarray.array3d(_draw(pygame, game, width, height))
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

    def show(self, game: Game) -> None:
        """Show the table as it stands."""
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
        self._screen.blit(_draw(self._pygame, game, *self.size), (0, 0))
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
    except ImportError:
        raise MissingExtraError(
            "drawing pixels needs pygame: pip install 'fiveup-env[render]'"
        ) from None
    pygame.font.init()
    return pygame


def _draw(pygame: Any, game: Game, width: int, height: int) -> Any:
    """Return a surface of this size with the picture in its middle, as large as it fits."""
    snapshot = Snapshot.of(game)
    room = max(MIN_LAYOUT_HEIGHT, WIDTH * height / width - frame_height(snapshot.rules))
    picture = picture_of(snapshot, room)
    scale = SUPERSAMPLING * min(width / WIDTH, height / picture.height)
    size = round(WIDTH * scale), round(picture.height * scale)
    large = pygame.Surface((SUPERSAMPLING * width, SUPERSAMPLING * height), depth=32)
    large.fill(WOOD)
    corner = (SUPERSAMPLING * width - size[0]) // 2, (SUPERSAMPLING * height - size[1]) // 2
    canvas = large.subsurface((corner, size))
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
