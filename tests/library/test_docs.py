"""The Python examples of the README and of the documentation run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from fiveup_env import Game
from fiveup_env.encoders import ENCODERS
from fiveup_env.opponents.features import FEATURES
from fiveup_env.opponents.ladder import weights_of
from tests.support import play_randomly

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = dict(ENCODERS)
    try:
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    finally:
        ENCODERS.clear()
        ENCODERS.update(known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_picture_of_the_readme_is_what_the_code_draws() -> None:
    game = play_randomly(Game("five_up", players=4, seed=17), Random(17), 194)
    assert (ROOT / "docs" / "picture.svg").read_text(encoding="utf-8") == game._repr_svg_()


def test_the_strategy_page_tells_the_weights_of_the_highest_rung() -> None:
    page = (ROOT / "docs" / "strategy.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\w+) \| ([+-][\d.]+) \| [+-]", page, re.MULTILINE))
    assert told == dict(zip(FEATURES, (f"{w:+.2f}" for w in weights_of("partner")), strict=True))
