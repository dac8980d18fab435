"""What several tests of the laboratory begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play only a few moves before the first window."""
    from agents.learn import rollouts

    monkeypatch.setattr(rollouts, "BURN_IN", (30, 50))


@pytest.fixture
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep runs in a folder of the test's own, and undo what training asks of PyTorch."""
    import torch

    from agents.runs import folder as runs

    monkeypatch.setattr(runs, "RUNS", tmp_path)
    yield
    torch.use_deterministic_algorithms(mode=False)
