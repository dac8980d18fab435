"""The leaderboard: its command line, its entries, and deals that nothing else may name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agents import submit
from fiveup_env.arena.benchmark import entries, leaderboard
from fiveup_env.arena.benchmark.card import as_text
from fiveup_env.arena.benchmark.entries import NOTES
from fiveup_env.arena.benchmark.protocol import Protocol
from tests.arena.test_benchmark import SMALL, V1, card, keep_here
from tests.support import ROOT


def test_no_other_code_or_config_names_deals_as_high_as_its_own() -> None:
    lowest = min(task.first for task in V1.tasks)
    files = [path for kind in ("agents", "benchmarks") for path in ROOT.glob(f"{kind}/**/*.py")]
    for path in [*files, *ROOT.glob("configs/*.yaml")]:
        for number in re.findall(r"\b\d[\d_]{12,}\b", path.read_text("utf-8")):
            assert int(number.replace("_", "")) < lowest, (path, number)


def test_the_command_line_makes_checks_and_lists_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    defensive: dict[str, Any] = card("defensive", tmp_path / "games")
    keep_here(monkeypatch)
    monkeypatch.setattr(entries, "read_protocol", lambda _: SMALL)
    monkeypatch.setattr(Protocol, "check", lambda _: None)
    monkeypatch.setattr(leaderboard, "read_protocol", lambda _: SMALL)
    made, entry = tmp_path / "card", tmp_path / "defensive.json"
    made.write_text(as_text(defensive))
    notes = [part for name in NOTES for part in (f"--{name}", f"a {name} | more")]
    assert submit.main(["make", str(made), *notes, "-o", str(entry)]) == 0
    assert json.loads(entry.read_text())["card"] == defensive
    assert submit.main(["check", str(entry), "--fresh", "2", "--seed", "3"]) == 0
    assert "defensive.json: right" in capsys.readouterr().out
    assert submit.main(["page", str(tmp_path)]) == 0
    page = (tmp_path / "README.md").read_text("utf-8")
    assert f"{defensive['score'][0]:+.0f} (" in page
    assert "a name \\| more" in page
    entry.write_text(entry.read_text().replace('"forfeits": 0', '"forfeits": -5', 1))
    assert submit.main(["check", str(entry), "--fresh", "0"]) == 1
    assert "refused: card." in capsys.readouterr().out
    entry.write_text(entry.read_text()[:1000])
    assert submit.main(["page", str(tmp_path)]) == 2
    assert "is not valid JSON" in capsys.readouterr().err


def test_the_page_of_the_leaderboard_is_that_of_its_entries(tmp_path: Path) -> None:
    folder = ROOT / "leaderboard"
    for path in folder.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert submit.main(["page", str(tmp_path)]) == 0
    assert (tmp_path / "README.md").read_text("utf-8") == (folder / "README.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("leaderboard/*.json")), ids=lambda path: path.stem
)
def test_the_entries_of_the_leaderboard_are_true(path: Path) -> None:
    options = ["--fresh", "2", "--seed", "0", "--trust"]
    assert submit.main(["check", str(path), *options]) == 0
