"""`fiveup evaluate`: its tables, its JSON, its report and its records."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.dom.minidom import parseString

import numpy as np
import pytest

from fiveup_env.arena.benchmark.protocol import Protocol
from fiveup_env.arena.tables import duration, short_names
from fiveup_env.cli import main as fiveup
from fiveup_env.cli.evaluate import main
from fiveup_env.cli.shared import INTERRUPTED

PLOTS = "pages of the arena (no matplotlib)"
SECTIONS = [
    "What was played",
    "The ladder",
    "Who beats whom",
    "All pairs",
    "Points in a hand",
    "Points by ply",
    "Time per move",
]


def run(arguments: str) -> int:
    return main([*arguments.split(), "--cores", "1"])


def test_evaluate_prints_tables_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"
    command = f"--agents greedy,random,defensive --deals 40 --episode hand --json {file}"
    assert run(command) == 0
    tables = capsys.readouterr().out
    assert max(map(len, tables.splitlines())) <= 100
    written = json.loads(file.read_text())
    assert written["options"]["deals"] == 40
    assert [(pair["a"], pair["b"]) for pair in written["pairs"]] == [
        ("greedy", "random"),
        ("greedy", "defensive"),
        ("random", "defensive"),
    ]
    for pair in written["pairs"]:
        assert pair["deals"] == 40
        assert pair["win_rate_ci"][0] <= pair["win_rate"] <= pair["win_rate_ci"][1]
        assert pair["margin_ci"][0] < pair["margin"] < pair["margin_ci"][1]
        assert pair["forfeits"] == [0, 0]
    elos = [row["elo"] for row in written["ratings"]]
    assert elos == sorted(elos, reverse=True)
    assert sum(elos) == pytest.approx(0)
    assert sum(row["nash"] for row in written["ratings"]) == pytest.approx(1)
    for row in written["ratings"]:
        assert row["elo_ci"][0] < row["elo"] < row["elo_ci"][1]
        assert row["agent"] in tables


def test_list_tells_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    assert "defensive" in capsys.readouterr().out


def test_the_report_has_every_section_and_needs_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason=PLOTS)
    file = tmp_path / "report.html"
    command = f"--agents greedy,random --deals 100 --players 5 --episode hand --report {file}"
    assert run(command) == 0
    page = file.read_text(encoding="utf-8")
    assert re.findall("<h2>(.*?)</h2>", page) == SECTIONS
    assert not re.search(r'url\((?!#)|@import|<script|<link|(src|href)="(?!#)', page)
    for tag in ("section", "figure", "table", "p", "svg"):
        assert len(re.findall(f"<{tag}[ >]", page)) == page.count(f"</{tag}>"), tag
    plots = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(plots) == 5
    for plot in plots:
        assert "greedy" in plot
        assert "nan" not in plot
        parseString(plot)  # noqa: S318  (it was written here)
    assert command in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize("command", ["evaluate", "benchmark fiveup-v1 --agents greedy"])
def test_a_page_without_matplotlib_is_refused_before_anything_is_played(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in ("matplotlib.colors", "matplotlib.figure", "fiveup_env.arena.plots"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    file = tmp_path / "report.html"
    assert fiveup([*command.split(), "--report", str(file)]) == 2
    assert "pip install 'fiveup-env[plots]'" in capsys.readouterr().err
    assert not file.exists()


def test_records_of_all_games_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    changes = "--set draw=optional --set reserve=2"
    assert run(f"--agents greedy,random --deals 5 {changes} --record {file}") == 0
    capsys.readouterr()
    assert fiveup(["check", str(file)]) == 0
    assert "10 valid, 0 invalid" in capsys.readouterr().out
    assert json.loads(file.read_text().splitlines()[0])["rules"]["reserve"] == 2


def test_an_interruption_tells_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fiveup_env.arena.play.tournament.play_tasks", interrupted)
    monkeypatch.setattr(Protocol, "check", lambda _: None)
    file = tmp_path / "results.jsonl"
    assert run(f"--results {file}") == INTERRUPTED
    written = capsys.readouterr().err
    assert written == f"evaluate: interrupted; 0 of 12 chunks kept in {file}\n"
    assert run("") == INTERRUPTED
    assert "not kept: use --results FILE" in capsys.readouterr().err
    assert fiveup(["benchmark", "fiveup-v1", "--agents", "random", "--quick"]) == INTERRUPTED
    written = capsys.readouterr().err
    assert written == "fiveup: interrupted; what was played is not kept: use --results FOLDER\n"


def test_names_and_times_are_short() -> None:
    assert short_names(["pimc:worlds=200,playout=greedy", "greedy"], 20) == {
        "pimc:worlds=200,playout=greedy": "pimc:wor..out=greedy",
        "greedy": "greedy",
    }
    times = {
        0.53: "0.53 us",
        999: "999 us",
        999.4: "999 us",
        999.5: "1 ms",
        999.7: "1 ms",
        1_500: "1.5 ms",
        999_400: "999 ms",
        999_700: "1 s",
        2e6: "2 s",
        1.2345e9: "1230 s",
    }
    assert {time: duration(time) for time in times} == times
    assert duration(None) == "-"


def test_error_rates_are_in_the_table_the_json_and_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason=PLOTS)
    file, page, results = (tmp_path / name for name in ("a.json", "a.html", "a.jsonl"))
    command = f"--agents greedy,random --deals 12 --episode hand --chunk 4 --results {results}"
    judged = f"{command} --judge pimc:worlds=40,playout=greedy --judge-every 2"
    assert run(f"{judged} --json {file} --report {page}") == 0
    printed = capsys.readouterr().out
    assert "agent   judged  deals  error rate (%)" in printed
    rates = {row["agent"]: row["error"] for row in json.loads(file.read_text())["ratings"]}
    for rate in rates.values():
        assert rate["deals"] == 6
        assert rate["chance_ci"][0] < rate["chance"] < rate["chance_ci"][1]
        assert rate["points_ci"][0] < rate["points"] < rate["points_ci"][1]
    assert rates["greedy"]["chance"] < rates["random"]["chance"]
    titles = re.findall("<h2>(.*?)</h2>", page.read_text())
    assert titles == [*SECTIONS[:-1], "Error rates", SECTIONS[-1]]
    # What was judged is kept with the results, and is not mixed with what was not.
    assert run(judged) == 0
    assert printed.splitlines()[-3:] == capsys.readouterr().out.splitlines()[-3:]
    assert run(command) == 2
    assert "was played with judge" in capsys.readouterr().err


SPECS = [
    ["pimc:worlds=200,playout=greedy,aim=hand", "pimc:worlds=300,playout=greedy,aim=hand"],
    ["policy:runs/some-long-name/policy", "policy:runs/other-long-name/policy"],
    [f"pimc:worlds={a}00,playout=greedy,weighed={b}" for a in (1, 2) for b in (3, 4)],
    [f"policy+search:worlds=1000,trust={k},playout=partner,least=0.01" for k in range(12)],
]


@pytest.mark.parametrize("specs", SPECS)
def test_two_specs_never_look_alike(specs: list[str]) -> None:
    short = short_names([*specs, "greedy"], 20)
    assert len(set(short.values())) == len(specs) + 1
    assert max(map(len, short.values())) <= 20


def test_a_spec_that_was_cut_is_printed_in_full_below_the_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    specs = [f"pimc:worlds={k},playout=greedy,aim=hand" for k in (2, 3)]
    assert run(f"--agents {','.join(specs)} --deals 2 --episode hand") == 0
    tables = capsys.readouterr().out
    assert max(map(len, tables.splitlines())) <= 100
    legend = dict(line.split("  ") for line in tables.split("\n\n")[-1].splitlines())
    assert sorted(legend.values()) == specs
    for short in legend:
        assert tables.count(short) >= 3


def test_differences_against_one_agent_are_paired_by_deal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason=PLOTS)
    file, page = tmp_path / "results.json", tmp_path / "report.html"
    agents = "counter,partner,counter,greedy"
    command = f"--agents {agents} --against greedy --deals 200 --episode hand --json {file}"
    assert run(f"{command} --report {page}") == 0
    assert "win rate (%) against greedy" in capsys.readouterr().out
    assert "The first agent less the others" in page.read_text(encoding="utf-8")
    written = json.loads(file.read_text())
    counter, partner = written["pairs"][:2]
    assert {pair["b"] for pair in written["pairs"]} == {"greedy"}
    assert {row["nash"] for row in written["ratings"]} == {None}  # few pairs have no equilibrium
    different, same = written["differences"]
    assert (different["a"], different["less"]) == ("counter", "partner")
    assert different["margin"] == pytest.approx(counter["margin"] - partner["margin"])
    low, high = different["margin_ci"]
    assert low < different["margin"] < high
    widths = [row["margin_ci"][1] - row["margin_ci"][0] for row in (counter, partner)]
    assert high - low < np.hypot(*widths)
    low, high = same["margin_ci"]
    assert low < same["margin"] == 0 < high  # 200 deals alike leave what others would show
