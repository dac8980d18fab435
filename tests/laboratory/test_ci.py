"""The scripts in `.ci/` and the workflows that call them; a release in step with its files."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fiveup_env import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
IN_STEP = ["CHANGELOG.md", "CITATION.cff", "fiveup_env/__init__.py"]


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_scripts_that_are_there_and_asks_for_no_more_than_it_needs(
    workflow: Path,
) -> None:
    content = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert content["permissions"]["contents"] == "read"
    assert all("timeout-minutes" in job for job in content["jobs"].values())
    for step in steps_of(workflow):
        for script in re.findall(r"\.ci/[\w.]+", step.get("run", "")):
            assert os.access(ROOT / script, os.R_OK if script.endswith(".py") else os.X_OK), script


def test_every_script_is_called() -> None:
    callers = [*WORKFLOWS, *(path for path in (ROOT / ".ci").iterdir() if path.is_file())]
    for script in (ROOT / ".ci").iterdir():
        if script.is_file():
            said = [path.read_text(encoding="utf-8") for path in callers if path != script]
            assert any(f".ci/{script.name}" in text for text in said), script.name


def run_steps(folder: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Run a script of steps, whose scratch folder is in a folder."""
    code = "\n".join(["set -euo pipefail", "source .ci/steps", *lines, "summary"])
    return subprocess.run(
        ["bash", "-c", code],  # noqa: S607 - as the path has it
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def test_steps_say_how_long_they_took(tmp_path: Path) -> None:
    done = run_steps(tmp_path, 'step 1 "one" true', 'step 1 "two" touch "$scratch/file"')
    assert done.returncode == 0
    assert re.findall(r"^ 0:0\d  (.+)$", done.stdout, re.MULTILINE) == ["one", "two", "in all"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "status", "sentence"),
    [
        ("sleep 60", 1, ".ci: 'it' was not done after 0.01 minutes, and was ended\n"),
        ("bash -c 'sleep 60 & wait'", 1, ".ci: 'it' was not done after 0.01 minutes"),
        ("bash -c 'exit 7'", 7, ".ci: 'it' failed after  0:00 with status 7\n"),
    ],
)
def test_a_step_that_hangs_or_fails_ends_the_run_with_a_sentence(
    command: str, status: int, sentence: str, tmp_path: Path
) -> None:
    done = run_steps(tmp_path, f'step 0.01 "it" {command}', 'step 1 "never" true')
    assert done.returncode == status
    assert done.stderr.startswith(sentence)
    assert "never" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_step_hears_ctrl_c_as_a_terminal_would_send_it(tmp_path: Path) -> None:
    python = "import signal; print(signal.getsignal(signal.SIGINT).__name__)"
    done = run_steps(tmp_path, f'step 1 "it" python3 -c "{python}"')
    assert "default_int_handler" in done.stdout


def test_every_extra_has_a_promise() -> None:
    promised = re.findall(r'^    "(\w+)": """$', (ROOT / ".ci/extras.py").read_text(), re.MULTILINE)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    assert set(re.findall(r"^(\w+) = \[", extras, re.MULTILINE)) <= set(promised)


@pytest.fixture
def notes(tmp_path: Path) -> Callable[[str], str]:
    """Return what checks a release of a copy of the files that must be in step."""
    for name in IN_STEP:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    before, _, after = changelog.read_text(encoding="utf-8").partition(f"## {__version__} (")
    before = before.partition("## Unreleased")[0]  # what waits for the next release
    changelog.write_text(f"{before}## {__version__} ({after}", encoding="utf-8")
    check = runpy.run_path(str(ROOT / ".ci" / "release.py"))["release_notes"]
    return lambda tag: str(check(tag, tmp_path))


def test_the_version_is_the_same_everywhere(notes: Callable[[str], str]) -> None:
    assert notes(f"v{__version__}").startswith("### ")


@pytest.mark.parametrize(
    ("tag", "name", "was", "becomes", "sentence"),
    [
        ("v9.9.9", "CITATION.cff", "", "", f"the tag is v9.9.9, but the package is version {__version__}"),
        ("", "CHANGELOG.md", f"## {__version__} (", "## 0.0.1 (", f"the newest version of CHANGELOG.md is 0.0.1, not {__version__}"),
        ("", "CHANGELOG.md", f"## {__version__} (", f"## Unreleased\n\n- More.\n\n## {__version__} (", "CHANGELOG.md has changes under Unreleased"),
        ("", "CITATION.cff", f"version: {__version__}", "version: 0.0.1", f"CITATION.cff must say 'version: {__version__}'"),
        ("", "CITATION.cff", "date-released: ", "date-released: 1", "CITATION.cff must say 'date-released: 20"),
    ],
)  # fmt: skip
def test_what_is_not_in_step_is_not_released(
    tag: str,
    name: str,
    was: str,
    becomes: str,
    sentence: str,
    notes: Callable[[str], str],
    tmp_path: Path,
) -> None:
    file = tmp_path / name
    file.write_text(file.read_text(encoding="utf-8").replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(SystemExit, match="^" + re.escape(sentence)):
        notes(tag or f"v{__version__}")
