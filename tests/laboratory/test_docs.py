"""The pages on the laboratory: their examples run, their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fiveup_env.opponents.features import FEATURES
from fiveup_env.opponents.ladder import weights_of
from tests.library.test_docs import PAGES as PAGES_OF_THE_LIBRARY
from tests.support import code_in, run_example

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("code", code_in(set(PAGES) - set(PAGES_OF_THE_LIBRARY)))
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "openspiel" in code or "pyspiel" in code:
        pytest.importorskip("pyspiel")
    monkeypatch.chdir(tmp_path)
    run_example(code)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    linked = re.findall(r"\]\(([^)#]+)[^)]*\)|^```{literalinclude} (.+)$", text, re.MULTILINE)
    for target in map("".join, linked):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_strategy_page_tells_the_weights_of_the_highest_rung() -> None:
    page = (ROOT / "docs" / "strategy.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (\w+) \| ([+-][\d.]+) \| [+-]", page, re.MULTILINE))
    assert told == dict(zip(FEATURES, (f"{w:+.2f}" for w in weights_of("partner")), strict=True))


def test_the_guided_tour_leads_to_what_it_names() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tour = page[page.index("## A guided tour") : page.index("## The rooms")]
    stops = re.findall(r"^\| (.*\?) \| `([\w/]+\.py)`(.*) \|$", tour, re.MULTILINE)
    assert len(stops) == 6
    for _, file, answer in stops:
        code = (ROOT / file).read_text(encoding="utf-8")
        names = re.findall(r"`(\w+)`", answer.split(".")[0])
        assert names
        for name in names:
            assert re.search(rf"^(def {name}\(|.*\b{name}\b.* = )", code, re.MULTILINE), (
                file,
                name,
            )
