"""The Python examples of the README and of the library's pages run as they stand.

Set FIVEUP_PICTURES to a folder to keep the picture of the README.
"""

from __future__ import annotations

import doctest
import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import fiveup_env
from fiveup_env import Game, make_agent
from fiveup_env.drawing.moving import hand_svg
from tests.support import ROOT, code_in, run_example

DOCS = ROOT / "docs"
OF_THE_LIBRARY = (
    *("index", "understand/beliefs", "understand/encoding", "understand/rewards"),
    *(f"use/{name}" for name in ("aec", "batch", "gymnasium", "language-models", "python", "sb3")),
    *("use/records", "use/seats", "use/text", "use/vector"),
)
PAGES = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in OF_THE_LIBRARY)]
MOST_BYTES = 150_000  # of the picture


@pytest.mark.parametrize("code", code_in(PAGES))
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_example(code)


def test_the_picture_of_the_readme_is_what_the_code_draws() -> None:
    game, rng = Game("five_up", players=4, seed=10), np.random.default_rng(0)
    agent = make_agent("partner")
    while not game.hand_over:
        game.push(game.ask(agent, rng))
    picture = hand_svg(game)
    if folder := os.environ.get("FIVEUP_PICTURES"):
        Path(folder, "hand.svg").write_text(picture, encoding="utf-8")
    assert (DOCS / "hand.svg").read_text(encoding="utf-8") == picture
    assert len(picture) < MOST_BYTES


# --- Docstrings

LIBRARY = Path(fiveup_env.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts)
    for path in sorted(LIBRARY.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried
    assert not failed
