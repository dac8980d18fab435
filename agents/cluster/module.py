"""The laboratory's network as an RLlib module, which never draws an action that is not allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Dict, Discrete
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule

from agents.policies.networks import Shape, build
from fiveup_env.encoders import bounds, get_encoder
from fiveup_env.rules.actions import ACTION_COUNT

ROWS, MASKS = "observation", "action_mask"  # as PettingZoo names them


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A `PolicyNetwork` of the shape in `model_config["shape"]`.

    Observations are those of the environments: {"observation": rows, "action_mask": masks}.
    """

    def setup(self) -> None:
        """Build the network."""
        self.network = build(Shape(**self.model_config["shape"]))

    def _forward(self, batch: dict[str, Any], **_options: Any) -> dict[str, Any]:
        """Return the logits; those of actions that are not allowed are the lowest finite number."""
        seen = batch[Columns.OBS]
        logits = self.network.logits(seen[ROWS])
        lowest = torch.finfo(logits.dtype).min
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen[MASKS] == 0, lowest)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value of each observation for the seat to move."""
        del embeddings
        return self.network.values(batch[Columns.OBS][ROWS])


def observation_space(shape: Shape) -> Dict:
    """Return the space of what a network of this shape observes."""
    low, high = bounds(get_encoder(shape.encoder))
    masks = Box(0, 1, (ACTION_COUNT,), np.int8)
    return Dict({ROWS: Box(low, high, dtype=np.int8), MASKS: masks})


def action_space() -> Discrete:
    """Return the space of all actions; the mask says which are allowed."""
    return Discrete(ACTION_COUNT)
