"""The folder of a run: how it was started, its metrics, its checkpoints and its policy.

runs/NAME/
    .lock           locked while the run is in progress
    config.yaml     the configuration, with every key
    about.json      the command, with those that resumed the run, the version of the code, the seed
    metrics.jsonl   a line for every update
    events.*        the same for TensorBoard
    curve.svg       the learning curve
    checkpoints/    the newest checkpoints, to resume from
    past/           past policies that became rivals
    policy/         the trained policy
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from agents.runs.checkpoints import checkpoints_in, read_newest, write_checkpoint
from agents.runs.config import FREE_KEYS, KEYS, Config, read_config
from agents.version import code_version
from fiveup_env.errors import InputError, unknown
from fiveup_env.files import atomic_file, file_path, locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agents.runs.checkpoints import Checkpoint, State

ABOUT: Final = "about.json"
RUNS: Final = Path(__file__).parents[2] / "runs"


class RunError(InputError):
    """A run that does not exist, or that cannot be resumed with this configuration."""


class Run:
    """The folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = folder / ".lock"
        self.config_file = folder / "config.yaml"
        self.metrics_file = folder / "metrics.jsonl"
        self.curve_file = folder / "curve.svg"
        self.checkpoints = folder / "checkpoints"
        self.policy = folder / "policy"
        self.command = command()

    def begin(self, config: Config) -> None:
        """Write how the run was started or resumed."""
        self.checkpoints.mkdir(exist_ok=True)
        self.command = _joined(self._command_before(), self.command)
        about = {"command": self.command, "code": code_version(), "seed": config.seed}
        with atomic_file(self.folder / ABOUT) as file:
            json.dump(about, file, indent=1)
        with atomic_file(self.config_file) as file:
            yaml.safe_dump(config.as_dict(), file, sort_keys=False)

    def about(self) -> dict[str, Any]:
        """Return how the run was started: its command, the version of the code, and the seed."""
        about: dict[str, Any] = json.loads((self.folder / ABOUT).read_text("utf-8"))
        return about

    def config(self, changes: Mapping[str, Any], *, trust: bool = False) -> Config:
        """Return the configuration to resume with: the run's own, with changes.

        A run is a folder of files like any other: unless it is trusted, its config may name no
        agents that run code, and its checkpoints may hold none.
        """
        config = read_config(self.config_file, changes, trust=trust)
        if config.learner == "rllib" and not trust:
            raise RunError(
                f"learner: the checkpoints of rllib in {self.folder} hold pickled Python, which "
                "only --trust resumes"
            )
        return config

    @property
    def resuming(self) -> str:
        """The command that resumes the run."""
        try:
            self.config({})
        except InputError:
            return f"python train.py --resume {self.folder.name} --trust"
        return f"python train.py --resume {self.folder.name}"

    def newest(self, config: Config) -> Checkpoint | None:
        """Return the checkpoint to resume from, or None if the run has not written one yet.

        Raises `RunError` if the checkpoint was trained with another configuration.
        """
        if not checkpoints_in(self.checkpoints):
            return None
        checkpoint = read_newest(self.checkpoints)
        trained, wanted = checkpoint.about["config"], config.as_dict()
        for name in KEYS:
            if name not in FREE_KEYS and trained.get(name) != wanted[name]:
                raise RunError(
                    f"{name}: the checkpoint {checkpoint.path} was trained with "
                    f"{trained.get(name)!r}, not {wanted[name]!r}; a resumed run may change "
                    f"only {', '.join(FREE_KEYS)}"
                )
        return checkpoint

    def save(self, config: Config, state: State, seconds: float) -> Path:
        """Write a checkpoint."""
        arrays, about = state
        about = about | {"config": config.as_dict(), "seconds": seconds}
        return write_checkpoint(self.checkpoints, about["updates"], arrays, about)

    def _command_before(self) -> str:
        """Return the command that the run was started with, and resumed, if it can be read."""
        try:
            return str(self.about()["command"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return ""

    def last_good(self) -> str:
        """Return the part of an error message that names the newest checkpoint."""
        kept = checkpoints_in(self.checkpoints)
        return f"the last good checkpoint is {kept[-1]}" if kept else "there is no checkpoint yet"


@contextmanager
def new_run(name: str, config: Config) -> Iterator[Run]:
    """Make the folder of a new run, begin the run, and hold its lock in the block.

    A number is added to a name that is taken. If the block is left before the first line of
    metrics, as when the learner refuses the configuration, there is no folder afterwards.
    """
    run = Run(_new_folder(name))
    try:
        with locked(run.lock):
            run.begin(config)
            yield run
    finally:
        if not run.metrics_file.exists():
            shutil.rmtree(run.folder, ignore_errors=True)


def folder_named(name: str) -> Path:
    """Return the folder in `runs/` with this name; raise RunError unless it is a plain one."""
    if name in {"", ".."} or Path(name).name != name:
        raise RunError(f"the name of a run must be a plain folder name, not {name!r}")
    return RUNS / file_path(name)


def _new_folder(name: str) -> Path:
    """Make a folder with this name, or with the first free number after it."""
    folder = folder_named(name)
    RUNS.mkdir(parents=True, exist_ok=True)
    for number in count(2):
        with suppress(FileExistsError):
            folder.mkdir()
            break
        folder = RUNS / f"{name}-{number}"
    return folder


@contextmanager
def resumed_run(chosen: str) -> Iterator[Run]:
    """Find the run with this name or folder, and hold its lock in the block."""
    run = find_run(chosen)
    with ExitStack() as held:
        try:
            held.enter_context(locked(run.lock, wait=False))
        except BlockingIOError:
            raise RunError(
                f"{run.folder} is in progress: wait for its process, or stop it"
            ) from None
        yield run


def find_run(chosen: str) -> Run:
    """Return the run with this name or folder."""
    for folder in (RUNS / chosen, Path(chosen)):
        run = Run(folder)
        if run.config_file.is_file():
            return run
    raise RunError(
        unknown("run", chosen, [path.parent.name for path in RUNS.glob("*/config.yaml")])
    )


def _joined(before: str, line: str) -> str:
    """Return a command line that does what was done before, and then another line."""
    if before.endswith(line):
        return before
    return f"{before} && {line}" if before else line


def command() -> str:
    """Return the command line of this process."""
    return " ".join(["python", Path(sys.argv[0]).name, *sys.argv[1:]])
