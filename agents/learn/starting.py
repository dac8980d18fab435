"""The network that a run begins with: new, or that of a saved policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from agents.learn.runs.config import ConfigError
from agents.policies.files import load_network
from agents.policies.networks import READS, Shape, build, facts_of
from fiveup_env.encoders import offsets
from fiveup_env.errors import InputError
from fiveup_env.opponents.policy_files import PolicyError

if TYPE_CHECKING:
    from agents.learn.runs.config import Config
    from agents.policies.networks import PolicyNetwork


def shape_of(config: Config) -> Shape:
    """Return the shape of the network that a configuration asks for, with the encoder it reads."""
    kind = config.network
    encoder = config.encoder or READS.get(kind, "flat")
    try:
        return Shape(kind, config.width, config.depth, encoder, config.shared)
    except InputError as error:
        raise ConfigError(f"network: {error}") from None


def first_network(config: Config) -> PolicyNetwork:
    """Return the network that a run begins with.

    That of a saved policy reads the version of the encoder that it learnt with, unless the
    configuration names another.
    """
    shape = shape_of(config)
    if config.start is None:
        return build(shape)
    try:
        network = load_network(config.start, shape, config.reward)
    except PolicyError as error:
        raise ConfigError(f"start: {error}") from None
    if config.encoder is not None and network.shape.encoder != shape.encoder:
        network = reading(network, shape.encoder)
    network.cool(config.start_temperature)
    return network


def reading(network: PolicyNetwork, encoder: str) -> PolicyNetwork:
    """Return a network that goes on from another's weights and reads another version of its rows.

    What the other did not read has weights of 0. Of a number with more digits than before, only the
    lowest keeps its weights.
    """
    other = build(replace(network.shape, encoder=encoder))
    columns = _columns(network.shape.encoder, encoder)
    weights = network.state_dict()
    for name, new in other.state_dict().items():
        old = weights[name]
        if old.shape != new.shape:
            weights[name] = torch.cat([old, torch.zeros(len(old), 1)], 1)[:, columns]
    other.load_state_dict(weights)
    return other


def _columns(old: str, new: str) -> np.ndarray:
    """Return, for every fact of the new rows, its index among those of the old ones, or -1."""
    before = {piece.name: (piece, start) for piece, start in offsets(facts_of(old))}
    columns = []
    for piece in facts_of(new):
        places = np.full(piece.shape, -1)
        if piece.name in before:
            was, start = before[piece.name]
            numbers = np.arange(start, start + was.size).reshape(was.shape)
            same = was.shape == piece.shape
            places[... if same else (..., -1)] = numbers if same else numbers[..., -1]
        columns.append(places.ravel())
    return np.concatenate(columns)
