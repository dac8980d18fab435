"""The benchmark of options: each of its arms is another and can be run, for as long as it may."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import TYPE_CHECKING

from benchmarks.training import ARMS, config_of, learnt

if TYPE_CHECKING:
    import pytest


def test_every_arm_is_another_and_can_be_run() -> None:
    configs = [config_of(arm, 0) for arm in ARMS]
    assert len(set(configs)) == len(configs)


def test_an_arm_learns_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    config = dataclasses.replace(config_of("self-play", 0), games=32, n_steps=8, batch_size=64)
    clock = itertools.count()  # it begins at 0, and says 1 before the first update
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    decisions = [learnt(config, seconds)[1] for seconds in (2, 3)]
    assert 0 < decisions[0] < decisions[1]
