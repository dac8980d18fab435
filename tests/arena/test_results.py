"""The results file: it keeps what was played, continues where it stopped, and is never mixed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import Rules
from fiveup_env.arena.play import results, tournament
from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Played, Task, Terms
from fiveup_env.arena.play.tournament import Tournament, TournamentResult, play_tournament
from fiveup_env.arena.play.workers import play_tasks
from fiveup_env.arena.statistics.standings import standings_of
from fiveup_env.cli import evaluate
from fiveup_env.files import Json
from fiveup_env.native.sources import PACKAGE, module_sources
from tests.arena.rivals import RIVALRY
from tests.arena.test_arena import lasting
from tests.support import on_posix, python

SMALL = Tournament(
    ("random", "greedy"), Terms(Rules.preset(players=2), "hand"), deals=5, seed=3, chunk=2
)


def on_terms(**changes: Any) -> Tournament:
    """Return the same tournament on other terms."""
    return replace(SMALL, terms=replace(SMALL.terms, **changes))


def table(outcome: TournamentResult) -> str:
    """Return the parts of the standings that must be the same in every run."""
    standings = standings_of(outcome)
    for row in standings.ratings:
        del row["seconds"], row["us_per_move"]
    return repr((standings.pairs, standings.ratings))


def chunks_played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the number of chunks each later tournament has to play."""
    counts: list[int] = []

    def counting(tasks: list[object], *others: object) -> Iterator[object]:
        counts.append(len(tasks))
        return play_tasks(tasks, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(tournament, "play_tasks", counting)
    return counts


def test_what_is_kept_is_what_was_played(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    played = play_tournament(SMALL, 1, file)
    kept = play_tournament(SMALL, 1, file)
    assert table(played) == table(kept) == table(play_tournament(SMALL, 1))
    for task, chunk in played.played.items():
        assert lasting(chunk) == lasting(kept.played[task])
        assert (chunk.seconds == kept.played[task].seconds).all()


def test_a_second_run_adds_deals_and_agents_and_plays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.jsonl"
    counts = chunks_played(monkeypatch)
    play_tournament(SMALL, 1, file)
    more = replace(SMALL, deals=8)
    # The last chunk of the first run was a short one: it is played anew, in full.
    assert table(play_tournament(more, 1, file)) == table(play_tournament(more, 1))
    both = replace(more, agents=("random", "greedy", "defensive"))
    assert table(play_tournament(both, 1, file)) == table(play_tournament(both, 1))
    assert table(play_tournament(SMALL, 1, file)) == table(play_tournament(SMALL, 1))
    assert counts == [3, 2, 4, 8, 12, 0, 3]


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, str]:
    """Return the content of a results file and its table."""
    file = tmp_path_factory.mktemp("arena") / "results.jsonl"
    outcome = play_tournament(SMALL, 1, file)
    return file.read_bytes(), table(outcome)


@given(part=st.floats(0, 1))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_cut_off_anywhere_goes_on_to_the_same(
    part: float, complete: tuple[bytes, str], tmp_path: Path
) -> None:
    content, wanted = complete
    file = tmp_path / "results.jsonl"
    file.write_bytes(content[: round(part * len(content))])
    assert table(play_tournament(SMALL, 1, file)) == wanted
    lines = file.read_text().splitlines()
    assert len(lines) == 4
    assert all(json.loads(line) for line in lines)


def test_an_interrupted_run_keeps_what_it_played_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.jsonl"

    def interrupted(*arguments: object) -> Iterator[object]:
        playing = play_tasks(*arguments)  # type: ignore[arg-type]
        yield next(playing)
        yield next(playing)
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(tournament, "play_tasks", interrupted)
        outcome = play_tournament(SMALL, 1, file)
    assert outcome.interrupted
    assert standings_of(outcome).pairs[0]["deals"] == 4
    counts = chunks_played(monkeypatch)
    assert table(play_tournament(SMALL, 1, file)) == table(play_tournament(SMALL, 1))
    assert counts == [1, 3]


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (replace(SMALL, seed=4), "was played with seed 3, not 4"),
        (on_terms(rules=Rules.preset(players=3)), "was played with players 2, not 3"),
        (on_terms(judge="pimc"), "was played with judge None, not 'pimc'"),
        (on_terms(apart="greedy"), "was played with apart None, not 'greedy'"),
    ],
)
def test_what_was_played_otherwise_is_refused(
    other: Tournament, sentence: str, complete: tuple[bytes, str], tmp_path: Path
) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(complete[0])
    with pytest.raises(ArenaError, match=f"{sentence}: choose another file"):
        play_tournament(other, 1, file)
    assert file.read_bytes() == complete[0]


# What chunks say themselves, what writes or shows them, and what plays a benchmark.
BESIDES_TERMS = {
    *("agents", "specs", "against", "deals", "sprt"),
    *("help", "list", "cores", "engine", "results", "record", "json", "report"),
    *("benchmark", "quick"),
}
CHANGES = {
    "rules": "all_fives",
    "players": "3",
    "set": "hand_size=6",
    "episode": "hand",
    "judge": "pimc",
    "judge_every": "3",
    "move_limit": "2",
    "forfeit": None,
    "seed": "9",
    "chunk": "7",
}


def test_every_option_that_decides_a_figure_is_in_the_header() -> None:
    parser = evaluate.parser({"other": lambda: (play_tasks, 1)})

    def header(words: list[str]) -> Json:
        given = ["--agents", "random,greedy", "--deals", "1", *words]
        return evaluate.tournament_of(parser.parse_intermixed_args(given)).header

    dests = {action.dest for action in parser._actions}
    assert dests == BESIDES_TERMS | CHANGES.keys()
    usual = header([])
    for name, value in CHANGES.items():
        option = f"--{name.replace('_', '-')}"
        assert header([option] if value is None else [option, value]) != usual, name


def test_the_version_of_the_code_covers_all_that_plays_a_chunk() -> None:
    ours = {
        path.relative_to(PACKAGE).parts
        for path in module_sources(PACKAGE / "arena/play/workers.py")
    }
    left = {parts for parts in ours if parts[0] not in results.PLAYING_ROOMS}
    arena = {Path(parts[-1]).stem for parts in left if parts[0] == "arena"}
    assert arena == {*results.PLAYING_FILES, "faults"}  # which reports what ends a tournament
    assert {parts[0] for parts in left if len(parts) > 1} == {"arena", "drawing"}


def test_an_agent_whose_file_has_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "first").write_text("1")
    before = results.origin(f"greedy:{weights}")
    assert results.origin("greedy") != before
    (weights / "first").write_text("2")
    assert results.origin(f"greedy:path={weights}") != before
    for number, spec in enumerate(
        (f"pair:random,second=greedy:{weights}", f"mix:random=1,greedy:{weights}=2")
    ):
        before = results.origin(spec)
        (weights / "first").write_text(f"{number}!")
        assert results.origin(spec) != before
    file = tmp_path / "results.jsonl"
    play_tournament(SMALL, 1, file)
    monkeypatch.setattr(results, "origin", lambda spec: "changed" if spec == "greedy" else spec)
    with pytest.raises(
        ArenaError,
        match=r"line 2, was played with version '\w+' of greedy, not 'changed': its code",
    ):
        play_tournament(SMALL, 1, file)


def test_the_code_of_members_is_that_of_a_pair_and_of_a_mixture() -> None:
    ours, other = "greedy", "tests.support:lowest"
    for form in ("pair:random,second={}", "mix:random=1,{}=2"):
        assert results.code_of(form.format(ours)) == results.code_version()
        assert results.code_of(form.format(other)) != results.code_version()


def test_results_of_the_same_games_may_be_concatenated_and_others_are_named(
    complete: tuple[bytes, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.jsonl"
    content, wanted = complete
    header, *chunks = content.splitlines(keepends=True)
    file.write_bytes(b"".join([header, chunks[0], header, *chunks[1:]]))
    counts = chunks_played(monkeypatch)
    assert table(play_tournament(SMALL, 1, file)) == wanted
    assert counts == [0]
    other = json.dumps(json.loads(header) | {"code": "0.0.1+aa"}).encode() + b"\n"
    file.write_bytes(b"".join([header, chunks[0], other, *chunks[1:]]))
    with pytest.raises(
        ArenaError, match=r"line 3, was played with code '0\.0\.1\+aa', not '"
    ) as error:
        play_tournament(SMALL, 1, file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "content", [b"some text", b"some text\n", b'{"format": "else"}\n', b"[1]\n", b"\xff\n"]
)
def test_a_file_of_something_else_is_left_alone(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(content)
    with pytest.raises(ArenaError, match=r"results\.jsonl is not a results file of the arena"):
        play_tournament(SMALL, 1, file)
    assert file.read_bytes() == content


def test_a_damaged_line_is_named(complete: tuple[bytes, str], tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    lines = complete[0].splitlines(keepends=True)
    other_figure = lines[2].replace(b'"plies":[[', b'"plies":[[1')
    assert other_figure != lines[2]
    for damaged in (
        b"{}\n",
        b"[]\n",
        lines[2][9:],
        lines[2].replace(b'"hands"', b'"hand"'),
        other_figure,
    ):
        file.write_bytes(b"".join([*lines[:2], damaged, *lines[3:]]))
        with pytest.raises(ArenaError, match=r"results\.jsonl, line 3 is damaged"):
            play_tournament(SMALL, 1, file)


def test_a_file_in_use_is_refused_to_others_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"

    def playing(tasks: Iterable[Task], terms: Terms, cores: int) -> Iterator[tuple[Task, Played]]:
        for played in play_tasks(tasks, terms, cores):
            yield played
            before = file.read_bytes()
            with pytest.raises(ArenaError, match=r"results\.jsonl is in use by another process"):
                play_tournament(SMALL, 1, file)
            assert file.read_bytes() == before

    play_tournament(SMALL, 1, file, playing)
    assert len(file.read_text().splitlines()) == 1 + len(SMALL.tasks)
    assert table(play_tournament(SMALL, 1, file)) == table(play_tournament(SMALL, 1))


@on_posix
def test_rivals_that_are_stopped_or_killed_and_go_on_lose_no_chunk_and_play_none_twice(
    tmp_path: Path,
) -> None:
    assert python("-m", "tests.arena.rivals", str(tmp_path)).returncode == 0
    for name in ("stopped.jsonl", "results.jsonl"):
        header, *lines = map(json.loads, (tmp_path / name).read_text().splitlines())
        assert header == RIVALRY.header
        played = [Task(tuple(line["agents"]), line["first"], line["deals"]) for line in lines]
        assert sorted(played, key=lambda task: task.first) == RIVALRY.tasks


def test_records_are_not_asked_of_a_file_that_does_not_keep_them(
    complete: tuple[bytes, str], tmp_path: Path
) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(complete[0])
    recorded = on_terms(record=True)
    with pytest.raises(ArenaError, match="give --record a results file of its own"):
        play_tournament(recorded, 1, file)
    outcome = play_tournament(recorded, 1, tmp_path / "other.jsonl")
    assert len(outcome.records) == 2 * SMALL.deals


def test_what_a_wrong_answer_ends_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "results.jsonl"

    def failing(*arguments: object) -> Iterator[object]:
        yield next(play_tasks(*arguments))  # type: ignore[arg-type]
        raise ArenaError("greedy raised RuntimeError")

    with monkeypatch.context() as during:
        during.setattr(tournament, "play_tasks", failing)
        with pytest.raises(ArenaError, match="greedy raised"):
            play_tournament(SMALL, 1, file)
    counts = chunks_played(monkeypatch)
    play_tournament(SMALL, 1, file)
    assert counts == [2]
