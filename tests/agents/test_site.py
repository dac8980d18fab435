"""The site: its commands and its reference are those of the code."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache

import pytest

import fiveup_env
from agents.results import FOLDER
from agents.runs.config import KEYS
from tests.agents.test_docs import PAGES
from tests.support import ROOT, python

DOCS = ROOT / "docs"
COMMAND = re.compile(r"^(?:do )?(?:python |(?=fiveup ))((?:-m [\w.]+|[\w/]+\.py|fiveup).*)$")
WITH_COMMANDS = {"fiveup_env", "agents.submit", "exact"}  # of their own


def blocks() -> list[str]:
    """Return the commands on our pages, and those of results of today's code."""
    texts = [page.read_text("utf-8") for page in PAGES]
    measured = [json.loads(file.read_text("utf-8")) for file in FOLDER.glob("*.json")]
    return [
        *(match for text in texts for match in re.findall(r"```bash\n(.*?)```", text, re.DOTALL)),
        *(content.get("command", "") for content in measured if not content.get("commit")),
    ]


def commands() -> list[str]:
    """Return every command that runs Python or `fiveup`, as Python's arguments."""
    lines = (line for block in blocks() for line in block.replace("\\\n", " ").splitlines())
    parts = (part.strip() for line in lines for part in re.split(r"&&|;|\|", line))
    matches = filter(None, map(COMMAND.match, map(unquoted, parts)))
    return sorted({re.sub("^fiveup ", "-m fiveup_env ", match[1]) for match in matches})


def unquoted(command: str) -> str:
    """Return a command without the quote at its end, if it was quoted for one that hands it on."""
    end = command[-1:]
    return command[:-1] if end in {"'", '"'} and command.count(end) % 2 else command


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
    while words[count - 1] in WITH_COMMANDS and words[count:] and words[count][0] != "-":
        count += 1
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
