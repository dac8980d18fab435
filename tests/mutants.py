"""Mutation tests of the engine.

    python -m tests.mutants --sample 100 --seed 1 --workers 2

A mutant is the engine with one small change: another comparison or operator, a constant one off,
`and` for `or`, a condition negated, an assignment left out. The quick tests of the engine should
fail on it. One on which they pass has survived: it shows what no test asks for. Survivors that no
test can tell from the engine are explained in mutants.json.

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
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECT: Final = Path(__file__).parents[1]
ENGINE: Final = "fiveup_env/engine"
EXPLAINED: Final = Path(__file__).with_suffix(".json")

# What compiles is not run as Python, and what takes its place there is what the tests run on.
LEFT_OUT: Final = {"__init__.py", "compiled.py", "interpreted.py"}

# Quick and strict tests, in two parts: most mutants are killed before the second.
FIRST: Final = ("engine_against_reference", "rules_of_scoring")
FIRST_OF: Final = {
    "valid.py": ("engine_against_reference", "hostile_bytes"),
    "exponentials.py": ("exponentials",),
}
TESTS: Final = ("rules_of_play", "views", "game", *FIRST, "hostile_bytes")
SLOW: Final = (
    *("every_field", "every_preset", "move_sequences"),
    *("fuzzer", "search", "policy", "whatever", "saved", "encoder", "overridden"),
    *("pop_undoes", "somewhere_exactly_once", "those_of_the_ends", "permuted", "later_draw"),
    *("about_equally_often", "reaches_an_outcome"),
)
CHOSEN: Final = f"not ({' or '.join(SLOW)} or (hostile_view_in and not as_views))"
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


@dataclass(frozen=True)
class Mutant:
    """One small change of one file of the engine."""

    file: str
    function: str
    line: int
    text: str  # the changed line
    source: bytes

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the mutant in mutants.json, wherever its line moves to."""
        return self.file, self.function, self.text

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.text}"


# --- Making mutants


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file, in the order of its source."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for function, node, changed in _changes(ast.parse(source), "module"):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        made = source[:begin] + changed.encode() + source[end:]
        last = made.index(b"\n", begin + len(changed.encode()))
        text = " ".join(made[starts[node.lineno - 1] : last].decode().split())
        yield Mutant(path.name, function, node.lineno, text, made)


def _changes(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield what can be changed below a node: its function, the node, and its new source."""
    if isinstance(node, ast.FunctionDef):
        for statement in node.body:
            yield from _changes(statement, node.name)
        return
    if isinstance(node, ast.JoinedStr) or _is_for_types(node):
        return
    if isinstance(node, (ast.expr, ast.stmt)):
        for changed in _variants(node, inside=function != "module"):
            yield function, node, changed
    if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not _is_changed(node.test):
        yield function, node.test, f"(not ({ast.unparse(node.test)}))"
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
            yield from _changes(child, function)


def _is_for_types(node: ast.AST) -> bool:
    test = node.test if isinstance(node, ast.If) else None
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _is_changed(condition: ast.expr) -> bool:
    """Return whether some variant of a condition is, or is close to, its negation."""
    return isinstance(condition, (ast.Compare, ast.BoolOp, ast.UnaryOp))


def _compared_otherwise(node: ast.Compare) -> Iterator[str]:
    for i, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            ops = [*node.ops[:i], other(), *node.ops[i + 1 :]]
            yield ast.unparse(ast.Compare(node.left, ops, node.comparators))


def _variants(node: ast.expr | ast.stmt, *, inside: bool) -> Iterator[str]:
    """Yield the sources that may take the place of a node; `inside` says it is in a function."""
    if isinstance(node, ast.Compare):
        yield from _compared_otherwise(node)
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"({ast.unparse(ast.BoolOp(swapped, node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield f"({ast.unparse(ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield str(node.value + 1)
        yield f"({node.value - 1})"
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        yield ast.unparse(ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value))
    if inside and isinstance(node, (ast.Assign, ast.AugAssign)):
        yield f"pass  # {ast.unparse(node)}"


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
        chosen = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-k", CHOSEN]
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


def _is_killed(mutant: Mutant) -> bool:
    path = _tree / ENGINE / mutant.file
    before = path.read_bytes()
    _write(path, mutant.source)
    try:
        first = FIRST_OF.get(mutant.file, FIRST)
        rest = [name for name in TESTS if name not in first]
        return not (passes(_tree, first) and passes(_tree, rest))
    finally:
        _write(path, before)


def _write(path: Path, source: bytes) -> None:
    """Write a module whose bytecode is made anew: two versions may have one time and size."""
    path.write_bytes(source)
    Path(importlib.util.cache_from_source(path)).unlink(missing_ok=True)


# --- The command line


def explained() -> dict[tuple[str, str, str], str]:
    """Return why no test can kill some mutants, by their keys."""
    return {
        (one["file"], one["function"], one["mutant"]): one["why"]
        for one in json.loads(EXPLAINED.read_text())
    }


def every_mutant() -> list[Mutant]:
    """Return all mutants of the engine, in the order of their files."""
    paths = sorted((PROJECT / ENGINE).glob("*.py"))
    return [one for path in paths if path.name not in LEFT_OUT for one in mutants_of(path)]


def main(arguments: list[str] | None = None) -> int:
    """Run the tests on mutants; return 1 if one survived that is not explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, help="how many mutants to run (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants the sample has")
    parser.add_argument("--only", default="", help="a file, or a function of one")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--survivors", action="store_true", help="do not print the killed")
    options = parser.parse_args(arguments)

    mutants, reasons = every_mutant(), explained()
    if stale := reasons.keys() - {mutant.key for mutant in mutants}:
        print(f"{EXPLAINED.name} explains what is not a mutant: {min(stale)}")
        return 1
    total = len(mutants)
    mutants = [one for one in mutants if options.only in {"", one.file, one.function}]
    if options.sample is not None and options.sample < len(mutants):
        chosen = set(Random(options.seed).sample(range(len(mutants)), options.sample))
        mutants = [one for i, one in enumerate(mutants) if i in chosen]
    run = [one for one in mutants if one.key not in reasons]

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
            running = {pool.submit(_is_killed, mutant): mutant for mutant in run}
            for done in as_completed(running):
                killed = done.result()
                survived += not killed
                if not (killed and options.survivors):
                    print("killed  " if killed else "SURVIVED", running[done], flush=True)
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
