"""What is installed, and what is wrong with it: `fiveup doctor`, for people and their issues."""

from __future__ import annotations

import os
import platform
import re
import time
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any, Final

from fiveup_env import Batch, __version__
from fiveup_env.cli.shared import NoOptions, add_command
from fiveup_env.native.functions import LIBRARY
from fiveup_env.native.library import Library

NAME: Final = "fiveup-env"


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "say what is installed, and what is wrong with it"
    add_command(commands, "doctor", about, run, NoOptions)


def run(_options: NoOptions) -> int:
    """Print the report, and return 1 if anything is wrong."""
    report = examine()
    print(report.text())
    return 1 if report.faults else 0


@dataclass
class Report:
    """The installed parts, as pairs of a name and a text, and the problems, as sentences."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the report as it is printed."""
        width = max(len(name) for name, _ in self.facts)
        lines = [f"{name:<{width}}  {fact}" for name, fact in self.facts]
        wrong = [f"{number}. {fault}" for number, fault in enumerate(self.faults, 1)]
        return "\n".join([*lines, "", "What is wrong:", *(wrong or ["nothing that shows here"])])


def examine() -> Report:
    """Look at the installation, and let compiled code run."""
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    report = Report(
        [
            (NAME, f"{__version__}, in {Path(__file__).parents[1]}"),
            ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
            ("system", f"{platform.platform()}, {platform.machine()}"),
            ("cores", f"{usable} usable of {cores}"),
        ]
    )
    _examine_packages(report)
    _examine_library(report)
    _run_compiled(report)
    return report


def _examine_packages(report: Report) -> None:
    """Report the installed versions of all packages that are needed, by whichever extra."""
    try:
        about = metadata(NAME)
    except PackageNotFoundError:
        report.faults.append(
            f"{NAME} can be imported, but it is not installed: pip install -e . in its folder"
        )
        return
    if about["Version"] != __version__:
        report.faults.append(
            f"the code is version {__version__}, but what was installed says {about['Version']}: "
            "install it again"
        )
    required = about.get_all("Requires-Dist", ())
    names = sorted({re.split(r"[^\w.-]", requirement)[0] for requirement in required} - {NAME})
    versions = {name: _version_of(name) for name in names}
    there = [f"{name} {installed}" for name, installed in versions.items() if installed]
    report.facts.append(("packages", ", ".join(there)))
    if missing := [name for name, installed in versions.items() if not installed]:
        report.facts.append(("not installed", ", ".join(missing)))


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _examine_library(report: Report) -> None:
    """Report which compiled code serves."""
    if isinstance(LIBRARY, Library):
        report.facts.append(("compiled code", f"{LIBRARY.path.name} for {LIBRARY.level}"))
    else:
        report.faults.append(
            f"{LIBRARY}, so Numba compiles each function when it is first called: install "
            "the package for this system, or in a clone run python -m fiveup_env.portable native"
        )


def _run_compiled(report: Report) -> None:
    began = time.perf_counter()
    try:
        batch = Batch(1, seed=0)
        batch.reset()
        batch.step(batch.action_mask.argmax(1))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said
        report.faults.append(f"compiled code does not run: {type(error).__name__}: {error}")
    else:
        taken = time.perf_counter() - began
        report.facts.append(("a first move", f"after {taken:.1f} s"))
