"""The table as pixels, and in a window that no screen has to show."""

from __future__ import annotations

import sys
import time
from random import Random

import numpy as np
import pygame
import pytest

from fiveup_env import Game
from fiveup_env.drawing.window import Window, pixels
from fiveup_env.errors import MissingExtraError
from tests.support import EVERY_PRESET, play_randomly


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


@pytest.mark.parametrize("size", [(960, 640), (400, 300), (300, 700), (1, 1)])
def test_pixels_have_the_size_asked_for(size: tuple[int, int]) -> None:
    picture = pixels(Game(seed=1), *size)
    assert picture.shape == (size[1], size[0], 3)
    assert picture.dtype == np.uint8
    assert picture.flags.c_contiguous


def test_every_move_is_seen_and_the_same_game_looks_the_same() -> None:
    game, pictures = Game(seed=3), []
    for move in range(4):
        pictures.append(pixels(game))
        play_randomly(game, Random(move), 1)
        assert not np.array_equal(pixels(game), pictures[-1])
    assert np.array_equal(pixels(game), pixels(game.copy()))
    for rules in EVERY_PRESET[::9]:
        pixels(play_randomly(Game(rules, seed=1), Random(1), 100))


def test_a_window_shows_games_until_it_is_closed() -> None:
    window, game = Window(fps=20), Game(seed=1)
    started = time.monotonic()
    for _ in range(3):
        window.show(game)
        game.push(next(iter(game.legal_moves)))
    assert time.monotonic() - started > 2 / 20
    screen = pygame.display.get_surface()
    assert screen is not None
    assert screen.get_size() == (960, 640)
    window.close()
    assert pygame.display.get_surface() is None
    window.close()


def test_a_window_that_its_user_closes_stays_closed() -> None:
    window, game = Window(fps=1000), Game(seed=1)
    window.show(game)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(2):
        window.show(game)
        assert window.closed
        assert pygame.display.get_surface() is None
    Window(fps=1).close()  # before it was ever shown


def test_without_pygame_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    sentence = r"drawing pixels needs pygame: pip install 'fiveup-env\[render\]'"
    with pytest.raises(MissingExtraError, match=sentence):
        pixels(Game(seed=1))
    with pytest.raises(MissingExtraError, match=sentence):
        Window(fps=2).show(Game(seed=1))
