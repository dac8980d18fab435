"""`exp` and `log` in compiled code, the same on every machine to the last bit.

Those of C libraries differ in their last bits, and what is chosen by weighed worlds with them. Both
are within two units in the last place here. What underflows is 0.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Final

import numpy as np

from fiveup_env.native import bits_of, float_of, inner, signed

_PART_BITS: Final = 6
_PARTS: Final = 1 << _PART_BITS  # of an interval in which `exp` doubles


def _split(number: Decimal) -> tuple[float, float]:
    """Return a number as a float of half the bits, whose small products are exact, and a rest."""
    high = float(np.float32(float(number)))
    return high, float(number - Decimal(high))


with localcontext() as _context:
    _context.prec = 50
    _LN2 = Decimal(2).ln()
    _POWERS = np.array([float(Decimal(2) ** (Decimal(k) / _PARTS)) for k in range(_PARTS)])
    _PART_HIGH, _PART_LOW = _split(_LN2 / _PARTS)
    _LN2_HIGH, _LN2_LOW = _split(_LN2)
    _PARTS_A_UNIT = float(_PARTS / _LN2)
    _ROOT: Final = float(Decimal(2).sqrt())

_LEAST: Final = -708.0  # below it, the result has less than full precision
_MOST: Final = 709.7  # above it, a float is almost too small
_BIAS: Final = 1023
_FRACTION: Final = np.uint64((1 << 52) - 1)
_ONE: Final = np.uint64(_BIAS << 52)
_S52: Final = np.uint64(52)
_LEAST_NORMAL: Final = 2.0**-1022


@inner
def exp(x: float) -> float:
    """Return e to the power of a number: 0 below a power of -708, and inf above 709.7."""
    if np.isnan(x):
        return x
    if x < _LEAST:
        return 0.0
    if x > _MOST:
        return np.inf
    parts = np.floor(x * _PARTS_A_UNIT + 0.5)
    r = (x - parts * _PART_HIGH) - parts * _PART_LOW
    n = int(parts)
    square = r * r
    rest = r + square * ((0.5 + r / 6) + square * (1 / 24 + r / 120))
    power = _POWERS[n & (_PARTS - 1)]
    scale = float_of(np.uint64((n >> _PART_BITS) + _BIAS) << _S52)
    return float((power + power * rest) * scale)


@inner
def log(x: float) -> float:
    """Return the natural logarithm of a number; -inf for 0 and for what is too small for exp."""
    if np.isnan(x) or x == np.inf:
        return x
    if x < _LEAST_NORMAL:
        return -np.inf if x >= 0 else np.nan
    bits = bits_of(x)
    power = signed(bits >> _S52) - _BIAS
    m = float_of(bits & _FRACTION | _ONE)
    if m > _ROOT:
        m *= 0.5
        power += 1
    s = (m - 1) / (m + 1)
    square = s * s
    rest = 0.0
    for k in range(21, 1, -2):
        rest = (rest + 1 / k) * square
    return float(power * _LN2_HIGH + (2 * s + (2 * s * rest + power * _LN2_LOW)))
