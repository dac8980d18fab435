"""Decisions as they are learnt from: the entries of a row that are not zero, and legal actions.

Of some 560 entries of a row of `flat`, about 50 are not zero, and of 121 actions about three are
legal. A decision takes some 200 bytes so, in place of 700.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.encoders.flat import USUAL_POINTS
from fiveup_env.engine.compiled import Array, compiled, signed
from fiveup_env.engine.exponentials import exp

if TYPE_CHECKING:
    from fiveup_env.learning.networks import Columns


class Decisions(NamedTuple):
    """Decisions one after the other; each has its entries and its actions in one place.

    The n-th decision has the entries from `entry_ends[n]` to before `entry_ends[n + 1]`, and
    likewise its actions.
    """

    entry_ends: np.ndarray
    entries: np.ndarray  # their places among the facts
    numbers: np.ndarray  # their values, unscaled
    action_ends: np.ndarray
    actions: np.ndarray  # the legal ones, lowest first
    units: np.ndarray  # what each scores, as `plays` says, at most USUAL_POINTS + 1
    features: np.ndarray  # of each, unscaled

    @property
    def size(self) -> int:
        """The number of decisions."""
        return len(self.entry_ends) - 1


def decisions_of(rows: np.ndarray, masks: np.ndarray, columns: Columns) -> Decisions:
    """Return the decisions that have these rows and masks of legal actions (int8 or bool)."""
    masks = masks.view(np.int8)
    entry_ends, action_ends = np.zeros((2, len(rows) + 1), np.int64)
    _count(rows, columns.facts, columns.facts_end, entry_ends)
    _count(masks, 0, masks.shape[1], action_ends)
    decisions = Decisions(
        entry_ends,
        np.empty(entry_ends[-1], np.uint16),
        np.empty(entry_ends[-1], np.int8),
        action_ends,
        np.empty(action_ends[-1], np.uint8),
        np.empty(action_ends[-1], np.uint8),
        np.empty((action_ends[-1], columns.feature_count), np.int8),
    )
    _gather(rows, masks, columns, decisions)
    return decisions


@compiled
def find_chosen(decisions: Decisions, actions: Array, chosen: Array) -> None:
    """Write which of its legal actions was played, for every decision."""
    for n in range(len(actions)):
        first = decisions.action_ends[n]
        for k in range(first, decisions.action_ends[n + 1]):
            if decisions.actions[k] == actions[n]:
                chosen[n] = k - first


@compiled
def draw(decisions: Decisions, logs: Array, numbers: Array, chosen: Array) -> None:
    """Draw one of the legal actions of every decision by a number from 0 to below 1."""
    for n in range(len(chosen)):
        first, end = decisions.action_ends[n], decisions.action_ends[n + 1]
        total = 0.0
        for k in range(first, end):
            total += exp(logs[k])
        height, drawn = 0.0, numbers[n] * total
        for k in range(first, end):
            height += exp(logs[k])
            if height > drawn:
                chosen[n] = k - first
                break


@compiled
def _count(rows: Array, first: int, end: int, ends: Array) -> None:
    """Write where the numbers of each row that are not zero end, if all are put in one line."""
    for n in range(len(rows)):
        count = 0
        for i in range(first, end):
            count += rows[n, i] != 0
        ends[n + 1] = ends[n] + count


@compiled
def _gather(rows: Array, masks: Array, columns: Columns, decisions: Decisions) -> None:
    """Write the entries and the actions, whose ends are there already."""
    places = np.zeros(max(columns.facts_end - columns.facts, masks.shape[1]) + 1, np.int64)
    for n in range(len(rows)):
        _places(rows[n, columns.facts : columns.facts_end], places)
        first = decisions.entry_ends[n]
        for k in range(first, decisions.entry_ends[n + 1]):
            place = places[k - first]
            decisions.entries[k] = place
            decisions.numbers[k] = rows[n, columns.facts + place]
        _places(masks[n], places)
        first = decisions.action_ends[n]
        for k in range(first, decisions.action_ends[n + 1]):
            action = places[k - first]
            decisions.actions[k] = action
            units = signed(rows[n, columns.plays + action]) if columns.plays >= 0 else 0
            decisions.units[k] = min(USUAL_POINTS + 1, max(0, units))
            for name in range(columns.feature_count):
                place = columns.features + action * columns.feature_count + name
                decisions.features[k, name] = rows[n, place]


@compiled
def _places(numbers: Array, places: Array) -> None:
    """Write where numbers are not zero."""
    count = 0
    for i in range(len(numbers)):  # without a branch, which would often be mispredicted
        places[count] = i
        count += numbers[i] != 0
