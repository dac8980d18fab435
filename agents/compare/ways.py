"""Ways to train, and the runs that train them: in runs/NAME, a folder for each way and seed."""

from __future__ import annotations

import os
import shlex
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from agents.learn.training import Training
from agents.policies.agent import spec_of
from agents.processes import workers
from agents.runs.config import FREE_KEYS, load_config, read_config
from agents.runs.display import Display
from agents.runs.folder import Run, RunError, folder_named
from agents.runs.metrics import read_metrics
from agents.version import code_version
from fiveup_env.errors import InputError
from fiveup_env.files import locked
from fiveup_env.progress import show_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from agents.runs.config import Config
    from fiveup_env.rules.fields import Rules

LETTERS: Final = "ab"  # of the two ways
CONTINUES: Final = "what was learnt is kept, and the same command continues"
LENGTH: Final = "decisions"  # the only free key that changes what a run learns


@dataclass(frozen=True)
class Way:
    """A way to train: its name in tables, its configuration, and the folder of its runs."""

    name: str
    config: Config
    folder: Path

    def run(self, seed: int) -> Run:
        """Return the run with a seed."""
        return Run(self.folder.with_name(f"{self.folder.name}-{seed}"))

    def spec(self, seed: int) -> str:
        """Return the spec of the policy that a run has made."""
        return spec_of(os.path.relpath(self.run(seed).policy), self.config.encoder)


def ways_of(texts: Sequence[str], name: str, *, trust: bool, **keys: Any) -> list[Way]:
    """Return the two ways that are written as for `train.py`, with the same changes to both."""
    folder, words, ways = folder_named(name), [shlex.split(text) for text in texts], []
    for letter, own, others in zip(LETTERS, words, reversed(words), strict=True):
        if not own:
            raise InputError("name a config for each way, such as selfplay")
        config = replace(load_config(own[0], own[1:], trust=trust), **keys)
        changes = " ".join(word for word in own if word not in others)
        ways.append(Way(changes or own[0], config, folder / letter))
    if not differing_keys(ways):
        raise InputError("the two are trained alike: change a key of one, as network=residual does")
    if not common_rules(ways):
        raise InputError("the two learn other rules, or with other players, so they cannot meet")
    return ways


def common_rules(ways: Sequence[Way]) -> list[Rules]:
    """Return the rules that both ways learn."""
    first, second = (way.config.all_rules for way in ways)
    return [rules for rules in first if rules in second]


def differing_keys(ways: Sequence[Way]) -> dict[str, tuple[Any, Any]]:
    """Return the keys that the two ways do not share, with the values of both."""
    first, second = (way.config.as_dict() for way in ways)
    return {key: (first[key], second[key]) for key in first if first[key] != second[key]}


def train_all(ways: Sequence[Way], seeds: int, cores: int) -> None:
    """Train what is not trained yet, a run on each core."""
    runs = [
        (replace(way.config, seed=seed), way.run(seed)) for seed in range(seeds) for way in ways
    ]
    waiting = [(config, run) for config, run in runs if not is_trained(config, run)]
    total = sum(config.decisions or 0 for config, _ in waiting)
    try:
        with workers(cores) as pool:
            left: dict[Future[None], Run] = {}
            begun = iter(waiting)
            while True:
                # No more than are trained at once, as a pool does not give back what it has taken.
                for config, run in islice(begun, cores - len(left)):
                    left[pool.submit(train, config, run.folder)] = run
                if not left:
                    break
                for future in wait(left, timeout=1, return_when=FIRST_COMPLETED).done:
                    future.result()
                    show_line("", end="\r")
                    print(f"{os.path.relpath(left.pop(future).folder)}: trained", flush=True)
                ends = [read_metrics(run.metrics_file)[-1:] for _, run in waiting]
                made = sum(line[LENGTH] for lines in ends for line in lines)
                show_line(f"training: {made / total:.0%} of {total:,} decisions")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(CONTINUES) from None
    if not all(is_trained(config, run) for config, run in runs):
        raise KeyboardInterrupt(CONTINUES)


def is_trained(config: Config, run: Run) -> bool:
    """Return whether a run is at its end; raise RunError if it belongs to another comparison."""
    if not run.config_file.is_file():
        return False
    if (code := run.about().get("code")) != code_version():
        raise RunError(
            f"{run.folder} was trained by version {code} of the code, not {code_version()}; give "
            "another comparison another --name"
        )
    kept, wanted = read_config(run.config_file, {}, trust=True).as_dict(), config.as_dict()
    for key in wanted:
        if kept[key] != wanted[key] and (key == LENGTH or key not in FREE_KEYS):
            raise RunError(
                f"{run.folder} was trained with {key}={kept[key]}, not {wanted[key]}; give another "
                "comparison another --name"
            )
    checkpoint = run.newest(config)
    return checkpoint is not None and checkpoint.about[LENGTH] >= wanted[LENGTH]


def train(config: Config, folder: Path) -> None:
    """Train a run, or continue it, without a display; a signal stops it after an update."""
    run = Run(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(run.lock), Display(Console(quiet=True)) as display:
        training = Training(config, run, display, run.newest(config))
        with closing(training.learner):
            run.begin(config)
            training.train()
