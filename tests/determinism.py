"""What the same seeds give elsewhere, as a table: `python -m tests.determinism`.

Every row is a fresh process with one thing changed. A cell says whether the bytes are those of the
process that nothing was changed for. `--python PATH`, which may be given several times, adds other
interpreters, as of environments with other versions of NumPy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from fiveup_env import Batch, Rules, make_agent
from fiveup_env.arena.play.games import Task, Terms
from fiveup_env.arena.play.workers import play_tasks
from fiveup_env.belief import marginals
from fiveup_env.envs.vector import FiveUpVectorEnv

ROOT: Final = Path(__file__).parents[1]
AGENTS: Final = ("random", "partner", "pimc:worlds=50", "student", "policy:family")
GAMES: Final = 32
MOVES: Final = 120


def observations() -> bytes:
    """Return deals, observations, masks and rewards of games by several rules."""
    rules = [
        Rules.preset(name, players) for name in ("five_up", "muggins") for players in (2, 3, 4)
    ]
    batch, seen, rng = Batch(GAMES, rules, seed=1), [], np.random.default_rng(1)
    batch.reset()
    for _ in range(MOVES):
        seen += [batch.observation.tobytes(), batch.action_mask.tobytes(), batch.reward.tobytes()]
        batch.step(batch.random_actions(rng))
    return b"".join(seen)


def opponents() -> bytes:
    """Return what a learner sees among opponents that choose by lot."""
    env, seen = FiveUpVectorEnv(GAMES, opponents="greedy", seed=1), []
    env.reset(seed=1)
    for _ in range(MOVES // 4):
        rows, rewards, *_ = env.step(env.action_masks().argmax(1))
        seen += [rows.tobytes(), rewards.tobytes()]
    return b"".join(seen)


def beliefs() -> bytes:
    """Return exact beliefs of some positions."""
    batch = Batch(GAMES, seed=1)
    batch.reset()
    for _ in range(9):
        batch.step(batch.random_actions(np.random.default_rng(1)))
    return b"".join(np.asarray(marginals(view)).tobytes() for view in batch.views()[:, None])


def arena() -> bytes:
    """Return the scores of every agent's games in the arena."""
    tasks = [Task((agent, "greedy"), 1, 2) for agent in AGENTS]
    terms = Terms(Rules.preset(), "hand")
    played = dict(play_tasks(tasks, terms, 1))
    return b"".join(played[task].scores.tobytes() for task in tasks)


def network() -> bytes:
    """Return the probabilities of a network, which are floating-point numbers."""
    batch = Batch(GAMES, seed=1)
    batch.reset()
    agent: Any = make_agent("policy:family")
    return bytes(agent.probabilities(batch.views()).tobytes())


KINDS: Final[tuple[Callable[[], bytes], ...]] = (observations, opponents, beliefs, arena, network)


def digests() -> dict[str, str]:
    """Return a digest of every kind of result in this process."""
    return {kind.__name__: hashlib.blake2b(kind(), digest_size=8).hexdigest() for kind in KINDS}


def in_a_child(method: str) -> dict[str, str]:
    """Return the digests of a child process that is begun in this way."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(digests)


# What is changed in the environment of a process; None leaves a name out.
VARIATIONS: Final[dict[str, dict[str, str | None]]] = {
    "nothing": {},
    "the hash seed": {"PYTHONHASHSEED": "12345"},
    "one thread": {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
    "eight threads": {"OMP_NUM_THREADS": "8"},
    "code for a generic processor": {"NUMBA_CPU_NAME": "generic"},
    "no AVX in NumPy": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"},
    "a Turkish locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "the time zone of Kathmandu": {"TZ": "Asia/Kathmandu"},
    "no HOME": {"HOME": None, "XDG_CACHE_HOME": None},
}
# What makes a folder read-only for one process, also where root runs it.
READ_ONLY: Final = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def told_by(
    python: str, changed: dict[str, str | None], how: str = "here", read_only: str = ""
) -> dict[str, str]:
    """Return the digests that a fresh process tells, and its version of NumPy."""
    environment = {**os.environ, "PYTHONPATH": read_only or str(ROOT), **changed}
    words = [python, "-m", "tests.determinism", "--tell", how]
    if read_only:
        words = ["unshare", "--mount", "sh", "-c", READ_ONLY, read_only, *words]
    done = subprocess.run(
        words,
        env={name: value for name, value in environment.items() if value is not None},
        stdout=subprocess.PIPE,
        check=True,
        cwd=read_only or ROOT,
    )
    return dict(json.loads(done.stdout))


@contextmanager
def copy_of_the_library() -> Iterator[str]:
    """Copy the library without what was compiled, and yield the folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("fiveup_env", "tests"):
            shutil.copytree(
                ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        yield folder


def rows(pythons: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the digests of every row, the unchanged one first."""
    for name, changed in VARIATIONS.items():
        yield name, told_by(sys.executable, changed)
    for method in ("fork", "spawn"):
        yield f"a child by {method}", told_by(sys.executable, {}, method)
    if sys.platform == "linux" and os.getuid() == 0:  # who else may mount?
        with copy_of_the_library() as folder:
            changed = {"XDG_CACHE_HOME": f"{folder}/none", "NUMBA_CACHE_DIR": None}
            yield "a read-only install", told_by(sys.executable, changed, read_only=folder)
    for python in pythons:
        row_digests = told_by(python, {})
        yield f"NumPy {row_digests['numpy']}", row_digests


def main() -> int:
    """Print the table; return 1 if anything differs, but for floating-point numbers."""
    parser = argparse.ArgumentParser(prog="python -m tests.determinism", description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="PATH")
    parser.add_argument("--tell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tell:
        row_digests = digests() if options.tell == "here" else in_a_child(options.tell)
        print(json.dumps(row_digests | {"numpy": np.__version__}))
        return 0
    names = [kind.__name__ for kind in KINDS]
    print("| changed |", " | ".join(names), "|")
    print("| --- |", " | ".join("---" for _ in names), "|")
    base: dict[str, str] = {}
    wrong = False
    for row, row_digests in rows(options.python):
        base = base or row_digests
        same = [row_digests[name] == base[name] for name in names]
        print(
            f"| {row} |",
            " | ".join("same" if equal else "differs" for equal in same),
            "|",
            flush=True,
        )
        wrong |= not all(same[: names.index("network")])
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
