"""MCCFR with external sampling: regret matching on samples of chance and of the others' actions.

A walk tries all actions of one seat and samples those of the others and all chance. It visits far
fewer histories than a round of CFR+, but far more walks are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.engine.chance import GOLDEN, fraction, scramble
from fiveup_env.exact.histories import Nodes  # noqa: TC001 - the kind of a field
from fiveup_env.native import (
    Array,
    DoubleRows,
    Doubles,
    Int32s,
    Int64s,
    Words,
    compiled,
    inlined,
    inner,
)

if TYPE_CHECKING:
    from fiveup_env.exact.form import Form

DEAL, END = -1, -1


class Tree(NamedTuple):
    """A game for walks: its nodes, the children of each, and its information states."""

    nodes: Nodes
    order: Int32s  # the nodes in the order of their parents; the roots come first
    starts: Int64s  # where each node's children start in that order, from the roots on
    margins: DoubleRows
    state_of: Int64s
    firsts: Int64s


class Tables(NamedTuple):
    """The arrays that walks update, indexed by sequence."""

    regrets: Doubles
    played: Doubles


class ExternalSampling:
    """MCCFR on a game: `run` takes more walks, `average` is the profile found so far."""

    def __init__(self, form: Form, seed: int = 0) -> None:
        self.form = form
        self.visited = 0  # histories
        nodes = form.histories.nodes
        self._stream = np.array([seed], np.uint64)
        order = np.argsort(nodes["parent"], kind="stable").astype(np.int32)
        starts = np.searchsorted(nodes["parent"][order], np.arange(DEAL, len(nodes) + 1))
        margins = form.histories.margins(np.arange(len(nodes)))
        self._tree = Tree(nodes, order, starts, margins, form.state_of, form.firsts)
        self._tables = Tables(np.zeros(len(form.actions)), np.zeros(len(form.actions)))

    @property
    def average(self) -> np.ndarray:
        """The average profile."""
        return self.form.normalised(self._tables.played)

    def run(self, walks: int) -> None:
        """Take `walks` more walks for every seat."""
        self.visited += take_walks(self._tree, self._tables, walks, self._stream)


@inlined
def _chance(stream: Array) -> float:
    """Return the next number of a stream, from 0 to below 1."""
    stream[0] += GOLDEN
    return fraction(scramble(stream[0]))


@compiled
def take_walks(tree: Tree, tables: Tables, walks: int, stream: Words) -> int:
    """Take `walks` walks for every seat, in turn, and return the number of nodes visited."""
    visited = np.zeros(1, np.int64)
    for _ in range(walks):
        for seat in range(tree.margins.shape[1]):
            # All deals are equally likely.
            root = tree.order[int(_chance(stream) * tree.starts[1])]
            _walk(root, seat, tree, tables, stream, visited)
    return visited[0]


@inner
def _walk(i: int, seat: int, tree: Tree, tables: Tables, stream: Array, visited: Array) -> float:
    """Return the value of a node to a seat on this walk; regrets and averages are updated."""
    visited[0] += 1
    mover = tree.nodes[i].seat
    if mover == END:
        return tree.margins[i, seat]
    state = tree.state_of[i]
    first, last = tree.firsts[state], tree.firsts[state + 1]
    profile = np.maximum(tables.regrets[first:last], 0)
    total = profile.sum()
    profile = profile / total if total > 0 else np.full(last - first, 1 / (last - first))
    worth, mean = np.zeros(last - first), 0.0
    drawn = _chance(stream)
    for slot in range(last - first):
        drawn -= profile[slot]
        if mover != seat and drawn > 0 and slot < last - first - 1:
            continue
        after = _after(i, slot, tree, stream)
        worth[slot] = _walk(after, seat, tree, tables, stream, visited)
        if mover != seat:
            tables.played[first:last] += profile
            return worth[slot]
        mean += profile[slot] * worth[slot]
    tables.regrets[first:last] += worth - mean
    return mean


@inner
def _after(i: int, slot: int, tree: Tree, stream: Array) -> int:
    """Return the node after an action, sampling the tiles that it draws."""
    drawn = _chance(stream) * tree.nodes[i].chance
    after = i
    for k in range(tree.starts[i + 1], tree.starts[i + 2]):
        if tree.nodes[tree.order[k]].slot == slot:
            after = tree.order[k]
            drawn -= tree.nodes[after].chance
            if drawn < 0:
                break
    return after
