"""The engine and the second engine agree over random moves under random rules."""

from __future__ import annotations

import pytest

from tests.engines.soak import soak


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_two_engines_that_share_nothing_agree(seed: int) -> None:
    made, rules, difference = soak(500_000, seed)
    assert difference is None
    assert made >= 500_000
    assert rules >= 25
