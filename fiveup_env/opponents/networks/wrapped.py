"""`as_agent`: an agent of any network, whatever it is written in."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.encoders import get_encoder, rows_of
from fiveup_env.engine.view import as_views, unchecked_masks
from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.networks.policy import Logits

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.encoders import Encoder


class NetworkAgent(Logits):
    """Plays the logits of a network."""

    def __init__(
        self, network: Callable[..., Any], encoder: str | Encoder, *, scaled: bool, sample: bool
    ) -> None:
        super().__init__(sample=sample)
        self._network, self._encoder, self._scaled = network, get_encoder(encoder), scaled
        self._inputs = _inputs_of(network)

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        views = as_views(views)
        masks = unchecked_masks(views) > 0
        if not len(views):
            return np.empty(masks.shape, np.float32)
        rows = rows_of(self._encoder, views, scaled=self._scaled)
        logits = self._call(rows, masks)
        if logits.shape != masks.shape:
            raise AgentError(
                f"a network returns the logits of {len(masks)} rows in the shape {masks.shape}, "
                f"not in {logits.shape}"
            )
        if not np.isfinite(logits[masks]).all():
            raise AgentError("a network returns a finite logit for each legal action, not NaN")
        return np.where(masks, logits, np.float32(-np.inf))

    def _call(self, *inputs: np.ndarray) -> np.ndarray:
        """Return the outputs of the network for rows and masks (float32)."""
        inputs, count, torch = inputs[: self._inputs], len(inputs[0]), sys.modules.get("torch")
        if torch and isinstance(self._network, torch.nn.Module):
            device = next((tensor.device for tensor in self._network.parameters()), None)
            with torch.no_grad():
                outputs = self._network(*(torch.as_tensor(each, device=device) for each in inputs))
        else:
            padded = 1 << (count - 1).bit_length()
            outputs = self._network(
                *(np.resize(each, (padded, *each.shape[1:])) for each in inputs)
            )
        if torch and isinstance(outputs, torch.Tensor):
            outputs = outputs.detach().float().cpu()
        try:
            return np.asarray(outputs, np.float32)[:count]
        except (TypeError, ValueError, IndexError):
            raise AgentError(
                f"a network returns an array of logits, not {shown(outputs)}"
            ) from None


def as_agent(
    network: Callable[..., Any],
    encoder: str | Encoder = "flat",
    *,
    scaled: bool = False,
    sample: bool = False,
) -> NetworkAgent:
    """Return the agent that plays the highest of a network's logits.

    Args:
        network: A PyTorch module, or a function in JAX, in NumPy or in anything else whose results
            become arrays. It is called with rows [N, entries], or with rows and masks [N, 121]
            (bool), and returns logits [N, 121]; those of illegal actions are passed over. A module
            gets tensors on its device, without gradients, and plays in the mode that it is in (call
            its `eval` if it has dropout); a function gets arrays, whose number is a
            power of two, as JAX compiles for each number anew.
        encoder: The encoder that wrote the rows from which the network learnt, or its name.
        scaled: Whether it learnt from scaled rows (float32), and not from int8.
        sample: Draw actions by their probabilities.

    Raises:
        AgentError: If `network` cannot be called so.
        EncoderError: If there is no such encoder.

    >>> from fiveup_env import Game
    >>> most_points = as_agent(lambda rows: rows[:, -121:])  # what each action would score
    >>> most_points.probabilities(Game(players=2, seed=7).view()).shape
    (1, 121)
    """
    return NetworkAgent(network, encoder, scaled=scaled, sample=sample)


def _inputs_of(network: Callable[..., Any]) -> int:
    """Return the number of inputs of a network: rows, or rows and masks."""
    call = getattr(network, "forward", network)  # that of a module in PyTorch
    if callable(call):
        for count in (1, 2):
            try:
                inspect.signature(call).bind(*[None] * count)
            except TypeError:
                continue
            except ValueError:  # such as of a compiled function, whose inputs are not known
                return 2
            return count
    raise AgentError(
        f"a network is called with rows, or with rows and masks, as {shown(network)} is not"
    )
