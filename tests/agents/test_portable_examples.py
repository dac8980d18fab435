"""The examples in JavaScript and in C play the same game to its end, and the bots whole matches."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fiveup_env import Rules
from fiveup_env.arena.play.games import Played, Task, Terms
from fiveup_env.arena.play.workers import Player
from fiveup_env.portable.weights import pack
from tests.portable.test_javascript import NODE
from tests.portable.test_library import compiled, folder
from tests.support import ROOT

__all__ = ["folder"]
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.skipif(
    NODE is None, reason="the examples in JavaScript and in C (no Node)"
)


def played(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_example_in_javascript_plays_a_game(tmp_path: Path) -> None:
    (tmp_path / "student.weights").write_bytes(pack("student"))
    text = played(str(NODE), str(EXAMPLES / "play.mjs"), str(tmp_path / "student.weights"), "7")
    assert text.splitlines()[-1] == "student wins"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the examples in C (no C compiler)")
def test_the_example_in_c_plays_the_same_games(folder: Path) -> None:
    program, weights = compiled(folder, EXAMPLES / "play.c"), str(folder / "student.weights")
    for seed in ("7", "8"):
        text = played(str(program), weights, seed)
        assert text == played(str(NODE), str(EXAMPLES / "play.mjs"), weights, seed)


def matches(command: str, players: int = 2) -> Played:
    """Let a bot meet `random`, each seat of it in a process of its own, and nothing be its fault."""
    spec = f"program:{command}"
    terms = Terms(Rules.preset(players=players), forfeit=True, apart=spec)
    played = Player(terms).play(Task((spec, "random"), 0, 10))
    assert played.faults == ("", "")
    return played


def test_the_bot_in_plain_python_beats_chance() -> None:
    played = matches(f"{sys.executable} {EXAMPLES / 'bot.py'}", players=4)
    first = played.scores.argmax(1) == [0, 1] * 10
    assert first.sum() > 15


def test_the_bot_in_javascript_beats_chance() -> None:
    played = matches(f"{NODE} {EXAMPLES / 'bot.mjs'} partner")
    first = played.scores.argmax(1) == [0, 1] * 10
    assert first.sum() > 15


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the examples in C (no C compiler)")
def test_the_bot_in_c_plays_as_the_one_in_javascript(folder: Path) -> None:
    played = matches(str(compiled(folder, EXAMPLES / "bot.c")))
    assert (played.scores == matches(f"{NODE} {EXAMPLES / 'bot.mjs'} partner").scores).all()
