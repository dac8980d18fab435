"""What is installed, and what is wrong with it: `fiveup doctor`, for people and their issues."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numba

from fiveup_env import __version__
from fiveup_env.engine.compiled import cache_folders
from fiveup_env.files import is_writable

if TYPE_CHECKING:
    import argparse

NAME: Final = "fiveup-env"
REQUIREMENT: Final = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[.*?\])?\s*(?:>=(?P<least>[\d.]+))?")
EXTRA: Final = re.compile(r"extra == [\"'](.+?)[\"']")
PYTHON: Final = re.compile(r"python_version >= [\"'](\d+)\.(\d+)[\"']")


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    doctor = commands.add_parser("doctor", help="say what is installed, and what is wrong with it")
    doctor.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Print the report, and return 1 if anything is wrong."""
    report = examine()
    print(report.text())
    return 1 if report.faults else 0


@dataclass
class Report:
    """What there is, as pairs of a name and a text, and what is wrong, as sentences."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the report as it is printed."""
        width = max(len(name) for name, _ in self.facts)
        lines = [f"{name:<{width}}  {fact}" for name, fact in self.facts]
        wrong = [f"{number}. {fault}" for number, fault in enumerate(self.faults, 1)]
        return "\n".join([*lines, "", "What is wrong:", *(wrong or ["nothing that shows here"])])


@dataclass(frozen=True)
class Need:
    """A package that is needed: its name, and the least version."""

    name: str
    least: str

    def found(self) -> str | None:
        """Return the version that is installed, or None."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None


def examine() -> Report:
    """Look at the installation, and let compiled code run."""
    report = Report()
    report.facts += [
        (NAME, f"{__version__}, in {Path(__file__).parents[1]}"),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("system", f"{platform.platform()}, {platform.machine()}"),
        ("cores", _cores()),
    ]
    _examine_packages(report)
    _examine_cache(report)
    _run_compiled(report)
    return report


def _cores() -> str:
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return f"{usable} usable of {cores}"


def _examine_packages(report: Report) -> None:
    """Say what is installed of what is needed, and of every extra."""
    try:
        needs, installed = needs_by_extra(requires(NAME) or ()), version(NAME)
    except PackageNotFoundError:
        report.faults.append(
            f"{NAME} can be imported, but it is not installed: pip install -e . in its folder"
        )
        return
    if installed != __version__:
        report.faults.append(
            f"the code is version {__version__}, but what was installed says {installed}: "
            "install it again"
        )
    for extra, packages in needs.items():
        found = {need: need.found() for need in packages}
        there = ", ".join(f"{need.name} {has}" for need, has in found.items() if has)
        missing = [need.name for need, has in found.items() if has is None]
        if extra:
            if missing:
                there = f"without {', '.join(missing)}: pip install '{NAME}[{extra}]'"
            report.facts.append((f"extra {extra}", there or "nothing for this Python"))
        else:
            report.facts.append(("needs", there))
            report.faults += [f"{name} is not installed: pip install {name}" for name in missing]
        for need, has in found.items():
            fault = f"{need.name} {has} is older than {need.least}, the least that is needed: "
            fault += f"pip install --upgrade '{need.name}>={need.least}'"
            if has and _numbers(has) < _numbers(need.least) and fault not in report.faults:
                report.faults.append(fault)


def needs_by_extra(requirements: list[str] | tuple[str, ...]) -> dict[str, list[Need]]:
    """Return what each extra needs on this Python; what is always needed is under ''."""
    needs: dict[str, list[Need]] = defaultdict(list)
    for requirement in requirements:
        wanted, _, marker = requirement.partition(";")
        parts, extra = REQUIREMENT.match(wanted.strip()), EXTRA.search(marker)
        python = PYTHON.search(marker)
        packages = needs[extra[1] if extra else ""]
        fits = python is None or sys.version_info >= (int(python[1]), int(python[2]))
        if parts and parts["name"] != NAME and fits:
            packages.append(Need(parts["name"], parts["least"] or "0"))
    return dict(needs)


def _numbers(text: str) -> tuple[int, ...]:
    """Return a version as numbers, without what follows them such as `+cpu`."""
    return tuple(int(number) for number in re.findall(r"\d+", text.partition("+")[0])[:3])


def _examine_cache(report: Report) -> None:
    """Say where compiled code is kept, how much there is, and whether more can be."""
    folders = sorted(cache_folders())
    if numba.config.DISABLE_JIT:
        report.faults.append("NUMBA_DISABLE_JIT is set, so nothing is compiled: unset it")
    elif not folders:
        report.faults.append(
            "compiled code is kept nowhere, so every start compiles anew: set NUMBA_CACHE_DIR to a "
            "folder that only you can write in"
        )
    if not folders:
        return
    kept = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in kept) / 1e6
    place = os.path.commonpath(folders)
    report.facts.append(
        ("compiled code", f"{len(kept)} files, {size:.0f} MB, in {len(folders)} folders in {place}")
    )
    refused = next((folder for folder in folders if not is_writable(_existing(folder))), None)
    if refused is not None:
        report.faults.append(
            f"compiled code cannot be kept in {refused}, so every start compiles anew: "
            "make the folder writable, or set NUMBA_CACHE_DIR to one that is"
        )


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above that is there."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def _run_compiled(report: Report) -> None:
    began = time.perf_counter()
    from fiveup_env.envs.batch import Batch

    try:
        batch = Batch(1, seed=0)
        batch.reset()
        batch.step(batch.action_mask.argmax(1))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said
        report.faults.append(f"compiled code does not run: {type(error).__name__}: {error}")
    else:
        taken = time.perf_counter() - began
        report.facts.append(("a first move", f"after {taken:.1f} s (compiled once, kept then)"))
