"""Policies are data: a network's weights and what is to be known of them, as files; and who plays.

    FOLDER/policy.safetensors   the weights
    FOLDER/policy.json          format, shape, encoder and its version, a digest, and `about`:
                                the rules, the training command, the code's version, the results

Loading executes nothing from the files, and refuses what does not fit. The digest is that of both
files, so that they always belong together. PyTorch is imported only when a policy is loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.registry import register
from fiveup_env.actions import ACTION_COUNT
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.errors import FiveUpError
from fiveup_env.files import whole_folder, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from agents.learn.networks import PolicyNetwork, Shape

FORMAT: Final = "fiveup-policy"
VERSION: Final = 1
WEIGHTS: Final = "policy.safetensors"
DESCRIPTION: Final = "policy.json"
CLONE: Final = Path(__file__).parents[2]
SHIPPED: Final = {
    "shipped": CLONE / "agents" / "shipped",
    "family": CLONE / "agents" / "shipped" / "family",
}
CHUNK: Final = 512  # rows that a network is asked about at once


class PolicyError(FiveUpError):
    """A saved policy that is missing, damaged, or does not fit."""


# --- Files


def save_policy(
    folder: str | Path, network: PolicyNetwork, about: Mapping[str, Any], *, half: bool = False
) -> None:
    """Write a policy, in place of one that is there; `half` stores weights in half the space."""
    import torch
    from safetensors.torch import save

    kind = torch.float16 if half else torch.float32
    weights = {
        name: weight.detach().to("cpu", kind).contiguous()
        for name, weight in network.state_dict().items()
    }
    _check_finite(weights, "the network")
    content = save(weights)
    description = {
        **_format_of(network.shape),
        "shape": asdict(network.shape),
        "about": dict(about),
    }
    description = json.loads(json.dumps(description))
    description["digest"] = _digest(content, description)
    with whole_folder(folder) as draft:
        write_whole(draft / WEIGHTS, content)
        write_whole(draft / DESCRIPTION, json.dumps(description, indent=1).encode())


def load_policy(folder: str | Path) -> tuple[PolicyNetwork, dict[str, Any]]:
    """The network of a saved policy, and what is told about it."""
    _check_installed()
    folder = Path(folder)
    description = _read_description(folder)
    network_shape = _shape_in(description, folder)
    _check_format(description, network_shape, folder)
    weights = _read_weights(description, folder)
    return _network_of(network_shape, weights, folder), description["about"]


def load_network(folder: str | Path, shape: Shape) -> PolicyNetwork:
    """The network of a saved policy, for who goes on from it with one of that shape."""
    network, _ = load_policy(folder)
    if network.shape != shape:
        raise PolicyError(f"the policy in {folder} has {network.shape}, this run {shape}")
    return network


def _format_of(shape: Shape) -> dict[str, Any]:
    """What a policy and the code that plays it must agree about."""
    encoder = get_encoder(shape.encoder)
    return {
        "format": FORMAT,
        "version": VERSION,
        "encoder": {
            "name": encoder.name,
            "version": encoder.version,
            "row_size": row_size(encoder),
        },
        "actions": ACTION_COUNT,
    }


def _digest(weights: bytes, description: Mapping[str, Any]) -> str:
    """A name for exactly these weights with exactly this description."""
    rest = {key: value for key, value in description.items() if key != "digest"}
    return hashlib.sha256(weights + json.dumps(rest).encode()).hexdigest()


def _check_installed() -> None:
    try:
        import safetensors
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise PolicyError(
            f"policies need {error.name}: pip install -c constraints.txt -e '.[train]'"
        ) from None
    del safetensors


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PolicyError(
            f"{path} cannot be read ({error.strerror}); policies here: {_policies_here()}"
        ) from None


def _policies_here() -> str:
    """The policies that this clone holds, or how to get one."""
    found = sorted(path.parent for path in CLONE.glob(f"runs/*/policy/{DESCRIPTION}"))
    names = [name for name, folder in SHIPPED.items() if (folder / DESCRIPTION).exists()]
    names += [str(path.relative_to(CLONE)) for path in found]
    return ", ".join(names) or "none (train one: python train.py)"


def _read_description(folder: Path) -> dict[str, Any]:
    """The parts of a description, each of its kind."""
    path = folder / DESCRIPTION
    content = _read(path)
    try:
        description = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{path} is no JSON: {error}") from None
    kinds = {"shape": dict, "digest": str, "about": dict}
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise PolicyError(f'{path} is no policy: it lacks "format": "{FORMAT}"')
    if description.get("version") != VERSION:
        raise PolicyError(
            f"{path} has format version {description.get('version')!r}; "
            f"this code reads version {VERSION}"
        )
    for name, kind in kinds.items():
        if not isinstance(description.get(name), kind):
            raise PolicyError(f"{path} is damaged: it has no {name!r} of type {kind.__name__}")
    return description


def _shape_in(description: Mapping[str, Any], folder: Path) -> Shape:
    from agents.learn.networks import Shape, ShapeError

    given, known = description["shape"], [one.name for one in fields(Shape)]
    if sorted(given) != sorted(known):
        raise PolicyError(f"{folder}: a shape has {', '.join(known)}, not {', '.join(given)}")
    try:
        return Shape(**given)
    except (ShapeError, TypeError) as error:
        raise PolicyError(f"{folder}: {error}") from None


def _check_format(description: Mapping[str, Any], shape: Shape, folder: Path) -> None:
    for name, wanted in _format_of(shape).items():
        if description.get(name) != wanted:
            raise PolicyError(
                f"the policy in {folder} was made for {name} {description.get(name)}; "
                f"this code has {wanted}"
            )


def _read_weights(description: Mapping[str, Any], folder: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = _read(folder / WEIGHTS)
    if _digest(content, description) != description["digest"]:
        raise PolicyError(
            f"{WEIGHTS} and {DESCRIPTION} in {folder} do not belong together, or one was altered"
        )
    try:
        return load(content)
    except SafetensorError as error:
        raise PolicyError(f"{folder / WEIGHTS} holds no tensors: {error}") from None


def _network_of(shape: Shape, weights: dict[str, Tensor], folder: Path) -> PolicyNetwork:
    """A network with these weights, if they are the ones that its shape has."""
    import torch

    from agents.learn.networks import build

    with torch.device("meta"):  # takes no memory, time or chance
        network = build(shape)
    wanted = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    given = {name: tuple(weight.shape) for name, weight in weights.items()}
    for name in sorted(wanted.keys() | given.keys()):
        if wanted.get(name) != given.get(name):
            raise PolicyError(
                f"{folder}: the tensor {name!r} should be {wanted.get(name, 'absent')}, "
                f"and is {given.get(name, 'absent')}"
            )
        if not weights[name].is_floating_point():
            raise PolicyError(f"{folder}: the tensor {name!r} holds {weights[name].dtype}")
    _check_finite(weights, folder)
    weights = {name: weight.float() for name, weight in weights.items()}
    network.load_state_dict(weights, assign=True)
    return network


def _check_finite(weights: Mapping[str, Tensor], owner: object) -> None:
    for name, weight in weights.items():
        if not weight.isfinite().all():
            raise PolicyError(f"{owner}: the tensor {name!r} has values that are not finite")


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


@register("policy")
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
