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
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import numpy as np

from fiveup_env.errors import InputError, shown
from fiveup_env.files import Json, read_plain
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT: Final = "fiveup-policy"
VERSION: Final = 1
WEIGHTS: Final = "policy.safetensors"
WAITING: Final = f".{WEIGHTS}-"  # how weights begin whose description is there before them
DESCRIPTION: Final = "policy.json"
MOST_DESCRIPTION: Final = 1 << 22  # bytes
MOST_HEADER: Final = 1 << 20  # bytes, of what names the tensors before they come
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
    """A policy file that cannot be read."""


class NotCompiledError(PolicyError):
    """A policy of a shape that compiled code does not support."""


def policy_folder(name: str) -> Path:
    """Return the folder of a shipped policy by its name, or the folder that is named itself."""
    return SHIPPED.get(name, Path(name))


def read_weights(
    folder: Path, description: Mapping[str, Any], sizes: Mapping[str, tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return the weights of a policy by name, as arrays of float32.

    Args:
        folder: That of the policy.
        description: What `read_description` returns for it.
        sizes: The name and the shape of every tensor that a policy of its shape has.
    """
    # Weights wait beside those of another policy while they replace them.
    waiting = folder / f"{WAITING}{description['digest'][:16]}"
    held = [path for path in (waiting, folder / WEIGHTS) if path.exists()]
    most = MOST_HEADER + 8 * sum(map(math.prod, sizes.values()))  # float64 is the largest
    for path in held or [folder / WEIGHTS]:
        content = _read_file(path, most)
        if digest_of(content, description) == description["digest"]:
            return _tensors_in(content, sizes, path)
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


def _read_file(path: Path, most: int) -> bytes:
    """Return the content of a policy file, up to a maximum number of bytes."""
    try:
        return read_plain(path, most)
    except OSError as error:
        raise NoPolicyError(f"{path} cannot be read ({error.strerror})") from None


def read_description(folder: Path) -> dict[str, Any]:
    """Return the description of a policy, whose parts all have the right types."""
    path = folder / DESCRIPTION
    content = _read_file(path, MOST_DESCRIPTION)
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
    if not re.fullmatch("[0-9a-f]{64}", description["digest"]):
        raise PolicyError(f"{path} is damaged: its digest is not one of SHA-256")
    return description


def _tensors_in(
    content: bytes, sizes: Mapping[str, tuple[int, ...]], path: Path
) -> dict[str, np.ndarray]:
    """Return the tensors of a safetensors file, which has those of these sizes and nothing else.

    The file is the length of a header in 8 bytes, the header in JSON, and the bytes of the tensors
    at the offsets that the header names.
    """
    start = 8 + int.from_bytes(content[:8], "little")
    try:
        header = parse_json(content[8 : min(start, MOST_HEADER)])
        header.pop("__metadata__", None)
        _check_header(header, sizes, len(content) - start)
    except PolicyError as error:
        raise PolicyError(f"{path}: {error}") from None
    except (ValueError, TypeError, LookupError, AttributeError):
        raise PolicyError(f"{path} does not hold tensors") from None
    tensors = {
        name: np.frombuffer(
            content,
            DTYPES[header[name]["dtype"]],
            math.prod(shape),
            start + header[name]["data_offsets"][0],
        )
        .reshape(shape)
        .astype(np.float32)
        for name, shape in sizes.items()
    }
    check_finite(tensors, path)
    return tensors


def _check_header(header: Json, sizes: Mapping[str, tuple[int, ...]], held: int) -> None:
    """Raise PolicyError for other tensors, and ValueError unless the bytes held are all theirs."""
    for name in sorted(sizes.keys() | header.keys()):
        shape = tuple(header[name]["shape"]) if name in header else "absent"
        if shape != (wanted := sizes.get(name, "absent")):
            raise PolicyError(
                f"the tensor {shown(name)} should be {wanted}, but is {shown(shape, str)}"
            )
        if (kind := header[name]["dtype"]) not in DTYPES:
            raise PolicyError(
                f"the tensor {name!r} holds {shown(kind)}, not one of {', '.join(DTYPES)}"
            )
        first, end = header[name]["data_offsets"]
        size = math.prod(sizes[name]) * DTYPES[kind].itemsize
        if type(first) is not int or end != first + size:
            raise ValueError(first, end)
    filled = 0
    for first, end in sorted(tensor["data_offsets"] for tensor in header.values()):
        if first != filled:
            raise ValueError(first)
        filled = end
    if filled != held:
        raise ValueError(filled)


def check_finite(tensors: Mapping[str, np.ndarray], owner: object) -> None:
    """Raise PolicyError if any of some tensors has values that are not finite."""
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise PolicyError(f"{owner}: the tensor {name!r} has values that are not finite")
