"""Learning in compiled code, without PyTorch: gradients by differences, and one order of sums."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from fiveup_env import legal_masks
from fiveup_env.encoders import get_encoder, rows_of
from fiveup_env.errors import InputError
from fiveup_env.learning.decisions import Decisions, decisions_of, find_chosen
from fiveup_env.learning.learner import Learner, LossError
from fiveup_env.learning.losses import DIFFERENCES, GAIN, PPO, Loss, Targets
from fiveup_env.learning.networks import Network
from fiveup_env.learning.steps import add_gradients
from fiveup_env.native import uncompiled
from tests.support import random_views

LOSSES = [
    Loss(PPO, 0.5, 0.2, 0.03, 0.3, normalize_advantage=True),
    Loss(DIFFERENCES, 0.5),
    Loss(GAIN, 0.5),
]


def network_of(kind: str, width: int, depth: int, dtype: Any = np.float32) -> Network:
    network, rng = Network(kind, width, depth, dtype=dtype), np.random.default_rng(1)
    network.vector[:] = rng.normal(size=network.vector.size) * 0.2
    return network


def decisions_for(network: Network, count: int) -> Decisions:
    views = np.concatenate([random_views(1 + count // 3, moves) for moves in range(4, 60, 6)])
    masks = legal_masks(views)
    free = np.flatnonzero(masks.sum(1) > 1)[:count]
    assert len(free) == count
    encoder = get_encoder("lookahead" if network.kind == "guided" else "flat")
    return decisions_of(rows_of(encoder, views[free], scaled=False), masks[free], network.columns)


def targets_for(decisions: Decisions) -> Targets:
    rng, count, actions = np.random.default_rng(2), decisions.size, len(decisions.actions)
    counts = np.diff(decisions.action_ends)
    returns = rng.normal(size=count).astype(np.float32)
    returns[::4] = np.nan
    return Targets(
        (rng.random(count) * counts).astype(np.int32),
        (-np.log(counts) + 0.3 * rng.normal(size=count)).astype(np.float32),
        rng.normal(size=count).astype(np.float32),
        returns,
        rng.normal(size=actions).astype(np.float32),
        -2 * rng.random(actions, np.float32),
    )


def total_of(figures: dict[str, float], loss: Loss) -> float:
    return (
        figures["policy_loss"]
        + loss.vf_coef * figures["value_loss"]
        - loss.ent_coef * figures["entropy"]
        + loss.kl_coef * figures["reference_kl"]
    )


@pytest.mark.parametrize("kind", ["plain", "guided"])
@pytest.mark.parametrize("loss", LOSSES, ids=["ppo", "differences", "gain"])
def test_gradients_are_the_slopes_of_the_loss(
    kind: str, loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_python = partial(uncompiled, add_gradients)  # in double precision
    monkeypatch.setattr("fiveup_env.learning.learner.add_gradients", in_python)
    network = network_of(kind, 3, 2, np.float64)
    decisions, learner = decisions_for(network, 3), Learner(network)
    arrays = targets_for(decisions)
    targets = Targets(*(array.astype(np.float64) for array in arrays))
    targets = targets._replace(chosen=arrays.chosen)
    samples, step = np.arange(3), 1e-6
    gradient = learner.gradient(decisions, targets, samples, loss)[0].copy()
    rng, checked = np.random.default_rng(3), 0
    for name, part in network.arrays_in(np.arange(network.vector.size))._asdict().items():
        counted = part.ravel()[gradient[part.ravel()] != 0]
        assert len(counted) or not part.size or name == "worth"
        for i in rng.permutation(counted)[:4]:
            before, totals = network.vector[i], []
            for change in (step, -step):
                network.vector[i] = before + change
                figures = learner.gradient(decisions, targets, samples, loss)[1]
                totals.append(total_of(figures, loss))
            network.vector[i] = before
            slope = (totals[0] - totals[1]) / (2 * step)
            assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-8), name
            checked += 1
    assert checked > 20


@pytest.mark.parametrize("kind", ["plain", "guided"])
def test_any_number_of_threads_learns_the_same_bytes(kind: str) -> None:
    learnt = []
    for threads in (1, 2, 8):
        network = network_of(kind, 20, 2)
        decisions, learner = decisions_for(network, 700), Learner(network, threads)
        targets, rng = targets_for(decisions), np.random.default_rng(4)
        for loss in LOSSES:
            for _ in range(2):
                samples = rng.permutation(700)  # three parts
                learner.step(decisions, targets, samples, loss, 1e-3, 0.5)
        logs, values = learner.evaluate(decisions)
        learnt.append([network.vector.tobytes(), logs.tobytes(), values.tobytes()])
    assert learnt[0] == learnt[1] == learnt[2]


def test_what_is_not_finite_is_refused_and_the_weights_stay() -> None:
    network = network_of("plain", 20, 2)
    decisions, learner = decisions_for(network, 50), Learner(network)
    targets, samples = targets_for(decisions), np.arange(50)

    def refused(rate: float, why: str = "the loss is (nan|inf)") -> None:
        before = network.vector.tobytes(), learner.optimizer.moments.tobytes()
        with pytest.raises(LossError, match=why):
            learner.step(decisions, targets, samples, LOSSES[0], rate, 0.5)
        assert before == (network.vector.tobytes(), learner.optimizer.moments.tobytes())
        assert learner.optimizer.steps.tolist() == [0, 0]

    refused(1e300, "a learning rate is from 0 to 1e.30, not 1e.300")
    refused(np.nan, "not nan")
    for name, array in network.weights._asdict().items():
        if array.size and name != "worth":
            first = tuple(np.zeros(array.ndim, int))
            for number in (np.nan, np.inf):
                if name == "head":
                    first = decisions.actions[0], 0
                before, array[first] = array[first], number
                if name not in ("first", "head_bias"):
                    refused(1e-3)
                array[first] = before


def test_values_alone_leave_what_logits_depend_on() -> None:
    network = network_of("guided", 20, 2)
    decisions, learner = decisions_for(network, 50), Learner(network)
    targets = targets_for(decisions)
    before, values = learner.evaluate(decisions)
    for _ in range(3):
        learner.step(
            decisions, targets, np.arange(50), LOSSES[0], 1e-2, 0.5, values_only=True
        )  # fmt: skip
    logs, after = learner.evaluate(decisions)
    assert (logs == before).all()
    assert (values != after).all()
    assert learner.optimizer.steps.tolist() == [0, 3]
    learner.step(decisions, targets, np.arange(50), LOSSES[0], 1e-2, 0.5)
    assert learner.optimizer.steps.tolist() == [1, 4]
    assert (learner.evaluate(decisions)[0] != before).any()


def test_decisions_are_what_rows_and_masks_say() -> None:
    network = network_of("guided", 4, 1)
    decisions = decisions_for(network, 40)
    columns, encoder = network.columns, get_encoder("lookahead")
    views = np.concatenate([random_views(14, moves) for moves in range(4, 60, 6)])
    masks = legal_masks(views)
    free = np.flatnonzero(masks.sum(1) > 1)[:40]
    rows, masks = rows_of(encoder, views[free], scaled=False), masks[free]
    facts = rows[:, columns.facts : columns.facts_end]
    places = np.repeat(np.arange(40), np.diff(decisions.entry_ends))
    assert (facts.nonzero()[0] == places).all()
    assert (facts.nonzero()[1] == decisions.entries).all()
    assert (facts[facts != 0] == decisions.numbers).all()
    actors, actions = masks.nonzero()
    assert (actions == decisions.actions).all()
    assert (rows[actors, columns.plays + actions].clip(0, 16) == decisions.units).all()
    table = rows[:, columns.features :].reshape(40, -1)[:, : 121 * columns.feature_count]
    assert (table.reshape(40, 121, -1)[actors, actions] == decisions.features).all()
    chosen = np.zeros(40, np.int64)
    find_chosen(decisions, masks.shape[1] - 1 - masks[:, ::-1].argmax(1), chosen)
    assert (chosen == masks.sum(1) - 1).all()


def test_other_networks_are_refused() -> None:
    with pytest.raises(InputError, match=r"network in compiled code 'attention'.*plain"):
        Network("attention", 32, 1)
    wrong: list[Any] = [0, -1, 4097, 2.0, "3", True, None, np.nan]
    for size in wrong:
        for sizes, name in (((size, 1), "width"), ((4, size), "depth")):
            with pytest.raises(InputError, match=f"{name} must be a whole number from 1 to"):
                Network("plain", *sizes)
