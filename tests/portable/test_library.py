"""The C library plays what Python plays, and refuses what is malformed; a page does in Chromium."""

from __future__ import annotations

import ctypes
import hashlib
import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game, Rules, belief
from fiveup_env.learning.runs import GRID, RUN
from fiveup_env.learning.selfplay import settings_of
from fiveup_env.opponents.heuristics.ladder import LADDER, READER
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.play.page import MODULE
from fiveup_env.portable.__main__ import SETTINGS, main
from fiveup_env.portable.calls import CODES, ENTRIES
from fiveup_env.portable.weights import pack
from tests.portable.test_javascript import (
    BINDING,
    HERE,
    RUNS,
    VIEWS,
    Fixed,
    asked,
    learnt,
    random_games,
)
from tests.support import ROOT, python
from tests.web import chromium, folder_server

__all__ = ["asked"]


def build_by_command(*options: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "fiveup_env.portable", *options)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [("native --target amiga", "amiga"), ("weights nobody", "nobody")],
)
def test_what_cannot_be_built_is_said_in_a_sentence(
    words: str, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_OPT", "0")  # as in the process that builds
    monkeypatch.setattr("sys.argv", ["portable", *words.split()])
    assert main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_code_that_is_not_portable_is_refused(tmp_path: Path) -> None:
    code = """
from importlib.util import find_spec
from pathlib import Path
from fiveup_env.engine.state import VIEW
from fiveup_env.portable import build
from fiveup_env.portable.calls import Entry, reads

def listing(view):
    return len([str(view)])

build.ENTRIES.clear()
build.ENTRIES["x"] = Entry(listing, {"view": reads(VIEW)})
build.build("host", Path("never.so"))
"""
    done = python("-c", code, cwd=tmp_path, PYTHONPATH=str(ROOT), **SETTINGS)
    assert "BuildError" in done.stderr
    assert "has no strings" in done.stderr
    assert not (tmp_path / "never.so").exists()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the library, its header and the small network."""
    made = tmp_path_factory.mktemp("library")
    done = build_by_command("host", "-o", str(made / "libfiveup.so"))
    assert done.returncode == 0, done.stderr
    (made / "student.weights").write_bytes(pack("student"))
    return made


def compiled(folder: Path, source: Path, *options: str) -> Path:
    """Return a program that was made from a source with the library."""
    program = folder / source.stem
    subprocess.run(
        [
            *("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *options, "-o", str(program)),
            *(str(source), f"-I{folder}", f"-L{folder}", "-lfiveup", f"-Wl,-rpath,{folder}"),
        ],
        check=True,
    )
    return program


@pytest.mark.slow
def test_the_library_plays_and_chooses_as_python_does(folder: Path) -> None:
    library = ctypes.CDLL(str(folder / "libfiveup.so"))
    student, policy = PolicyAgent("student"), (folder / "student.weights").read_bytes()
    logits, digits = np.zeros(121, np.float32), np.zeros(4, np.uint32)
    shares, views = np.zeros((6, 28)), 0
    for question, _, game in random_games():
        state = np.zeros_like(game.state())
        begun = Game(question["rules"], question["players"], seed=game.seed, **question["fields"])
        rules = begun.rules.to_struct()
        assert not library.fiveup_new_game(at(state), at(rules), ctypes.c_uint64(game.seed))
        for move in game.moves:
            phase = library.fiveup_move(at(state), move.action)
            assert phase in {0, 1, 2}
            assert phase != 1 or not library.fiveup_next_hand(at(state))
        assert state.tobytes() == game.state().tobytes()
        if views == VIEWS or game.turn is None:
            continue
        views += 1
        view, key = game.view(), views
        for k, rung in enumerate((*LADDER, READER)):
            chosen = library.fiveup_heuristic(at(view), k, ctypes.c_uint64(key))
            assert chosen == make_agent(rung)(view, Fixed(key))[0]  # type: ignore[arg-type]
        chosen = library.fiveup_network(at(view), policy, len(policy) // 4, at(logits))
        assert chosen == student(view, Fixed(key))[0]  # type: ignore[arg-type]
        assert (logits == student.logits(view)[0]).all()
        assert not library.fiveup_count_worlds(at(view), at(digits))
        assert sum(int(digit) << 32 * k for k, digit in enumerate(digits)) == belief.count(view)
        assert not library.fiveup_marginals(at(view), at(shares))
        assert (shares == belief.marginals(view)[0]).all()
    assert views == VIEWS


def at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.slow
def test_the_library_learns_as_python_does(folder: Path) -> None:
    library = ctypes.CDLL(str(folder / "libfiveup.so"))
    rules, grid = Rules.preset("five_up", 4).to_struct(), np.zeros((GRID, GRID))
    for settings in RUNS:
        given = settings | {"ticks": 20, "batch_size": 300}
        chosen = settings_of(given)
        size = library.fiveup_learning_size(at(chosen))
        held = np.zeros(size + 64, np.uint8)
        block = held[-held.ctypes.data % 64 :][:size]
        if given.get("reward") == "outlook":
            assert not library.fiveup_outlook(at(rules), at(grid))
        assert not library.fiveup_learning_begin(
            at(chosen), at(rules), at(grid), at(block), size
        )  # fmt: skip
        for progress in (0.3, 0.3, 0.5):
            block[: RUN.itemsize].view(RUN)["progress"] = progress
            assert library.fiveup_learning_update(at(block), size) > 0
        assert not library.fiveup_learning_settle(at(block), size)
        decisions = str(block[: RUN.itemsize].view(RUN)["decisions"][0])
        digest = hashlib.sha256(block.tobytes()).hexdigest()
        assert [decisions, digest] == learnt(given, 2)[:2]


@pytest.mark.slow
def test_null_pointers_are_refused(folder: Path) -> None:
    library = ctypes.CDLL(str(folder / "libfiveup.so"))
    for name, entry in ENTRIES.items():
        nothing = [None if "*" in kind.c else 0 for kind in entry.arguments.values()]
        assert getattr(library, f"fiveup_{name}")(*nothing) == CODES["NO_MEMORY_GIVEN"]


@pytest.mark.slow
def test_arguments_of_all_kinds_are_refused_or_answered(folder: Path) -> None:
    program = compiled(folder, HERE / "fuzz.c", "-fsanitize=address,undefined")
    command = [str(program), str(folder / "student.weights"), "100000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("100000 calls")


TSC = shutil.which("tsc")


@pytest.mark.skipif(TSC is None, reason="the types of fiveup.mjs (no TypeScript)")
def test_the_types_of_the_binding_hold() -> None:
    options = ("--checkJs", "--allowJs", "--noEmit", "--strict", "--target", "es2022")
    libraries = ("--module", "es2022", "--lib", "es2022,dom")
    done = subprocess.run(
        [str(TSC), *options, *libraries, str(BINDING)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the build of the WebAssembly module (no ziglang)"
)
def test_the_same_source_makes_the_same_bytes(tmp_path: Path) -> None:
    done = build_by_command("wasm32", "-o", str(tmp_path / "fiveup.wasm"))
    assert done.returncode == 0, done.stderr
    for name in ("fiveup.wasm", "learning.wasm"):
        assert (tmp_path / name).read_bytes() == BINDING.with_name(name).read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the build of the WebAssembly module (no ziglang)"
)
def test_a_module_without_simd_answers_the_same(asked: tuple[dict[str, Any], Path]) -> None:
    mine, folder = asked
    done = build_by_command("wasm32", "--plain", "-o", str(folder / "fiveup.wasm"))
    assert done.returncode == 0, done.stderr
    for name in ("fiveup.mjs", "learning.mjs"):
        shutil.copyfile(BINDING.with_name(name), folder / name)
    command = ["node", str(HERE / "node.mjs"), str(folder / "fiveup.mjs"), str(folder)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == mine


PAGE = """<!doctype html><title>asking</title><script type="module">
import * as fiveup from "./fiveup.mjs";
import * as learning from "./learning.mjs";
import { answers } from "./cases.mjs";
const cases = await (await fetch("cases.json")).json(), policies = {};
for (const name of cases.policies) policies[name] = await fiveup.Policy.load(`${name}.weights`);
window.found = JSON.stringify(await answers({ ...fiveup, ...learning }, cases, policies));
</script>"""


@pytest.mark.slow
def test_the_module_answers_the_same_in_chromium(asked: tuple[dict[str, Any], Path]) -> None:
    mine, folder = asked
    for name in MODULE:
        shutil.copyfile(BINDING.with_name(name), folder / name)
    shutil.copyfile(HERE / "cases.mjs", folder / "cases.mjs")
    (folder / "index.html").write_text(PAGE)
    with folder_server(folder) as address, chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}/index.html")
        page.wait_for_function("() => window.found", timeout=120_000)
        assert json.loads(page.evaluate("window.found")) == mine
