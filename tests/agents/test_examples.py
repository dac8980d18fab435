"""The examples run as a user would run them, and print what they promise."""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from tests.support import ROOT, python

FOLDER = ROOT / "examples"
EXAMPLES = sorted({*FOLDER.glob("*.py")} - {FOLDER / "bot.py"})  # the bot waits for questions

# What an example prints, in order.
PROMISED = {
    "aec_loop": [r"player_\d sets \d-\d\n", r"player_0: \d+ moves, [+-]\d+ points"],
    "gymnasium_loop": [r"at_random: [+-]0", r"most_points: \+2"],
    "minari_episodes": [r"10 episodes, \d+ steps, \d+ won"],
    "offline": [r"cloning: \d+ %", r"weighed: \d+ %"],
    "openspiel_cfr": [r"after 8 rounds: NashConv 0\.", r"greedy .* NashConv \d"],
    "optuna_search": [r"run 0: [+-]\d", r"run 4: [+-]\d", "The best: learning_rate=0"],
    "own_agent": ["heavy .* heavy:point=5", "agent .* Elo"],
    "own_encoder": ["`held`", r"held: \[", r"\(1000, 15\), Gymnasium: \(15,\)"],
    "ray_tune": [r"run 0: [+-]\d", r"run 3: [+-]\d", "The best: learning_rate=0"],
    "rllib": ["update 20: ", r"Against random play it scores \+\d"],
    "sb3_ppo": ["before: ", r"after: \+\d"],
    "seats_cleanrl": [r"after 0 windows: -1\.\d", r"after 20 windows: [+-]0\.\d"],
    "seats_connect_four": [r"before, 9\d% after"],
    "seats_mistakes": [r"-1\.0, .* \+1\.0", r"-0\.5, .* \+0\.5", r"-0\.6, .* \+0\.6"],
    "seats_rllib": [r"update 1: \d+ hands", r"update 3: \d+ hands"],
    "seats_sb3": [r"after 0 windows: -1\.\d", r"after 20 windows: [+-]0\.\d"],
    "seats_tianshou": [r"after 0 windows: -1\.\d", r"after 10 windows: [+-]0\.\d"],
    "seats_torchrl": [r"after 1 windows: -1\.\d", r"after 20 windows: [+-]0\.\d"],
    "shipped_policy": [r"seat \d sets", r"\d-\d@\d: 0\.\d\d", "It won 9. % of the games"],
}


def missing_packages(example: Path) -> list[str]:
    """Return the packages that an example imports and that are not installed."""
    imported = set()
    for node in ast.walk(ast.parse(example.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
    return sorted(name for name in {name.split(".")[0] for name in imported} if not find_spec(name))


def printed_by(example: Path, folder: Path, *words: str) -> str:
    """Return what an example prints when it is run from another folder."""
    apart = {"OMP_NUM_THREADS": "1", "MINARI_DATASETS_PATH": f"{folder}-minari"}
    done = python(str(example), *words, cwd=folder, **apart)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow  # and run by `nox -s readme`
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_prints_what_it_promises(example: Path, tmp_path: Path) -> None:
    if missing := missing_packages(example):
        pytest.skip(f"examples/{example.name} (no {', no '.join(missing)})")
    text = printed_by(example, tmp_path)
    assert text.strip()
    assert re.search(".*".join(PROMISED.get(example.stem, [])), text, re.DOTALL), text
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_is_learnt_from_data_in_a_folder_is_kept_there_as_policies(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="learning from data (no PyArrow)")
    from agents.data.files import make_data
    from agents.data.plan import Plan

    plan = Plan(agents=("partner",), positions=300, values="pimc:worlds=4", encoder="lookahead")
    make_data(tmp_path / "data", plan)
    text = printed_by(FOLDER / "offline.py", tmp_path, str(tmp_path))
    assert re.search(".*".join(PROMISED["offline"]), text, re.DOTALL), text
    for method in ("cloning", "weighed"):
        agent = make_agent(f"policy:{tmp_path / method}")
        assert isinstance(agent, PolicyAgent)
        assert agent.about["data"] == f"{tmp_path}/data"
        assert "offline.py" in agent.about["command"]
        with pytest.raises(PolicyError, match=r"needs a policy with values"):  # it has none
            make_agent(f"policy+search:{tmp_path / method}")
