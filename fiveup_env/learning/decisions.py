"""Decisions as they are learnt from: the entries of a row that are not zero, and legal actions.

Of some 560 entries of a row of `flat`, about 50 are not zero, and of 121 actions about three are
legal. A decision takes some 200 bytes so, in place of 700.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.encoders.flat import USUAL_POINTS
from fiveup_env.engine.exponentials import exp
from fiveup_env.learning.networks import Columns
from fiveup_env.native import (
    Array,
    Bytes,
    Floats,
    Int8Rows,
    Int8s,
    Int64s,
    Uint16s,
    compiled,
    inlined,
    inner,
    lowest_bit,
    not_zero,
    signed,
    uncompiled,
)


class Decisions(NamedTuple):
    """Decisions one after the other; each has its entries and its actions in one place.

    The n-th decision has the entries from `entry_ends[n]` to before `entry_ends[n + 1]`, and
    likewise its actions.
    """

    entry_ends: Int64s
    entries: Uint16s  # their places among the facts
    numbers: Int8s  # their values, unscaled
    action_ends: Int64s
    actions: Bytes  # the legal ones, lowest first
    units: Bytes  # what each scores, as `plays` says, at most USUAL_POINTS + 1
    features: Int8Rows  # of each, unscaled

    @property
    def size(self) -> int:
        """The number of decisions."""
        return len(self.entry_ends) - 1


def decisions_of(rows: np.ndarray, masks: np.ndarray, columns: Columns) -> Decisions:
    """Return the decisions that have these rows and masks of legal actions (int8 or bool)."""
    # As many as there could be, of which only the pages that are written take memory.
    most = len(rows) * (columns.facts_end - columns.facts) + 1, masks.size
    made = uncompiled(empty_decisions, len(rows), *most, columns.feature_count)
    _write(np.ascontiguousarray(rows), masks.view(np.int8), columns, made)
    entries, actions = made.entry_ends[-1], made.action_ends[-1]
    return Decisions(
        made.entry_ends,
        made.entries[:entries].copy(),
        made.numbers[:entries].copy(),
        made.action_ends,
        made.actions[:actions].copy(),
        made.units[:actions].copy(),
        made.features[:actions].copy(),
    )


@inlined
def empty_decisions(count: int, entries: int, actions: int, features: int) -> Decisions:
    """Return memory for decisions with so many entries and actions in all."""
    return Decisions(
        np.zeros(count + 1, np.int64),
        np.empty(entries, np.uint16),
        np.empty(entries, np.int8),
        np.zeros(count + 1, np.int64),
        np.empty(actions, np.uint8),
        np.empty(actions, np.uint8),
        np.empty((actions, features), np.int8),
    )


@compiled
def _write(rows: Int8Rows, masks: Int8Rows, columns: Columns, decisions: Decisions) -> None:
    """Write the decisions of some rows."""
    actions = np.empty(masks.shape[1], np.int64)
    for n in range(len(rows)):
        count = 0
        for action in range(masks.shape[1]):  # without a branch, which would be mispredicted
            actions[count] = action
            count += masks[n, action] != 0
        write_decision(decisions, n, rows, n, columns, actions[:count])


@inner
def write_decision(
    decisions: Decisions, n: int, rows: Array, r: int, columns: Columns, actions: Array
) -> None:
    """Write the n-th decision, where the one before it ends: a row and its legal actions."""
    entry, place = decisions.entry_ends[n], decisions.action_ends[n]
    entries, numbers = decisions.entries, decisions.numbers
    for i in range(columns.facts, columns.facts_end, 64):  # most are zeros
        first = min(i, columns.facts_end - 64)
        some = not_zero(rows, r, first) & ~np.uint64(0) << np.uint64(i - first)
        while some:
            j = first + signed(lowest_bit(some))
            some &= some - np.uint64(1)
            entries[entry], numbers[entry] = j - columns.facts, rows[r, j]
            entry += 1
    decisions.entry_ends[n + 1] = entry
    for action in actions:
        decisions.actions[place] = action
        decisions.units[place] = 0
        if columns.plays >= 0:
            score = signed(rows[r, columns.plays + action])
            decisions.units[place] = min(USUAL_POINTS + 1, max(0, score))
        for name in range(columns.feature_count):
            at = columns.features + action * columns.feature_count + name
            decisions.features[place, name] = rows[r, at]
        place += 1
    decisions.action_ends[n + 1] = place


@inner
def move_decision(decisions: Decisions, n: int, to: int) -> None:
    """Make a decision the one at an earlier place, where the one before that ends."""
    begin, end = decisions.entry_ends[n], decisions.entry_ends[n + 1]
    at = decisions.entry_ends[to]
    for k in range(begin, end):
        decisions.entries[at] = decisions.entries[k]
        decisions.numbers[at] = decisions.numbers[k]
        at += 1
    begin, end = decisions.action_ends[n], decisions.action_ends[n + 1]
    place = decisions.action_ends[to]
    for k in range(begin, end):
        decisions.actions[place] = decisions.actions[k]
        decisions.units[place] = decisions.units[k]
        for name in range(decisions.features.shape[1]):
            decisions.features[place, name] = decisions.features[k, name]
        place += 1
    decisions.entry_ends[to + 1], decisions.action_ends[to + 1] = at, place


@compiled
def find_chosen(decisions: Decisions, actions: Int64s, chosen: Int64s) -> None:
    """Write which of its legal actions was played, for every decision."""
    for n in range(len(actions)):
        first = decisions.action_ends[n]
        for k in range(first, decisions.action_ends[n + 1]):
            if decisions.actions[k] == actions[n]:
                chosen[n] = k - first


@compiled
def draw(decisions: Decisions, logs: Floats, numbers: Floats, chosen: Int64s) -> None:
    """Draw one of the legal actions of every decision by a number from 0 to below 1."""
    ends = decisions.action_ends
    for n in range(len(chosen)):
        chosen[n] = drawn(logs, ends[n], ends[n + 1], numbers[n])


@inlined
def drawn(logs: Array, first: int, end: int, number: float) -> int:
    """Return which of some actions a number from 0 to below 1 draws."""
    total = 0.0
    for k in range(first, end):
        total += exp(logs[k])
    height, bound = 0.0, number * total
    for k in range(first, end):
        height += exp(logs[k])
        if height > bound:
            return k - first
    return 0
