"""Results as data: a command that measures writes `results/NAME.json`, and pages show its tables.

A file says what ran (command, version, machine, seconds; a commit that has the command) and holds
lists of rows: `rows` as benchmarks write them with `--save`, `pairs` and `ratings` as `evaluate.py
--json` does. A key of a row is a column, and `KEY_ci` is the interval of `KEY`. A cell is text, a
number, a dict of `value` with `ci` or `error`, `format` and `unit`, or a list of these. A row with
the key `pair` shows a pair of another file: `["NAME", "AGENT", "OPPONENT"]`.

`python -m agents.results` writes the tables of README.md anew, and exits with 1 if any changed.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import fiveup_env
from fiveup_env.arena.statistics.bootstrap import with_bounds
from fiveup_env.arena.tables import markdown
from fiveup_env.files import write_atomic

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from fiveup_env.files import Json

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "results"
README: Final = ROOT / "README.md"
STARTED: Final = time.monotonic()
BLOCK: Final = re.compile(r"(<!-- results (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
HEADINGS: Final = {  # of keys, with the format of their numbers
    "win_rate": ("win rate (%)", ".1%"),
    "margin": ("points a hand", "+.2f"),
    "elo": ("Elo", "+.0f"),
    "deals": ("deals", ","),
    "us_per_move": ("time per move (us)", ".2f"),
}

COLUMNS: Final = {  # of what `evaluate.py` writes, those that a page shows
    "pairs": ("a", "b", "deals", "win_rate", "win_rate_ci", "margin", "margin_ci"),
    "ratings": ("agent", "elo", "elo_ci", "win_rate", "us_per_move"),
}


def add_save(parser: ArgumentParser) -> None:
    """Give a benchmark the option to keep what it measures."""
    parser.add_argument("--save", action="store_true", help="write results/NAME.json for the pages")


def ranged(values: Sequence[float], form: str, unit: str = "") -> Json:
    """Return a cell with the median of some values, and their range."""
    ends = (min(values), max(values)) if len(values) > 1 else ()
    return cell(median(values), ends, form, unit)


def cell(value: float, ends: Sequence[float], form: str, unit: str = "") -> Json:
    """Return a cell with a value and the ends of its interval, if it has one."""
    value, *ends = (float(f"{x:.4g}") for x in (value, *ends))
    parts = {"value": value, "ci": ends, "format": form, "unit": unit}
    return {key: part for key, part in parts.items() if part not in ("", [])}


def publish(name: str, *, keep: bool, **lists: list[Json]) -> None:
    """Print lists of rows that this command measured; with `keep`, write `results/NAME.json`."""
    for rows in filter(None, lists.values()):
        sys.stdout.write(f"{shown(rows)}\n\n")
    if not keep:
        return
    program = Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("")
    module = ".".join(program.parts).removesuffix(".__main__")
    git = ["git", "rev-parse", "--short", "HEAD"]
    said = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    content = {
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
        "version": fiveup_env.__version__,
        "commit": said.stdout.strip() or None,
        "machine": machine(),
        "seconds": round(time.monotonic() - STARTED),
        **lists,
    }
    write_atomic(FOLDER / f"{name}.json", dumps(content).encode())


def dumps(content: Json) -> str:
    """Return JSON in which every row is a line."""
    parts = []
    for key, value in content.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value)
            text = f"[\n  {rows}\n ]"
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(name: str) -> Json:
    """Return the content of a file of results."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def machine() -> str:
    """Return the name of the processor and the number of its cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return f"{(names or [platform.machine()])[0]}, {os.cpu_count()} cores"


def names(places: str) -> list[str]:
    """Return the names of the files from which the figures of a table come."""
    known: dict[str, None] = {}
    for place in places.split():
        name = re.split("[/:]", place)[0]
        pairs = [row["pair"][0] for row in read(name).get("rows", ()) if "pair" in row]
        known |= dict.fromkeys([name, *pairs])
    return list(known)


def commands(places: str) -> str:
    """Return the commands that measured the figures of a table, a line each."""
    lines: dict[str, None] = {}
    for content in map(read, names(places)):
        commit = f"  # commit {content['commit']}" if content.get("commit") else ""
        lines |= {line + commit: None for line in content.get("command", "").splitlines()}
    return "\n".join(lines)


def table(places: str) -> str:
    """Return the Markdown table of rows from places such as `ladder/ratings` or `engine:1,3`."""
    return shown([row for place in places.split() for row in map(_resolved, _rows(place))])


def shown(rows: Sequence[Json]) -> str:
    """Return rows as a Markdown table."""
    keys = [key for key in rows[0] if not key.endswith("_ci")]
    heads = [HEADINGS.get(key, (key, ""))[0] for key in keys]
    return markdown([heads, *([_cell_of(row, key) for key in keys] for row in rows)])


def _rows(place: str) -> list[Json]:
    """Return the rows of `NAME/LIST:NUMBER,NUMBER`; the list may be left out, and the numbers."""
    file, _, numbers = place.partition(":")
    name, _, part = file.partition("/")
    content = read(name)
    part = part or ("rows" if "rows" in content else "pairs")
    rows: list[Json] = content[part]
    if numbers:
        rows = [rows[int(number) - 1] for number in numbers.split(",")]
    if part in COLUMNS:
        rows = [{key: row[key] for key in COLUMNS[part] if key in row} for row in rows]
    return rows


def _resolved(row: Json) -> Json:
    """Return a row with the figures of the pair that it names."""
    if "pair" not in row:
        return row
    name, agent, opponent = row["pair"]
    (pair,) = (duel for duel in read(name)["pairs"] if {duel["a"], duel["b"]} == {agent, opponent})
    low, high = pair["win_rate_ci"]
    won, ends = pair["win_rate"], [low, high]
    if pair["b"] == agent:
        won, ends = 1 - won, [1 - high, 1 - low]
    shown = {key: value for key, value in row.items() if key != "pair"}
    return shown | {"deals": pair["deals"], "win_rate": won, "win_rate_ci": ends}


def _cell_of(row: Json, key: str) -> str:
    value = row.get(key)
    if isinstance(value, int | float):
        form = HEADINGS.get(key, ("", ","))[1]
        value = {"value": value, "ci": row.get(f"{key}_ci"), "format": form}
    elif key in {"a", "b", "agent"} and isinstance(value, str):
        value = value if "`" in value else f"`{value}`"
    return _cell(value)


def _cell(cell: Any) -> str:
    """Return a cell as text."""
    if isinstance(cell, list):
        return " / ".join(map(_cell, cell))
    if not isinstance(cell, dict):
        return "" if cell is None else str(cell)
    form, unit = cell.get("format", ","), cell.get("unit")
    value = cell["value"]
    text = with_bounds(value, ci, form) if (ci := cell.get("ci")) else format(value, form)
    text = text.replace("%", "")
    if "error" in cell:
        text += f" +- {format(cell['error'], form.removeprefix('+'))}"
    return f"{text} {unit}" if unit else text


def main() -> int:
    """Write the tables of the README; return 1 if that changed it."""
    before = README.read_text("utf-8")
    after = BLOCK.sub(lambda block: f"{block[1]}\n{table(block[2])}\n\n{block[3]}", before)
    write_atomic(README, after.encode())
    return int(after != before)


if __name__ == "__main__":
    sys.exit(main())
