"""What is called once runs as Python, and returns what compiled code would."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.native import Array, compiled, uncompiled


class Half(NamedTuple):
    """A half of some numbers."""

    numbers: np.ndarray
    of: int


@compiled
def halves(numbers: Array) -> tuple[Half, Half]:
    middle = len(numbers) // 2
    return Half(numbers[:middle], len(numbers)), Half(numbers[middle:], len(numbers))


def test_arrays_are_numpys_own_and_share_their_memory() -> None:
    numbers = np.arange(5)
    for half, expected in zip(uncompiled(halves, numbers), ([0, 1], [2, 3, 4]), strict=True):
        assert type(half) is Half
        assert type(half.numbers) is np.ndarray
        assert np.shares_memory(half.numbers, numbers)
        assert (half.numbers.tolist(), half.of) == (expected, 5)
