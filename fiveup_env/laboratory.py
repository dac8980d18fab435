"""The laboratory: it lies beside the library in a clone, and is not part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from fiveup_env.errors import MissingExtraError

INSTALL: Final = "pip install -c constraints.txt -e '.[train]'"


def find_clone() -> Path | None:
    """Return the clone that this library belongs to, or None if it was installed alone."""
    folder = Path(__file__).resolve().parents[1]
    return folder if (folder / "evaluate.py").is_file() and (folder / "agents").is_dir() else None


def meet_the_laboratory() -> None:
    """Let the agents of a clone be named."""
    if clone := find_clone():
        if str(clone) not in sys.path:
            sys.path.append(str(clone))
        import_module("agents")


def laboratory_needed(what: str) -> MissingExtraError:
    """Return the error for what only a clone can do."""
    return MissingExtraError(
        f"{what} needs the laboratory, which is not part of the installed package: run it in a "
        f"clone of the project's repository, after {INSTALL}"
    )
