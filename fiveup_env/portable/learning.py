"""Learning for other languages: runs of self-play, and the policies that come of them."""

from __future__ import annotations

import numpy as np
from numba import carray

from fiveup_env.engine.valid import rules_fit
from fiveup_env.learning import windows
from fiveup_env.learning.networks import weight_count
from fiveup_env.learning.runs import (
    GRID,
    RUN,
    SETTINGS,
    begin_run,
    block_size,
    factors_of,
    is_run,
    run_in,
    settings_fit,
    settle,
    shape_of,
    update,
    work_of,
)
from fiveup_env.learning.threads import alone
from fiveup_env.native import Array, signed
from fiveup_env.portable.calls import (
    BAD_OPTIONS,
    BAD_RULES,
    BAD_RUN,
    INT,
    NO_MEMORY_GIVEN,
    NOT_FINITE,
    OK,
    STRUCTS,
    entry,
    is_null,
    reads,
    writes,
)
from fiveup_env.portable.weights import CHANCES, HEAD, POINTS, copy, write_block
from fiveup_env.rules.fields import RULES

MOST_BYTES = 1 << 30  # of a block
STRUCTS.update(settings=SETTINGS, run=RUN)


@entry(settings=reads(SETTINGS))
def learning_size(settings: Array) -> int:
    """Return the size in bytes of the block of a run with these settings."""
    size = block_size(carray(settings, 1), 1)
    return size if 0 < size <= MOST_BYTES else BAD_OPTIONS


@entry(
    settings=reads(SETTINGS),
    rules=reads(RULES),
    grid=reads(np.float64, optional=True),
    block=writes(np.uint8),
    size=INT,
)
def learning_begin(settings: Array, rules: Array, grid: Array, block: Array, size: int) -> int:
    """Begin a run in a block of the size that `learning_size` returns, at a multiple of 64 bytes.

    The grid is that of `outlook`, and is needed only if the reward is the chance to win.
    """
    chosen, given = carray(settings, 1), carray(rules, 1)
    if not rules_fit(given[0]):
        return BAD_RULES
    if not 0 < size == block_size(chosen, 1):
        return BAD_OPTIONS
    grids = chosen[0].reward == windows.CHANCES
    if grids and is_null(grid):
        return NO_MEMORY_GIVEN
    bytes_of = carray(block, size)
    bytes_of[:] = 0
    outlook = carray(grid, (1, GRID, GRID)) if grids else np.zeros((0, GRID, GRID))
    begin_run(bytes_of, chosen, given, outlook)
    return OK


@entry(block=writes(np.uint8), size=INT)
def learning_update(block: Array, size: int) -> int:
    """Play a window in all games of a run, and learn from it; return how many decisions it had.

    Nothing but the RUN at the beginning of a block is for others to read or write: how much was
    learnt, and `progress`, from 0 on, which schedules depend on. Where a loss is not finite, the
    weights are those of the last step before.
    """
    given = carray(block, max(0, size))
    if not is_run(given):
        return BAD_RUN
    before = run_in(given).head[0].decisions
    if not update(given, work_of(given), alone()):
        return NOT_FINITE
    return signed(run_in(given).head[0].decisions - before)


@entry(block=writes(np.uint8), size=INT)
def learning_settle(block: Array, size: int) -> int:
    """Write 0 wherever nothing is that the next update depends on, so that a block packs well."""
    given = carray(block, max(0, size))
    if not is_run(given):
        return BAD_RUN
    settle(given)
    return OK


@entry(block=reads(np.uint8), size=INT, weights=writes(np.float32, optional=True), room=INT)
def learning_weights(block: Array, size: int, weights: Array, room: int) -> int:
    """Write the weights of a run's network, as they learn; return how many there are.

    Without memory for them, only that number is returned.
    """
    given = carray(block, max(0, size))
    if not is_run(given):
        return BAD_RUN
    vector = run_in(given).optimizer.vector
    if not is_null(weights):
        if room < len(vector):
            return BAD_OPTIONS
        copy(vector, carray(weights, len(vector)))
    return len(vector)


@entry(
    settings=reads(SETTINGS),
    weights=reads(np.float32, optional=True),
    policy=writes(np.float32, optional=True),
    size=INT,
)
def learning_policy(settings: Array, weights: Array, policy: Array, size: int) -> int:
    """Write weights as a policy, as `network` takes it, of `size` numbers; return its size.

    The settings say of which network, and what it was rewarded for. Without memory for it, only the
    size is returned.
    """
    chosen = carray(settings, 1)[0]
    if not settings_fit(chosen):
        return BAD_OPTIONS
    shape = shape_of(chosen)
    count = weight_count(shape)
    if is_null(policy) or is_null(weights):
        return len(HEAD) + count
    if size != len(HEAD) + count:
        return BAD_OPTIONS
    aim = POINTS if chosen.reward == windows.POINTS else CHANCES
    write_block(carray(weights, count), shape, factors_of(chosen), aim, carray(policy, size))
    return size
