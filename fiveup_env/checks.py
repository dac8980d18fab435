"""Checks of values: the one place that decides what a whole number is, or a word."""

from __future__ import annotations

import operator
from math import isfinite
from typing import TYPE_CHECKING, SupportsFloat, SupportsIndex, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container


def whole(value: object, low: int, high: int) -> int | None:
    """Return a whole number from `low` to `high` as an int, or None if the value is not one.

    NumPy's integers and arrays of no dimensions that hold one are whole numbers. A bool is not, nor
    is a float.
    """
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        number = operator.index(cast("SupportsIndex", value))
    except TypeError:
        return None
    return number if low <= number <= high else None


def finite(value: object) -> float | None:
    """Return a finite number as a float, or None if the value is not one.

    As for `whole`, NumPy's numbers and arrays of no dimensions that hold one are numbers.
    """
    if np.ndim(np.asarray(value, object)) or isinstance(value, (str, bytes, bool, np.bool_)):
        return None
    try:
        number = float(cast("SupportsFloat", value))
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def is_one_of(value: object, words: Container[str]) -> bool:
    """Return whether a value is one of some words; values of any other type are not."""
    return isinstance(value, str) and value in words
