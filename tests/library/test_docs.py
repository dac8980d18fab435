"""The Python examples of the README and of the library's pages run as they stand."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fiveup_env import Game
from tests.support import code_in, play_randomly, run_example

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("encoding", "rewards"))]


@pytest.mark.parametrize("code", code_in(PAGES))
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_example(code)


def test_the_picture_of_the_readme_is_what_the_code_draws() -> None:
    game = play_randomly(Game("five_up", players=4, seed=17), Random(17), 194)
    assert (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8") == game._repr_svg_()
