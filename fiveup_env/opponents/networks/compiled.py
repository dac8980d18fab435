"""Networks in compiled code: microseconds a decision, and no torch.

They have the weights that `agents.policies.networks` trains, of kind `plain` (layers of ReLU, on
rows of `flat`) or `guided`, with one trunk. Only the entries of a row and the units of a layer that
are not zero are read, and only the allowed actions get a logit, so a small guided network costs
about as much as the heuristics' features that it weighs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fiveup_env.encoders.flat import FLAT_SIZE, USUAL_POINTS, write_flat
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import PLAYING, VIEW, Views
from fiveup_env.engine.view import observe
from fiveup_env.native import (
    Array,
    FloatRows,
    Floats,
    FloatTables,
    Int8Rows,
    Int64s,
    Struct,
    compiled,
    inlined,
    inner,
    read_only,
    signed,
)
from fiveup_env.opponents.heuristics.features import EVERY_FEATURE, look_around
from fiveup_env.opponents.heuristics.hidden import HIDDEN, Hiddens, expect_features
from fiveup_env.opponents.networks.lookahead import (
    CHANCES,
    FEATURE_COUNT,
    STEPS,
    steps_of,
    write_hidden,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_WIDTH: Final = 4096
MOST_DEPTH: Final = 64
NORM_EPSILON: Final = np.float32(1e-5)
# How many entries of a row of `lookahead` a guided trunk reads: all but the features.
ENTRIES: Final = FLAT_SIZE + CHANCES.size


class Weights(NamedTuple):
    """The weights of a network, as compiled code reads them.

    Arrays that a plain network lacks are empty: `norms`, `outer`, `norm`, `guide` and their biases.
    """

    first: FloatRows  # entries x width, the factors of the entries included
    first_bias: Floats
    norms: FloatTables  # blocks x 2 x width: scale and shift before each block
    inner: FloatTables  # blocks, or layers after the first, x width x width, input by output
    inner_bias: FloatRows
    outer: FloatTables
    outer_bias: FloatRows
    norm: FloatRows  # 2 x width, after the last block
    head: FloatRows  # actions x width
    head_bias: Floats
    guide: FloatRows  # width x features
    guide_bias: Floats
    worth: Floats  # by 1 + the units that a play scores
    value: FloatRows  # 1 x width
    value_bias: Floats


def sizes_of(kind: str, width: int, depth: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor of a `plain` or a `guided` network."""
    layers: dict[str, tuple[int, ...]] = {"policy_head": (ACTION_COUNT, width)}
    layers["value_head"] = (1, width)
    if kind == "guided":
        layers["guide"] = (FEATURE_COUNT, width)
        layers["policy_trunk.first"], layers["policy_trunk.norm"] = (width, ENTRIES), (width,)
        for k in range(depth):
            for layer in (0, 1, 3):
                layers[f"policy_trunk.blocks.{k}.{layer}"] = (width, width) if layer else (width,)
    else:
        for k in range(depth):
            layers[f"policy_trunk.layers.{k}"] = (width, width if k else FLAT_SIZE)
    sizes: dict[str, tuple[int, ...]] = {"worth": (USUAL_POINTS + 2,)}
    for name, shape in layers.items():
        sizes[f"{name}.weight"], sizes[f"{name}.bias"] = shape, shape[:1]
    return sizes


def weights_of(tensors: Mapping[str, np.ndarray], factors: np.ndarray) -> Weights:
    """Return the weights of a network from its tensors, whose shapes are those of `sizes_of`.

    They are read-only copies: a network that goes on learning does not change what plays.
    """

    def get(name: str) -> np.ndarray:
        return np.asarray(tensors[name], np.float32)

    def stacked(names: list[str], *shape: int) -> np.ndarray:
        """Return tensors of a shape as one array, matrices input by output."""
        return np.array([get(name).T for name in names], np.float32).reshape(-1, *shape)

    is_guided, width = "guide.bias" in tensors, get("value_head.weight").shape[1]
    trunk = "policy_trunk.blocks" if is_guided else "policy_trunk.layers"
    depth = len({name.split(".")[2] for name in tensors if name.startswith(trunk)})
    blocks = [f"{trunk}.{k}" for k in range(depth)] if is_guided else []
    inner = [f"{b}.1" for b in blocks] or [f"{trunk}.{k}" for k in range(1, depth)]
    first = "policy_trunk.first" if is_guided else f"{trunk}.0"
    norm = [f"policy_trunk.norm.{part}" for part in ("weight", "bias")] if is_guided else []
    weights = Weights(
        first=get(f"{first}.weight").T * factors[:, None],
        first_bias=get(f"{first}.bias"),
        norms=stacked([f"{b}.0.{part}" for b in blocks for part in ("weight", "bias")], 2, width),
        inner=stacked([f"{layer}.weight" for layer in inner], width, width),
        inner_bias=stacked([f"{layer}.bias" for layer in inner], width),
        outer=stacked([f"{b}.3.weight" for b in blocks], width, width),
        outer_bias=stacked([f"{b}.3.bias" for b in blocks], width),
        norm=stacked(norm, width),
        head=get("policy_head.weight"),
        head_bias=get("policy_head.bias"),
        guide=get("guide.weight").T if is_guided else np.empty((width, 0)),
        guide_bias=get("guide.bias") if is_guided else np.empty(0),
        worth=get("worth"),
        value=get("value_head.weight"),
        value_bias=get("value_head.bias"),
    )
    return Weights(*(read_only(np.array(array, np.float32, order="C")) for array in weights))


class Memory(NamedTuple):
    """Scratch memory of a network."""

    views: Views
    hidden: Hiddens
    row: Int8Rows
    nonzero: Int64s  # the places of the numbers that a layer reads
    stream: FloatRows  # 4 x width
    logits: FloatRows  # 1 x actions; those of actions that are not allowed are left over
    guide: Floats


def memory_for(weights: Weights) -> Memory:
    """Return scratch memory for a network."""
    entries, width = weights.first.shape
    return Memory(
        np.zeros(1, VIEW),
        np.zeros(1, HIDDEN),
        np.zeros((1, entries), np.int8),
        np.zeros(max(entries, width) + 1, np.int64),
        np.zeros((4, width), np.float32),
        np.zeros((1, ACTION_COUNT), np.float32),
        np.zeros(FEATURE_COUNT, np.float32),
    )


@inner
def latent_of(view: Struct, weights: Weights, memory: Memory) -> None:
    """Write the output of the trunk for a view into `memory.stream[0]`."""
    row, stream, nonzero = memory.row, memory.stream, memory.nonzero
    width = weights.first.shape[1]
    write_flat(view, row, 0, 0)
    state = stream[0]
    if is_plain(weights):
        _apply(row[0], weights.first, weights.first_bias, nonzero, state)
        for layer in range(len(weights.inner)):
            _rectify(state, stream[1])
            _apply(stream[1], weights.inner[layer], weights.inner_bias[layer], nonzero, state)
        _rectify(state, state)
        return
    write_hidden(view, memory.hidden[0], row, 0, FLAT_SIZE)
    _apply(row[0], weights.first, weights.first_bias, nonzero, state)
    for block in range(len(weights.inner)):
        _normalize(state, weights.norms[block], stream[1])
        _apply(stream[1], weights.inner[block], weights.inner_bias[block], nonzero, stream[2])
        _rectify(stream[2], stream[2])
        _apply(stream[2], weights.outer[block], weights.outer_bias[block], nonzero, stream[3])
        for j in range(width):
            state[j] += stream[3, j]
    _normalize(state, weights.norm, state)


@inlined
def is_plain(weights: Weights) -> bool:
    """Return whether a network is plain: layers of ReLU, without features of actions."""
    return len(weights.norm) == 0


@inlined
def _rectify(numbers: Array, out: Array) -> None:
    """Write some numbers, with 0 for those below it."""
    for j in range(len(numbers)):
        out[j] = max(numbers[j], np.float32(0))


@inlined
def _normalize(numbers: Array, norm: Array, out: Array) -> None:
    """Write the layer norm of some numbers."""
    width = len(numbers)
    mean = _sum(numbers) / np.float32(width)
    for j in range(width):
        out[j] = numbers[j] - mean
    square = _dot(out, out)
    scale = np.float32(1) / np.sqrt(square / np.float32(width) + NORM_EPSILON)
    for j in range(width):
        out[j] = out[j] * scale * norm[0, j] + norm[1, j]


@inlined
def _apply(numbers: Array, matrix: Array, bias: Array, nonzero: Array, out: Array) -> None:
    """Write a linear layer's output; the matrix is input by output.

    Numbers that are zero, as most are of a row and of a layer after its ReLU, are passed over.
    """
    count = 0
    for i in range(len(numbers)):  # without a branch, which would often be mispredicted
        nonzero[count] = i
        count += numbers[i] != 0
    for j in range(len(out)):
        out[j] = bias[j]
    whole = count // 4 * 4
    for k in range(0, whole, 4):  # by fours, since a short row takes little longer than its start
        p, q, r, s = nonzero[k], nonzero[k + 1], nonzero[k + 2], nonzero[k + 3]
        a, b = np.float32(numbers[p]), np.float32(numbers[q])
        c, d = np.float32(numbers[r]), np.float32(numbers[s])
        for j in range(len(out)):
            some = out[j] + a * matrix[p, j] + b * matrix[q, j]
            out[j] = some + c * matrix[r, j] + d * matrix[s, j]
    for k in range(whole, count):
        i = nonzero[k]
        number = np.float32(numbers[i])
        for j in range(len(out)):
            out[j] += number * matrix[i, j]


# A sum in one variable waits for each addition before the next. Four do not wait for each other.
@inlined
def _dot(left: Array, right: Array) -> Any:
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    whole = len(left) // 4 * 4
    for j in range(0, whole, 4):
        a += left[j] * right[j]
        b += left[j + 1] * right[j + 1]
        c += left[j + 2] * right[j + 2]
        d += left[j + 3] * right[j + 3]
    for j in range(whole, len(left)):
        a += left[j] * right[j]
    return (a + b) + (c + d)


@inlined
def _sum(numbers: Array) -> Any:
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    whole = len(numbers) // 4 * 4
    for j in range(0, whole, 4):
        a += numbers[j]
        b += numbers[j + 1]
        c += numbers[j + 2]
        d += numbers[j + 3]
    for j in range(whole, len(numbers)):
        a += numbers[j]
    return (a + b) + (c + d)


@inner
def write_logits(view: Struct, weights: Weights, memory: Memory) -> int:
    """Write the logit of every allowed action, and return the best action."""
    public, hand, scratch = view.public, view.hand, memory.hidden[0].features
    count = list_legal(public, hand, scratch.actions)
    latent, guide, logits = memory.stream[0], memory.guide, memory.logits[0]
    if count == 1:
        logits[scratch.actions[0]] = 0
        return signed(scratch.actions[0])
    latent_of(view, weights, memory)
    plays, unseen, is_guided = FLAT_SIZE - ACTION_COUNT, np.uint32(0), not is_plain(weights)
    if is_guided:
        _apply(latent, weights.guide, weights.guide_bias, memory.nonzero, guide)
        list_legal(public, hand, scratch.actions)  # again: to read the plays took the same memory
        unseen = look_around(public, hand, EVERY_FEATURE, scratch)
    best, chosen = np.float32(-np.inf), signed(scratch.actions[0])
    for k in range(count):
        action = signed(scratch.actions[k])
        units = min(USUAL_POINTS + 1, signed(memory.row[0, plays + action]))
        logit = _dot(weights.head[action], latent) + weights.head_bias[action]
        logit += weights.worth[units]
        if is_guided and action < DRAW:
            expect_features(public, hand, unseen, action, memory.hidden[0])
            for name in range(FEATURE_COUNT):
                steps = np.float32(steps_of(scratch.features[name]))
                logit += guide[name] * steps * np.float32(1 / STEPS)
        logits[action] = logit
        if logit > best:
            best, chosen = logit, action
    return chosen


@inner
def value_of(view: Struct, weights: Weights, memory: Memory) -> float:
    """Return the value of a view to its seat, in the units that the network was trained on."""
    latent_of(view, weights, memory)
    value: float = _dot(weights.value[0], memory.stream[0]) + weights.value_bias[0]
    return value


@compiled
def choose_all(views: Views, weights: Weights, memory: Memory, actions: Int64s) -> None:
    """Write the best action for every view."""
    for i in range(len(views)):
        actions[i] = write_logits(views[i], weights, memory)


@compiled
def write_all(views: Views, weights: Weights, memory: Memory, logits: FloatRows) -> None:
    """Write the logits of every view's allowed actions into rows of actions."""
    for i in range(len(views)):
        write_logits(views[i], weights, memory)
        public, hand, scratch = views[i].public, views[i].hand, memory.hidden[0].features
        for k in range(list_legal(public, hand, scratch.actions)):
            action = scratch.actions[k]
            logits[i, action] = memory.logits[0, action]


@compiled
def write_values(views: Views, weights: Weights, memory: Memory, values: Floats) -> None:
    """Write the value of every view to its seat."""
    for i in range(len(views)):
        values[i] = value_of(views[i], weights, memory)


@inner
def play_out_by(game: Struct, weights: Weights, memory: Memory) -> None:
    """Play a hand to its end, every seat by the same network."""
    public, view, notes = game.public, memory.views[0], memory.hidden[0].notes
    notes.is_shared = True
    while public.phase == PLAYING:
        observe(game, public.turn, view)
        play(game, write_logits(view, weights, memory))
    notes.is_shared = False
