"""The laboratory: it lies beside the library in a clone, and is not part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPTS: Final = {"train": "train.py", "evaluate": "evaluate.py", "benchmark": "evaluate.py"}
INSTALL: Final = "pip install -c constraints.txt -e '.[train]'"


def find_clone() -> Path | None:
    """Return the clone that this library belongs to, or None if it was installed alone."""
    folder = Path(__file__).resolve().parents[2]
    return folder if (folder / "evaluate.py").is_file() and (folder / "agents").is_dir() else None


def meet_the_laboratory() -> None:
    """Let the agents of a clone be named."""
    if clone := find_clone():
        sys.path.append(str(clone))
        import_module("agents")


def run_script(command: str, words: Sequence[str]) -> None:
    """Do what `python SCRIPT ...` does in a clone, which ends in SystemExit."""
    script = _script_of(command)
    if command == "benchmark":
        words = [*([] if words and words[0] in {"-h", "--help"} else ["--benchmark"]), *words]
    sys.argv = [str(script), *words]
    run_path(str(script), run_name="__main__")


def parser_of(command: str) -> Any:
    """Return the parser of a script of the clone."""
    return run_path(str(_script_of(command)))["parser"]()


def _script_of(command: str) -> Path:
    """Return the script behind a command, with its clone first on the path, as for any script."""
    clone = find_clone()
    if clone is None:
        raise MissingExtraError(
            f"{command!r} needs the laboratory, which is not part of the installed package: run "
            f"it in a clone of the project's repository, after {INSTALL}"
        )
    sys.path.insert(0, str(clone))
    return clone / SCRIPTS[command]
