"""The check that every change must pass finds faults that a twin in JAX might have."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

PROJECT = Path(__file__).parents[2]
CHECK = "import sys; from tests.jax.compare import checked; sys.exit(checked())"

# A file, what it has, and what it might have had.
FAULTS = [
    ("dealing", "place = _PLACES - rules.boneyard", "place = _PLACES - rules.boneyard - 1"),
    ("dealing", "follows = (tile == partners[step]) &", "follows = (tile == step) &"),
    ("words", "hashed((key[0], key[1]), EPISODE_STEP, episode)", "hashed((key[0], key[1]), EPISODE_STEP, 0)"),
    ("layout", "jnp.uint32(CLOSED - ONE_SIDE)", "jnp.uint32(1)"),
    ("layout", "jnp.where(last_side, 2 * pip, 0)", "jnp.where(last_side, pip, 0)"),
    ("layout", "(game.spinner < 0) & sets_double", "sets_double"),
    ("legality", "forced = (game.forced_lead >= 0) & (union(game.played) == 0)", "forced = union(game.played) < 0"),
    ("legality", "drawn(rules, game) < most_drawn(rules)", "drawn(rules, game) < rules.boneyard"),
    ("play", "ahead = SEATS - seat - 1", "ahead = SEATS - seat"),
    ("play", "return taken, stuck & (first_fit < _FAR)", "return taken, stuck"),
    ("play", "(passes == rules.players) & (goes_on | chose_pass)", "(passes == rules.players) & goes_on"),
    ("play", "entry(after.scores, side) >= rules.target", "entry(after.scores, side) > rules.target"),
    ("play", "rotated = next_seat(rules, game.lead)", "rotated = game.lead"),
    ("play", "lacks = goes_on & is_there & ((away < passed) | (draws_tile & is_next))", "lacks = goes_on & is_there & (away < passed)"),
    ("scoring", "scores + points > rules.target", "scores + points >= rules.target"),
    ("scoring", "divide(pips + (rules.multiple - 1) // 2, rules.multiple)", "divide(pips + rules.multiple // 2, rules.multiple)"),
    ("scoring", "jnp.where(tied == 1, alone, shared)", "jnp.where(tied <= 2, alone, shared)"),
    ("scoring", "went_out & rest & (pips == low)", "went_out & rest"),
    ("rows", "ring = seat + SEATS", "ring = seat - SEATS + rules.players"),
    ("rows", "plies(game) - game.lack_ply", "plies(game)"),
    ("episodes", "np.float32(-1) / np.float32(n - 1)", "np.float32(-1)"),
    ("episodes", "game.hand_number + 1 == options.max_hands", "game.hand_number == options.max_hands"),
    ("episodes", "quotient = ((size << shift) + jnp.uint32(1)) // jnp.uint32(3)", "quotient = (size << shift) // jnp.uint32(3)"),
    ("episodes", "ending = jnp.where(allowed, ending, ENDED)", "ending = jnp.where(allowed, ending, CUT_OFF)"),
]  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("twin")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("fiveup_env", "tests"):
        shutil.copytree(PROJECT / name, tree / name, ignore=ignored)
    return tree


@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "wrong"), FAULTS)
def test_a_fault_is_found(copy: Path, name: str, right: str, wrong: str) -> None:
    path = copy / "fiveup_env" / "jax" / f"{name}.py"
    source = path.read_text()
    assert source.count(right) == 1
    path.write_text(source.replace(right, wrong))
    try:
        ran = subprocess.run(
            [sys.executable, "-c", CHECK], cwd=copy, capture_output=True, text=True, check=False
        )
    finally:
        path.write_text(source)
    assert ran.returncode == 1
    assert ": a difference after step " in ran.stderr
