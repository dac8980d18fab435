"""What stands in a file runs nothing: every format that carries specs, and every spec that runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import yaml

import train
from agents import submit
from agents.learn.rivals import Rivals
from agents.learn.starting import first_network
from agents.runs.config import CONFIGS, Config, ConfigError, load_config
from agents.runs.folder import Run, RunError
from fiveup_env import Batch
from fiveup_env.arena.benchmark.entries import Entry, EntryError, read_json
from fiveup_env.cli.shared import Parser
from fiveup_env.doors.mcp import Seat
from fiveup_env.errors import AgentError, FiveUpError
from fiveup_env.opponents import register_agent, registry
from fiveup_env.opponents.networks.files import SHIPPED, PolicyName
from fiveup_env.opponents.trust import check_policy, check_spec
from fiveup_env.play.answers import Answers
from fiveup_env.play.table import Setup
from tests.support import ROOT

MARK: Final = "ran"  # the file that is there once something has run
MODULE: Final = f"""
from pathlib import Path
import numpy as np
Path(__file__).with_name({MARK!r}).touch()
def mine(views, rng): return np.zeros(len(views), int)
"""

RUNNING: Final = {
    "a program": f"program:touch {MARK}",
    "a module": "beside:mine",
    "a language model": "text:beside:mine",
    "a pickle": "model.zip",
    "a pickle by its agent": "sb3:model.zip",
    "a pickle in disguise": "policy:model.zip",
    "what another package offers": "theirs",
    "what was only registered": "ours",
    "an absolute path": "policy:{folder}/../elsewhere",
    "up and away": "policy:../elsewhere",
    "up and back": "torch:../{name}/good",
    "a link that leads out": "policy+search:link,worlds=10",
    "links in a folder": "torch+search:linked",
    "a program in a pair": f"pair:greedy,second=program:touch {MARK}",
    "a module in a pair": "pair:beside:mine,second=greedy",
    "a path in a pair": "pair:student:../elsewhere,second=greedy",
    "a pair in a pair": "pair:pair:greedy,second=greedy",
    "a program in a pair in a mixture": f"mix:greedy=1,pair:greedy,second=program:touch {MARK}=1",
    "a module in seats in a mixture": "mix:seats:greedy,second=beside:mine=1",
    "a link in a pair in a mixture": "mix:pair:student:link,second=greedy=1,greedy=1",
    "a pickle in a pair in a mixture": "mix:pair:greedy,second=model.zip=1",
    "an encoder in a module": "torch:good,encoder=beside:mine",
    "no name": "",
    "no file name": "policy:a\0b",
}


@dataclass
class MyAgent:
    """An agent of somebody who uses the library."""

    skill: int = 1
    path: str = ""
    folder: Path | None = None
    policy: PolicyName | None = None

    def __call__(self, views: np.ndarray, rng: Any) -> np.ndarray:
        """Return an action for every view."""
        raise NotImplementedError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: files of somebody else, with all that their specs may name."""
    made, elsewhere = tmp_path / "files", tmp_path / "elsewhere"
    for place in (made / "good", made / "linked", elsewhere):
        place.mkdir(parents=True)
        for path in SHIPPED["student"].iterdir():
            (place / path.name).write_bytes(path.read_bytes())
    (made / "link").symlink_to(elsewhere)
    (made / "linked" / "policy.json").unlink()
    (made / "linked" / "policy.json").symlink_to(elsewhere / "policy.json")
    (made / "beside.py").write_text(MODULE)
    with zipfile.ZipFile(made / "model.zip", "w") as file:
        file.writestr("policy.pth", f"cos\nsystem\n(S'touch {MARK}'\ntR.")
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(made)])
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    register_agent("ours", "beside:mine")
    offered = {"theirs": registry._loader("beside:mine")}
    monkeypatch.setattr(registry, "offered", lambda: offered)
    return made


def config_of(key: str) -> Callable[[Path, str], Any]:
    def read(folder: Path, spec: str) -> Any:
        values: dict[str, Any] = {key: [spec] if key in {"panel", "rivals", "partners"} else spec}
        if key == "teacher":
            values["learner"] = "expert"
        (folder / "config.yaml").write_text(yaml.safe_dump(values))
        return load_config("config.yaml")

    return read


def policy_to_start_from(folder: Path, spec: str) -> Any:
    path = re.sub("^(policy|torch)([+]search)?:", "", spec).partition(",")[0]
    return first_network(config_of("start")(folder, path))


def run_to_resume(folder: Path, spec: str) -> Any:
    (folder / "config.yaml").write_text(yaml.safe_dump(Config().as_dict() | {"panel": [spec]}))
    return Run(folder).config({})


def checkpoint(folder: Path, spec: str) -> Any:
    rivals = Rivals(Config(rival_share=1.0, rivals=("greedy",)), Batch(2), folder)
    arrays, _ = rivals.state()
    rivals.restore(arrays, {"specs": [spec], "beaten": [0.5], "past": [spec]})


def entry(folder: Path, spec: str) -> Entry:
    content = read_json(ROOT / "leaderboard" / "random.json")
    content["card"]["agent"] = spec
    (folder / "entry.json").write_text(json.dumps(content))
    return Entry(content, folder)


FORMATS: Final[dict[str, Callable[[Path, str], Any]]] = {
    **{
        key: config_of(key)
        for key in ("panel", "rivals", "partners", "target", "teacher", "encoder")
    },
    "start": policy_to_start_from,
    "a run to resume": run_to_resume,
    "a checkpoint": checkpoint,
    "the agent of an entry": lambda folder, spec: entry(folder, spec).check_agent(),
    "the games of an entry": lambda folder, spec: entry(folder, spec).check_again(),
    "fresh games of an entry": lambda folder, spec: entry(folder, spec).check_fresh(1, seed=0),
    "a page": lambda _, spec: Answers().answer(spec, "", "0"),
    "a language model": lambda _, spec: Seat(Setup(), None, None).start_game(
        opponents=f"{spec},greedy,greedy"
    ),
}


@pytest.mark.parametrize("spec", RUNNING)
@pytest.mark.parametrize("form", FORMATS)
def test_what_a_file_names_never_runs(form: str, spec: str, folder: Path) -> None:
    named = RUNNING[spec].format(folder=folder, name=folder.name)
    with pytest.raises((FiveUpError, ValueError)) as refused:
        FORMATS[form](folder, named)
    assert "\n" not in str(refused.value)
    assert not (folder / MARK).exists()
    assert "beside" not in sys.modules


def test_every_key_of_a_config_that_makes_an_agent_is_checked_in_files() -> None:
    makes = {"panel", "rivals", "partners", "target", "teacher", "start", "encoder"}
    checked = {name for name, key in Config.__dataclass_fields__.items() if "check" in key.metadata}
    assert checked == makes


@pytest.mark.usefixtures("own_runs")
def test_the_command_lines_refuse_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.yaml").write_text("panel: [beside:mine]")
    monkeypatch.setattr(sys, "argv", ["train.py", "mine.yaml"])
    assert train.main() == 2
    assert "panel: 'beside:mine' is not an agent that a file" in capsys.readouterr().err
    entry(folder, f"program:touch {MARK}")
    assert submit.main(["check", "entry.json"]) == 1
    assert "refused: card.agent: 'program:touch" in capsys.readouterr().out
    assert not (folder / MARK).exists()


def test_names_of_the_library_and_policies_beside_a_file_may_stand_in_it(folder: Path) -> None:
    for spec in (
        *("greedy", "level:3", "casual:partner,tiles=0.1", "pimc:worlds=20,weighed=4,aim=hand"),
        *("student", "policy:partners,sample=1", "policy+search:family,worlds=9", "student+search"),
        *("policy:good", "torch:good", "pair:policy:good,sample=1,second=pimc:worlds=4"),
    ):
        check_spec(spec, folder)
    check_spec("policy:partners")
    with pytest.raises(AgentError, match="'good' is not a policy that a file or a page may name"):
        check_spec("policy:good")
    check_policy("good", folder)
    for path in CONFIGS.glob("*.yaml"):
        load_config(path.stem)


def test_the_agents_of_shipped_entries_may_stand_there_but_for_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    for path in Path("leaderboard").glob("*.json"):
        made = Entry(read_json(path), path.parent)
        if made.spec.startswith("program:"):
            with pytest.raises(EntryError, match=r"^card\.agent: .* --trust plays"):
                _ = made.agent
        else:
            assert made.agent == made.spec
        assert Entry(read_json(path), path.parent, trust=True).agent == made.spec


def test_who_registers_an_agent_may_let_files_name_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_IN_FILES", set(registry._IN_FILES))
    register_agent("safe", MyAgent, in_files=True)
    check_spec("safe:skill=3,policy=student")
    check_spec("safe:policy=good", folder)
    with pytest.raises(AgentError, match="safe: path is a word in a file, not '/etc/passwd'"):
        check_spec("safe:path=/etc/passwd")
    with pytest.raises(AgentError, match="safe: folder is a word in a file, not "):
        check_spec("safe:folder=link", folder)
    with pytest.raises(AgentError, match="'good' is not a policy that a file or a page may name"):
        check_spec("safe:policy=good")
    with pytest.raises(AgentError, match="'link' is not a policy that a file or a page may name"):
        check_spec("mix:safe:policy=link=1", folder)


def test_a_person_may_type_what_a_file_may_not_say(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    (folder / "mine.yaml").write_text("panel: [beside:mine]")
    try:
        typed = load_config("mine.yaml", ["panel=[beside:mine]"])
        assert typed.panel == load_config("mine.yaml", trust=True).panel == ("beside:mine",)
        run = Run(folder)
        run.begin(typed)
        with pytest.raises(ConfigError, match=r"^panel: .*--trust lets .*config\.yaml do so"):
            run.config({})
        assert run.resuming.endswith("--trust")
        assert run.config({}, trust=True) == run.config({"panel": ["beside:mine"]}) == typed
        run.begin(Config())
        assert not run.resuming.endswith("--trust")
    finally:
        sys.modules.pop("beside", None)


def test_pickled_checkpoints_are_only_resumed_with_trust(folder: Path) -> None:
    run = Run(folder)
    run.begin(load_config("cluster"))
    with pytest.raises(RunError, match="hold pickled Python, which only --trust resumes"):
        run.config({})
    assert run.config({}, trust=True).learner == "rllib"


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["play", "--opponents", "level:3,pimc:worlds=5"], False),
        (["evaluate", "json:loads", "greedy"], False),
        (["evaluate", "greedy", "beside:mine"], True),
        (["panel=[greedy, 'pair:beside:mine,second=greedy']"], True),
        (["serve", "ours", "--register", "mine=beside:mine"], True),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_current_folder_has_modules_only_for_specs_that_are_typed(
    words: list[str], needed: bool
) -> None:
    parser = Parser()
    parser.add_argument("all", nargs="*")
    parser.add_argument("--opponents", "--register")
    parser.parse_known_args(words)
    assert (str(Path.cwd()) in sys.path) is needed


def test_what_a_command_imports_does_not_lie_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text(MODULE)
    subprocess.run(
        [sys.executable, "-m", "fiveup_env", "mcp"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert not (tmp_path / MARK).exists()
