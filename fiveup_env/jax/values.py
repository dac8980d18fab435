"""Rules as data: numbers that are compiled in, or arrays with an entry for every game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from fiveup_env.rules.fields import MAX_MULTIPLE
from fiveup_env.rules.tiles import set_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.rules.fields import Rules


class RuleValues(NamedTuple):
    """The fields of a RULES struct, as Python ints (static) or as int32 arrays (traced)."""

    target: Any
    players: Any
    sides: Any
    hand_size: Any
    spinners: Any
    draw: Any
    reserve: Any
    hand_end: Any
    round_per: Any
    unit: Any
    game_end: Any
    exact_target: Any
    multiple: Any
    max_pip: Any
    block_pays: Any
    leader: Any
    lead_tile: Any

    @property
    def tiles(self) -> Any:
        """The number of tiles in the set."""
        return set_size(self.max_pip)

    @property
    def boneyard(self) -> Any:
        """The number of tiles that are not dealt."""
        return self.tiles - self.players * self.hand_size

    @property
    def is_static(self) -> bool:
        """Whether the rules are known while functions are traced."""
        return isinstance(self.players, int)


def values_of(rules: Rules) -> RuleValues:
    """Return rules as Python ints, to be compiled in."""
    struct = rules.to_struct()
    return RuleValues(*(int(struct[name]) for name in RuleValues._fields))


def stack(rules: Sequence[Rules]) -> RuleValues:
    """Return rules as int32 arrays [len(rules)], for functions under `jax.vmap`."""
    columns = zip(*map(values_of, rules), strict=True)
    return RuleValues(*(jnp.array(column, jnp.int32) for column in columns))


def pick(condition: Any, yes: Any, no: Any) -> Any:
    """Return `jnp.where`, or one of the two values if the condition is known while tracing."""
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    return jnp.where(condition, yes, no)


# x // m is x * _RECIPROCAL[m] >> 16 for x up to 2,700: devices have no fast integer division.
_RECIPROCAL = np.array([0, *(-(-65536 // m) for m in range(1, 2 * MAX_MULTIPLE + 1))], np.int32)


def divide(number: Any, divisor: Any) -> Any:
    """Return `number // divisor` for numbers from 0 to 2,700 and divisors from 1 to 24."""
    if isinstance(divisor, int):
        return number // divisor
    return number * jnp.asarray(_RECIPROCAL)[divisor] >> 16
