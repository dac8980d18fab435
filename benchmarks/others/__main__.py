"""How fast other libraries' games run: `python -m benchmarks.others`."""

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
    """A game's speed, or why a library has none."""

    library: str
    version: str = ""
    game: str = ""
    steps: int = 0
    seconds: float = 0.0
    steps_per_second: float = 0.0
    cores: float = 0.0
    error: str = ""


def complaint(output: str) -> str:
    """The last line that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no word why"]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines)[-1]


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it prints."""
    return subprocess.run(command, capture_output=True, check=False, text=True)


def prepare(library: str, venvs: Path) -> tuple[Path, str]:
    """The library's own Python, made unless it is there with these pins, or what went wrong."""
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
            return python, complaint(done.stdout + done.stderr)
    stamp.write_text(made)
    return python, ""


def measure(library: str, seconds: float, venvs: Path) -> list[Row]:
    """The rows of one library; the last one says what went wrong, if anything did."""
    python, error = prepare(library, venvs)
    if error:
        return [Row(library, error=error)]
    script = Path(__file__).with_name(f"{library}_steps.py")
    done = run(python, "-E", script, "--seconds", str(seconds))
    found = [Row(**json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode:
        found.append(Row(library, error=complaint(done.stderr)))
    return found


def rows(seconds: float = 3.0, venvs: Path = VENVS, only: str | None = None) -> list[Row]:
    """Every library's rows, or only one library's, measured one after another."""
    return [
        row
        for library in ([only] if only else PINS)
        for row in measure(library, seconds, venvs.absolute())
    ]


def main() -> None:
    """Measure and print the table."""
    parser = ArgumentParser(prog="python -m benchmarks.others", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to play each game")
    parser.add_argument("--venvs", type=Path, default=VENVS, help="where the environments are kept")
    parser.add_argument("--only", choices=PINS, help="one library")
    parser.add_argument("--json", type=Path, help="where to write the rows")
    asked = parser.parse_args()
    measured = rows(asked.seconds, asked.venvs, asked.only)
    print(f"{'library':<12}{'version':<10}{'game':<32}{'cores':>6}{'steps/s':>14}")
    for row in measured:
        if row.error:
            print(f"{row.library:<12}{row.error}")
        else:
            speed = f"{row.cores:>6.1f}{row.steps_per_second:>14,.0f}"
            print(f"{row.library:<12}{row.version:<10}{row.game:<32}{speed}")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in measured], indent=2) + "\n")


if __name__ == "__main__":
    main()
