"""Training and tournaments on a cluster of three nodes, some of which are killed.

They need Ray: `pip install -c constraints-ray.txt -e '.[ray,dev]'`.
"""

from __future__ import annotations

import importlib.util
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.cluster import arena, connection
from agents.cluster.arena import play_on_cluster
from agents.cluster.connection import ClusterError
from agents.cluster.training import RLlibPlay
from agents.learn.ppo import TorchLearner, tensors_of
from agents.learn.selfplay import SelfPlay
from agents.learn.starting import shape_of
from agents.runs.config import Config, load_config
from fiveup_env import Rules
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Played, Task, Terms
from fiveup_env.arena.play.results import to_json
from fiveup_env.arena.play.workers import play_tasks

if importlib.util.find_spec("ray") is None:
    pytest.skip("the cluster (no Ray)", allow_module_level=True)

# Ray and RLlib warn about their own code.
pytestmark = pytest.mark.filterwarnings("ignore")

TINY = ["games=64", "n_steps=32", "batch_size=256", "width=16", "threads=1", "table_deals=0"]
MEMORY = 100 * 2**20
SECONDS_TO_COME_BACK = 120.0  # for a process to restart on a busy machine


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of three nodes with a CPU each; a test that kills one starts another."""
    import ray
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args=size)
    cluster.size = size
    for _ in range(2):
        cluster.add_node(**size)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(autouse=True)
def _one_thread(own_runs: None) -> None:
    del own_runs
    torch.set_num_threads(1)


def config_of(*changes: str) -> Config:
    return load_config("cluster", [*TINY, *changes])


@pytest.fixture
def playing(nodes: Any, tmp_path: Path) -> Iterator[Any]:
    """Yield a function that starts runs of RLlib, which end with the test."""
    del nodes
    made: list[RLlibPlay] = []

    def start(*changes: str) -> RLlibPlay:
        made.append(RLlibPlay(config_of(*changes), tmp_path))
        return made[-1]

    yield start
    for play in made:
        play.close()


@contextmanager
def losing(nodes: Any, node: Any) -> Iterator[None]:
    """Kill a node while the block runs; another takes its place afterwards."""
    killer = threading.Timer(0.1, nodes.remove_node, [node], {"allow_graceful": False})
    killer.start()
    yield
    killer.join()
    replace(nodes, 1)


def replace(nodes: Any, lost: int) -> None:
    """Add as many nodes as were lost, and wait until the cluster has registered them."""
    for _ in range(lost):
        nodes.add_node(**nodes.size)
    nodes.wait_for_nodes(SECONDS_TO_COME_BACK)


def node_that_plays(nodes: Any, play: RLlibPlay) -> Any:
    """Return a node with a runner, other than the head."""
    where = runners(play, lambda _: ray_of().get_runtime_context().get_node_id())
    return next(node for node in nodes.worker_nodes if node.node_id in where)


def runners(play: RLlibPlay, ask: Any) -> list[Any]:
    """Return what `ask` returns for every runner."""
    return play._algorithm.env_runner_group.foreach_env_runner(ask, local_env_runner=False)


def ray_of() -> Any:
    """Return the module `ray` in the process of a runner."""
    import ray

    return ray


def lasting(played: Played) -> dict[str, Any]:
    """Return everything about a chunk that must be the same every time it is played."""
    return {name: value for name, value in to_json(played).items() if name != "seconds"}


def weights_of(network: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: weight.detach().numpy() for name, weight in network.state_dict().items()}


def assert_same(weights: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> None:
    assert weights.keys() == others.keys()
    for name, weight in weights.items():
        np.testing.assert_array_equal(weight, others[name], name)


# --- What is learnt


@pytest.mark.parametrize("network", ["plain", "guided"])
def test_rllib_learns_from_a_lesson_what_our_learner_learns(network: str, tmp_path: Path) -> None:
    from ray.rllib.core import DEFAULT_MODULE_ID

    from agents.cluster.algorithm import algorithm_config, batch_of
    from agents.cluster.module import action_space, observation_space

    keys = ["ent_coef=0.1", "max_grad_norm=1e9", f"network={network}", "width=32"]
    ours = SelfPlay(load_config("smoke", [*TINY, *keys]), tmp_path)
    learner, rng = ours._learners[0], np.random.default_rng(1)
    assert isinstance(learner, TorchLearner)
    lesson = ours._rollouts.play([partial(learner.choose, rng=rng)], rng)
    for weight in learner.network.parameters():
        weight.data += 0.02 * torch.randn_like(weight)
    config = config_of(*keys)
    spaces = {DEFAULT_MODULE_ID: (observation_space(shape_of(config)), action_space())}
    theirs = algorithm_config(config).build_learner(spaces=spaces)
    module = theirs.module[DEFAULT_MODULE_ID]
    module.network.load_state_dict(learner.network.state_dict())
    columns = theirs._convert_batch_type(batch_of([lesson], theirs.config)).policy_batches
    loss = theirs.compute_losses(fwd_out=theirs.module.forward_train(columns), batch=columns)
    loss[DEFAULT_MODULE_ID].backward()

    figures = learner._step(tensors_of(lesson), 0.1)
    wanted = figures["policy_loss"] - 0.1 * figures["entropy"] + 0.5 * figures["value_loss"]
    assert loss[DEFAULT_MODULE_ID].item() == pytest.approx(wanted, rel=1e-4)
    logged = theirs.metrics.peek(DEFAULT_MODULE_ID)
    for name in ("entropy", "kl", "clip_fraction"):
        assert float(logged[name]) == pytest.approx(figures[name], rel=1e-3, abs=1e-6)
    for weight, same in zip(learner.network.parameters(), module.network.parameters(), strict=True):
        assert weight.grad is not None
        assert same.grad is not None
        torch.testing.assert_close(weight.grad, same.grad, rtol=1e-3, atol=1e-5)


def test_a_run_goes_on_from_rays_checkpoint_with_another_number_of_runners(playing: Any) -> None:
    before = playing("env_runners=0")
    for _ in range(2):
        before.update(0)
    arrays, about = before.state()
    optimizer = before._algorithm.learner_group.get_state()["learner"]["optimizer"]
    after = playing("env_runners=1")
    after.restore(arrays, about)
    assert (after.updates, after.decisions) == (2, before.decisions)
    assert_same(weights_of(after.network), weights_of(before.network))
    kept = after._algorithm.learner_group.get_state()["learner"]["optimizer"]
    assert str(kept) == str(optimizer)
    after.update(0)
    assert after.decisions > before.decisions
    assert after.updates == 3


# --- A node is lost


def test_a_node_lost_in_training_costs_its_window_and_is_replaced(nodes: Any, playing: Any) -> None:
    play = playing("env_runners=2", "games=256", "n_steps=64")
    play.update(0)

    def gained() -> int:
        before = play.decisions
        play.update(0)
        return play.decisions - before

    gained()
    both = gained()
    first_deals = runners(play, lambda runner: int(runner.env.seed))
    with losing(nodes, node_that_plays(nodes, play)):
        gains = [gained()]
    deadline = time.monotonic() + SECONDS_TO_COME_BACK
    while gains[-1] < 0.75 * both or len(gains) == 1:
        assert time.monotonic() < deadline, gains
        gains.append(gained())
    assert min(gains) > 0.25 * both
    assert play.updates == 3 + len(gains)
    for weights in runners(play, lambda runner: weights_of(runner.module.network)):
        assert_same(weights, weights_of(play.network))
    seeds = runners(play, lambda runner: int(runner.env.seed))
    assert len({*first_deals, *seeds}) == 3  # one has gone on, one has begun with other deals


def test_a_node_lost_in_a_tournament_loses_no_game(nodes: Any) -> None:
    terms = Terms(Rules.preset(), "hand")
    tasks = [Task(("pimc:worlds=20", "greedy"), first, 60) for first in range(0, 720, 60)]
    wanted = {task: lasting(played) for task, played in play_tasks(tasks, terms, 1)}
    playing = play_on_cluster(tasks, terms, 3)
    task, played = next(playing)
    done = {task: lasting(played)}
    lost = list(nodes.worker_nodes)  # all but the head: some of the next chunks are there
    for node in lost:
        nodes.remove_node(node, allow_graceful=False)
    for task, played in playing:
        assert task not in done
        done[task] = lasting(played)
    replace(nodes, len(lost))
    assert done == wanted


# --- Tournaments


def test_what_ends_a_task_is_told_in_a_sentence(
    nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    del nodes
    terms, task = Terms(Rules.preset(), "hand"), Task(("policy:nowhere", "greedy"), 0, 2)
    with pytest.raises(ArenaError, match=r"nowhere/policy\.json cannot be read"):
        list(play_on_cluster([task], terms, 1))
    with pytest.raises(ArenaError, match="a worker died while policy:nowhere met greedy"):
        arena._result(ray.remote(max_retries=0)(lambda: os._exit(1)).remote(), task)
    monkeypatch.setattr(arena, "code_version", lambda: "0.0+other")
    with pytest.raises(
        ArenaError, match=r"has different code \(.*\) from this clone \(0.0\+other\)"
    ):
        list(play_on_cluster([task], terms, 1))


# --- What a cluster does not have


def test_a_cluster_that_is_too_small_says_what_it_has(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del nodes
    monkeypatch.setattr(connection, "SECONDS_TO_SETTLE", 0)
    there = r"this cluster has 3 CPUs \(\S+ has 1, \S+ has 1, \S+ has 1\)"
    with pytest.raises(ClusterError, match=rf"^env_runners=3 and learners=1 need 4 .*; {there}"):
        RLlibPlay(config_of("env_runners=3", "learners=1"), tmp_path)
    with pytest.raises(ClusterError, match=rf"^--cores 4 needs 4 CPUs; {there}$"):
        next(play_on_cluster([], Terms(Rules.preset()), 4))
