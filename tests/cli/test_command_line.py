"""`python -m fiveup_env`: every command, and its errors for bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from email.message import Message
from functools import partial
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from fiveup_env import __version__
from fiveup_env.cli import doctor, main
from fiveup_env.cli.shared import INTERRUPTED, answer
from fiveup_env.drawing.replay import replay_html
from fiveup_env.drawing.transcript import transcript
from fiveup_env.game.records import read_file
from fiveup_env.rules.fields import FIELDS
from fiveup_env.rules.presets import FAMILY
from tests.support import on_posix


def test_record_writes_games_that_check_finds_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "games.jsonl"
    changes = ["--set", "hand_size=7", "--set", "reserve=2", "--set", "exact_target=true"]
    command = ["record", "--games", "3", "--max-hands", "2", *changes, "--legal", "-o", str(file)]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "3 cut off" in said.out
    assert not said.err  # a progress bar is for a terminal
    assert main(["check", str(file)]) == 0
    assert "3 valid, 0 invalid" in capsys.readouterr().out
    lines = file.read_text().splitlines()
    first = json.loads(lines[0])
    assert (first["rules"]["hand_size"], first["rules"]["exact_target"]) == (7, True)
    assert (first["complete"], first["winner"], len(first["hands"])) == (False, None, 2)
    assert first["hands"][0]["moves"][0]["legal"]
    assert main(command) == 0
    assert file.read_text().splitlines() == lines
    file.write_text("\n".join([lines[0], lines[1].replace('"lead": ', '"lead": 1', 1), lines[2]]))
    capsys.readouterr()
    assert main(["check", str(file)]) == 1
    output = capsys.readouterr().out
    assert "line 2: hand 0: the lead must be a seat" in output
    assert "2 valid, 1 invalid" in output


def test_show_and_replay_take_the_chosen_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "games.jsonl", tmp_path / "game.html"
    main(["record", "--games", "2", "--max-hands", "2", "-o", str(file)])
    second = list(read_file(file))[1].game
    assert second is not None
    capsys.readouterr()
    assert main(["show", str(file), "--game", "1"]) == 0
    assert capsys.readouterr().out == f"{transcript(second)}\n"
    assert main(["replay", str(file), "--game", "1", "-o", str(page)]) == 0
    assert f"game 1 of {file} written to {page}" in capsys.readouterr().out
    assert page.read_text(encoding="utf-8") == replay_html(second)


def test_rules_prints_presets_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in (*FAMILY, *FIELDS))
    assert main(["rules", "mini-2"]) == 0  # for the players that it can be dealt to
    assert capsys.readouterr().out.splitlines()[2].split() == ["2", "players", "3", "players"]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("record --rules five_upp -o x", "did you mean 'five_up'"),
        ("record --set hand_siz=7 -o x", "did you mean 'hand_size'"),
        ("record --set hand_size -o x", "--set takes FIELD=VALUE"),
        ("record --players 9 -o x", "there must be 2 to 5 players, not 9"),
        ("record --games 0 -o x", "--games must be at least 1"),
        ("record --max-hands 0 -o x", "--max-hands must be at least 1"),
        ("record --seed -1 -o x", "a seed is a whole number"),
        ("record -o no/such/folder/x", "No such file or directory"),
        ("check nowhere.jsonl", "No such file or directory"),
        ("show empty.jsonl --game 3", "has no game 3"),
        ("replay empty.jsonl -o x", "has no game 0"),
        ("record --games 99999999999999999999 -o x", "a seed is a whole number"),
        ("audit greedy --games 0", "--games must be at least 1, not 0"),
        ("audit greedy --reference greedy", "the reference must be a pimc such as"),
        ("audit gredy", "there is no agent 'gredy' (did you mean 'greedy'?)"),
        ("evaluate --agents greedy", "at least two agents"),
        ("evaluate --agents greedy,greedi", "did you mean 'greedy'"),
        ("evaluate --against greedi", "did you mean 'greedy'"),
        ("evaluate --deals 0", "--deals must be at least 1, not 0"),
        ("evaluate --chunk 0", "--chunk must be at least 1, not 0"),
        ("evaluate --cores 0", "--cores must be at least 1"),
        ("evaluate --move-limit nan", "--move-limit must be more than 0 seconds"),
        ("evaluate --judge greedy", "the reference must be a pimc such as"),
        ("evaluate --judge pimc --judge-every 0", "--judge-every must be at least 1, not 0"),
        ("evaluate --results no/such/folder/file", "No such file or directory"),
        ("evaluate greedy random --sprt 5 0", "first, such as --sprt 0 5, not 5 and 0"),
        ("evaluate greedy random --sprt nan 5", "two differences in Elo"),
        ("evaluate greedy random partner --sprt 0 5", "--sprt is for two agents, not 3"),
        ("evaluate greedy --sprt 0 5 --agents random", "one by one or with --agents, not both"),
        ("evaluate --quick", "--quick goes with --benchmark"),
        ("evaluate --benchmark fiveup", "(did you mean 'fiveup-v1'?)"),
        ("evaluate greedy random --benchmark fiveup-v1", "--benchmark takes one agent, not 2"),
        ("evaluate greedy --benchmark fiveup-v1 --deals 5", "--deals is for fiveup-v1 to decide"),
        ("exact size five_up", "these rules allow about"),
        ("exact size mini-2 --most 500", "these rules allow about 7e+02 histories, and at most"),
        ("exact exploit mini-2 gredy", "there is no agent 'gredy' (did you mean 'greedy'?)"),
    ],
)
def test_bad_input_gets_one_sentence_and_status_two(
    command: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.startswith("fiveup: ")
    assert said.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"empty.jsonl"}


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("recrod -o x", "there is no command 'recrod' (did you mean 'record'?)"),
        ("show --gaem 3 x", "there is no option '--gaem' (did you mean '--game'?)"),
        ("evaluate --episode gmae", "there is no episode 'gmae' (did you mean 'game'?)"),
        ("check one two", "unexpected argument 'two'"),
    ],
)
def test_unknown_commands_and_options_are_told_the_nearest(
    command: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(command.split())
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_ends_a_command_silently(tmp_path: Path) -> None:
    main(["record", "--games", "2", "-o", str(tmp_path / "games.jsonl")])
    ours, theirs = os.pipe()
    os.close(ours)
    line = [sys.executable, "-m", "fiveup_env", "show", "games.jsonl"]
    done = subprocess.run(line, cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert done.returncode == 0
    assert not done.stderr.replace(b"compiling for this machine, once: 5 to 20 seconds\n", b"")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("evaluate --list", "partner "),
        ("evaluate --agents greedy,random --deals 2 --episode hand --cores 1", "greedy"),
        ("evaluate greedy --deals 2 random --episode hand --cores 1", "random"),
        ("benchmark --help", "usage: fiveup benchmark "),
        (
            "audit random --games 1 --set target=5 --reference pimc:worlds=8",
            "of 1,000: another, as",
        ),
    ],
)
def test_agents_are_compared(words: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(SystemExit):  # as help does
        assert main(words.split()) == 0
    assert printed in capsys.readouterr().out


def test_an_audit_of_the_same_seed_finds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = "audit random --games 1 --set target=5 --reference pimc:worlds=8"
    outputs = []
    for _ in range(2):
        assert main(words.split()) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "the following arguments are required: NAME, --agents"),
        ("fiveup-v1 --agents greedy --seed 3", "there is no option '--seed'"),
        ("fiveup-v1 --agents greedy --cores 0", "--cores must be at least 1, not 0"),
        ("fiveup --agents greedy", "did you mean 'fiveup-v1'?"),
    ],
)
def test_a_benchmark_has_options_of_its_own(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):
        assert main(["benchmark", *words.split()]) == 2
    assert sentence in capsys.readouterr().err


def test_a_module_that_is_missing_names_the_line_that_installs_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(name: str) -> int:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    assert answer("train", partial(run, "yaml"), install="pip install it") == 2
    assert capsys.readouterr().err == "train: there is no yaml: pip install it\n"
    for name, install in (("yaml", ""), ("fiveup_env.typo", "pip install it")):
        with pytest.raises(ModuleNotFoundError, match=name):
            answer("train", partial(run, name), install=install)


@on_posix
def test_ctrl_c_ends_a_command_with_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "fiveup_env", "record", "--games", "1000000", "-o", "x.jsonl"]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        while not list(tmp_path.iterdir()):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == INTERRUPTED
        assert running.stderr is not None
        assert running.stderr.read() == "fiveup: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk (no /dev/full)")
def test_output_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "fiveup_env", "rules"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"fiveup: [Errno 28] No space left on device\n"


@on_posix
def test_records_can_be_written_to_standard_output(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "fiveup_env", "record", "--games", "2", "-o", "-"]
    with (tmp_path / "games.jsonl").open("ab") as file:
        subprocess.run(line, stdout=file, stderr=subprocess.DEVNULL, check=True, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    assert main(["check", str(tmp_path / "games.jsonl")]) == 0
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 2


@on_posix
def test_a_terminal_sees_a_progress_bar(tmp_path: Path) -> None:
    import pty

    command = [sys.executable, "-m", "fiveup_env", "record", "--games", "3", "-o", "x.jsonl"]
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs, check=True)
    os.close(theirs)
    seen = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "3/3, 0 s left" in seen


# --- The doctor


def installed(monkeypatch: pytest.MonkeyPatch, ours: str = __version__) -> doctor.Report:
    """Return the report where this version of ours and NumPy are installed, and not Starlette."""

    def version(name: str) -> str:
        if name != "numpy":
            raise PackageNotFoundError(name)
        return "2.4.6"

    about = Message()
    about["Version"] = ours
    for need in ("numpy>=2.0", "starlette>=0.40; extra == 'web'", "fiveup-env[web]; extra == 'x'"):
        about["Requires-Dist"] = need
    monkeypatch.setattr(doctor, "metadata", lambda _name: about)
    monkeypatch.setattr(doctor, "version", version)
    return doctor.examine()


def test_the_doctor_says_what_there_is_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    report = installed(monkeypatch)
    facts = dict(report.facts)
    assert report.faults == []
    assert facts["fiveup-env"].startswith(f"{__version__}, in ")
    assert facts["packages"] == "numpy 2.4.6"
    assert facts["not installed"] == "starlette"
    assert facts["compiled code"].startswith("library.")
    assert "a first move" in facts


def test_another_version_and_no_library_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LIBRARY", "there is no library")
    version, library = installed(monkeypatch, "0.0.9").faults
    assert version.startswith(f"the code is version {__version__}, but what was installed says 0.0")
    assert library.startswith("there is no library, so Numba compiles")


def test_compiled_code_that_does_not_run_is_a_fault_and_the_status_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(doctor, "Batch", broken)
    assert main(["doctor"]) == 1
    assert "compiled code does not run: RuntimeError: no such" in capsys.readouterr().out
