"""Agents that play by PyTorch: a network, or a policy from its files.

The agent `policy` plays compiled networks alone; `torch` plays networks of all shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.policies.files import load_policy
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.view import as_views, unchecked_masks
from fiveup_env.errors import shown
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    PATHS,
    NotCompiledError,
    PolicyError,
    PolicyName,
    policy_folder,
)
from fiveup_env.opponents.networks.policy import Logits, load_compiled, unit_of
from fiveup_env.opponents.pairs import Seats
from fiveup_env.opponents.search.network_search import PolicySearch
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork
    from fiveup_env.opponents.agent import Agent

CHUNK: Final = 512  # rows evaluated at once
ENCODER_HELP: Final = "its encoder, module:Class, if that is not registered"


class NetworkAgent(Logits):
    """Plays a network's most likely action, or with `sample` one drawn by the probabilities."""

    def __init__(
        self, network: PolicyNetwork, *, sample: bool = False, temperature: float = 1.0
    ) -> None:
        super().__init__(sample=sample, temperature=temperature)
        self.network = network
        self._encoder = get_encoder(network.shape.encoder)

    def values(self, views: np.ndarray) -> np.ndarray:
        """Return the network's value for the seat of every view, in the units it was trained on."""
        return self._evaluate(as_views(views), self.network.values, ())

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action, -inf where it is not allowed."""
        views = as_views(views)
        logits = self._evaluate(views, self.network.logits, (ACTION_COUNT,))
        return np.where(unchecked_masks(views) > 0, logits, np.float32(-np.inf))

    def _evaluate(
        self, views: np.ndarray, compute: Callable[[Tensor], Tensor], size: tuple[int, ...]
    ) -> np.ndarray:
        """Return the network's outputs for every checked view, computed in chunks."""
        import torch

        device = self.network.reader.factors.device
        outputs = np.empty((len(views), *size), np.float32)
        with torch.inference_mode():
            for start in range(0, len(views), CHUNK):
                part = views[start : start + CHUNK]
                rows = np.empty((len(part), row_size(self._encoder)), np.int8)
                self._encoder.encode(part, rows)
                computed = compute(torch.from_numpy(rows).to(device))
                outputs[start : start + CHUNK] = computed.cpu().numpy()
        return outputs


@dataclass
class TorchPolicy(NetworkAgent):
    """Plays a policy by PyTorch, of any shape and on any device: `torch:FOLDER`."""

    path: PolicyName = field(default="family", metadata={"help": PATHS})
    sample: bool = field(default=False, metadata={"help": "draw actions by their probabilities"})
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})
    device: str = field(default="cpu", metadata={"help": "cpu or cuda"})
    encoder: str | None = field(default=None, metadata={"help": ENCODER_HELP})

    def __post_init__(self) -> None:
        """Load the policy: a shipped one by its name, or one in a folder."""
        network, self.about = load_policy(policy_folder(self.path), self.encoder)
        _check_device(self.device)
        temperature = self.temperature * unit_of(self.about)
        super().__init__(network.to(self.device), sample=self.sample, temperature=temperature)


@dataclass
class TorchSearch(PolicySearch):
    """Plays a policy by PyTorch that looks ahead in sampled worlds: `torch+search:FOLDER`."""

    device: str = field(default="cpu", metadata={"help": "cpu or cuda"})
    encoder: str | None = field(default=None, metadata={"help": ENCODER_HELP})

    def _load(self) -> TorchPolicy:
        return TorchPolicy(self.path, device=self.device, encoder=self.encoder)


def policy_folders(folder: Path, networks: int) -> list[Path]:
    """Return the folders of a policy's networks: its own, or one in it for each side or seat."""
    return [folder] if networks == 1 else [folder / str(number) for number in range(networks)]


def seated(agents: Sequence[Agent]) -> Agent:
    """Return the agent that plays seat k with the k-th of some agents, or again from the first."""
    return agents[0] if len(agents) == 1 else Seats(*agents)


def spec_of(folder: str | Path, encoder: str | None = None) -> str:
    """Return the spec that plays a saved policy: compiled where it can be, else by PyTorch.

    An encoder of one's own, `module:Class`, is named in it, as the files may not.
    """
    parts = sorted(Path(folder).glob("[0-9]"))
    if parts and not (Path(folder) / DESCRIPTION).exists():
        options = zip(fields(Seats)[: len(parts)], parts, strict=True)
        return "seats:" + ",".join(
            f"{option.name}={spec_of(part, encoder)}" for option, part in options
        )
    try:
        load_compiled(Path(folder))
    except NotCompiledError:
        return f"torch:{folder},encoder={encoder}" if ":" in (encoder or "") else f"torch:{folder}"
    return f"policy:{folder}"


def _check_device(device: str) -> None:
    import torch

    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise PolicyError(f"device {shown(device)} cannot be used here: {why}") from None
