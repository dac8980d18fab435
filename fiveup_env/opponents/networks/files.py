"""Policies as files, read without torch: weights by name, and their description.

    FOLDER/policy.safetensors   the weights
    FOLDER/policy.json          format, shape, encoder and its version, a digest, and `about`:
                                the rules, the training command, the code's version, the results

Reading never executes anything from the files, and raises PolicyError if they do not fit this code.
The digest covers both files, so that weights are never read with another policy's description.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import numpy as np

from fiveup_env.errors import InputError, shown
from fiveup_env.files import read_plain
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = "fiveup-policy"
VERSION: Final = 1
WEIGHTS: Final = "policy.safetensors"
WAITING: Final = f".{WEIGHTS}-"  # how weights begin whose description is there before them
DESCRIPTION: Final = "policy.json"
DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
SHIPPED: Final = {
    name: Path(__file__).with_name("policies") / name for name in ("family", "partners", "student")
}
PolicyName: TypeAlias = Annotated[str, "policy"]  # an option of an agent that names a policy
PATHS: Final = f"{', '.join(SHIPPED)} or a policy's folder"  # what a policy may be named by


class PolicyError(InputError):
    """A policy that is missing, damaged, or does not fit this code."""


class NoPolicyError(PolicyError):
    """A policy one of whose files cannot be read."""


class NotCompiledError(PolicyError):
    """A policy of a shape that compiled code lacks."""


def policy_folder(name: str) -> Path:
    """Return the folder of a shipped policy by its name, or the folder that is named itself."""
    return SHIPPED.get(name, Path(name))


def read_policy(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the description of a policy and its weights, whose digest is right."""
    description = _read_description(folder / DESCRIPTION)
    weights = read_tensors(_weights_of(folder, description), folder / WEIGHTS)
    check_finite(weights, folder)
    return description, weights


def _weights_of(folder: Path, description: Mapping[str, Any]) -> bytes:
    """Return the weights of a description, which may be waiting to replace those of another."""
    held = [path for path in (folder / WEIGHTS, *folder.glob(f"{WAITING}*")) if path.exists()]
    for path in held or [folder / WEIGHTS]:
        content = read_file(path)
        try:
            digest = digest_of(content, description)
        except RecursionError:
            raise PolicyError(f"{folder / DESCRIPTION} has too many lists inside lists") from None
        if digest == description["digest"]:
            return content
    raise PolicyError(
        f"{WEIGHTS} and {DESCRIPTION} in {folder} do not belong together, or one was altered"
    )


def digest_of(weights: bytes, description: Mapping[str, Any]) -> str:
    """Return a digest of these weights together with this description."""
    rest = {key: value for key, value in description.items() if key != "digest"}
    return hashlib.sha256(weights + json.dumps(rest).encode()).hexdigest()


def settings_in(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy's metadata as one level, with at least its `reward` and its `horizon`."""
    config = about.get("config")
    settings = {"reward": "margin", "horizon": "hand", **about}
    return settings | (config if isinstance(config, dict) else {})


def read_file(path: Path) -> bytes:
    """Return what a file of a policy holds."""
    try:
        return read_plain(path)
    except OSError as error:
        raise NoPolicyError(f"{path} cannot be read ({error.strerror})") from None


def _read_description(path: Path) -> dict[str, Any]:
    """Return a description, whose parts all have the right types."""
    content = read_file(path)
    try:
        description = parse_json(content)
    except ValueError as error:
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


def read_tensors(content: bytes, path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a safetensors file by name, as arrays of float32.

    The file is the length of a header in 8 bytes, the header in JSON, and the bytes of the tensors
    at the offsets that the header names.
    """
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:start])
        header.pop("__metadata__", None)
        return {name: _tensor(name, content[start:], **one) for name, one in header.items()}
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise PolicyError(f"{path} does not hold tensors") from None


def _tensor(
    name: str, content: bytes, dtype: str, shape: list[int], data_offsets: list[int]
) -> np.ndarray:
    first, end = data_offsets
    if not 0 <= first <= end <= len(content):
        raise ValueError(data_offsets)
    if dtype not in DTYPES:
        raise PolicyError(
            f"the tensor {name!r} holds {shown(dtype)}, not one of {', '.join(DTYPES)}"
        )
    return np.frombuffer(content[first:end], DTYPES[dtype]).reshape(shape).astype(np.float32)


def check_finite(tensors: Mapping[str, np.ndarray], owner: object) -> None:
    """Raise PolicyError if any of some tensors has values that are not finite."""
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise PolicyError(f"{owner}: the tensor {name!r} has values that are not finite")


def check_tensors(
    given: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[int, ...]], folder: Path
) -> None:
    """Raise PolicyError if tensors do not have the names and shapes that a network has."""
    for name in sorted(wanted.keys() | given.keys()):
        shape = given[name].shape if name in given else "absent"
        if shape != wanted.get(name, "absent"):
            raise PolicyError(
                f"{folder}: the tensor {name!r} should be {wanted.get(name, 'absent')}, "
                f"but is {shape}"
            )
