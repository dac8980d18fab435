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
    # As many as there could be, of which only the pages that are written take memory.
    most = len(rows) * (columns.facts_end - columns.facts) + 1
    entries, numbers = np.empty(most, np.uint16), np.empty(most, np.int8)
    actions = np.empty(masks.size + 1, np.uint8)
    _gather(rows, columns.facts, columns.facts_end, entry_ends, entries, numbers)
    _gather(masks, 0, masks.shape[1], action_ends, actions, np.empty(masks.size + 1, np.int8))
    decisions = Decisions(
        entry_ends,
        entries[: entry_ends[-1]].copy(),
        numbers[: entry_ends[-1]].copy(),
        action_ends,
        actions[: action_ends[-1]].copy(),
        np.zeros(action_ends[-1], np.uint8),
        np.empty((action_ends[-1], columns.feature_count), np.int8),
    )
    _describe(rows, columns, decisions)
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
def _gather(rows: Array, first: int, end: int, ends: Array, places: Array, numbers: Array) -> None:
    """Write where the numbers of each row are not zero, and the numbers, row after row."""
    count = 0
    for n in range(len(rows)):
        for i in range(first, end):  # without a branch, which would often be mispredicted
            places[count] = i - first
            numbers[count] = rows[n, i]
            count += rows[n, i] != 0
        ends[n + 1] = count


@compiled
def _describe(rows: Array, columns: Columns, decisions: Decisions) -> None:
    """Write what rows say of legal actions."""
    ends, actions, units = decisions.action_ends, decisions.actions, decisions.units
    features = decisions.features
    for n in range(len(rows)):
        for k in range(ends[n], ends[n + 1]):
            action = signed(actions[k])
            if columns.plays >= 0:
                score = signed(rows[n, columns.plays + action])
                units[k] = min(USUAL_POINTS + 1, max(0, score))
            for name in range(columns.feature_count):
                place = columns.features + action * columns.feature_count + name
                features[k, name] = rows[n, place]
