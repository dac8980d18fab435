"""`fiveup doctor`: what is installed, and what is wrong with it."""

from __future__ import annotations

from email.message import Message
from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

from fiveup_env import __version__
from fiveup_env.cli import doctor, main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def test_it_says_what_there_is_and_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    report = installed(monkeypatch)
    facts = dict(report.facts)
    assert report.faults == []
    assert facts["fiveup-env"].startswith(f"{__version__}, in ")
    assert facts["packages"] == "numpy 2.4.6"
    assert facts["not installed"] == "starlette"
    assert " MB, in " in facts["compiled code"]
    assert "a first move" in facts


def test_another_version_and_a_cache_that_cannot_be_written_are_faults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "not" / "there"
    monkeypatch.setattr(doctor, "cache_folders", lambda: {kept})
    monkeypatch.setattr(doctor, "is_writable", lambda folder: folder != tmp_path)
    version, cache = installed(monkeypatch, "0.0.9").faults
    assert version.startswith(f"the code is version {__version__}, but what was installed says 0.0")
    assert cache.startswith(f"compiled code cannot be kept in {kept}, so every start compiles anew")


def test_compiled_code_that_does_not_run_is_a_fault_and_the_status_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(doctor, "Batch", broken)
    assert main(["doctor"]) == 1
    assert "compiled code does not run: RuntimeError: no such" in capsys.readouterr().out
