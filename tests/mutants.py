"""Mutation tests of the engine.

    python -m tests.mutants --sample 100 --seed 1 --workers 2

A mutant is the engine with one small change: another comparison or operator, a constant one off,
`and` for `or`, a condition negated, an assignment left out. The quick tests of the engine should
fail on it. One on which they pass has survived: it shows what no test asks for. Survivors that no
test can tell from the engine are explained in mutants.json. A mutant is named by its file, its
function, and what the changed statement or condition then says: nothing else in a file moves it
into a sample or out of one.

Every mutant is written into a copy of the project, and its tests run as Python, not compiled, in a
process forked after the slow imports. Needs a system with `fork`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pytest

PROJECT: Final = Path(__file__).parents[1]
ENGINE: Final = "fiveup_env/engine"
EXPLAINED: Final = Path(__file__).with_suffix(".json")

LEFT_OUT: Final = {"__init__.py"}

# Quick and strict tests, in two parts: most mutants are killed before the second.
FIRST: Final = ("engine_against_reference", "rules_of_scoring")
FIRST_OF: Final = {
    "valid.py": ("engine_against_reference", "hostile_bytes"),
    "exponentials.py": ("exponentials",),
}
TESTS: Final = ("rules_of_play", "views", "game", *FIRST, "hostile_bytes")
SECONDS_PER_TEST: Final = 5  # of processor time; a mutant may run for ever

COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


class Place(NamedTuple):
    """A node that can be changed."""

    node: ast.AST
    owner: Any  # the list or the node that holds it
    name: Any  # its index or its field there
    part: ast.AST  # the statement, condition or keyword that it belongs to
    function: str

    def put(self, node: ast.AST) -> None:
        """Put a node there."""
        if isinstance(self.owner, list):
            self.owner[self.name] = node
        else:
            setattr(self.owner, self.name, node)


class Mutant(NamedTuple):
    """One small change of one file of the engine."""

    file: str
    function: str
    text: str  # the changed statement, condition or keyword
    tree: ast.Module
    place: Place
    node: ast.AST

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the mutant."""
        return self.file, self.function, self.text

    def source(self) -> str:
        """Return the changed file."""
        self.place.put(self.node)
        changed = ast.unparse(self.tree)
        self.place.put(self.place.node)
        return changed


# --- Making mutants


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse(path.read_bytes())
    for place in list(_places(tree, tree, "module")):
        for node in _variants(place):
            place.put(node)
            part = node if place.part is place.node else place.part
            text = ast.unparse(part).partition("\n")[0]  # of a compound statement its first line
            place.put(place.node)
            if isinstance(node, ast.Pass):
                text = f"without {ast.unparse(place.node)}"
            yield Mutant(path.name, place.function, text, tree, place, node)


def _places(node: ast.AST, part: ast.AST, function: str) -> Iterator[Place]:
    """Yield what can be changed below a node."""
    if isinstance(node, ast.JoinedStr) or _is_for_types(node):
        return
    fields = ast.iter_fields(node)
    if isinstance(node, ast.FunctionDef):
        function, fields = node.name, iter([("body", node.body)])
    for name, value in fields:
        held = enumerate(value) if isinstance(value, list) else [(name, value)]
        for key, child in held:
            if isinstance(child, ast.AST) and name != "annotation":
                own = isinstance(child, (ast.stmt, ast.keyword)) or isinstance(node, ast.BoolOp)
                below = child if own else part
                yield Place(child, value if isinstance(value, list) else node, key, below, function)
                yield from _places(child, below, function)


def _is_for_types(node: ast.AST) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _variants(place: Place) -> Iterator[ast.AST]:
    """Yield the nodes that may take the place of another."""
    node = place.node
    yield from _otherwise(node)
    if place.name == "test" and not isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        assert isinstance(node, ast.expr)
        yield ast.UnaryOp(ast.Not(), node)
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
    if place.function != "module" and isinstance(node, (ast.Assign, ast.AugAssign)):
        yield ast.Pass()


def _otherwise(node: ast.AST) -> Iterator[ast.expr]:
    """Yield expressions that compare, combine or count otherwise."""
    match node:
        case ast.Compare(left, ops, values):
            for i, operator in enumerate(ops):
                for other in COMPARISONS[type(operator)]:
                    yield ast.Compare(left, [*ops[:i], other(), *ops[i + 1 :]], values)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)


# --- Running the tests


class _Limit:
    """A plugin of pytest that lets the system end a process whose test takes too long."""

    def pytest_runtest_setup(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_TEST)


def passes(tree: Path, names: Sequence[str], *options: str) -> bool:
    """Return whether some files of tests pass in a copy of the project, in a process of its own."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:  # pragma: no cover
        _run_tests(tree, names, options)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in {pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise RuntimeError(f"pytest could not run the tests of {tree}: exit code {code}")
    return code == 0


def _run_tests(tree: Path, names: Sequence[str], options: Sequence[str]) -> None:
    """Become the process that runs the tests, and end with the exit code of pytest."""
    code = 3
    try:
        if not options:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
        for name in list(sys.modules):
            if name.split(".")[0] in {"tests", "fiveup_env"}:
                del sys.modules[name]
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_TEST)
        files = [str(path) for name in names for path in Path("tests").glob(f"*/test_{name}.py")]
        chosen = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        chosen += ["-m", "not slow and not compiled"]
        chosen += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # Hypothesis is there already
        code = pytest.main([*chosen, *options, *files], plugins=[_Limit()])
    except BaseException:  # noqa: BLE001  (a forked process must not return to its parent's work)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


_tree = Path()  # a worker's own copy


def _begin_worker(scratch: Path) -> None:
    global _tree  # noqa: PLW0603  (a worker has no other place of its own)
    _tree = scratch / str(os.getpid())
    shutil.copytree(scratch / "project", _tree)


def _is_killed(file: str, source: str) -> bool:
    path = _tree / ENGINE / file
    before = path.read_text("utf-8")
    _write(path, source)
    try:
        first = FIRST_OF.get(file, FIRST)
        rest = [name for name in TESTS if name not in first]
        return not (passes(_tree, first) and passes(_tree, rest))
    finally:
        _write(path, before)


def _write(path: Path, source: str) -> None:
    """Write a module whose bytecode is made anew: two versions may have one time and size."""
    path.write_text(source, "utf-8")
    Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)


# --- The command line


def explained() -> dict[tuple[str, str, str], str]:
    """Return why no test can kill some mutants, by their keys."""
    return {
        (entry["file"], entry["function"], entry["mutant"]): entry["why"]
        for entry in json.loads(EXPLAINED.read_text())
    }


def every_mutant() -> list[Mutant]:
    """Return all mutants of the engine, in the order of their files."""
    paths = sorted((PROJECT / ENGINE).glob("*.py"))
    return [mutant for path in paths if path.name not in LEFT_OUT for mutant in mutants_of(path)]


def main(arguments: list[str] | None = None) -> int:
    """Run the tests on mutants; return 1 if one survived that is not explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, help="how many mutants to run (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", default="", help="a file, or a function of one")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--survivors", action="store_true", help="do not print the killed")
    options = parser.parse_args(arguments)

    mutants, reasons = every_mutant(), explained()
    if stale := reasons.keys() - {mutant.key for mutant in mutants}:
        print(f"{EXPLAINED.name} explains what is not a mutant: {min(stale)}")
        return 1
    total = len(mutants)
    mutants = [mutant for mutant in mutants if options.only in {"", mutant.file, mutant.function}]
    if options.sample is not None:
        mutants.sort(key=lambda mutant: Random(f"{options.seed} {mutant.key}").random())
        del mutants[options.sample :]
    run = [mutant for mutant in mutants if mutant.key not in reasons]

    began, survived = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        _copy_project(scratch / "project")
        if not passes(scratch / "project", TESTS, "--durations=5"):
            print("the tests fail without any change")
            return 1
        with ProcessPoolExecutor(
            options.workers, get_context("fork"), _begin_worker, (scratch,)
        ) as pool:
            running = {
                pool.submit(_is_killed, mutant.file, mutant.source()): mutant.key for mutant in run
            }
            for done in as_completed(running):
                killed = done.result()
                survived += not killed
                if not (killed and options.survivors):
                    print("killed  " if killed else "SURVIVED", *running[done], flush=True)
    print(
        f"{len(mutants)} of {total} mutants: {len(run) - survived} killed, {survived} survived, "
        f"{len(mutants) - len(run)} explained in {EXPLAINED.name}; "
        f"{time.monotonic() - began:.0f} s"
    )
    return int(survived > 0)


def _copy_project(tree: Path) -> None:
    tree.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("fiveup_env", "tests"):
        shutil.copytree(PROJECT / name, tree / name, ignore=ignored)
    shutil.copy(PROJECT / "pyproject.toml", tree)


if __name__ == "__main__":
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # read when Numba is imported
    for imported in ("hypothesis", "numba", "numpy"):  # what is slow, and what no mutant changes
        importlib.import_module(imported)
    sys.exit(main())
