"""The published figures: all listed, word for word as on their pages, and compared as they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import figures
from benchmarks.figures import (
    Entry,
    FiguresError,
    disagreement,
    in_no_entry,
    not_on_their_pages,
    on_page,
)

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES = figures.read_entries()


def test_every_listed_figure_is_on_its_page_word_for_word() -> None:
    assert not_on_their_pages(ENTRIES) == []


def test_every_interval_on_a_page_is_listed_with_its_command() -> None:
    assert in_no_entry(ENTRIES) == []


def test_what_is_not_on_the_page_or_not_listed_is_named() -> None:
    wrong = Entry(command="x", seconds=1, figures={"README.md": ["98.7 (98.6 .. 98.8)"]})
    assert not_on_their_pages([wrong]) == ["README.md: 98.7 (98.6 .. 98.8)"]
    for page in ("README.md", "docs/training.md"):
        published = set(figures.INTERVAL.findall(on_page(page)))
        assert {f"{page}: {one}" for one in published} < set(in_no_entry([wrong]))
    assert figures.INTERVAL.findall("a 2.5 (-2.0 .. +3) 88.3 +- 1.8") == [
        "(-2.0 .. +3)",
        "88.3 +- 1.8",
    ]


@pytest.mark.parametrize(
    ("entry", "was", "now", "agrees"),
    [
        ({}, "| `a` | 20 (19 .. 21) |", "a  22.3 (21.4 .. 23)", True),
        ({}, "| `a` | 20 (19 .. 21) |", "a  24 (23.1 .. 25)", False),
        ({}, "a 20,000 -1.5", "b 3\na 20,000 -1.5", True),
        ({}, "a 20,000 -1.5", "a 20,000 -1.6", False),
        ({"within": 0.1}, "a 20,000 -1.5", "a 19,000 -1.6", True),
        ({"within": 0.05}, "a 20,000 -1.5", "a 19,000 -1.6", False),
        ({"again": "y"}, "a 20,000 5 (4 .. 6) x 2", "a 300 5 (3 .. 7) x 9", True),
        ({"again": "y"}, "a 20,000 5 (4 .. 6) x 2", "a 300 12 (11 .. 13) x 2", False),
        ({}, "mini-2 3", "mini-3 3", False),
        ({}, "pimc:worlds=50 3", "pimc:worlds=200 3", False),
        ({}, "a 1", "b 1", False),
    ],
)
def test_figures_are_compared_by_their_intervals_or_their_share(
    entry: dict[str, str | float], was: str, now: str, *, agrees: bool
) -> None:
    found = disagreement(Entry(command="x", seconds=1, **entry), was, now)  # type: ignore[arg-type]
    assert (found is None) is agrees


def test_the_cheap_commands_are_run_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = [
        Entry(command="cheap", seconds=1, figures={"README.md": [{"page": "seven 7"}, "eight 9"]}),
        Entry(command="dear", seconds=10_000, figures={"README.md": ["six"]}),
    ]
    monkeypatch.setattr(figures, "run", {"cheap": "seven 7\neight 8"}.__getitem__)
    assert figures.check(listed) == 1
    assert capsys.readouterr().out.splitlines() == [
        "1 of 2 agree: cheap",
        "  README.md: 'eight 9', but now 'eight 8'",
        "1 figures come from commands that take longer than 60 s",
    ]


def test_an_entry_that_is_not_as_it_should_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / "figures.yaml"
    path.write_text("- {command: x, seconds: 1}\n- {command: x, cost: 1}\n")
    with pytest.raises(FiguresError, match=r"entry 2 of figures.yaml: .*'cost'"):
        figures.read_entries(path)
