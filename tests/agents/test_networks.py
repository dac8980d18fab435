"""Networks: invalid shapes, what logits depend on, and probabilities of the allowed actions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agents.policies.networks import (
    Critic,
    Shape,
    ShapeError,
    build,
    entropy_of,
    masked_log_probabilities,
)
from fiveup_env import Batch, get_encoder
from fiveup_env.encoders import piece_of
from fiveup_env.rules.actions import ACTION_COUNT
from tests.own_encoders import COUNTS, PLACE

torch.set_num_threads(1)

SHAPES = [
    Shape(width=32),
    Shape("residual", 32, 3, shared=True),
    Shape("attention", 32, 2),
    Shape("guided", 32, 1),
    Shape("residual", 32, 1, encoder="tokens"),
    Shape(width=32, encoder=PLACE),
]


@cache
def played(encoder: str) -> Batch:
    """Games of every kind in the middle of hands."""
    batch = Batch(24, ["five_up", "all_fives"], [2, 3, 4, 5], encoder=encoder, oracle=True, seed=3)
    batch.reset()
    rng = np.random.default_rng(1)
    for _ in range(20):
        batch.step(batch.random_actions(rng))
    return batch


def rows_for(shape: Shape) -> torch.Tensor:
    return torch.from_numpy(played(shape.encoder).observation)


# --- Shapes


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "plane"}, "no network 'plane' .did you mean 'plain'"),
        ({"width": 0}, "width must be a whole number from 1 to 4096, not 0"),
        ({"width": 64.0}, "width must be a whole number"),
        ({"depth": True}, "depth must be a whole number from 1 to 64, not True"),
        ({"depth": 65}, "depth must be a whole number"),
        ({"kind": "attention", "width": 48}, "a multiple of 32, not 48"),
        ({"shared": 1}, "shared must be true or false, not 1"),
        ({"kind": "guided", "encoder": "flat"}, "guided reads rows of lookahead, not of flat"),
        ({"kind": "attention", "encoder": PLACE}, "attention reads rows of tokens, not of tests"),
    ],
)
def test_shapes_that_cannot_be_built_are_refused(fields: dict, why: str) -> None:
    with pytest.raises(ShapeError, match=why):
        Shape(**fields)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_network_answers_every_row_alone_as_among_others(shape: Shape) -> None:
    rows = rows_for(shape)
    torch.manual_seed(1)
    network = build(shape)
    logits, values = network(rows)
    assert logits.shape == (len(rows), ACTION_COUNT)
    assert values.shape == (len(rows),)
    assert logits.dtype == values.dtype == torch.float32
    assert 0.01 < values.std() < 3
    for part in (network.logits(rows), torch.cat([network(row[None])[0] for row in rows])):
        torch.testing.assert_close(part, logits)
    for part in (network.values(rows), torch.cat([network(row[None])[1] for row in rows])):
        torch.testing.assert_close(part, values)
    torch.manual_seed(1)
    assert torch.equal(build(shape)(rows)[0], logits)
    assert not torch.equal(build(shape)(rows)[0], logits)
    (logits.square().sum() + values.square().sum()).backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.any(), name


@pytest.mark.parametrize("shape", SHAPES)
def test_actions_are_nearly_alike_at_first_and_what_they_score_goes_straight_to_their_logits(
    shape: Shape,
) -> None:
    network, batch = build(shape), played(shape.encoder)
    rows, masks = torch.from_numpy(batch.observation), torch.from_numpy(batch.action_mask)
    before, values = network(rows)
    logs = masked_log_probabilities(before, masks)
    assert (masks.sum(1).log() - entropy_of(logs)).max() < 0.01
    with torch.no_grad():
        network.worth[:] = torch.arange(len(network.worth)) * 10.0
    after, same_values = network(rows)
    plays = piece_of(get_encoder(shape.encoder), "plays", batch.observation)
    torch.testing.assert_close(after - before, torch.from_numpy(plays * np.float32(10)))
    assert torch.equal(values, same_values)


def test_rows_that_do_not_say_what_actions_score_are_read_all_the_same() -> None:
    network = build(Shape(width=8, encoder=COUNTS))
    network.divide_logits(2.0)
    logits, values = network(torch.ones(3, 5, dtype=torch.int8))
    (logits.sum() + values.sum()).backward()
    assert all(weight.grad is not None for weight in network.parameters())


def test_attention_sees_the_order_of_events_and_nothing_behind_the_last() -> None:
    shape = Shape("attention", 32, 2)
    network = build(shape)
    batch = played("tokens")
    seen = batch.observation.copy()
    rows, events = torch.from_numpy(seen), piece_of(get_encoder("tokens"), "events", seen)
    games = np.flatnonzero(events[:, 1, 0] > 0)
    before = network(rows)[1].detach()
    events[games, 0], events[games, 1] = events[games, 1].copy(), events[games, 0].copy()
    changed = (network(rows)[1] - before).abs() > 1e-6
    assert changed.numpy().nonzero()[0].tolist() == games.tolist()
    events[:, -1, 1:] = 5  # its first field says that nothing happened
    events[games, 0], events[games, 1] = events[games, 1].copy(), events[games, 0].copy()
    torch.testing.assert_close(network(rows)[1], before)


# --- The critic


@pytest.mark.parametrize("shape", SHAPES)
def test_a_critic_sees_the_hidden_tiles(shape: Shape) -> None:
    batch = played(shape.encoder)
    rows, truth = torch.from_numpy(batch.observation), torch.from_numpy(batch.oracle)
    critic = Critic(shape)
    values = critic(rows, truth)
    assert values.shape == (len(rows),)
    others = critic(rows, truth.roll(1, 0))
    assert (values - others).abs().min() > 0


# --- Probabilities


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 30.0, 1e4]))
def test_probabilities_are_on_allowed_actions_alone(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.random((5, ACTION_COUNT)) < rng.random((5, 1))
    masks[np.arange(5), rng.integers(ACTION_COUNT, size=5)] = True
    logits = torch.from_numpy(rng.normal(size=masks.shape, scale=scale).astype(np.float32))
    logits.requires_grad_()
    logs = masked_log_probabilities(logits, torch.from_numpy(masks.astype(np.int8)))
    shares = logs.exp().detach().numpy()
    assert (shares[~masks] == 0).all()
    assert np.allclose(shares.sum(1), 1, atol=1e-5)
    entropy = entropy_of(logs)
    assert (entropy >= -1e-5).all()
    assert (entropy <= torch.from_numpy(masks.sum(1)).log() + 1e-5).all()
    chosen = torch.from_numpy(masks.argmax(1))
    total = entropy.sum() + logs.gather(1, chosen[:, None]).sum()
    (gradient,) = torch.autograd.grad(total, logits)
    assert gradient.isfinite().all()
    assert (gradient[~torch.from_numpy(masks)] == 0).all()


def test_the_entropy_is_that_of_the_probabilities() -> None:
    masks = torch.ones(1, ACTION_COUNT, dtype=torch.int8)
    masks[0, 2:] = 0
    logs = masked_log_probabilities(torch.tensor([[0.0, np.log(3)] + [9.0] * 119]), masks)
    expected = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert entropy_of(logs).item() == pytest.approx(expected)
