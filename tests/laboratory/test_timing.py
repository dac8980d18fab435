"""Measurements of speed: medians with ranges, and machines that are busy are refused."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import pytest

from benchmarks import timing
from benchmarks.others._open_spiel import play_episode
from benchmarks.others._pettingzoo import play_game

if TYPE_CHECKING:
    from collections.abc import Sequence


def loads(monkeypatch: pytest.MonkeyPatch, found: Sequence[float]) -> None:
    """Let other work keep these numbers of cores busy, before and while something is measured."""
    monkeypatch.setattr(timing, "SECONDS_OF_LOOKING", 0)
    numbers = chain(found, repeat(0.0))
    monkeypatch.setattr(timing._Load, "of_others", lambda _: next(numbers))


@pytest.mark.parametrize("found", [(1.5, 0.0), (0.0, 1.5)])
def test_a_machine_that_does_other_work_is_refused(
    found: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    loads(monkeypatch, found)
    refused = pytest.raises(SystemExit, match=r"keeps 1\.50 cores .* allow 0\.1; .* add --anyway")
    with refused, timing.quiet(anyway=False):
        pass
    loads(monkeypatch, found)
    with timing.quiet(anyway=True):
        pass


def test_the_load_stands_beside_the_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads(monkeypatch, (0.0, 0.04))
    with timing.quiet(anyway=False):
        pass
    assert capsys.readouterr().out.endswith("other work kept 0.04 cores busy\n")


def test_the_load_is_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"monotonic": 0.0, "busy": 0.0, "own": 0.0}
    monkeypatch.setattr("time.monotonic", lambda: clocks["monotonic"])
    monkeypatch.setattr(timing, "_busy_seconds", lambda: clocks["busy"])
    monkeypatch.setattr(timing, "_own_seconds", lambda: clocks["own"])
    load = timing._Load()
    clocks |= {"monotonic": 10.0, "busy": 18.0, "own": 10.0}
    assert load.of_others() == pytest.approx(0.8)


def test_rounds_are_told_by_their_median_and_range() -> None:
    assert timing.spread([3.0, 1.25, 2.0]) == "2.0 (1.2 .. 3.0)"
    assert timing.spread([1000.0, 3000.0, 2000.0], ",.0f") == "2,000 (1,000 .. 3,000)"


def test_the_loops_of_other_libraries_count_the_decisions_of_our_games() -> None:
    import fiveup_env

    env = fiveup_env.env(players=2, episode="hand")
    for agent in range(2):
        env.action_space(f"player_{agent}").seed(1)
    assert 5 <= play_game(env) <= 28
    pytest.importorskip("pyspiel")
    from random import Random

    from fiveup_env.adapters import openspiel

    assert 1 <= play_episode(openspiel.load("mini-2", players=2), Random(1)) <= 6
