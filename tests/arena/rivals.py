"""Two processes at a time that write one results file, and are killed before every call in turn."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

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


def main(folder: str) -> None:
    """Start two rivals again and again, each to be killed later than before, until all is played."""
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
