"""Self-play in compiled code: one network in all seats of many games.

    from fiveup_env.learning.selfplay import SelfPlay

    run = SelfPlay.begin("five_up", width=32, games=256)
    for _ in range(10):
        print(run.update())

`save` gives the whole run as bytes, and `load` goes on with it.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import finite, whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError, OptionError, shown, unknown
from fiveup_env.learning.lanes import zeros
from fiveup_env.learning.learner import LossError, why_not_finite
from fiveup_env.learning.networks import KINDS, Network
from fiveup_env.learning.runs import (
    GRID,
    MOST_RULES,
    RUN,
    RUN_FIGURES,
    RUN_SIZE,
    SETTINGS,
    USUAL,
    begin_run,
    block_size,
    is_run,
    is_run_head,
    run_in,
    settle,
    update,
    work_of,
)
from fiveup_env.learning.threads import Threads
from fiveup_env.learning.windows import REWARDS
from fiveup_env.native import uncompiled
from fiveup_env.opponents.search.outlook import outlook_of
from fiveup_env.rules.fields import RULES, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS: Final = {"network": KINDS, "reward": REWARDS}  # of settings that are words


class SelfPlay:
    """A run of self-play. The same settings give the same run, byte for byte, as in a browser or C.

    `begin` and `load` make one. Nothing that is computed depends on the number of threads.

    Attributes:
        network: the network that learns.
    """

    def __init__(self, block: np.ndarray, threads: int = 1) -> None:
        """Go on with the run of a block of bytes."""
        self._block = block
        self._run = uncompiled(run_in, block)
        self._head = self._run.head
        settings = self._head["settings"][0]
        shape = KINDS[settings["network"]], int(settings["width"]), int(settings["depth"])
        self.network = Network(*shape, vector=self._run.optimizer.vector)
        self._threads, self._work = Threads(threads), uncompiled(work_of, block)

    @classmethod
    def begin(
        cls, rules: str | Rules | Sequence[str | Rules], threads: int = 1, **settings: Any
    ) -> SelfPlay:
        """Begin a run in games by some rules; those of a list are taken in turn.

        Settings are the fields of `runs.SETTINGS` that are not as usual; `network` and `reward` are
        words. Raises OptionError if there is no such setting, or its value is not allowed.
        """
        chosen = settings_of(settings)
        listed: list[Any] = list(rules) if isinstance(rules, (list, tuple)) else [rules]
        if not 1 <= len(listed) <= MOST_RULES:
            raise OptionError(f"a run takes 1 to {MOST_RULES} rules, not {len(listed)}")
        structs = np.array([Rules.of(each).to_struct() for each in listed], RULES)
        grids = np.zeros((0, GRID, GRID))
        if REWARDS[chosen["reward"][0]] == "outlook":
            grids = np.stack([outlook_of(struct) for struct in structs])
        size = uncompiled(block_size, chosen, len(listed))
        block = uncompiled(zeros, (size,), np.uint8)
        begin_run(block, chosen, structs, grids)
        return cls(block, threads)

    @classmethod
    def load(cls, saved: bytes, threads: int = 1) -> SelfPlay:
        """Return the run of the bytes of `save`; raise InputError if they are not valid."""
        return cls(_block_in(saved), threads)

    @property
    def updates(self) -> int:
        """The number of updates so far."""
        return int(self._head["updates"][0])

    @property
    def decisions(self) -> int:
        """The number of decisions that it has learnt from."""
        return int(self._head["decisions"][0])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the run, by name."""
        values = dict(zip(USUAL, self._head["settings"][0].tolist(), strict=True))
        return values | {name: words[values[name]] for name, words in WORDS.items()}

    def update(self, progress: float = 0.0) -> dict[str, float]:
        """Play a window in all games, learn from it, and return what was measured.

        `progress` is the share of the run that is done, on which schedules depend; they end at 1.

        Raises LossError if a loss is not finite; the weights are those before that step.
        """
        share = finite(progress)
        if share is None or share < 0:
            raise OptionError(f"progress is a number from 0 on, not {shown(progress)}")
        with self._threads.busy:
            self._head["progress"] = share
            if not self._threads.run(lambda crew: update(self._block, self._work, crew)):
                raise LossError(why_not_finite(self._work))
            return dict(zip(RUN_FIGURES, self._head["figures"][0].tolist(), strict=True))

    def save(self) -> bytes:
        """Return the whole run, for `load`."""
        with self._threads.busy:
            settle(self._block)
            content = self._block.tobytes()
        return zlib.compress(content, 1)


def settings_of(given: dict[str, Any]) -> np.ndarray:
    """Return settings as an array of one SETTINGS; raise OptionError if they do not fit."""
    chosen = np.zeros(1, SETTINGS)
    for name in given:
        if name not in USUAL:
            raise OptionError(unknown("setting of a run", name, tuple(USUAL)))
    for name, value in (USUAL | given).items():
        if name == "seed":
            chosen[name] = checked_seed(value)
        elif name in WORDS and name in given:
            if value not in WORDS[name]:
                raise OptionError(unknown(name, value, WORDS[name]))
            chosen[name] = WORDS[name].index(value)
        else:
            chosen[name] = _number(name, value)
    if not uncompiled(block_size, chosen, 1):
        raise OptionError(_why_not(chosen[0]))
    return chosen


def _why_not(settings: np.void) -> str:
    """Return why settings do not fit, as a sentence."""
    moves = int(settings["games"]) * int(settings["ticks"])
    for name in USUAL:
        alone = np.array([tuple((USUAL | {"batch_size": 2}).values())], SETTINGS)
        if name != "batch_size":
            alone[name] = settings[name]
        if not uncompiled(block_size, alone, 1):
            return f"{name} is out of range: {settings[name]}"
    return f"a minibatch has 2 to games x ticks = {moves:,} decisions: {settings['batch_size']:,}"


def _number(name: str, value: object) -> int | float:
    """Return a number that a field of SETTINGS holds."""
    kind = SETTINGS[name]
    if kind.kind == "f":
        number: int | float | None = finite(value)
    else:
        number = whole(int(value) if isinstance(value, bool) else value, 0, np.iinfo(kind).max)
    if number is None:
        raise OptionError(f"{name} must be a number that {kind} holds, not {shown(value)}")
    return number


def _block_in(saved: bytes) -> np.ndarray:
    """Return the block of the bytes of `save`; raise InputError if they are not valid."""
    head, unpacked = np.zeros(1, RUN), zlib.decompressobj()
    try:
        head.view(np.uint8)[:] = np.frombuffer(unpacked.decompress(saved, RUN_SIZE), np.uint8)
        size = block_size(head["settings"], int(head["rules"][0])) if is_run_head(head) else 0
        content = head.tobytes() + unpacked.decompress(unpacked.unconsumed_tail, max(1, size))
    except (zlib.error, ValueError, TypeError):
        content, size = b"", 0
    if not size or len(content) != size or not unpacked.eof or unpacked.unused_data:
        raise InputError("these bytes are not a saved run")
    block = uncompiled(zeros, (size,), np.uint8)
    block[:] = np.frombuffer(content, np.uint8)
    if not is_run(block):
        raise InputError("these bytes are not a saved run")
    return block
