"""Completion in bash, zsh and fish: the shells themselves are asked, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from fiveup_env.__main__ import main, parser
from fiveup_env.commands.completion import completion_script
from fiveup_env.rules.presets import PRESETS
from tests.support import on_posix

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = "play train evaluate benchmark record check show replay study rules doctor completion"
CASES = [
    ("", set(COMMANDS.split())),
    ("re", {"record", "replay"}),
    ("record --rules ", set(PRESETS)),
    ("rules mu", {"muggins"}),
    ("play --opponents part", {"partner"}),
    ("show --g", {"--game"}),
    ("completion z", {"zsh"}),
]


def completed(shell: str, line: str, script: Path) -> set[str]:
    """Return what a shell offers after `fiveup LINE`."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words = ["fiveup", *line.split(" ")]
    code = f"source {script}; complete -C '{' '.join(words)}'"
    if shell != "fish":
        typed = " ".join(f"'{word}'" for word in words)
        asked = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _fiveup_words"
        emulate = "emulate -L sh; " if shell == "zsh" else ""  # as its bashcompinit does
        code = f"source {script}; ask() {{ {emulate}{asked}; }}; ask"
        code += '; printf "%s\\n" "${COMPREPLY[@]}"'
    clean = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *clean, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(script.parent), "LC_ALL": "C.UTF-8"},
    )
    assert done.stderr == ""
    found = {offered.partition("\t")[0] for offered in done.stdout.split("\n")} - {""}
    # Zsh itself leaves out what does not begin like the word.
    return {word for word in found if word.startswith(words[-1])} if shell == "zsh" else found


@on_posix
@pytest.mark.parametrize(("line", "offered"), CASES)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_offers_what_fits(
    shell: str, line: str, offered: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fiveup_env.commands.laboratory.find_clone", lambda: None)
    script = tmp_path / "script"
    script.write_text(completion_script(parser(), shell), encoding="utf-8")
    assert completed(shell, line, script) == offered


def test_the_command_prints_the_script(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fiveup_env.commands.laboratory.find_clone", lambda: None)
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert capsys.readouterr().out == f"{completion_script(parser(), shell)}\n"
