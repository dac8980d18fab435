"""MCCFR with external sampling: regret matching on samples of chance and of the others' actions.

A walk tries all actions of one seat and samples those of the others and all chance. It visits far
fewer histories than a round of CFR+, but far more walks are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.compiled import Array, compiled

if TYPE_CHECKING:
    from fiveup_env.exact.form import Form

DEAL, END = -1, -1


class ExternalSampling:
    """MCCFR on a game: `run` takes more walks, `average` is the profile found so far."""

    def __init__(self, form: Form, seed: int = 0) -> None:
        self.form = form
        self.visited = 0  # histories
        nodes = form.histories.nodes
        self._chance = np.random.default_rng(seed)
        self._margins = form.histories.margins(np.arange(len(nodes)))
        # The children of every node, in the order of their parents; the roots come first.
        self._order = np.argsort(nodes["parent"], kind="stable").astype(np.int32)
        self._starts = np.searchsorted(
            nodes["parent"][self._order], np.arange(DEAL, len(nodes) + 1)
        )
        self._regrets = np.zeros(len(form.actions))
        self._played = np.zeros(len(form.actions))

    @property
    def average(self) -> np.ndarray:
        """The average profile."""
        return self.form.normalised(self._played)

    def run(self, walks: int) -> None:
        """Take `walks` more walks for every seat."""
        form = self.form
        self.visited += take_walks(
            form.histories.nodes,
            self._order,
            self._starts,
            self._margins,
            form.state_of,
            form.firsts,
            walks,
            self._chance,
            self._regrets,
            self._played,
        )


@compiled
def take_walks(
    nodes: Array,
    order: Array,
    starts: Array,
    margins: Array,
    state_of: Array,
    firsts: Array,
    walks: int,
    chance: np.random.Generator,
    regrets: Array,
    played: Array,
) -> int:
    """Take `walks` walks for every seat, in turn, and return the number of nodes visited."""
    visited = np.zeros(1, np.int64)
    for _ in range(walks):
        for seat in range(margins.shape[1]):
            root = order[int(chance.random() * starts[1])]  # all deals are equally likely
            _walk(
                root,
                seat,
                nodes,
                order,
                starts,
                margins,
                state_of,
                firsts,
                chance,
                regrets,
                played,
                visited,
            )
    return visited[0]


@compiled
def _walk(
    i: int,
    seat: int,
    nodes: Array,
    order: Array,
    starts: Array,
    margins: Array,
    state_of: Array,
    firsts: Array,
    chance: np.random.Generator,
    regrets: Array,
    played: Array,
    visited: Array,
) -> float:
    """Return the value of a node to a seat on this walk; regrets and averages are updated."""
    visited[0] += 1
    if nodes[i].seat == END:
        return margins[i, seat]
    first, last = firsts[state_of[i]], firsts[state_of[i] + 1]
    profile = np.maximum(regrets[first:last], 0)
    total = profile.sum()
    profile = profile / total if total > 0 else np.full(last - first, 1 / (last - first))
    worth, mean = np.zeros(last - first), 0.0
    drawn = chance.random()
    for slot in range(last - first):
        drawn -= profile[slot]
        if nodes[i].seat != seat and drawn > 0 and slot < last - first - 1:
            continue
        worth[slot] = _walk(
            _after(i, slot, nodes, order, starts, chance),
            seat,
            nodes,
            order,
            starts,
            margins,
            state_of,
            firsts,
            chance,
            regrets,
            played,
            visited,
        )
        if nodes[i].seat != seat:
            played[first:last] += profile
            return worth[slot]
        mean += profile[slot] * worth[slot]
    regrets[first:last] += worth - mean
    return mean


@compiled
def _after(
    i: int, slot: int, nodes: Array, order: Array, starts: Array, chance: np.random.Generator
) -> int:
    """Return the node after an action, sampling the tiles that it draws."""
    drawn = chance.random() * nodes[i].chance
    found = i
    for k in range(starts[i + 1], starts[i + 2]):
        if nodes[order[k]].slot == slot:
            found = order[k]
            drawn -= nodes[found].chance
            if drawn < 0:
                break
    return found
