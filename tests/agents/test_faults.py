"""Whatever call fails while the laboratory writes, the old file or the new one is there, complete."""

from __future__ import annotations

from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import agents
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import PolicyNetwork, Shape, build
from agents.runs import folder as runs
from agents.runs import metrics
from agents.runs.checkpoints import checkpoints_in, read_newest, write_checkpoint
from agents.runs.folder import Run
from agents.runs.metrics import Metrics, read_metrics
from fiveup_env.opponents.networks.files import DESCRIPTION
from tests.faults import KINDS, Writer, survives_everywhere, writes_in

AGENTS = Path(agents.__file__).parent
ARRAYS = {"weights": np.arange(6_000, dtype=np.float32)}


def write_a_checkpoint(folder: Path, version: int) -> None:
    """Write a checkpoint whose number is the version."""
    write_checkpoint(folder, version, ARRAYS, {"updates": version})


def read_a_checkpoint(folder: Path) -> int | None:
    """Return the number of the newest checkpoint, none of which may be damaged."""
    if not checkpoints_in(folder):
        return None
    newest = read_newest(folder)
    assert not newest.damaged
    assert (newest.arrays["weights"] == ARRAYS["weights"]).all()
    return int(newest.about["updates"])


@cache
def network(version: int) -> PolicyNetwork:
    """Return a network of its own size for every version."""
    torch.manual_seed(version)
    return build(Shape(width=8 + 8 * version))


def write_a_policy(folder: Path, version: int) -> None:
    """Save a policy that says which it is."""
    save_policy(folder, network(version), {"version": version})


def read_a_policy(folder: Path) -> int | None:
    """Return which policy is there, and check that its weights are its own."""
    if not (folder / DESCRIPTION).exists():
        return None
    saved, about = load_policy(folder)
    version = int(about["version"])
    for name, weight in network(version).state_dict().items():
        assert torch.equal(saved.state_dict()[name], weight)
    return version


def write_metrics(folder: Path, version: int) -> None:
    """Continue the metrics of a run up to an update."""
    run = Run(folder)
    done = len(read_metrics(run.metrics_file))
    with closing(Metrics(run, done)) as kept:
        for update in range(done + 1, version + 2):
            kept.write({"update": update, "decisions": 10 * update, "text": "." * 1_000})


def last_of_metrics(folder: Path) -> int | None:
    """Return the last update that is kept, counted from 0."""
    lines = read_metrics(Run(folder).metrics_file)
    assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
    return len(lines) - 1 if lines else None


WRITERS = {
    "checkpoint": Writer(write_a_checkpoint, read_a_checkpoint),
    "policy": Writer(write_a_policy, read_a_policy),
    "metrics": Writer(write_metrics, last_of_metrics, grows=True),
}


@pytest.mark.parametrize("before", [None, 0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRITERS)
def test_a_fault_at_any_call_leaves_the_old_or_the_new(
    name: str, kind: str, before: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = SimpleNamespace(add_scalar=lambda *_: None, close=lambda: None)
    monkeypatch.setattr(metrics, "SummaryWriter", lambda *_, **__: silent)  # TensorBoard's own
    monkeypatch.setattr(runs, "RUNS", tmp_path / "runs")
    survives_everywhere(WRITERS[name], kind, tmp_path, before)


def test_the_laboratory_writes_by_the_room_that_is_tested() -> None:
    assert writes_in(AGENTS) == set()
