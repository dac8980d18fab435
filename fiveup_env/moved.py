"""Where the modules and names of version 0.1 went.

`fiveup_env.records` and `fiveup_env.sb3` go on working as other names of the modules that hold them
now. Every other old path raises an ImportError that names the new one; version 0.3 drops this.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

KEPT: Final = {
    "fiveup_env.records": "fiveup_env.game.records",
    "fiveup_env.sb3": "fiveup_env.envs.sb3",
}

MOVED: Final = {
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
    "agents.learn.policies": "agents.policies.files and agents.policies.agent",
    "agents.learn.thinking": "agents.search.policy_search",
    "agents.learn.weights": "agents.policies.weights",
    "agents.mixtures": "fiveup_env.opponents.action_probabilities",
    "agents.play": "fiveup_env.opponents (ladder, features, playouts, pimc, outlook, solver, "
    "lookahead), agents.search (ismcts, endings, tuning)",
    "agents.policies.lookahead": "fiveup_env.opponents.lookahead",
    "agents.policies.units": "fiveup_env.opponents.units",
    "agents.registry": "fiveup_env.opponents.registry",
    "agents.search.move_likelihood": "fiveup_env.opponents.inference",
}


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
