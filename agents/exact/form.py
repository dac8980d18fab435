"""The sequence form of a game: what each seat can do, and what every combination of that is worth.

A sequence of a seat is a choice of one action in an information state, and with it all choices of
that seat on the way there: players forget nothing. The sequences of all seats are numbered in one
row: first the empty one of each seat, then those of information state after information state, in
the order in which they are found. So a sequence comes before all that follow from it.

A strategy is an array with the probability of every sequence's last action. A profile of
strategies, one for each seat, is one such array, for the sequences of different seats are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agents.exact.histories import MOST_HISTORIES, Histories, histories_of
from fiveup_env.engine.compiled import Array, compiled

if TYPE_CHECKING:
    from fiveup_env.rules.fields import Rules


@dataclass(frozen=True, eq=False)
class Form:
    """A game in sequence form.

    Attributes:
        histories: the game's tree.
        state_of: the information state of every node; -1 at an end.
        seats: the seat to move, by information state.
        parents: the seat's sequence that leads there, by information state.
        firsts: the first of its sequences, by information state; and one after the last.
        actions: the last action, by sequence; -1 of those that are empty.
        ends: the sequence of every seat [ends x seats]; those that agree are one.
        payoffs: what they bring every seat, times their chance [ends x seats].
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
        """How many actions there are, by information state."""
        return np.diff(self.firsts)

    def uniform(self) -> np.ndarray:
        """The profile in which every action is as likely as another."""
        return np.concatenate(
            [np.ones(self.rules.players), np.repeat(1 / self.widths, self.widths)]
        )

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """The profile in which actions are as likely as weights say; uniform where all are 0."""
        profile = self.uniform()
        start = self.rules.players
        if len(self.seats):
            sums = np.repeat(np.add.reduceat(weights, self.firsts[:-1]), self.widths)
            np.divide(weights[start:], sums, out=profile[start:], where=sums > 0)
        return profile

    def views(self) -> np.ndarray:
        """What each information state has seen: VIEW records."""
        order = np.unique(self.state_of, return_index=True)[1]
        return self.histories.views(order[self.state_of[order] >= 0])


def form_of(rules: Rules, most: int = MOST_HISTORIES) -> Form:
    """Enumerate a game, and bring it into sequence form; one too large is refused."""
    histories = histories_of(rules, most)
    nodes, players = histories.nodes, rules.players
    choices = np.flatnonzero(nodes["seat"] >= 0)
    keys, first_seen, which = np.unique(
        nodes["key"][choices], return_index=True, return_inverse=True
    )
    rank = np.empty(len(keys), np.int64)
    rank[np.argsort(first_seen)] = np.arange(len(keys))
    found = choices[np.sort(first_seen)]  # a node of every information state
    state_of = np.full(len(nodes), -1)
    state_of[choices] = rank[which]
    if (nodes["check"][choices] != nodes["check"][found][rank[which]]).any():
        raise AssertionError("two views have the same digest")
    widths = np.zeros(len(found), np.int64)
    inner = np.flatnonzero(nodes["parent"] >= 0)
    origin = state_of[nodes["parent"][inner]]
    np.maximum.at(widths, origin, nodes["slot"][inner].astype(np.int64) + 1)
    firsts = players + np.concatenate([[0], widths.cumsum()])
    actions = np.full(firsts[-1], -1, np.int8)
    actions[firsts[origin] + nodes["slot"][inner]] = nodes["action"][inner]
    paths = np.empty((len(nodes), players), np.int32)
    follow(nodes, state_of, firsts, paths)
    seats = nodes["seat"][found]
    parents = paths[found, seats]
    if (paths[choices, nodes["seat"][choices]] != parents[state_of[choices]]).any():
        raise AssertionError("a seat has forgotten what it did")
    return Form(histories, state_of, seats, parents, firsts, actions, *_ends(histories, paths))


def _ends(histories: Histories, paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends, those together to which the same sequences lead; and their payoffs."""
    last = np.flatnonzero(histories.nodes["seat"] < 0)
    last = last[np.lexsort(paths[last].T[::-1])]
    ends, chance = paths[last], histories.nodes["chance"][last, None]
    starts = np.flatnonzero(np.r_[True, (ends[1:] != ends[:-1]).any(1)])
    return ends[starts], np.add.reduceat(histories.margins(last) * chance, starts)


@compiled
def follow(nodes: Array, state_of: Array, firsts: Array, paths: Array) -> None:
    """Write the sequence of every seat at every node, in their order."""
    for i in range(len(nodes)):
        parent = nodes[i].parent
        for seat in range(paths.shape[1]):
            paths[i, seat] = seat if parent < 0 else paths[parent, seat]
        if parent >= 0:
            paths[i, nodes[parent].seat] = firsts[state_of[parent]] + nodes[i].slot
