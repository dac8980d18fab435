"""Two processes at a time that write one results file.

In `results.jsonl` they are killed before every call in turn; in `stopped.jsonl` one is stopped in
the middle of every write, while the other tries.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Final
from unittest import mock

from fiveup_env import Rules
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Played, Task, Terms, all_forfeited
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from tests.faults import Fault, Killed, failing

RIVALRY: Final = Tournament(
    ("greedy", "random"), Terms(Rules.preset(players=2), "hand"), deals=12, chunk=1
)


def playing(tasks: Iterable[Task], terms: Terms, _cores: int) -> Iterator[tuple[Task, Played]]:
    """Play nothing: all is forfeited."""
    for task in tasks:
        yield task, all_forfeited(terms, task.deals, 0, "it is quicker")


def rival(file: Path, call: int) -> int:
    """Start a process that plays on, and is killed before this call of the system."""
    if child := os.fork():
        return child
    with failing(Fault("killed", call)):
        try:
            play_tournament(RIVALRY, 1, file, playing)
        except ArenaError as error:
            os._exit(0 if "in use by another process" in str(error) else 1)
        except Killed:
            os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)


def stop_within_every_write(file: Path) -> None:
    """Start a process that is stopped in the middle of every write, and play here meanwhile."""
    write = os.write

    def write_half(descriptor: int, content: memoryview) -> int:
        written = write(descriptor, content[: len(content) // 2 + 1])
        os.kill(os.getpid(), signal.SIGSTOP)
        return written

    child = os.fork()
    if not child:
        with mock.patch.object(os, "write", write_half):
            play_tournament(RIVALRY, 1, file, playing)
        os._exit(0)
    refused = []
    while os.WIFSTOPPED(status := os.waitpid(child, os.WUNTRACED)[1]):
        torn, said = file.read_bytes(), ""
        try:
            play_tournament(RIVALRY, 1, file, playing)
        except ArenaError as error:
            said = str(error)
        refused.append("in use by another process" in said and file.read_bytes() == torn)
        os.kill(child, signal.SIGCONT)
    assert status == 0
    assert len(refused) > len(RIVALRY.tasks)
    assert all(refused)


def main(folder: str) -> None:
    """Start two rivals again and again, each to be killed later than before, until all is played."""
    stop_within_every_write(Path(folder) / "stopped.jsonl")
    file = Path(folder) / "results.jsonl"
    for call in count(1):
        rivals = rival(file, call), rival(file, call + 1)
        ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in rivals]
        assert set(ends) <= {0, -signal.SIGKILL}, ends
        content = file.read_bytes() if file.exists() else b""
        if content.count(b"\n") > len(RIVALRY.tasks):
            return
        if content and call % 2:  # as if one had been killed within a line
            file.write_bytes(content + b'{"agents":["greedy","ra')


if __name__ == "__main__":
    main(*sys.argv[1:])
