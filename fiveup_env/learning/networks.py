"""The networks that compiled code trains: their weights in one vector, and what they read of rows.

The fields of the weights are those of `opponents.networks.compiled`, which plays guided networks;
but here `first` does not include the factors of the entries, and heads are output by unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.encoders import factors_of, get_encoder, place_of, row_size
from fiveup_env.encoders.flat import USUAL_POINTS
from fiveup_env.errors import InputError, shown, unknown
from fiveup_env.learning.lanes import zeros
from fiveup_env.native import Int64s, array_in, inlined, inner, read_only, uncompiled
from fiveup_env.opponents.networks.compiled import MOST_DEPTH, MOST_WIDTH, Weights
from fiveup_env.opponents.networks.lookahead import PIECE as FEATURES
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fiveup_env.encoders import Encoder

KINDS: Final = ("plain", "guided")
PLAIN, GUIDED = range(len(KINDS))
PLAYS: Final = "plays"  # the piece that says what each action would score
WORTH_COUNT: Final = USUAL_POINTS + 2


class Columns(NamedTuple):
    """The offsets of the parts of a row."""

    size: int  # of a row
    facts: int  # what the trunk reads
    facts_end: int
    plays: int  # what every action would score, or -1
    features: int  # the features of every action
    feature_count: int  # of an action; 0 if the network reads none


class Shape(NamedTuple):
    """The dimensions of a network, from which the sizes of its weights follow."""

    kind: int  # PLAIN or GUIDED
    width: int
    depth: int
    entries: int  # that the trunk reads
    features: int


class Network:
    """The weights of a network with one trunk, as one vector and as arrays that share its memory.

    Args:
        kind: `plain` (layers of ReLU) or `guided` (residual blocks that also weigh the heuristics'
            features of every action).
        width: Units in a layer.
        depth: Layers or blocks.
        encoder: The encoder whose rows are read, or its name; guided networks read `lookahead`.
        dtype: The type of the weights.
        vector: Memory for the weights; None makes some.

    Attributes:
        vector: all weights, 0 at first; those that only values depend on come last.
        weights: the same by name.
        columns: where the parts of a row are.
        factors: what the facts are multiplied by.

    Raises:
        InputError: If there is no such kind, or width or depth is not allowed.
        EncoderError: If there is no such encoder.
    """

    def __init__(
        self,
        kind: str,
        width: int,
        depth: int,
        encoder: str | Encoder = "flat",
        dtype: type = np.float32,
        vector: np.ndarray | None = None,
    ) -> None:
        if kind not in KINDS:
            raise InputError(unknown("network in compiled code", kind, KINDS))
        for name, size, most in (("width", width, MOST_WIDTH), ("depth", depth, MOST_DEPTH)):
            if whole(size, 1, most) is None:
                raise InputError(
                    f"{name} must be a whole number from 1 to {most}, not {shown(size)}"
                )
        self.kind = kind
        encoder = get_encoder("lookahead" if kind == "guided" else encoder)
        self.columns, self.factors = read_by(encoder, guided=kind == "guided")
        features = self.columns.feature_count
        self.shape = Shape(KINDS.index(kind), int(width), int(depth), len(self.factors), features)
        size = uncompiled(weight_count, self.shape)
        self.vector: np.ndarray = uncompiled(zeros, (size,), dtype) if vector is None else vector
        self.weights = self.arrays_in(self.vector)

    def arrays_in(self, vector: np.ndarray) -> Weights:
        """Return the parts of a vector of this size, such as a gradient, as arrays by name."""
        arrays: Weights = uncompiled(weights_in, vector, self.shape)
        return arrays

    def tensors(self, vector: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the weights under the names, and in the shapes, that saved policies have.

        They share the memory of the vector, by default that of the weights.
        """
        arrays = self.weights if vector is None else self.arrays_in(vector)
        tensors = {
            "worth": arrays.worth,
            "policy_head.weight": arrays.head,
            "policy_head.bias": arrays.head_bias,
            "value_head.weight": arrays.value,
            "value_head.bias": arrays.value_bias,
        }
        if self.kind == "guided":
            tensors |= {"guide.weight": arrays.guide, "guide.bias": arrays.guide_bias}
        layers = _plain_layers(arrays) if self.kind == "plain" else _blocks(arrays)
        return tensors | {f"policy_trunk.{name}": layer for name, layer in layers.items()}

    def load(self, tensors: Mapping[str, np.ndarray]) -> None:
        """Copy the weights from arrays with the names and shapes of `tensors`."""
        for name, tensor in self.tensors().items():
            tensor[...] = tensors[name]


def read_by(encoder: Encoder, *, guided: bool) -> tuple[Columns, np.ndarray]:
    """Return the offsets of the parts of an encoder's rows, and the factors of trunk inputs."""
    facts = [piece for piece in encoder.pieces if not (guided and piece.name == FEATURES.name)]
    first = place_of(encoder, facts[0].name)[1].start
    plays = [piece for piece in facts if (piece.name, piece.size) == (PLAYS, ACTION_COUNT)]
    columns = Columns(
        size=row_size(encoder),
        facts=first,
        facts_end=first + sum(piece.size for piece in facts),
        plays=place_of(encoder, PLAYS)[1].start if plays else -1,
        features=place_of(encoder, FEATURES.name)[1].start if guided else 0,
        feature_count=FEATURES.shape[1] if guided else 0,
    )
    return columns, read_only(factors_of(facts))


@inlined
def weight_count(shape: Shape) -> int:
    """Return the number of weights of a network."""
    width, depth = shape.width, shape.depth
    trunk = (shape.entries + 1) * width
    if shape.kind == GUIDED:
        trunk += depth * (2 * width + 2 * (width + 1) * width) + 2 * width
    else:
        trunk += (depth - 1) * (width + 1) * width
    return trunk + (ACTION_COUNT + shape.features + 1) * (width + 1) + WORTH_COUNT


@inlined
def policy_size(shape: Shape) -> int:
    """Return the number of weights before those that only values depend on."""
    return weight_count(shape) - shape.width - 1


@inner
def weights_in(vector: Int64s, shape: Shape) -> Weights:
    """Return the arrays in a vector of weights, or a gradient; those that a kind lacks are empty.

    The weights that only values depend on come last.
    """
    kind, width, depth, entries, features = shape
    blocks = depth if kind == GUIDED else 0
    inner = depth if kind == GUIDED else depth - 1
    norms = 2 if kind == GUIDED else 0
    number = vector.dtype
    first = array_in(vector, 0, number, (entries, width))
    at = entries * width
    first_bias = array_in(vector, at, number, (width,))
    at += width
    all_norms = array_in(vector, at, number, (blocks, 2, width))
    at += blocks * 2 * width
    all_inner = array_in(vector, at, number, (inner, width, width))
    at += inner * width * width
    inner_bias = array_in(vector, at, number, (inner, width))
    at += inner * width
    outer = array_in(vector, at, number, (blocks, width, width))
    at += blocks * width * width
    outer_bias = array_in(vector, at, number, (blocks, width))
    at += blocks * width
    norm = array_in(vector, at, number, (norms, width))
    at += norms * width
    head = array_in(vector, at, number, (ACTION_COUNT, width))
    at += ACTION_COUNT * width
    head_bias = array_in(vector, at, number, (ACTION_COUNT,))
    at += ACTION_COUNT
    guide = array_in(vector, at, number, (features, width))
    at += features * width
    guide_bias = array_in(vector, at, number, (features,))
    at += features
    worth = array_in(vector, at, number, (WORTH_COUNT,))
    at += WORTH_COUNT
    value = array_in(vector, at, number, (1, width))
    value_bias = array_in(vector, at + width, number, (1,))
    return Weights(
        first,
        first_bias,
        all_norms,
        all_inner,
        inner_bias,
        outer,
        outer_bias,
        norm,
        head,
        head_bias,
        guide,
        guide_bias,
        worth,
        value,
        value_bias,
    )


def _plain_layers(arrays: Weights) -> dict[str, np.ndarray]:
    layers = {"layers.0.weight": arrays.first.T, "layers.0.bias": arrays.first_bias}
    for k, (matrix, bias) in enumerate(zip(arrays.inner, arrays.inner_bias, strict=True), 1):
        layers |= {f"layers.{k}.weight": matrix.T, f"layers.{k}.bias": bias}
    return layers


def _blocks(arrays: Weights) -> dict[str, np.ndarray]:
    layers = {"first.weight": arrays.first.T, "first.bias": arrays.first_bias}
    for k in range(len(arrays.inner)):
        layers |= {
            f"blocks.{k}.0.weight": arrays.norms[k, 0],
            f"blocks.{k}.0.bias": arrays.norms[k, 1],
            f"blocks.{k}.1.weight": arrays.inner[k].T,
            f"blocks.{k}.1.bias": arrays.inner_bias[k],
            f"blocks.{k}.3.weight": arrays.outer[k].T,
            f"blocks.{k}.3.bias": arrays.outer_bias[k],
        }
    return layers | {"norm.weight": arrays.norm[0], "norm.bias": arrays.norm[1]}
