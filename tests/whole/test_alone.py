"""The library by itself: it plays, evaluates and benchmarks beside a package called `agents`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
from importlib.util import find_spec
import sys
from fiveup_env.cli import main
from fiveup_env.play.table import Setup, Table
table = Table(Setup(seed=1, opponents="policy"))
table.go_on()
table.play(table.choices()[0].move)

words = "evaluate greedy policy --deals 2 --episode hand --chunk 1 --cores 2"
assert main(words.split()) == 0

from fiveup_env.arena.benchmark.protocol import Protocol
from fiveup_env.cli import benchmark
from tests.arena.test_benchmark import SMALL
benchmark.read_protocol = lambda _: SMALL
Protocol.check = lambda _: None
assert main("benchmark fiveup-v1 --agents greedy --quick --cores 2".split()) == 0

assert 'agents' not in sys.modules
print(find_spec('agents').origin)
"""


@pytest.mark.slow
def test_a_foreign_package_called_agents_is_not_imported(tmp_path: Path) -> None:
    foreign = tmp_path / "agents" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("raise RuntimeError('the foreign package was imported')\n")
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(foreign)
