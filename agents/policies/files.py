"""Policies as data: a network's weights and their metadata, in two files.

    FOLDER/policy.safetensors   the weights
    FOLDER/policy.json          format, shape, encoder and its version, a digest, and `about`:
                                the rules, the training command, the code's version, the results

Loading never executes anything from the files, and raises PolicyError if they do not fit this code.
The digest covers both files, so that weights are never read with another policy's description.
PyTorch is imported only when a policy is saved or loaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents.policies.units import settings_in
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.errors import InputError, MissingExtraError, shown
from fiveup_env.files import atomic_folder, file_path, write_atomic
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from agents.policies.networks import PolicyNetwork, Shape

FORMAT: Final = "fiveup-policy"
VERSION: Final = 1
WEIGHTS: Final = "policy.safetensors"
DESCRIPTION: Final = "policy.json"
CLONE: Final = Path(__file__).parents[2]
SHIPPED: Final = {
    "shipped": CLONE / "agents" / "policies" / "shipped",
    "family": CLONE / "agents" / "policies" / "shipped" / "family",
}


class PolicyError(InputError):
    """A policy that is missing, damaged, or does not fit this code."""


def save_policy(
    folder: str | Path, network: PolicyNetwork, about: Mapping[str, Any], *, half: bool = False
) -> None:
    """Write a policy, replacing any in the folder; with `half`, weights are stored as float16."""
    import torch
    from safetensors.torch import save

    shape, kind = network.shape, torch.float16 if half else torch.float32
    weights = {
        name: weight.detach().to("cpu", kind).contiguous()
        for name, weight in network.state_dict().items()
    }
    _check_finite(weights, "the network")
    content = save(weights)
    description = {
        **_format_of(shape),
        "shape": asdict(shape) | {"encoder": get_encoder(shape.encoder).name},
        "about": dict(about),
    }
    description = json.loads(json.dumps(description))
    description["digest"] = _digest(content, description)
    with atomic_folder(folder, keep=True) as draft:
        write_atomic(draft / WEIGHTS, content)
        write_atomic(draft / DESCRIPTION, json.dumps(description, indent=1).encode())


def policy_folder(name: str) -> Path:
    """Return the folder of a shipped policy by its name, or the folder that is named itself."""
    return SHIPPED.get(name, Path(name))


def load_policy(folder: str | Path) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Return the network of a saved policy, and its metadata (`about`)."""
    _check_installed()
    folder = Path(folder)
    description = _read_description(folder)
    network_shape = _shape_in(description, folder)
    _check_format(description, network_shape, folder)
    weights = _read_weights(description, folder)
    return _network_of(network_shape, weights, folder), description["about"]


def load_network(folder: str | Path, shape: Shape, reward: str) -> PolicyNetwork:
    """Return the network of a saved policy, for continuing from it with a network of `shape`.

    The policy may read an older version of the encoder: what continues from it has to read that.
    Its values must be in the units of `reward`.
    """
    network, about = load_policy(folder)
    trained = settings_in(about)["reward"]
    if trained != reward:
        raise PolicyError(
            f"the policy in {folder} was trained in other units: "
            f"with reward={shown(trained)}, not {reward!r}"
        )
    if asdict(network.shape) | {"encoder": shape.encoder} != asdict(shape):
        raise PolicyError(f"the policy in {folder} has {network.shape}, this run needs {shape}")
    return network


def _format_of(shape: Shape) -> dict[str, Any]:
    """Return what a policy and the code that plays it must have in common."""
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
    """Return a digest of these weights together with this description."""
    rest = {key: value for key, value in description.items() if key != "digest"}
    return hashlib.sha256(weights + json.dumps(rest).encode()).hexdigest()


def _check_installed() -> None:
    try:
        import safetensors
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"policies need {error.name}: pip install -c constraints.txt -e '.[train]'"
        ) from None
    del safetensors


def _read(path: Path) -> bytes:
    try:
        return file_path(path).read_bytes()
    except OSError as error:
        raise PolicyError(
            f"{path} cannot be read ({error.strerror}); available policies: {_policies_here()}"
        ) from None


def _policies_here() -> str:
    """Return the names of the policies in this clone, or how to get one."""
    found = sorted(path.parent for path in CLONE.glob(f"runs/*/policy/{DESCRIPTION}"))
    names = [name for name, folder in SHIPPED.items() if (folder / DESCRIPTION).exists()]
    names += [str(path.relative_to(CLONE)) for path in found]
    return ", ".join(names) or "none (train one: python train.py)"


def _read_description(folder: Path) -> dict[str, Any]:
    """Return a description, whose parts all have the right types."""
    path = folder / DESCRIPTION
    content = _read(path)
    try:
        description = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{path} is not valid JSON: {error}") from None
    kinds = {"encoder": dict, "shape": dict, "digest": str, "about": dict}
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise PolicyError(f'{path} is not a policy: it lacks "format": "{FORMAT}"')
    if description.get("version") != VERSION:
        raise PolicyError(
            f"{path} has format version {shown(description.get('version'))}; "
            f"this code reads version {VERSION}"
        )
    for name, kind in kinds.items():
        if not isinstance(description.get(name), kind):
            raise PolicyError(f"{path} is damaged: it has no {name!r} of type {kind.__name__}")
    return description


def _shape_in(description: Mapping[str, Any], folder: Path) -> Shape:
    from agents.policies.networks import Shape

    given, known = description["shape"], [one.name for one in fields(Shape)]
    if sorted(given) != sorted(known):
        raise PolicyError(f"{folder}: a shape must have {', '.join(known)}, not {', '.join(given)}")
    encoder = f"{given['encoder']}@{description['encoder'].get('version')}"
    try:
        return Shape(**given | {"encoder": encoder})
    except (InputError, TypeError) as error:
        raise PolicyError(f"{folder}: {error}") from None


def _check_format(description: Mapping[str, Any], shape: Shape, folder: Path) -> None:
    for name, wanted in _format_of(shape).items():
        if description.get(name) != wanted:
            raise PolicyError(
                f"the policy in {folder} was made for {name} {shown(description.get(name))}; "
                f"this code has {wanted}"
            )


def _read_weights(description: Mapping[str, Any], folder: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = _read(folder / WEIGHTS)
    try:
        digest = _digest(content, description)
    except RecursionError:
        raise PolicyError(f"{folder / DESCRIPTION} has too many lists inside lists") from None
    if digest != description["digest"]:
        raise PolicyError(
            f"{WEIGHTS} and {DESCRIPTION} in {folder} do not belong together, or one was altered"
        )
    try:
        return load(content)
    except SafetensorError as error:
        raise PolicyError(f"{folder / WEIGHTS} does not hold tensors: {error}") from None


def _network_of(shape: Shape, weights: dict[str, Tensor], folder: Path) -> PolicyNetwork:
    """Return a network with these weights, if their names, sizes and types fit its shape."""
    import torch

    from agents.policies.networks import build

    with torch.device("meta"):  # takes no memory, time or chance
        network = build(shape)
    wanted = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    given = {name: tuple(weight.shape) for name, weight in weights.items()}
    for name in sorted(wanted.keys() | given.keys()):
        if wanted.get(name) != given.get(name):
            raise PolicyError(
                f"{folder}: the tensor {name!r} should be {wanted.get(name, 'absent')}, "
                f"but is {given.get(name, 'absent')}"
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
