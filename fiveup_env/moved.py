"""Old names: what they are called now, and until when they go on working.

What is renamed is known by its old name, too, until the version DROPPED_IN. `OldName` serves an
attribute, KEPT a module, and both warn. Every other old path of version 0.1 raises an ImportError
that names the new one. An old field of a struct is a second name of it: NumPy has no place for a
warning there.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

DROPPED_IN: Final = "0.3"  # what was renamed in 0.2

KEPT: Final = {
    "fiveup_env.records": "fiveup_env.game.records",
    "fiveup_env.sb3": "fiveup_env.envs.sb3",
}

# What the laboratory had; the library has it now.
_OF_THE_ARENA: Final = (
    "apart benchmark charts duels faults games luck markup ratings report results standings "
    "statistics tables tally tournament workers"
)
_OF_EXACT: Final = "form histories profiles regret sampling solutions values"

MOVED: Final = {
    **{f"agents.arena.{name}": f"fiveup_env.arena.{name}" for name in _OF_THE_ARENA.split()},
    **{f"agents.exact.{name}": f"fiveup_env.exact.{name}" for name in _OF_EXACT.split()},
    "agents.search.endings": "fiveup_env.opponents.endings",
    "fiveup_env.actions": "fiveup_env.rules.actions",
    "fiveup_env.aec": "fiveup_env.envs.aec",
    "fiveup_env.batch": "fiveup_env.envs.batch",
    "fiveup_env.compiled": "fiveup_env.engine.compiled",
    "fiveup_env.drawing.table": "fiveup_env.drawing.snapshot",
    "fiveup_env.episodes": "fiveup_env.envs.episodes",
    "fiveup_env.single": "fiveup_env.envs.single",
    "fiveup_env.tiles": "fiveup_env.rules.tiles",
    "fiveup_env.view": "fiveup_env.engine.view",
    "agents.learn.checkpoints": "agents.learn.runs.checkpoints",
    "agents.learn.config": "agents.learn.runs.config",
    "agents.learn.display": "agents.learn.runs.display",
    "agents.learn.evidence": "fiveup_env.opponents.world_statistics",
    "agents.learn.hindsight": "fiveup_env.opponents.inference",
    "agents.learn.metrics": "agents.learn.runs.metrics",
    "agents.learn.networks": "agents.policies.networks",
    "agents.learn.policies": "agents.policies.files and fiveup_env.opponents.policy",
    "agents.learn.thinking": "fiveup_env.opponents.policy_search",
    "agents.learn.weights": "agents.policies.weights",
    "agents.mixtures": "fiveup_env.opponents.action_probabilities",
    "agents.play": "fiveup_env.opponents (ladder, features, playouts, pimc, outlook, solver, "
    "lookahead, endings), agents.search (ismcts, tuning)",
    "agents.policies.lookahead": "fiveup_env.opponents.lookahead",
    "agents.policies.units": "fiveup_env.opponents.units",
    "agents.registry": "fiveup_env.opponents.registry",
    "agents.search.move_likelihood": "fiveup_env.opponents.inference",
    "agents.search.policy_search": "fiveup_env.opponents.policy_search",
}


def warn_of_old_name(old: str, new: str) -> None:
    """Warn whoever calls the caller that a name is an old one."""
    warnings.warn(
        f"{old} is now {new}; version {DROPPED_IN} drops the old name",
        DeprecationWarning,
        stacklevel=3,
    )


class OldName:
    """An attribute by its old name: to read it warns, and returns the new one."""

    def __init__(self, new: str) -> None:
        self._new = new
        self.__doc__ = f"The old name of `{new}`, deprecated."

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._names = f"{owner.__name__}.{name}", f"{owner.__name__}.{self._new}"

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        if instance is None:
            return self
        warn_of_old_name(*self._names)
        return getattr(instance, self._new)


class _OldPaths(MetaPathFinder):
    """Finds what no other finder does: the old names of modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname in MOVED:
            raise ImportError(f"{fullname} has moved to {MOVED[fullname]}", name=fullname)
        return ModuleSpec(fullname, _OtherName()) if fullname in KEPT else None


class _OtherName(Loader):
    """Loads a module under another name: it is the same module."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system make an empty module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        warn_of_old_name(module.__name__, KEPT[module.__name__])
        sys.modules[module.__name__] = import_module(KEPT[module.__name__])


def point_to(
    package: str, modules: Sequence[str], renamed: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that was a module: old names say where they are now."""

    def refuse(name: str) -> NoReturn:
        new = (renamed or {}).get(name, name)
        for module in () if name.startswith("_") else modules:
            if hasattr(import_module(f"{package}.{module}"), new):
                raise ImportError(f"{package}.{name} has moved to {package}.{module}.{new}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return refuse


sys.meta_path.append(_OldPaths())
