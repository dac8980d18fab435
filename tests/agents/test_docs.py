"""The examples on the laboratory's pages run; links of pages outside the site lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import code_in, run_example
from tests.whole.test_docs import PAGES as PAGES_OF_THE_LIBRARY

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS = {"openspiel": "pyspiel", "pyspiel": "pyspiel", "save_video": "moviepy"}


@pytest.mark.parametrize("code", code_in(set(PAGES) - set(PAGES_OF_THE_LIBRARY)))
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for word, package in NEEDS.items():
        if word in code:
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    run_example(code)


def test_every_page_that_the_code_names_exists() -> None:
    folders = ("fiveup_env", "agents", "benchmarks", "configs", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    for file in (*files, *ROOT.glob("*.py")):
        if file.suffix in {".py", ".yaml"}:
            for page in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text("utf-8")):
                assert (ROOT / page).exists(), f"{file} names {page}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
