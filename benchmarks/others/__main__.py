"""Measure how fast other libraries' games run: `python -m benchmarks.others`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import asdict, dataclass
from pathlib import Path

PINS = {
    "open_spiel": ("open_spiel==2.0.2", "numpy==2.4.6"),
    "rlcard": ("rlcard==1.2.0", "numpy==2.4.6"),
    "pgx": ("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"),
    "pettingzoo": (
        "pettingzoo==1.27.0",
        "gymnasium==1.4.0",
        "pygame-ce==2.5.8",
        "numpy==2.4.6",
    ),
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
VENVS = CACHE / "fiveup-env" / "benchmarks"
PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


@dataclass(frozen=True)
class Row:
    """The speed of a game, or the error that prevented its measurement."""

    library: str
    version: str = ""
    game: str = ""
    steps: int = 0
    seconds: float = 0.0
    steps_per_second: float = 0.0
    cores: float = 0.0
    error: str = ""


def last_error(output: str) -> str:
    """Return the last line that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no error message"]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines)[-1]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and capture its output."""
    return subprocess.run(command, capture_output=True, check=False, text=True)


def prepare(library: str, venvs: Path) -> tuple[Path, str]:
    """Return the library's own Python, installed with these pins if necessary, and any error."""
    home, pins = venvs / library, PINS[library]
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, made = home / "pins.txt", "\n".join((platform.python_version(), *pins))
    if python.exists() and stamp.exists() and stamp.read_text() == made:
        return python, ""
    print(f"{library}: installing {', '.join(pins)}", file=sys.stderr)
    for command in (
        (sys.executable, "-m", "venv", "--clear", str(home)),
        (str(python), "-E", *PIP_INSTALL, *pins),
    ):
        done = run(*command)
        if done.returncode:
            return python, last_error(done.stdout + done.stderr)
    stamp.write_text(made)
    return python, ""


def measure(library: str, seconds: float, venvs: Path) -> list[Row]:
    """Measure one library and return its rows; the last row holds the error if there was one."""
    python, error = prepare(library, venvs)
    if error:
        return [Row(library, error=error)]
    script = Path(__file__).with_name(f"{library}_steps.py")
    done = run(python, "-E", script, "--seconds", str(seconds))
    found = [Row(**json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode:
        found.append(Row(library, error=last_error(done.stderr)))
    return found


def rows(seconds: float = 3.0, venvs: Path = VENVS, only: str | None = None) -> list[Row]:
    """Measure every library in turn, or only one of them, and return the rows."""
    return [
        row
        for library in ([only] if only else PINS)
        for row in measure(library, seconds, venvs.absolute())
    ]


def main() -> None:
    """Measure and print the table."""
    parser = ArgumentParser(prog="python -m benchmarks.others", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each game is played")
    parser.add_argument("--venvs", type=Path, default=VENVS, help="folder of the environments")
    parser.add_argument("--only", choices=PINS, help="measure only this library")
    parser.add_argument("--json", type=Path, help="file to which the rows are written")
    options = parser.parse_args()
    measured = rows(options.seconds, options.venvs, options.only)
    print(f"{'library':<12}{'version':<10}{'game':<32}{'cores':>6}{'steps/s':>14}")
    for row in measured:
        if row.error:
            print(f"{row.library:<12}{row.error}")
        else:
            speed = f"{row.cores:>6.1f}{row.steps_per_second:>14,.0f}"
            print(f"{row.library:<12}{row.version:<10}{row.game:<32}{speed}")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in measured], indent=2) + "\n")


if __name__ == "__main__":
    main()
