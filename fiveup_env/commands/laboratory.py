"""The commands that scripts of a clone do, too: `train`, `evaluate` and `benchmark`."""

from __future__ import annotations

import sys
from runpy import run_path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.laboratory import find_clone, laboratory_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCRIPTS: Final = {"train": "train.py", "evaluate": "evaluate.py", "benchmark": "evaluate.py"}


def run_script(command: str, words: Sequence[str]) -> int:
    """Do what `python SCRIPT ...` does in a clone, which ends in SystemExit.

    Without a clone, agents are compared in the same way, those of the library.
    """
    if command == "benchmark":
        words = _as_options(vars(parser_of(command).parse_args(words)))
    clone = find_clone()
    if clone is None:
        if command == "train":
            raise laboratory_needed(f"{command!r}")
        from fiveup_env.commands.evaluate import main

        return main(words)
    script = clone / SCRIPTS[command]
    sys.path.insert(0, str(clone))  # as for any script
    sys.argv = [str(script), *words]
    run_path(str(script), run_name="__main__")
    return 0


def parser_of(command: str) -> Any:
    """Return the parser of a command that a script does, or None if it needs a clone."""
    if command != "train":
        from fiveup_env.commands.evaluate import benchmark_parser, parser

        return benchmark_parser() if command == "benchmark" else parser()
    clone = find_clone()
    if clone is None:
        return None
    sys.path.insert(0, str(clone))
    return run_path(str(clone / SCRIPTS[command]))["parser"]()


def _as_options(parsed: Mapping[str, Any]) -> list[str]:
    """Return options that say what has been parsed."""
    return [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in parsed.items()
        if value is not None and value is not False  # 0 equals False
    ]
