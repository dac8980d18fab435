"""The site: its commands and its reference are those of the code."""

from __future__ import annotations

import re
import shlex
from functools import cache

import pytest

import fiveup_env
from agents.runs.config import KEYS
from tests.agents.test_docs import PAGES
from tests.support import ROOT, python

DOCS = ROOT / "docs"
COMMAND = re.compile(r"^python ((?:-m [\w.]+|[\w/]+\.py).*)$")
WITH_COMMANDS = {"fiveup_env", "agents.submit"}  # of their own


def commands() -> list[str]:
    """Return every command on our pages that runs Python."""
    blocks = (
        re.findall(r"```bash\n(.*?)```", page.read_text("utf-8"), re.DOTALL) for page in PAGES
    )
    whole = (block.replace("\\\n", " ") for matches in blocks for block in matches)
    lines = (line for block in whole for line in block.splitlines())
    parts = (part.strip() for line in lines for part in re.split(r"&&|;|\|", line))
    # A command may be quoted for another one, which hands it on.
    matches = (COMMAND.match(part.removeprefix("do ").rstrip("'")) for part in parts)
    return sorted({match[1] for match in matches if match})


@cache
def help_of(program: tuple[str, ...]) -> str:
    """Return what a program prints for `--help`."""
    done = python(*program, "--help")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_every_command_takes_the_options_that_our_pages_give_it(command: str) -> None:
    words = shlex.split(command)
    if words[0].startswith("examples/"):  # which have no options
        assert (ROOT / words[0]).is_file()
        assert not [word for word in words if word.startswith("-")]
        return
    count = 2 if words[0] == "-m" else 1
    count += words[1:] != [] and words[1] in WITH_COMMANDS and words[2][0] != "-"
    if words[1:2] == ["benchmarks.cluster"]:
        pytest.importorskip("ray", reason="the options of commands on Ray (no Ray)")
    text = help_of(tuple(words[:count]))
    for word in words[count:]:
        if word.startswith("--"):
            assert re.search(rf"{word}\b", text), word
        elif words[0] == "train.py" and "=" in word:
            assert word.partition("=")[0] in KEYS, word


def test_the_reference_has_every_public_name() -> None:
    pages = " ".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("api-*.md"))
    documented = set(re.findall(r"\.\. (?:auto\w+|py:data):: (?:[\w.]+\.)?(\w+)", pages))
    errors = {name for name in fiveup_env.__all__ if name.endswith("Error")}
    assert set(fiveup_env.__all__) - errors <= documented
    assert all(getattr(fiveup_env, name).__module__ == "fiveup_env.errors" for name in errors)
