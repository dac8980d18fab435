"""How fast other libraries' games run, each in the way that its library documents."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

PINS: Final = {
    "open_spiel": ("open_spiel==2.0.2", "numpy==2.4.6"),
    "rlcard": ("rlcard==1.2.0", "numpy==2.4.6"),
    "pgx": ("pgx==2.6.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6"),
}
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
VENVS: Final = CACHE / "fiveup-env" / "benchmarks"
PIP_INSTALL: Final = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


class Speed(NamedTuple):
    """The speed of a game."""

    library: str
    version: str
    game: str
    steps_per_second: float


def speeds(seconds: float) -> list[Speed]:
    """Return the speeds of all libraries' games, each played for this long."""
    return [speed for library in PINS for speed in measure(library, seconds)]


def measure(library: str, seconds: float) -> list[Speed]:
    """Return the speeds of one library's games."""
    script = Path(__file__).with_name(f"{library}_steps.py")
    lines = run(prepared(library), "-E", str(script), str(seconds)).splitlines()
    return [Speed(*json.loads(line)) for line in lines if line[:1] == "["]


def prepared(library: str) -> str:
    """Return the library's own Python, in which its pins are installed."""
    home, pins = VENVS / library, PINS[library]
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, made = home / "pins.txt", "\n".join((platform.python_version(), *pins))
    if not (python.exists() and stamp.exists() and stamp.read_text() == made):
        print(f"{library}: installing {', '.join(pins)}", file=sys.stderr)
        run(sys.executable, "-m", "venv", "--clear", str(home))
        run(str(python), "-E", *PIP_INSTALL, *pins)
        stamp.write_text(made)
    return str(python)


def run(*command: str) -> str:
    """Return what a command prints; its errors go to the terminal."""
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
