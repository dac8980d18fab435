"""`as_agent`: a network in anything plays as what it says of rows and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from fiveup_env import Batch, Game, Rules, as_agent, make_agent, register_agent
from fiveup_env.arena import Terms, Tournament, duel, play_tournament
from fiveup_env.arena.play.results import code_of, code_version
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.errors import AgentError
from fiveup_env.opponents import registry
from fiveup_env.rules.actions import ACTION_COUNT
from tests.support import PROMISES_OF_AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = row_size(get_encoder("flat"))
WEIGHTS = np.random.default_rng(0).normal(size=(SIZE, ACTION_COUNT)).astype(np.float32)
LINEAR = torch.nn.Linear(SIZE, ACTION_COUNT, bias=False)
with torch.no_grad():
    LINEAR.weight.copy_(torch.from_numpy(WEIGHTS.T))


class Masking(torch.nn.Module):
    """A module that masks by itself, and says what it is given."""

    def forward(self, rows: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        assert masks.dtype == torch.bool
        assert not torch.is_grad_enabled()
        logits: torch.Tensor = LINEAR(rows)
        return logits.masked_fill(~masks, -torch.inf)


def in_torch(rows: np.ndarray) -> torch.Tensor:
    """Return logits that have a gradient."""
    logits: torch.Tensor = LINEAR(torch.as_tensor(rows))
    return logits


def in_numpy(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return the logits."""
    return np.where(masks, rows @ WEIGHTS, np.nan)


def in_jax() -> Any:
    """Return a compiled function."""
    jax = pytest.importorskip("jax", reason="a network in JAX (no JAX)")
    return jax.jit(lambda rows, masks: jax.numpy.where(masks, rows @ WEIGHTS, -jax.numpy.inf))


NETWORKS: dict[str, Callable[[], Any]] = {
    "a module of PyTorch": lambda: torch.nn.Sequential(LINEAR),
    "a module that masks": Masking,
    "a function over PyTorch": lambda: in_torch,
    "a function in JAX": in_jax,
    "a function in NumPy": lambda: in_numpy,
}
AGENT = as_agent(in_numpy, scaled=True)  # tests.agents.test_as_agent:AGENT
SPEC = f"{__name__}:AGENT"


@pytest.mark.parametrize("made", NETWORKS)
def test_a_network_in_anything_plays_by_its_logits(made: str) -> None:
    batch = Batch(37, players=2, scaled=True, seed=1)
    batch.reset()
    agent = as_agent(NETWORKS[made](), scaled=True)
    for _ in range(5):
        logits = np.where(batch.action_mask, batch.observation @ WEIGHTS, -np.inf)
        assert np.allclose(agent.logits(batch.views()), logits, atol=1e-4)
        actions = agent(batch.views(), np.random.default_rng(0))
        assert (logits.max(1) - logits[np.arange(37), actions] < 1e-4).all()
        batch.step(actions)


def test_a_network_gets_the_rows_of_its_encoder_as_environments_write_them() -> None:
    batch, seen = Batch(5, players=2, encoder="tokens", seed=1), []
    batch.reset()

    def network(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        seen.append((rows[:5], masks[:5]))
        assert len(rows) == 8  # a power of two, so that JAX compiles rarely
        return np.zeros(masks.shape)

    as_agent(network, "tokens")(batch.views(), np.random.default_rng(0))
    ((rows, masks),) = seen
    assert rows.dtype == np.int8
    assert (rows == batch.observation).all()
    assert (masks == batch.action_mask).all()


def test_a_sampling_agent_draws_by_the_probabilities_of_its_network() -> None:
    view = Game(players=2, seed=1).view().repeat(2000)
    uniform = as_agent(lambda rows: np.zeros((len(rows), ACTION_COUNT)), sample=True)
    counts = np.bincount(uniform(view, np.random.default_rng(0)), minlength=ACTION_COUNT)
    expected = uniform.probabilities(view[:1])[0]
    assert np.allclose(counts / 2000, expected, atol=0.05)


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (lambda rows: rows, r"3 rows in the shape \(3, 121\), not in \(3, 557\)"),
        (lambda rows: rows[:1, :121], r"not in \(1, 121\)"),
        (lambda rows: (rows[:, :121], rows[:, 0]), "an array of logits, not"),
        (lambda _rows: None, "not in|an array of logits, not None"),
        (lambda rows: np.full((len(rows), 121), np.nan), "a finite logit for each legal action"),
        (lambda rows: np.full((len(rows), 121), -np.inf), "a finite logit for each legal action"),
    ],
)
def test_what_is_not_logits_is_refused_in_a_sentence(network: Callable[..., Any], why: str) -> None:
    views = np.concatenate([Game(players=2, seed=seed).view() for seed in range(3)])
    with pytest.raises(AgentError, match=why):
        as_agent(network)(views, np.random.default_rng(0))


@pytest.mark.parametrize("network", ["greedy", WEIGHTS, lambda: None, lambda a, b, c: (a, b, c)])
def test_what_cannot_be_called_with_rows_and_masks_is_refused_at_once(network: Any) -> None:
    with pytest.raises(AgentError, match="is called with rows, or with rows and masks"):
        as_agent(network)


@pytest.mark.parametrize("promise", PROMISES_OF_AGENTS)
def test_a_network_keeps_the_promises_of_agents(promise: Callable[[str], None]) -> None:
    promise(SPEC)


def test_a_network_plays_in_the_arena_by_a_spec_and_by_itself() -> None:
    terms = Terms(Rules.preset(players=2), "hand")
    played = play_tournament(Tournament((SPEC, "random"), terms, deals=4), 1)
    assert played is not None
    agents = (AGENT, make_agent("random"))
    assert duel(agents, terms.rules, np.arange(4), "hand").wins.shape == (4,)
    assert code_of(SPEC) != code_version()  # the module's own code decides, too


def test_a_network_is_registered_under_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    register_agent("mine", AGENT)
    register_agent("mine", as_agent(in_numpy, scaled=True))  # as a cell that is run again does
    assert make_agent("mine") is not AGENT
    assert "mine" not in registry.registered()  # another process has no such object
