"""Every engine comes to the same, bit for bit: the library at each level, Numba, and Python."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game
from fiveup_env.engine.legality import is_legal_at
from fiveup_env.native.functions import LIBRARY
from fiveup_env.native.library import FOLDER, Library, found
from fiveup_env.native.sources import PACKAGE
from fiveup_env.opponents.search.world_statistics import spread_out
from fiveup_env.portable.native import called
from tests.support import python

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(not isinstance(LIBRARY, Library), reason=f"no library: {LIBRARY}"),
]

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


def test_what_is_not_compiled_comes_to_the_same_bit_for_bit() -> None:
    compiled, interpreted = (
        python("-W", "error", "-c", PLAYED, cwd=PACKAGE.parent, NUMBA_DISABLE_JIT=off)
        for off in "01"
    )
    assert (interpreted.returncode, interpreted.stderr) == (0, "")
    assert compiled.stdout == interpreted.stdout


@pytest.mark.slow
def test_numba_and_every_level_come_to_the_same_bit_for_bit() -> None:
    engines = ["numba", *json.loads((FOLDER / "library.json").read_bytes())["levels"]]
    played = [
        python("-W", "error", "-c", PLAYED, cwd=PACKAGE.parent, FIVEUP_ENGINE=engine)
        for engine in engines
    ]
    assert [each.returncode for each in played] == [0] * len(engines)
    assert len({each.stdout for each in played}) == 1


def test_nothing_of_numba_is_imported_to_play_to_search_and_to_learn() -> None:
    code = """
import sys
import numpy as np
from fiveup_env import Batch, Game, belief, make_agent
from fiveup_env.learning.selfplay import SelfPlay

game = Game(seed=1)
for spec in ("partner", "student", "pimc:worlds=2", "policy+search:partners"):
    game.push(game.ask(make_agent(spec)))
belief.marginals(game.view())
Batch(2, seed=1).reset()
SelfPlay.begin("five_up", width=8, games=32).update()
print([name for name in sys.modules if name.split(".")[0] in ("numba", "llvmlite")])
"""
    done = python("-W", "error", "-c", code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_library_has_every_function_that_python_calls() -> None:
    assert {*called()} == {*json.loads((FOLDER / "library.json").read_bytes())["functions"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a copy of the library."""
    return Path(shutil.copytree(FOLDER, tmp_path / "built"))


def told(folder: Path) -> str:
    """Return why there is no library in a folder."""
    reason = found(folder)
    assert isinstance(reason, str)
    return reason


def test_a_library_that_was_changed_or_cut_off_is_not_loaded(folder: Path) -> None:
    [path] = set(folder.iterdir()) - {folder / "library.json"}
    whole = path.read_bytes()
    for code in (whole[:-1], whole + b"!", b""):
        path.write_bytes(code)
        assert told(folder) == f"{path.name} is damaged, or is not the one that was built"


def test_a_library_of_another_system_is_not_loaded(folder: Path) -> None:
    [path] = set(folder.iterdir()) - {folder / "library.json"}
    path.write_bytes(foreign := b"MZ for another system")
    about = json.loads((folder / "library.json").read_bytes())
    about["file"] = hashlib.sha256(foreign).hexdigest()
    (folder / "library.json").write_text(json.dumps(about))
    assert told(folder).startswith(f"{path.name} cannot be loaded: ")
    path.unlink()
    assert told(folder) == "there is no library of compiled functions for this system"
    (folder / "library.json").write_text("[]")
    assert told(folder)


def test_a_library_of_other_source_is_not_loaded(folder: Path) -> None:
    about = json.loads((folder / "library.json").read_bytes())
    about["sources"].remove("engine/play.py")
    (folder / "library.json").write_text(json.dumps(about))
    assert told(folder) == "the library of compiled functions was built of other source"


def test_a_processor_that_is_too_old_is_told_so(folder: Path) -> None:
    about = json.loads((folder / "library.json").read_bytes())
    about["levels"] = ["x86-64-v9"]
    (folder / "library.json").write_text(json.dumps(about))
    assert "the processor is older than x86-64-v9" in told(folder)


def test_what_does_not_fit_a_function_is_refused_with_its_signature() -> None:
    games, most = Game(seed=1).state(), 2**63
    call: Any = is_legal_at
    takes = "is_legal_at(games: Games, i: int, action: int) -> bool cannot be called with"
    wrong = [
        ((games.view(np.uint8), 0, 1), "(uint8[352], int, int)"),
        ((games, 0), "(struct[1], int)"),
        ((games, 0, 1, 2), "(struct[1], int, int, int)"),
        ((None, 0, 1), "(NoneType, int, int)"),
    ]
    for arguments, has in wrong:
        with pytest.raises(TypeError) as error:
            call(*arguments)
        assert str(error.value).endswith(f"{takes} {has}")
    for number, kind in ((1.5, TypeError), ("1", TypeError), (most, OverflowError)):
        with pytest.raises(kind):
            call(games, 0, number)
    call, table = spread_out, np.zeros((4, 4))
    with pytest.raises(TypeError, match="float64\\[4, 2\\], not contiguous"):
        call(None, None, table[:, :2], table)


def test_equal_dtypes_of_other_origin_serve() -> None:
    games = Game(seed=1).state()
    other = games.astype(pickle.loads(pickle.dumps(games.dtype)))
    legal = [[is_legal_at(each, 0, action) for action in range(121)] for each in (games, other)]
    assert other.dtype is not games.dtype
    assert legal[0] == legal[1]
