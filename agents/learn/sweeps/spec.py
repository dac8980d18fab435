"""What a sweep tries: a file in `configs/sweeps/`, checked before anything is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agents.arena.bank.storage import shipped_bank
from agents.learn.runs.config import (
    CONFIGS,
    KEYS,
    ConfigError,
    load_config,
    make_config,
    read_config,
)
from fiveup_env.checks import finite, is_one_of, whole
from fiveup_env.errors import FiveUpError, shown, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents.learn.runs.config import Config

SWEEPS: Final = CONFIGS / "sweeps"
MOST_TRIALS: Final = 10_000
FIELDS: Final = ("config", "set", "metric", "trials", "seed", "search")
RANGE: Final = ("low", "high", "log", "step")
BANK: Final = "bank/regret"
PANEL: Final = "panel/"


class Choices(NamedTuple):
    """Some values of a key, in no order."""

    values: tuple[Any, ...]


class Range(NamedTuple):
    """The numbers of a key from `low` to `high`; with `log`, each factor counts the same."""

    low: float
    high: float
    log: bool
    step: float | None


@dataclass(frozen=True)
class Sweep:
    """What a sweep tries.

    Attributes:
        written: the file's content.
        base: the keys that all trials have in common.
        metric: what trials are compared by, as runs call it: `bank/regret` or `panel/AGENT`.
        trials: how many there are.
        seed: what the choices follow from. Runs have a seed of their own among their keys.
        search: the keys that are searched.
    """

    written: dict[str, Any]
    base: Config
    metric: str
    trials: int
    seed: int
    search: Mapping[str, Choices | Range]

    @property
    def lower_is_better(self) -> bool:
        """Whether the best trial has the lowest value."""
        return self.metric == BANK

    def config(self, chosen: Mapping[str, Any]) -> Config:
        """Return the configuration of a trial."""
        return make_config(self.base.as_dict() | dict(chosen))


def known_sweeps() -> list[str]:
    """Return the names of the files in `configs/sweeps/`."""
    return sorted(path.stem for path in SWEEPS.glob("*.yaml"))


def load_sweep(chosen: str) -> Sweep:
    """Return the sweep with this name or file."""
    path = Path(chosen) if chosen.endswith(".yaml") else SWEEPS / f"{chosen}.yaml"
    if not path.is_file():
        raise ConfigError(unknown("sweep", chosen, known_sweeps()))
    return make_sweep(read_config(path))


def make_sweep(written: dict[str, Any]) -> Sweep:
    """Return the sweep that a file describes; raise ConfigError that names what is wrong."""
    for name in written:
        if name not in FIELDS:
            raise ConfigError(unknown("key of a sweep", name, FIELDS))
    common, search = (_keys_in(written, name) for name in ("set", "search"))
    if not search:
        raise ConfigError("search: name at least one key, such as learning_rate: [3e-4, 1e-3]")
    base = make_config(load_config(str(written.get("config", "quick"))).as_dict() | common)
    metric, known = written.get("metric", BANK), (BANK, *(PANEL + one for one in base.panel))
    if not is_one_of(metric, known):
        raise ConfigError(f"metric: {unknown('measurement of these runs', metric, known)}")
    if metric == BANK and not len(shipped_bank().under(base.all_rules)):
        raise ConfigError("metric: the bank has no positions by these rules; name panel/AGENT")
    return Sweep(
        written,
        base,
        metric,
        _number(written, "trials", least=1, default=20),
        _number(written, "seed", least=0, default=0),
        {name: _space(base, name, space) for name, space in search.items()},
    )


def possible(space: Choices | Range, value: Any) -> bool:
    """Return whether a value is one of those that are searched."""
    if isinstance(space, Choices):
        return value in space.values
    return finite(value) is not None and bool(space.low <= value <= space.high)


def _keys_in(written: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of the file that maps keys of a config to values."""
    part = written.get(name)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise ConfigError(f"{name}: must contain lines such as `width: 128`, not {shown(part)}")
    for key in part:
        if key not in KEYS:
            raise ConfigError(f"{name}: {unknown('config key', key, KEYS)}")
    return part


def _number(written: dict[str, Any], name: str, *, least: int, default: int) -> int:
    number = whole(written.get(name, default), least, MOST_TRIALS)
    if number is None:
        raise ConfigError(
            f"{name}: must be from {least} to {MOST_TRIALS}, not {shown(written[name])}"
        )
    return number


def _space(base: Config, name: str, written: object) -> Choices | Range:
    """Return the values of a key that are searched; each must be possible by itself."""
    if isinstance(written, list) and len(written) > 1:
        return Choices(tuple(_typed(base, name, value) for value in written))
    if not isinstance(written, dict) or not {"low", "high"} <= set(written):
        raise ConfigError(
            f"search: {name}: write a list of values, or {{low: .., high: ..}} with log: true or "
            f"step: .. if wanted, not {shown(written)}"
        )
    for word in written:
        if word not in RANGE:
            raise ConfigError(f"search: {name}: {unknown('word', word, RANGE)}")
    low, high = (_typed(base, name, written[word]) for word in ("low", "high"))
    log, step = written.get("log", False), written.get("step")
    if finite(low) is None or finite(high) is None or not low < high:
        raise ConfigError(f"search: {name}: low must be below high, and both must be numbers")
    if not isinstance(log, bool) or (log and (step is not None or low <= 0)):
        raise ConfigError(
            f"search: {name}: log is true or false, and needs low above 0 and no step"
        )
    if step is not None and (finite(step) is None or step <= 0):
        raise ConfigError(f"search: {name}: step must be a number above 0, not {shown(step)}")
    return Range(low, high, log, step)


def _typed(base: Config, name: str, value: Any) -> Any:
    """Return a value as the key has it in a config, a list where that has several."""
    try:
        return make_config(base.as_dict() | {name: value}).as_dict()[name]
    except FiveUpError as error:
        raise ConfigError(f"search: {error}") from None
