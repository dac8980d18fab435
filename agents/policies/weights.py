"""Networks and their optimizer as named arrays, for checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

ADAM: Final = ("step", "exp_avg", "exp_avg_sq")


def arrays_of(
    modules: Mapping[str, torch.nn.Module], optimizer: torch.optim.Optimizer
) -> dict[str, np.ndarray]:
    """Return copies of the modules' weights, and of the moments of Adam, by name."""
    arrays = {
        f"{name}.{key}": value.numpy().copy()
        for name, module in modules.items()
        for key, value in module.state_dict().items()
    }
    for number, moments in optimizer.state_dict()["state"].items():
        arrays |= {f"adam.{number}.{name}": moments[name].numpy().copy() for name in ADAM}
    return arrays


def put_back(
    arrays: Mapping[str, np.ndarray],
    modules: Mapping[str, torch.nn.Module],
    optimizer: torch.optim.Optimizer,
) -> None:
    """Restore modules and optimizer from the arrays of `arrays_of`, which are copied."""
    for name, module in modules.items():
        weights = under(name, arrays)
        module.load_state_dict({key: torch.from_numpy(w) for key, w in weights.items()})
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in under("adam", arrays).items():
        number, moment = name.split(".")
        moments.setdefault(int(number), {})[moment] = torch.tensor(array)
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})


def under(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with `prefix` and a dot, without these in their names."""
    return {
        name.removeprefix(f"{prefix}."): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}.")
    }
