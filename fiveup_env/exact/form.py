"""The sequence form of a game: the sequences of each seat, and the payoffs of their combinations.

A sequence of a seat is one action in an information state, together with all choices of that seat
on the way there; players have perfect recall. The sequences of all seats share one numbering:
first the empty sequence of each seat, then those of one information state after another, in the
order in which the states are found. A sequence therefore comes before all that continue it.

A strategy is an array with the probability of every sequence's last action. A profile, which is a
strategy for every seat, is one such array too, because no two seats share a sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.exact.histories import MOST_HISTORIES, Histories, Nodes, histories_of
from fiveup_env.native import Int32Rows, Int64s, compiled

if TYPE_CHECKING:
    from fiveup_env.rules.fields import Rules


@dataclass(frozen=True, eq=False)
class Form:
    """A game in sequence form.

    Attributes:
        histories: the game's tree.
        state_of: the information state of every node; -1 at an end.
        seats: by information state, the seat to move.
        parents: by information state, the sequence of that seat which leads there.
        firsts: by information state, its first sequence; then the number of all sequences.
        actions: by sequence, its last action; -1 for the empty ones.
        ends: the sequence of every seat [ends x seats]; ends with equal sequences are merged.
        payoffs: the payoff to every seat, times its chance [ends x seats].
    """

    histories: Histories
    state_of: np.ndarray
    seats: np.ndarray
    parents: np.ndarray
    firsts: np.ndarray
    actions: np.ndarray
    ends: np.ndarray
    payoffs: np.ndarray

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.histories.rules

    @property
    def widths(self) -> np.ndarray:
        """The number of actions, by information state."""
        return np.diff(self.firsts)

    def uniform(self) -> np.ndarray:
        """Return the profile in which all actions of an information state are equally likely."""
        return np.concatenate(
            [np.ones(self.rules.players), np.repeat(1 / self.widths, self.widths)]
        )

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """Return the profile proportional to some weights; uniform where all of them are 0."""
        profile = self.uniform()
        start = self.rules.players
        if len(self.seats):
            sums = np.repeat(np.add.reduceat(weights, self.firsts[:-1]), self.widths)
            np.divide(weights[start:], sums, out=profile[start:], where=sums > 0)
        return profile

    @cached_property
    def views(self) -> np.ndarray:
        """The view of the seat to move in each information state, as VIEW structs."""
        order = np.unique(self.state_of, return_index=True)[1]
        return self.histories.views(order[self.state_of[order] >= 0])


def form_of(rules: Rules, most: int = MOST_HISTORIES) -> Form:
    """Enumerate a game and return its sequence form; raise SizeError if it is too large."""
    histories = histories_of(rules, most)
    nodes, players = histories.nodes, rules.players
    choices = np.flatnonzero(nodes["seat"] >= 0)
    keys, first_seen, key_indices = np.unique(
        nodes["key"][choices], return_index=True, return_inverse=True
    )
    rank = np.empty(len(keys), np.int64)
    rank[np.argsort(first_seen)] = np.arange(len(keys))
    firsts_seen = choices[np.sort(first_seen)]  # the first node of every information state
    state_of = np.full(len(nodes), -1)
    state_of[choices] = rank[key_indices]
    if (nodes["check"][choices] != nodes["check"][firsts_seen][rank[key_indices]]).any():
        raise AssertionError("two different views have the same digest")
    widths = np.zeros(len(firsts_seen), np.int64)
    inner = np.flatnonzero(nodes["parent"] >= 0)
    origin = state_of[nodes["parent"][inner]]
    np.maximum.at(widths, origin, nodes["slot"][inner].astype(np.int64) + 1)
    firsts = players + np.concatenate([[0], widths.cumsum()])
    actions = np.full(firsts[-1], -1, np.int8)
    actions[firsts[origin] + nodes["slot"][inner]] = nodes["action"][inner]
    paths = np.empty((len(nodes), players), np.int32)
    write_paths(nodes, state_of, firsts, paths)
    seats = nodes["seat"][firsts_seen]
    parents = paths[firsts_seen, seats]
    if (paths[choices, nodes["seat"][choices]] != parents[state_of[choices]]).any():
        raise AssertionError("two sequences of a seat lead to the same information state")
    return Form(histories, state_of, seats, parents, firsts, actions, *_ends(histories, paths))


def _ends(histories: Histories, paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends, merged where the same sequences lead to them, and their payoffs."""
    last = np.flatnonzero(histories.nodes["seat"] < 0)
    last = last[np.lexsort(paths[last].T[::-1])]
    ends, chance = paths[last], histories.nodes["chance"][last, None]
    starts = np.flatnonzero(np.r_[True, (ends[1:] != ends[:-1]).any(1)])
    return ends[starts], np.add.reduceat(histories.margins(last) * chance, starts)


@compiled
def write_paths(nodes: Nodes, state_of: Int64s, firsts: Int64s, paths: Int32Rows) -> None:
    """Write the sequence of every seat at every node; parents come before their children."""
    for i in range(len(nodes)):
        parent = nodes[i].parent
        for seat in range(paths.shape[1]):
            paths[i, seat] = seat if parent < 0 else paths[parent, seat]
        if parent >= 0:
            paths[i, nodes[parent].seat] = firsts[state_of[parent]] + nodes[i].slot
