"""TODO."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork
from agents.policies.files import SHIPPED, PolicyError, load_policy

CHUNK: Final = 512  # rows that a network is asked about at once


# --- Playing


class NetworkAgent:
    """Plays by a network: the likeliest action, or with `sample` one drawn by its probability."""

    def __init__(
        self, network: PolicyNetwork, *, sample: bool = False, temperature: float = 1.0
    ) -> None:
        if not 0 < temperature < float("inf"):
            raise PolicyError(f"temperature must be above 0, not {temperature}")
        self._network = network
        self._encoder = get_encoder(network.shape.encoder)
        self.sample, self._heat = sample, temperature

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        if not self.sample:
            return self._logits(views, masks).argmax(1)
        heights = self.probabilities(views, masks).cumsum(1, np.float64)
        return (heights > random.random((len(views), 1)) * heights[:, -1:]).argmax(1)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, 0 where it is not allowed."""
        logits = self._logits(views, masks) / np.float32(self._heat)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)

    def values(self, views: np.ndarray) -> np.ndarray:
        """What the network expects for the seat of every view, in the units it was trained on."""
        return self._answers(views, self._network.values, ())

    def _logits(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The logit of every action, -inf where it is not allowed."""
        logits = self._answers(views, self._network.logits, (ACTION_COUNT,))
        return np.where(masks > 0, logits, np.float32(-np.inf))

    def _answers(
        self, views: np.ndarray, ask: Callable[[Tensor], Tensor], size: tuple[int, ...]
    ) -> np.ndarray:
        """What the network answers about every view, some at a time."""
        import torch

        device = self._network.reader.factors.device
        answers = np.empty((len(views), *size), np.float32)
        with torch.inference_mode():
            for start in range(0, len(views), CHUNK):
                part = views[start : start + CHUNK]
                rows = np.empty((len(part), row_size(self._encoder)), np.int8)
                self._encoder.encode(part, rows)
                answers[start : start + CHUNK] = ask(torch.from_numpy(rows).to(device)).cpu()
        return answers


@dataclass
class PolicyAgent(NetworkAgent):
    """A trained policy: `policy:FOLDER`, `policy:shipped` or `policy:family`."""

    path: str = field(default="shipped", metadata={"help": "folder of the policy; may come bare"})
    sample: bool = field(default=False, metadata={"help": "draw actions by their probability"})
    temperature: float = field(default=1.0, metadata={"help": "of the probabilities"})
    device: str = field(default="cpu", metadata={"help": "cpu or cuda"})

    def __post_init__(self) -> None:
        """Load the policy."""
        network, self.about = load_policy(SHIPPED.get(self.path, self.path))
        _check_device(self.device)
        super().__init__(network.to(self.device), sample=self.sample, temperature=self.temperature)


def _check_device(device: str) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        raise PolicyError(f"device {device!r} cannot be used here: {why}") from None
