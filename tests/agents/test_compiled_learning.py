"""Learning in compiled code: the gradients and the steps of PyTorch."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import mse_loss

from agents.learn.all_actions import gain_loss
from agents.learn.averaged import value_loss
from agents.learn.ppo import _clipped
from agents.policies.files import load_policy
from agents.policies.networks import (
    PolicyNetwork,
    Shape,
    build,
    entropy_of,
    masked_log_probabilities,
)
from fiveup_env import legal_masks
from fiveup_env.encoders import get_encoder, rows_of
from fiveup_env.learning.decisions import decisions_of
from fiveup_env.learning.learner import Learner
from fiveup_env.learning.losses import DIFFERENCES, FIGURES, GAIN, PPO, Loss, Targets
from fiveup_env.learning.networks import Network
from fiveup_env.opponents.networks.files import policy_folder
from tests.agents.learning import difference_loss, noisy
from tests.support import random_views

COUNT = 300  # decisions: a whole part, and one whose last tile is not whole
VALUES = 0.7  # the weight of the value loss


def new(kind: str, width: int, depth: int) -> PolicyNetwork:
    torch.manual_seed(4)  # none of whose units is at the edge of its ReLU
    return build(Shape(kind, width, depth, shared=True))


NETWORKS = {
    "plain, new": lambda: new("plain", 24, 2),
    "plain, one layer": lambda: noisy(Shape("plain", 13, 1, shared=True)),
    "plain, tokens": lambda: noisy(Shape("plain", 16, 3, shared=True, encoder="tokens")),
    "guided, new": lambda: new("guided", 24, 2),
    "guided, narrow": lambda: noisy(Shape("guided", 9, 1, shared=True)),
    "guided, trained": lambda: load_policy(policy_folder("student"))[0],
}


@cache
def seen(encoder: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and masks of decisions in which there is a choice."""
    views = np.concatenate([random_views(150, moves) for moves in range(4, 60, 12)])
    masks = legal_masks(views)
    free = np.flatnonzero(masks.sum(1) > 1)[:COUNT]
    assert len(free) == COUNT
    return rows_of(get_encoder(encoder), views[free], scaled=False), masks[free]


class Both:
    """One network in PyTorch and in compiled code, and decisions to learn from."""

    def __init__(self, network: PolicyNetwork, threads: int = 1) -> None:
        shape = network.shape
        self.network = network
        compiled = Network(shape.kind, shape.width, shape.depth, shape.encoder)
        compiled.load({name: w.detach().numpy() for name, w in network.state_dict().items()})
        self.learner = Learner(compiled, threads)
        rows, masks = seen(shape.encoder)
        self.decisions = decisions_of(rows, masks, compiled.columns)
        self.rows, self.masks = torch.from_numpy(rows), torch.from_numpy(masks)
        self.logs, _ = self.learner.evaluate(self.decisions)

    def compare(self, targets: Targets, loss: Loss, expected: torch.Tensor) -> dict[str, float]:
        """Compare the gradients of all tensors, and return the figures of compiled code."""
        self.network.zero_grad()
        expected.backward()  # type: ignore[no-untyped-call]
        samples = np.random.default_rng(0).permutation(COUNT)
        gradient, figures = self.learner.gradient(self.decisions, targets, samples, loss)
        tensors = self.learner.network.tensors(gradient)
        for name, weight in self.network.named_parameters():
            assert weight.grad is not None
            wanted = weight.grad.numpy()
            assert np.abs(tensors[name] - wanted).max() <= 1e-5 * np.abs(wanted).max(), name
        return figures


def targets_of(both: Both, **arrays: np.ndarray) -> Targets:
    """Return targets by chance; some returns are not known."""
    rng, decisions = np.random.default_rng(1), both.decisions
    first, counts = decisions.action_ends[:-1], np.diff(decisions.action_ends)
    chosen = (rng.random(COUNT) * counts).astype(np.int32)
    played = both.logs[first + chosen] + 0.2 * rng.normal(size=COUNT)
    advantages, returns = rng.normal(size=(2, COUNT))
    none = np.zeros(0, np.float32)
    made = {
        "chosen": chosen,
        "log_probabilities": played.astype(np.float32),
        "advantages": advantages.astype(np.float32),
        "returns": returns.astype(np.float32),
        "labels": none,
        "reference": none,
    }
    return Targets(**(made | arrays))


@pytest.mark.parametrize("name", NETWORKS)
def test_logits_values_and_gradients_of_ppo_are_those_of_pytorch(name: str) -> None:
    both = Both(NETWORKS[name]())
    other = noisy(both.network.shape, seed=5, noise=0.05)
    reference, _ = Both(other).learner.evaluate(both.decisions)
    targets = targets_of(both, reference=reference)
    loss = Loss(PPO, VALUES, 0.2, 0.03, 0.4, normalize_advantage=True)

    logits, values = both.network(both.rows)
    logs = masked_log_probabilities(logits, both.masks)
    legal = both.masks > 0
    assert np.allclose(both.logs, logs[legal].detach(), atol=1e-5)
    actions = both.decisions.actions[both.decisions.action_ends[:-1] + targets.chosen]
    change = logs.gather(1, torch.tensor(actions.astype(np.int64))[:, None])[:, 0]
    change = change - torch.from_numpy(targets.log_probabilities)
    advantages = torch.from_numpy(targets.advantages)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    policy_loss = -_clipped(change.exp(), advantages, 0.2)
    entropy = entropy_of(logs).mean()
    value_error = mse_loss(values, torch.from_numpy(targets.returns))
    away = (logs[legal].exp() * (logs[legal] - torch.from_numpy(reference))).sum() / COUNT
    figures = both.compare(
        targets, loss, policy_loss - 0.03 * entropy + VALUES * value_error + 0.4 * away
    )
    clipped = ((change.exp() - 1).abs() > 0.2).float().mean()
    assert 0.1 < clipped < 0.9
    moved = (change.exp() - 1 - change).mean()
    wanted = [each.item() for each in (policy_loss, value_error, entropy, moved, clipped, away)]
    assert figures == pytest.approx(dict(zip(FIGURES, wanted, strict=True)), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("kind", "loss_of"), [(DIFFERENCES, difference_loss), (GAIN, gain_loss)])
def test_gradients_of_labels_are_those_of_pytorch(name: str, kind: int, loss_of: Any) -> None:
    both, rng = Both(NETWORKS[name]()), np.random.default_rng(2)
    labels = rng.normal(size=len(both.decisions.actions)).astype(np.float32)
    targets = targets_of(both, labels=labels)
    targets.returns[::3] = np.nan
    table = torch.full(both.masks.shape, torch.nan)
    table[both.masks > 0] = torch.from_numpy(labels)
    logits, values = both.network(both.rows)
    policy_loss = loss_of(logits, table)
    value_error = value_loss(values, torch.from_numpy(targets.returns))
    figures = both.compare(targets, Loss(kind, VALUES), policy_loss + VALUES * value_error)
    assert figures["policy_loss"] == pytest.approx(policy_loss.item(), rel=1e-4, abs=1e-6)
    assert figures["value_loss"] == pytest.approx(value_error.item(), rel=1e-4)


def test_steps_are_those_of_adam_with_clipping() -> None:
    both = Both(NETWORKS["guided, new"]())
    targets, loss = targets_of(both), Loss(PPO, VALUES, 0.2, 0.03)
    optimizer = torch.optim.Adam(both.network.parameters(), eps=1e-5)
    samples, compiled = np.arange(COUNT), both.learner.network
    for number, most in enumerate([1e9, 1e9, 0.01, 0.01, 1e9]):
        gradient, _ = both.learner.gradient(both.decisions, targets, samples, loss)
        for name, array in compiled.tensors(gradient).items():
            weight = both.network.get_parameter(name)
            weight.grad = torch.tensor(array)
            weight.data = torch.tensor(compiled.tensors()[name])
        norm = torch.nn.utils.clip_grad_norm_(both.network.parameters(), most)
        before = compiled.vector.copy()
        rate = optimizer.param_groups[0]["lr"] = 1e-3 / (1 + number)
        optimizer.step()
        figures = both.learner.step(both.decisions, targets, samples, loss, rate, most)
        assert figures["gradient"] == pytest.approx(norm.item(), rel=1e-5)
        assert np.abs(compiled.vector - before).max() > rate / 10
        for name, weight in both.network.state_dict().items():
            assert np.abs(compiled.tensors()[name] - weight.numpy()).max() <= 1e-3 * rate, name
