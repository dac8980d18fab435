"""`evaluate.py --bank`: regret on the bank, beside what a tournament finds."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import evaluate
from tests.arena.test_report import SECTIONS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def run(monkeypatch: pytest.MonkeyPatch, arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *arguments.split(), "--cores", "1"])
    return evaluate.main()


def test_the_bank_is_in_the_table_the_json_and_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "results.json", tmp_path / "report.html"
    command = "--agents greedy,random --deals 4 --episode hand --bank"
    assert run(monkeypatch, f"{command} --json {file} --report {page}") == 0
    printed = capsys.readouterr().out
    assert "positions of the bank\nagent   regret (%)" in printed
    greedy, random = json.loads(file.read_text())["bank"]
    assert greedy["groups"][0]["regret_ci"][1] < random["groups"][0]["regret_ci"][0]
    titles = re.findall("<h2>(.*?)</h2>", page.read_text())
    assert titles == [*SECTIONS[:-2], "Regret on the bank", *SECTIONS[-2:]]
    assert run(monkeypatch, f"{command} --rules mini-2 --players 2") == 2
    assert "--bank: the bank has no positions under these rules" in capsys.readouterr().err
