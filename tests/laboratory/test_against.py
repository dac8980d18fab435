"""Speed next to another commit: its table, what counts as slow, and that the other side is clean."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import against

ROOT = Path(__file__).parents[2]


def rounds(*ratios: float) -> list[tuple[dict[str, float], dict[str, float]]]:
    return [({"a": 1000.0, "b": 10.0}, {"a": 1000 * ratio, "b": 10.0}) for ratio in ratios]


def test_the_median_of_the_rounds_decides_what_is_slow(capsys: pytest.CaptureFixture[str]) -> None:
    assert against._print_table("main", rounds(0.1, 0.71, 1.2)) == []
    assert against._print_table("main", rounds(0.1, 0.69, 1.2)) == ["a"]
    table = capsys.readouterr().out.splitlines()
    assert table[0] == "| a second | main | here | here / main |"
    assert table[-2] == "| a | 1,000 (1,000 .. 1,000) | 690 (100 .. 1,200) | 0.69 (0.10 .. 1.20) |"


def test_a_commit_is_checked_out_beside_and_removed() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a clone")
    trees = ["git", "-C", str(ROOT), "worktree", "list"]
    before = subprocess.run(trees, capture_output=True, check=True).stdout
    with against._checked_out("HEAD") as folder:
        assert (folder / "fiveup_env" / "__init__.py").is_file()
    assert not folder.exists()
    assert subprocess.run(trees, capture_output=True, check=True).stdout == before


@pytest.mark.slow
def test_what_is_measured_runs() -> None:
    assert all(speed > 0 for speed in against._speeds(ROOT).values())
