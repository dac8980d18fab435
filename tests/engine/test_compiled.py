"""Compiled code is cached by all the source that it is compiled from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from fiveup_env import Batch, Game, belief, make_agent, raw_env
from fiveup_env.engine.code_cache import PACKAGE, _cache_of, module_sources, source_digest
from fiveup_env.engine.compiled import compiled
from fiveup_env.engine.dispatch import Entry
from fiveup_env.engine.state import side_of
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.files import is_ours
from fiveup_env.game.view_line import view_line, view_of_line
from tests.support import game_of, on_posix, python

pytestmark = pytest.mark.compiled

LOWER = """
from fiveup_env.engine.compiled import compiled

@compiled
def number():
    return {number}
"""
UPPER = """
from fiveup_env.engine.compiled import compiled
from lower.numbers import number

@compiled
def twice():
    return 2 * number()
"""
# Both read an entry that lies inside of what the array is a part of.
OUTSIDE = """
import numpy
from package.module import entry

try:
    entry(numpy.zeros(3)[:2], 2)
    print("read", *entry.stats.cache_hits.values())
except IndexError:
    print("refused", *entry.stats.cache_hits.values())
"""
ENTRY = """
from fiveup_env.engine.compiled import compiled

@compiled
def entry(array, i):
    return array[i]
"""
LATER = """
from fiveup_env.engine.compiled import compiled, compiled_later, signed

@compiled
def half(number):
    if number > 8:
        raise ValueError("too large", number)
    return signed(number) // 2

@compiled_later
def halves(array):
    total = 0
    for number in array:
        total += half(number)
    return total

@compiled_later
def others(array):
    return halves(array)
"""
TWICE = """
from fiveup_env.engine.compiled import compiled

@compiled
def twice(number):
    return number + number
"""
# Saving takes a while, so that all who save without a lock do so at the same time.
SLOWLY = """
import time
from numba.core.caching import IndexDataCacheFile

save = IndexDataCacheFile._save_index

def save_slowly(self, overloads):
    time.sleep(0.5)
    save(self, overloads)

IndexDataCacheFile._save_index = save_slowly
"""
# A disk that is full when the code is to be kept.
FULL = """
import errno
from numba.core.caching import IndexDataCacheFile

def refuse(self, overloads):
    raise OSError(errno.ENOSPC, "No space left on device")

IndexDataCacheFile._save_index = refuse
"""
CALL = "import numpy; from package.module import twice; print(twice(numpy.{kind}(2)))\n"
HITS = "print(sum(twice.stats.cache_hits.values()))"
KINDS = ("int8", "float64")


def write_module(folder: Path, package: str, name: str, source: str) -> None:
    """Write a module of a package."""
    (folder / package).mkdir(exist_ok=True)
    (folder / package / "__init__.py").touch()
    (folder / package / f"{name}.py").write_text(source)


def printed_by(code: str, folder: Path, **environment: str) -> list[str]:
    """Return the words that code prints in a process of its own; a warning is an error."""
    done = python("-W", "error", "-c", code, cwd=folder, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_code_of_a_package_is_compiled_anew_when_a_package_that_it_calls_changes(
    tmp_path: Path,
) -> None:
    write_module(tmp_path, "upper", "doubles", UPPER)
    printed = []
    for number in (3, 5):
        write_module(tmp_path, "lower", "numbers", LOWER.format(number=number))
        code = f"from upper.doubles import twice; print(twice()); {HITS}"
        printed.append(printed_by(code, tmp_path))
    assert printed == [["6", "0"], ["10", "0"]]
    cached = [path.name for path in (tmp_path / "upper" / "__pycache__").glob("fiveup-*")]
    assert [name.rpartition("-")[0] for name in cached] == ["fiveup-doubles"] * 2


def test_processes_that_compile_at_the_same_time_do_not_spoil_each_others_code(
    tmp_path: Path,
) -> None:
    write_module(tmp_path, "package", "module", TWICE)
    calls = [CALL.format(kind=kind) for kind in KINDS]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SLOWLY + call], cwd=tmp_path, stdout=subprocess.PIPE
        )
        for call in calls
    ]
    assert [float(process.communicate()[0]) for process in started] == [4] * len(KINDS)
    words = printed_by("".join(calls) + HITS, tmp_path)
    assert [float(word) for word in words] == [4] * len(KINDS) + [len(KINDS)]


def test_code_with_and_without_bounds_checking_is_cached_apart(tmp_path: Path) -> None:
    write_module(tmp_path, "package", "module", ENTRY)
    words = [printed_by(OUTSIDE, tmp_path, NUMBA_BOUNDSCHECK=checked) for checked in "010"]
    assert words == [["read"], ["refused"], ["read", "1"]]


@pytest.mark.parametrize("kind", ["nbc", "nbi"])
@pytest.mark.parametrize("size", [0, 40])
def test_code_that_was_cut_off_on_disk_is_compiled_anew(
    kind: str, size: int, tmp_path: Path
) -> None:
    write_module(tmp_path, "package", "module", TWICE)
    call = CALL.format(kind="int64")
    printed_by(call, tmp_path)
    for path in (tmp_path / "package" / "__pycache__").rglob(f"*.{kind}"):
        os.truncate(path, size)
    assert [printed_by(call + HITS, tmp_path) for _ in range(2)] == [["4", "0"], ["4", "1"]]


def test_code_that_cannot_be_kept_runs(tmp_path: Path) -> None:
    write_module(tmp_path, "package", "module", TWICE)
    assert printed_by(FULL + CALL.format(kind="int64"), tmp_path) == ["4"]


SOURCES = module_sources(PACKAGE / "engine" / "layout.py")


def test_caches_of_older_source_are_removed_once_they_are_a_day_old(tmp_path: Path) -> None:
    beside = tmp_path / "__pycache__"
    for name in ("fiveup-layout-young", "fiveup-layout-old", "fiveup-other-old"):
        (beside / name).mkdir(parents=True)
    for name in ("fiveup-layout-old", "fiveup-other-old"):
        os.utime(beside / name, (0, 0))
    _cache_of(tmp_path / "layout.py", SOURCES)
    left = sorted(path.name for path in beside.iterdir())
    assert left == ["fiveup-layout-young", "fiveup-other-old"]


@on_posix
def test_no_compiled_code_is_run_from_a_folder_that_others_can_write_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, everybodys = tmp_path / "mine", tmp_path / "everybodys"
    for folder, mode in ((mine, 0o755), (everybodys, 0o777)):
        (folder / "package").mkdir(parents=True)
        folder.chmod(mode)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(mine))

    def find(folder: Path) -> str | None:
        return _cache_of.__wrapped__(folder / "package" / "module.py", SOURCES)

    assert str(find(mine)).startswith(str(mine / "package" / "__pycache__"))
    assert str(find(everybodys)).startswith(str(mine / "fiveup-env"))
    for chosen in ({"XDG_CACHE_HOME": str(everybodys)}, {"CACHE_DIR": str(everybodys)}):
        monkeypatch.setenv("XDG_CACHE_HOME", chosen.get("XDG_CACHE_HOME", str(mine)))
        monkeypatch.setattr(config, "CACHE_DIR", chosen.get("CACHE_DIR", ""))
        with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR to a folder that only you"):
            assert find(everybodys) is None
    monkeypatch.setattr(config, "CACHE_DIR", "")
    everybodys.chmod(0o1777)  # as /tmp: others make things there, but replace nothing
    assert is_ours(everybodys / "package")
    assert not is_ours(everybodys / "new")
    (everybodys / "package").chmod(0o777)
    assert not is_ours(everybodys / "package")


@on_posix
def test_code_that_is_kept_nowhere_runs_all_the_same(tmp_path: Path) -> None:
    write_module(tmp_path, "package", "module", TWICE)
    everybodys = tmp_path / "everybodys"
    everybodys.mkdir(mode=0o777)
    everybodys.chmod(0o777)
    code = "import warnings; warnings.simplefilter('ignore'); " + CALL.format(kind="int64")
    assert printed_by(code, tmp_path, NUMBA_CACHE_DIR=str(everybodys)) == ["4"]
    assert not list(everybodys.iterdir())


def test_the_digest_of_the_source_skips_what_editors_leave_there(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "play.py").write_text("1")
    before = source_digest(frozenset({package}))
    (package / ".#play.py").symlink_to("nobody@nowhere")
    (package / ".ipynb_checkpoints").mkdir()
    (package / ".ipynb_checkpoints" / "play.py").write_text("2")
    (package / "gone.py").symlink_to("nowhere")
    source_digest.cache_clear()
    assert source_digest(frozenset({package})) == before


@compiled
def side(rules: object, seat: int) -> int:
    """Call a function of the library."""
    return side_of(rules, seat)


def test_a_compiled_function_knows_the_files_that_it_is_compiled_from() -> None:
    sources = side.sources  # type: ignore[attr-defined]
    wanted = ("tests/engine/test_compiled.py", "fiveup_env/engine/state.py")
    assert {PACKAGE.parent / name for name in wanted} <= sources
    rules = {path.parent.name for path in module_sources(PACKAGE / "engine" / "play.py")}
    assert rules == {"fiveup_env", "engine", "rules"}


def test_a_constant_that_compiled_code_imports_is_part_of_its_source(tmp_path: Path) -> None:
    for name, text in {
        "package/__init__.py": "",
        "package/inner/__init__.py": "from .. import far",
        "package/far.py": "",
        "package/near.py": "",
        "package/other.py": "",
        "package/near.json": "",
        "package/top.py": "from package import (\n    near,\n)\nimport package.inner\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    sources = module_sources(tmp_path / "package" / "top.py")
    names = {path.name for path in sources if path.is_relative_to(tmp_path / "package")}
    assert names == {"top.py", "near.py", "near.json", "__init__.py", "far.py"}


# What games by random rules come to: states, rows, masks, rewards, truths and beliefs.
PLAYED = """
import hashlib
from itertools import islice
import numpy as np
from fiveup_env import Batch, belief, make_agent
from fiveup_env.encoders import ENCODERS
from fiveup_env.envs.episodes import EPISODES, REWARDS
from tests.engines.soak import random_rules

AGENTS = (
    *("random", "counter", "level:4", "reader", "student:sample=1", "pimc:worlds=2,aim=hand"),
    "pimc:worlds=4,aim=hand,weighed=3,playout=greedy",
)
for k, spec in enumerate(AGENTS):
    rng, agent, digest = np.random.default_rng(k), make_agent(spec), hashlib.sha256()
    batch = Batch(
        3,
        [*islice(random_rules(rng), 3)],
        episode=EPISODES[k % 2],
        reward=REWARDS[k % 3],
        encoder=[*ENCODERS][k % 4],
        illegal="terminate",
        oracle=True,
        seed=k,
    )
    batch.reset()
    for move in range(4):
        views, actions = batch.views(), agent(batch.views(), rng)
        actions[move % 3] = rng.integers(-3, 130)
        worlds = [belief.sample(view, 2, rng) for view in views[:, None]]
        shares = [belief.marginals(view) for view in views[:, None]]
        batch.step(actions)
        truths = batch.observation, batch.action_mask, batch.oracle
        digest.update(batch.save())
        for array in (*worlds, *shares, *truths):
            digest.update(array.tobytes())
    print(digest.hexdigest())
"""


PATIENCE = """
import numpy as np
from fiveup_env.engine import dispatch
from package.module import half, halves, others

few, many = np.arange(8, dtype=np.uint8), np.arange(9, dtype=np.uint8).repeat(9)
for array in (few, few, many):  # a long array is worth compiling for
    print(halves(array), len(halves.overloads))
print(others(few), len(others.overloads))
dispatch.Entry.seconds = 9.0  # as Python, it took too long
print(others(few), len(others.overloads))
try:
    halves(np.full(33, 9, np.uint8))
except ValueError as error:
    print(*error.args, len(half.overloads))  # `half` is a part of others only
"""


def test_what_is_compiled_later_is_python_until_it_pays_and_comes_to_the_same(
    tmp_path: Path,
) -> None:
    write_module(tmp_path, "package", "module", LATER)
    printed = " ".join(printed_by(PATIENCE, tmp_path))
    assert printed == "12 0 12 0 144 1 12 0 12 1 too large 9 0"
    assert printed_by(PATIENCE, tmp_path)[:2] == ["12", "1"]  # the disk has it now


def both_ways(entry: Entry, called: set[Entry]) -> Callable[..., object]:
    """Return what calls an entry compiled and as Python, and compares all that they change."""

    def call(*arguments: object) -> object:
        called.add(entry)
        copies = deepcopy(arguments)
        result = entry(*arguments)
        assert entry.in_python(*copies) == result
        for argument, copy in zip(arguments, copies, strict=True):
            assert not isinstance(argument, np.ndarray) or np.array_equal(argument, copy)  # type: ignore[arg-type]
        return result

    return call


def test_what_is_compiled_later_plays_as_python_what_it_plays_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called, later = set[Entry](), set[Entry]()
    specs = ("partner", "reader", "student", "student:sample=1", "level:1")
    agents = [make_agent(spec) for spec in specs]
    str(Game(seed=1))  # which imports what draws
    for name, module in list(sys.modules.items()):
        for own, value in list(vars(module).items()) if name.startswith("fiveup_env.") else ():
            if isinstance(value, Entry) and value.is_later:
                later.add(value)
                monkeypatch.setattr(module, own, both_ways(value, called))
    for seed, agent in enumerate(agents):
        game = Game("five_up", 2 + seed % 4, seed=seed, hand_size=4)
        for _ in range(4):
            game.push(game.ask(agent))
        assert str(game)
        assert len(game.legal_moves) == len(list(game.legal_moves))
        belief.sample(game.view(), 2, np.random.default_rng(0))
        belief.marginals(game.view())
        belief.count(game.view())
        assert view_of_line(view_line(game.view())) == game.view()
    game_of("0-0", "1-1")
    env = raw_env(episode="hand", encoder="tokens", scaled=True)
    env.reset(seed=1)
    while not env.terminations[env.agent_selection]:
        env.step(int(env.last()[0]["action_mask"].argmax()))
    env.state()
    batch = Batch(3, episode="hand", encoder="lookahead", oracle=True, seed=1)
    batch.reset()
    for _ in range(3):
        batch.step(batch.action_mask.argmax(1))
        assert batch.oracle.any()
    envs = FiveUpVectorEnv(2, opponents="mix:random=1,greedy=1", encoder="flat_belief", seed=1)
    envs.step(envs.reset(seed=1)[1]["action_mask"].argmax(1))
    envs.load(envs.save())
    assert called == later


def test_what_is_not_compiled_comes_to_the_same_bit_for_bit() -> None:
    compiled, interpreted = (
        python("-W", "error", "-c", PLAYED, cwd=PACKAGE.parent, NUMBA_DISABLE_JIT=off)
        for off in "01"
    )
    assert (interpreted.returncode, interpreted.stderr) == (0, "")
    assert compiled.stdout == interpreted.stdout
