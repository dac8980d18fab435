"""`exp` and `log` agree with those of C libraries, but for their last bits; fractions of words."""

from hashlib import sha256

import numpy as np
import pytest

from fiveup_env.engine.chance import fraction
from fiveup_env.engine.exponentials import exp, log


def ulps(values: list[float], true: np.ndarray) -> float:
    return float(np.max(np.abs(np.array(values) - true) / np.spacing(np.abs(true).astype(float))))


def test_powers_and_logarithms_are_within_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(1)
    powers = np.concatenate([rng.uniform(-708, 709, 2000), rng.uniform(-1, 1, 2000)])
    assert ulps([exp(x) for x in powers], np.exp(powers.astype(np.longdouble))) < 2
    numbers = np.concatenate([np.exp(powers[:2000]), rng.uniform(0.5, 2, 2000)])
    assert ulps([log(x) for x in numbers], np.log(numbers.astype(np.longdouble))) < 2


def test_what_is_in_range_is_finite_up_to_its_ends() -> None:
    least, most, normal = -708.0, 709.7, 2.0**-1022
    assert exp(np.nextafter(least, -np.inf)) == 0 < exp(least)
    assert exp(most) < exp(np.nextafter(most, np.inf)) == np.inf
    assert log(np.nextafter(normal, 0)) == -np.inf < log(normal)
    assert log(normal / 2) == -np.inf


@pytest.mark.parametrize(
    ("x", "power"), [(0.0, 1.0), (-np.inf, 0.0), (-709.0, 0.0), (710.0, np.inf), (np.inf, np.inf)]
)
def test_what_has_no_power_in_range_is_0_or_infinite(x: float, power: float) -> None:
    assert exp(x) == power
    assert [log(0.0), log(1.0), log(np.inf)] == [-np.inf, 0, np.inf]


def test_no_number_stays_no_number() -> None:
    assert np.isnan([exp(np.nan), log(np.nan), log(-1.0)]).all()


# fmt: off
BITS = [
    "4005bf0a8b145769", "3e157a3afeed00ab", "3ff1aec7b35a00d3", "3fe62e42fefa39ef",
    "c0026bb1bbb55515", "4085963447f87fb5", "3fd62e42fefa39f1",
]
# fmt: on


def test_the_bits_themselves_are_the_same_on_every_machine() -> None:
    values = np.array([exp(1.0), exp(-20.5), exp(0.1), log(2.0), log(0.1), log(1e300), log(2**0.5)])
    assert [f"{bits:x}" for bits in values.view(np.uint64).tolist()] == BITS
    rng = np.random.default_rng(2)
    powers = [exp(x) for x in rng.uniform(-708, 709, 1000)]
    many = np.array([*powers, *(log(power) for power in powers)])
    assert sha256(many.tobytes()).hexdigest()[:16] == "6a1d9521b0b7ada2"


def test_a_word_as_a_fraction_is_from_0_to_below_1() -> None:
    fractions = [fraction(np.uint64(word)) for word in (0, 2**63, 2**64 - 1)]
    assert fractions == [0, 0.5, 1 - 2.0**-53]
