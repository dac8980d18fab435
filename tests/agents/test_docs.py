"""The examples on the laboratory's pages run; links of pages outside the site lead somewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, code_in, run_example
from tests.whole.test_docs import PAGES as PAGES_OF_THE_LIBRARY

PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = {"fiveup_env", "agents", "benchmarks", "examples", "tests"}
OWN = PACKAGES | {".ci", ".github", "configs", "docs", "leaderboard", "results"}
SLOW = re.compile(r"\bjax\b|loss\.backward")
NEEDS = {
    "openspiel": "pyspiel",
    "pyspiel": "pyspiel",
    "save_video": "moviepy",
    "torchrl": "torchrl",
}


def examples() -> list[Any]:
    """Return the examples of these pages; those that compile or learn for seconds are slow."""
    codes = code_in(set(PAGES) - set(PAGES_OF_THE_LIBRARY))
    slow = [bool(SLOW.search(code.values[0])) for code in codes]
    return [
        pytest.param(*code.values, id=code.id, marks=[pytest.mark.slow] * is_slow)
        for code, is_slow in zip(codes, slow, strict=True)
    ]


@pytest.mark.parametrize("code", examples())
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for word, package in NEEDS.items():
        if word in code:
            pytest.importorskip(package, reason=f"an example of the pages (no {package})")
    monkeypatch.chdir(tmp_path)
    run_example(code)


def test_every_page_that_the_code_names_exists() -> None:
    folders = ("fiveup_env", "agents", "benchmarks", "configs", "tests")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    for file in (*files, *ROOT.glob("*.py")):
        if file.suffix in {".py", ".yaml"}:
            for page in re.findall(r"\bdocs/[\w/-]+\.md", file.read_text("utf-8")):
                assert (ROOT / page).exists(), f"{file} names {page}"


@cache
def files() -> list[str]:
    """Return the paths of all files and folders of the clone's own; folders end with a slash."""
    roots = [path for path in ROOT.iterdir() if path.name in OWN or path.is_file()]
    paths = [path for root in roots for path in (root, *root.rglob("*"))]
    return [f"{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}" for path in paths]


@cache
def words() -> set[str]:
    """Return every word of the clone's code."""
    code = (ROOT / name for name in files() if name.endswith((".py", ".mjs", ".js", ".toml")))
    return {word for path in code for word in re.findall(r"\w+", path.read_text("utf-8"))}


def exists(name: str) -> bool:
    """Return whether there is what a name stands for, if it looks like a path or a name of code."""
    package, *rest = re.match(r"[\w.]*", name)[0].split(".")  # type: ignore[index]
    if re.fullmatch(r"(\.?[\w-]+/)+([\w.-]+\.\w+)?|[\w-]+\.(py|md)", name) and "NAME" not in name:
        return any(f"/{path}".endswith(f"/{name}") for path in files())
    if package in PACKAGES and rest:
        return f"{package}/{rest[0]}.py" in files() or {*rest} <= words()
    if re.fullmatch(r"test_\w+|[A-Z]+(_[A-Z]+)+", name):
        return name in words() or name.removeprefix("FIVEUP_") in words()
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    quoted = re.findall(r"`([^`]+)`(?!\s(?:at|of)\scommit)", text)
    names = [name.rstrip(".,:;)") for part in quoted for name in part.split()]
    assert [name for name in names if not exists(name)] == []


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_citation_has_the_date_of_the_newest_release_if_there_is_one() -> None:
    heading = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[0]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    dated = re.findall(r"^date-released: (.*)$", citation, re.MULTILINE)
    assert dated == re.findall(r"\d{4}-\d\d-\d\d", heading)
