"""What the library has not, Numba compiles, and keeps by the source that it is compiled from."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import config

from fiveup_env import Game
from fiveup_env.engine.legality import is_legal_at
from fiveup_env.files import is_ours
from fiveup_env.native.dispatchers import _folder
from tests.support import on_posix, python

pytestmark = pytest.mark.compiled

LOWER = """
from fiveup_env.native import compiled

@compiled
def number():
    return {number}
"""
UPPER = """
from fiveup_env.native import compiled
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
    print("read", *entry.dispatcher.stats.cache_hits.values())
except IndexError:
    print("refused", *entry.dispatcher.stats.cache_hits.values())
"""
ENTRY = """
from fiveup_env.native import compiled

@compiled
def entry(array, i):
    return array[i]
"""
TWICE = """
from fiveup_env.native import compiled

@compiled
def twice(number):
    return number + number
"""
CALL = "import numpy; from package.module import twice; print(twice(numpy.{kind}(2)))\n"
HITS = "print(sum(twice.dispatcher.stats.cache_hits.values()))"


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


def test_code_with_and_without_bounds_checking_is_cached_apart(tmp_path: Path) -> None:
    write_module(tmp_path, "package", "module", ENTRY)
    words = [printed_by(OUTSIDE, tmp_path, NUMBA_BOUNDSCHECK=checked) for checked in "010"]
    assert words == [["read"], ["refused"], ["read", "1"]]


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
        return _folder.__wrapped__(folder / "package" / "module.py", frozenset())

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


def test_compiled_code_of_ones_own_calls_functions_of_the_library() -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def count(games: np.ndarray) -> int:
        legal = 0
        for action in range(121):
            legal += is_legal_at(games, 0, action)
        return legal

    game = Game(seed=1)
    assert count(game.state()) == len(game.legal_moves)
