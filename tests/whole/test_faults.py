"""Whatever call fails while a file is written, the old file or the new one is there, complete."""

from __future__ import annotations

from contextlib import closing, redirect_stderr
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random

import pytest

from fiveup_env import Rules
from fiveup_env.arena.play.games import Played, Task, Terms
from fiveup_env.arena.play.results import ResultsFile
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.cli import main
from fiveup_env.files import new_folder
from fiveup_env.game.records import read_file
from fiveup_env.native.sources import PACKAGE
from tests.faults import (
    DEADLY,
    KINDS,
    ROOM,
    Fault,
    Killed,
    Writer,
    drafts,
    failing,
    hidden,
    read_text,
    survives_everywhere,
    write_text,
    writes_in,
)

SMALL = Tournament(
    ("random", "greedy"), Terms(Rules.preset(players=2), "hand"), deals=2, seed=3, chunk=1
)


# --- Records


def write_records(folder: Path, version: int) -> None:
    """Let the command line write the records of one game or two."""
    words = ["record", "--games", str(version + 1), "--max-hands", "1", "-o", f"{folder}/x.jsonl"]
    said = StringIO()
    with redirect_stderr(said):
        status = main(words)
    if status:
        raise KeyboardInterrupt if status == 130 else OSError(said.getvalue().rstrip("\n"))


def read_records(folder: Path) -> int | None:
    """Return how many whole games there are, less one."""
    file = folder / "x.jsonl"
    lines = list(read_file(file)) if file.exists() else []
    assert all(line.game for line in lines)
    return len(lines) - 1 if lines else None


# --- Results


@pytest.fixture(scope="module")
def chunks() -> list[tuple[Task, Played]]:
    """Return the chunks of a tournament."""
    return list(play_tournament(SMALL, 1).played.items())


def results_in(folder: Path) -> ResultsFile:
    """Return a results file."""
    return ResultsFile(folder / "results.jsonl", SMALL.header, SMALL.agents)


def results_of(chunks: list[tuple[Task, Played]]) -> Writer:
    """Return what writes one chunk or two to a results file, as far as it lacks them."""

    def write(folder: Path, version: int) -> None:
        with closing(results_in(folder)) as file:
            for task, played in chunks[: version + 1]:
                if task not in file.played:
                    file.add(task, played)

    def read(folder: Path) -> int | None:
        with closing(results_in(folder)) as file:
            return len(file.played) - 1 if file.played else None

    return Writer(write, read, grows=True)


# --- Every fault at every call


@pytest.mark.parametrize("before", [None, 0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*ROOM, "records", "results"])
def test_a_fault_at_any_call_leaves_the_old_or_the_new(
    name: str, kind: str, before: int | None, chunks: list[tuple[Task, Played]], tmp_path: Path
) -> None:
    more = {"records": Writer(write_records, read_records), "results": results_of(chunks)}
    survives_everywhere((ROOM | more)[name], kind, tmp_path, before)


@pytest.mark.parametrize("kind", KINDS)
def test_results_that_a_fault_cut_off_go_on_to_the_same_bytes(
    kind: str, chunks: list[tuple[Task, Played]], tmp_path: Path
) -> None:
    writer = results_of(chunks)
    (tmp_path / "good").mkdir()
    writer.write(tmp_path / "good", 1)
    survives_everywhere(writer, kind, tmp_path, None)
    for file in tmp_path.glob("*/results.jsonl"):
        assert file.read_bytes() == (tmp_path / "good" / "results.jsonl").read_bytes()


@pytest.mark.parametrize("seed", range(8))
def test_faults_one_after_the_other_leave_the_old_or_the_new(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    writer, version = ROOM[random.choice(list(ROOM))], None
    for _ in range(8):
        fault = Fault(random.choice(KINDS), random.randint(1, 8), random.getrandbits(32))
        wanted = 1 if version == 1 and writer.grows else random.randint(0, 1)
        possible = {version, wanted} | ({0} if writer.grows and version is None else set())
        with failing(fault):
            try:
                writer.write(tmp_path, wanted)
                possible, said = {wanted}, None
            except (OSError, KeyboardInterrupt, Killed) as error:
                said = error
        version = writer.read(tmp_path)
        assert version in possible, (fault, said)
    writer.write(tmp_path, 1)
    assert writer.read(tmp_path) == 1
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_while_a_folder_is_made_leaves_all_of_it_or_nothing(
    kind: str, tmp_path: Path
) -> None:
    for call in count(1):
        place = tmp_path / str(call)
        place.mkdir()
        said = None
        with failing(Fault(kind, call, seed=call)) as system:
            try:
                with new_folder(place / "folder") as draft:
                    write_text(draft, 1)
            except (OSError, KeyboardInterrupt, Killed) as error:
                said = error
        left = {path.name for path in place.iterdir()}
        if kind in {"read-only", *DEADLY}:
            left -= set(drafts(place))
        assert left in ({"folder"}, set() if said else {"folder"}), (kind, call, said)
        assert not left or read_text(place / "folder") == 1
        if not system.was_hit:
            return


def test_the_library_writes_by_the_room_that_is_tested() -> None:
    assert writes_in(PACKAGE) == {"files.py"}
