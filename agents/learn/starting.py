"""The network that a run begins with: new, or that of a saved policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.policies.files import load_network
from agents.policies.networks import Shape, build
from agents.runs.config import ConfigError
from fiveup_env.errors import InputError
from fiveup_env.opponents.networks.files import PolicyError, policy_folder

if TYPE_CHECKING:
    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config


def shape_of(config: Config) -> Shape:
    """Return the shape of the network that a configuration asks for."""
    try:
        return Shape(
            config.network, config.width, config.depth, config.shared, config.encoder or ""
        )
    except InputError as error:
        raise ConfigError(f"network: {error}") from None


def first_network(config: Config) -> PolicyNetwork:
    """Return the network that a run begins with."""
    shape = shape_of(config)
    if config.start is None:
        return build(shape)
    try:
        network = load_network(policy_folder(config.start), shape, config.reward)
    except PolicyError as error:
        raise ConfigError(f"start: {error}") from None
    network.divide_logits(config.start_temperature)
    return network
