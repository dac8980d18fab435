"""The benchmark of searches: it continues what was begun, and draws strength against time."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from benchmarks import search

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def _little_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = {
        "pimc": ("pimc", 1, 4),
        "weighed": ("pimc:weighed=2", 2, 2),
        "none": ("partner", 0, 0),
    }
    monkeypatch.setattr(search, "SEARCHES", searches)
    monkeypatch.setattr(search, "CHUNK", 2)
    monkeypatch.setattr(search, "POSITIONS", 3)
    monkeypatch.setattr(search, "ROUNDS", 1)
    monkeypatch.setattr(search, "quiet", lambda *, anyway: nullcontext(anyway))


def test_it_plays_what_is_missing_and_draws_every_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, output = tmp_path / "search.jsonl", tmp_path / "search.svg"
    files = ["--results", str(results), "--output", str(output), "--against", "greedy"]
    assert search.main(["--deals", "2", *files]) == 0
    begun = results.read_bytes()
    assert search.main(["--deals", "4", *files]) == 0
    assert results.read_bytes().startswith(begun)
    assert len(results.read_bytes().splitlines()) == 1 + 2 * 4
    lines = capsys.readouterr().out.splitlines()[-4:]
    assert [line.split()[:2] for line in lines] == [
        ["pimc", "1"],
        ["pimc", "4"],
        ["weighed", "2"],
        ["none", "0"],
    ]
    assert all(") 4 " in " ".join(line.split()) for line in lines)
    picture = ET.fromstring(output.read_text())  # noqa: S314  (it was drawn here)
    assert [len(curve.get("points", "").split()) for curve in picture.iter(f"{SVG}polyline")] == [
        2,
        1,
        1,
    ]
    assert len(list(picture.iter(f"{SVG}circle"))) == 4


def test_results_of_other_games_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "search.jsonl"
    results.write_text("{}\n")
    assert search.main(["--deals", "2", "--against", "greedy", "--results", str(results)]) == 2
    assert "is not a results file of the arena" in capsys.readouterr().err
