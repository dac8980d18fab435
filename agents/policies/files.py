"""Policies as data: saving networks, and loading them into PyTorch.

`fiveup_env.opponents.networks.files` describes the two files of a policy, and reads them. PyTorch
is imported only when a policy is saved or loaded.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.encoders import get_encoder, registered_encoder, row_size
from fiveup_env.errors import InputError, MissingExtraError, shown
from fiveup_env.files import clear_drafts, move, remove, write_atomic
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    FORMAT,
    SHIPPED,
    VERSION,
    WAITING,
    WEIGHTS,
    NoPolicyError,
    PolicyError,
    check_finite,
    digest_of,
    read_description,
    read_weights,
    settings_in,
)
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents.policies.networks import PolicyNetwork, Shape

ENCODER: Final = "encoder"  # the field of a shape that stands in its own part of a description


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
    check_finite({name: weight.numpy() for name, weight in weights.items()}, "the network")
    content = save(weights)
    description = {
        **_format_of(shape),
        "shape": {name: value for name, value in asdict(shape).items() if name != ENCODER},
        "about": dict(about),
    }
    description = json.loads(json.dumps(description))
    description["digest"] = digest_of(content, description)
    _replace(Path(folder), content, description)


def _replace(folder: Path, content: bytes, description: Mapping[str, Any]) -> None:
    """Write the files of a policy in such an order that a death leaves the old one or the new one.

    The new policy is there as soon as its description is; `read_weights` finds its weights beside
    those of the old one, and then in their place.
    """
    folder.mkdir(parents=True, exist_ok=True)
    clear_drafts(folder)
    waiting = folder / f"{WAITING}{description['digest'][:16]}"
    try:
        write_atomic(waiting, content)
        write_atomic(folder / DESCRIPTION, json.dumps(description, indent=1).encode())
    except OSError:
        with suppress(OSError):
            remove(waiting)
        raise
    move(waiting, folder / WEIGHTS)
    for old in folder.glob(f"{WAITING}*"):
        remove(old)


def load_policy(
    folder: str | Path, encoder: str | None = None
) -> tuple[PolicyNetwork, dict[str, Any]]:
    """Return the network of a saved policy, and its metadata (`about`).

    Its files name its encoder, which must be registered; or `encoder` is the place of it.
    """
    _check_installed()
    folder = Path(folder)
    try:
        description = read_description(folder)
        network_shape = _shape_in(description, folder, encoder)
        _check_format(description, network_shape, folder)
        network = _network_of(network_shape, folder, description)
    except NoPolicyError as error:
        raise PolicyError(f"{error}; available policies: {', '.join(SHIPPED)}") from None
    return network, description["about"]


def load_network(folder: str | Path, shape: Shape, reward: str) -> PolicyNetwork:
    """Return the network of a saved policy, for continuing from it with a network of `shape`.

    Its values must be in the units of `reward`.
    """
    own = shape.encoder if ":" in shape.encoder else None
    network, about = load_policy(folder, own)
    trained = settings_in(about)["reward"]
    if trained != reward:
        raise PolicyError(
            f"the policy in {folder} was trained in other units: "
            f"with reward={shown(trained)}, not {reward!r}"
        )
    has, needed = asdict(network.shape), asdict(shape)
    if other := [name for name in needed if has[name] != needed[name]]:
        given = ", ".join(f"{name}={has[name]}" for name in other)
        wanted = ", ".join(f"{name}={needed[name]}" for name in other)
        raise PolicyError(f"the policy in {folder} has {given}, and this run {wanted}")
    return network


def _format_of(shape: Shape) -> dict[str, Any]:
    """Return the metadata on which a policy and the code that plays it must agree."""
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


def _check_installed() -> None:
    try:
        import safetensors
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"policies need {error.name}: pip install -c constraints.txt -e '.[train]'",
            error,
        ) from None
    del safetensors


def _shape_in(description: Mapping[str, Any], folder: Path, encoder: str | None) -> Shape:
    from agents.policies.networks import Shape

    given, known = description["shape"], [part.name for part in fields(Shape)]
    known.remove(ENCODER)
    if sorted(given) != sorted(known):
        raise PolicyError(f"{folder}: a shape must have {', '.join(known)}, not {', '.join(given)}")
    try:
        name = encoder or registered_encoder(description["encoder"].get("name")).name
        return Shape(**given, encoder=name)
    except (InputError, TypeError) as error:
        raise PolicyError(f"{folder}: {error}") from None


def _check_format(description: Mapping[str, Any], shape: Shape, folder: Path) -> None:
    for name, wanted in _format_of(shape).items():
        if description.get(name) != wanted:
            raise PolicyError(
                f"the policy in {folder} was made for {name} {shown(description.get(name))}; "
                f"this code has {wanted}"
            )


def _network_of(shape: Shape, folder: Path, description: Mapping[str, Any]) -> PolicyNetwork:
    """Return the network of a policy, if the names and sizes of its weights fit its shape."""
    import torch

    from agents.policies.networks import build

    with torch.device("meta"):  # takes no memory, time or chance
        network = build(shape)
    sizes = {name: tuple(weight.shape) for name, weight in network.state_dict().items()}
    weights = read_weights(folder, description, sizes)
    tensors = {name: torch.from_numpy(weight) for name, weight in weights.items()}
    network.load_state_dict(tensors, assign=True)
    return network
