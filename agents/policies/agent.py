"""The agent that plays a policy: a network, or the files of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.policies.files import load_policy, policy_folder
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.view import as_views
from fiveup_env.errors import shown
from fiveup_env.opponents.policy_files import PolicyError
from fiveup_env.opponents.units import NETWORK_ERROR, settings_in
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork

CHUNK: Final = 512  # rows evaluated at once


class NetworkAgent:
    """Plays a network's most likely action, or with `sample` one drawn by the probabilities."""

    def __init__(
        self, network: PolicyNetwork, *, sample: bool = False, temperature: float = 1.0
    ) -> None:
        if not 0 < temperature < float("inf"):
            raise PolicyError(f"temperature must be above 0, not {temperature}")
        self.network = network
        self._encoder = get_encoder(network.shape.encoder)
        self.sample, self._temperature = sample, temperature

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        if not self.sample:
            return self._logits(views, masks).argmax(1)
        cumulative = self.probabilities(views, masks).cumsum(1, np.float64)
        return (cumulative > random.random((len(views), 1)) * cumulative[:, -1:]).argmax(1)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the probability of every action, 0 where it is not allowed."""
        logits = self._logits(views, masks) / np.float32(self._temperature)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)

    def values(self, views: np.ndarray) -> np.ndarray:
        """Return the network's value for the seat of every view, in the units it was trained on."""
        return self._evaluate(views, self.network.values, ())

    def value_inputs(self, views: np.ndarray) -> np.ndarray:
        """Return what the network's value head reads, for every view."""
        return self._evaluate(views, self.network.value_inputs, (self.network.shape.width,))

    def _logits(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the logit of every action, -inf where it is not allowed."""
        logits = self._evaluate(views, self.network.logits, (ACTION_COUNT,))
        return np.where(masks > 0, logits, np.float32(-np.inf))

    def _evaluate(
        self, views: np.ndarray, compute: Callable[[Tensor], Tensor], size: tuple[int, ...]
    ) -> np.ndarray:
        """Return the network's outputs for every view, computed in chunks."""
        import torch

        views, device = as_views(views), self.network.reader.factors.device
        outputs = np.empty((len(views), *size), np.float32)
        with torch.inference_mode():
            for start in range(0, len(views), CHUNK):
                part = views[start : start + CHUNK]
                rows = np.empty((len(part), row_size(self._encoder)), np.int8)
                self._encoder.encode(part, rows)
                outputs[start : start + CHUNK] = compute(torch.from_numpy(rows).to(device)).cpu()
        return outputs


@dataclass
class PolicyAgent(NetworkAgent):
    """Plays a trained policy: `policy:FOLDER`, `policy:shipped` or `policy:family`."""

    path: str = field(default="shipped", metadata={"help": "shipped, family or a policy's folder"})
    sample: bool = field(
        default=False,
        metadata={"help": "draw actions by their probabilities"},
    )
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})
    device: str = field(default="cpu", metadata={"help": "cpu or cuda"})

    def __post_init__(self) -> None:
        """Load the policy."""
        network, self.about = load_policy(policy_folder(self.path))
        _check_device(self.device)
        temperature = self.temperature * unit_of(self.about)
        super().__init__(network.to(self.device), sample=self.sample, temperature=temperature)


def unit_of(about: Mapping[str, Any]) -> float:
    """Return the difference of logits that counts as one in a policy's probabilities.

    Expert iteration learns values as logits. They count by the error that they have.
    """
    return NETWORK_ERROR if settings_in(about).get("learner") == "expert" else 1.0


def _check_device(device: str) -> None:
    import torch

    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise PolicyError(f"device {shown(device)} cannot be used here: {why}") from None
