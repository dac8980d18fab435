"""`fiveup doctor`: what is installed, and what is wrong with it."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

import pytest

from fiveup_env import __version__
from fiveup_env.cli import doctor, main
from fiveup_env.cli.doctor import Need, Report, needs_by_extra

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NEEDS = ["numpy>=2.0", "starlette>=0.40; extra == 'web'", "uvicorn>=0.30 ; extra == 'web'"]


def installed(
    monkeypatch: pytest.MonkeyPatch,
    *,
    needs: Sequence[str] = NEEDS,
    versions: dict[str, str] | None = None,
) -> Report:
    """Return the report where NumPy and these packages are installed."""
    there = {"fiveup-env": __version__, "numpy": "2.4.6"} | (versions or {})

    def version(name: str) -> str:
        if name not in there:
            raise PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(doctor, "requires", lambda _name: list(needs))
    monkeypatch.setattr(doctor, "version", version)
    return doctor.examine()


def test_it_says_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    report = installed(monkeypatch, versions={"starlette": "1.0", "uvicorn": "0.54"})
    assert report.faults == []
    facts = dict(report.facts)
    assert facts["fiveup-env"].startswith(f"{__version__}, in ")
    assert facts["needs"] == "numpy 2.4.6"
    assert facts["extra web"] == "starlette 1.0, uvicorn 0.54"
    assert facts["cores"].split()[1:3] == ["usable", "of"]
    assert " MB, in " in facts["compiled code"]
    assert report.text().endswith("What is wrong:\nnothing that shows here")


def test_an_extra_that_is_not_complete_names_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = installed(monkeypatch, versions={"starlette": "1.0"})
    assert dict(report.facts)["extra web"] == "without uvicorn: pip install 'fiveup-env[web]'"
    assert report.faults == []


@pytest.mark.parametrize(
    ("versions", "fault"),
    [
        ({"numpy": "1.26.4"}, "numpy 1.26.4 is older than 2.0, the least that is needed: pip"),
        ({"starlette": "0.9"}, "starlette 0.9 is older than 0.40, the least that is needed: pip"),
        ({"fiveup-env": "0.0.9"}, f"the code is version {__version__}, but what was installed"),
    ],
)
def test_what_is_too_old_is_a_fault(
    versions: dict[str, str], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [one[: len(fault)] for one in installed(monkeypatch, versions=versions).faults] == [
        fault
    ]


def test_a_need_that_is_missing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    report = installed(monkeypatch, needs=[*NEEDS, "numba>=0.61"])
    assert report.faults == ["numba is not installed: pip install numba"]


def test_a_cache_that_cannot_be_written_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "not" / "there"
    monkeypatch.setattr(doctor, "cache_folders", lambda: {kept})
    monkeypatch.setattr(doctor, "is_writable", lambda folder: folder != tmp_path)
    (fault,) = installed(monkeypatch).faults
    assert fault.startswith(f"compiled code cannot be kept in {kept}, so every start compiles anew")


def test_compiled_code_that_does_not_run_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr("fiveup_env.envs.batch.Batch", broken)
    assert installed(monkeypatch).faults == [
        "compiled code does not run: RuntimeError: no such instruction"
    ]


def test_needs_are_those_of_this_python_and_an_extra_inside_an_extra_is_left_out() -> None:
    later = f"{sys.version_info.major}.{sys.version_info.minor + 1}"
    assert needs_by_extra(
        [
            'fiveup-env[sb3]; extra == "train"',
            'open_spiel>=2.0.2; python_version >= "3.1" and extra == "openspiel"',
            f'torch; (python_version >= "{later}") and extra == "train"',
        ]
    ) == {"train": [], "openspiel": [Need("open_spiel", "2.0.2")]}


def test_the_status_says_whether_something_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for faults, status in (([], 0), (["the roof leaks"], 1)):
        report = Report([("fiveup-env", "0.0")], faults)
        monkeypatch.setattr(doctor, "examine", lambda report=report: report)
        assert main(["doctor"]) == status
    assert capsys.readouterr().out.endswith("What is wrong:\n1. the roof leaks\n")
