"""Results as data: a command that measures writes `results/NAME.json`, and pages show its tables.

A file says what ran (command, version, commit, machine, seconds) and holds lists of rows: `rows`
as benchmarks write them with `--save`, `pairs` and `ratings` as `evaluate.py --json` does. A key of
a row is a column, and `KEY_ci` is the interval of `KEY`. A cell is text, a number, a dict of
`value` with `ci` or `error`, `format` and `unit`, or a list of these. A row with the key `pair`
shows a pair of another file: `["NAME", "AGENT", "OPPONENT"]`.

`python -m benchmarks.results` writes the tables of README.md anew, and exits with 1 if any changed.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import fiveup_env
from benchmarks.timing import machine
from fiveup_env.arena.tables import columns
from fiveup_env.files import write_atomic

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Sequence

    from fiveup_env.files import Json

    Figure = tuple[str, str, str]  # its name in a round, how it is written, and its unit
    Line = tuple[str, Figure | None, Figure | None]

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "results"
README: Final = ROOT / "README.md"
STARTED: Final = time.monotonic()
NUMBER: Final = r"[+-]?\d[\d,]*(?:\.\d+)?"
CELL: Final = re.compile(
    rf"({NUMBER})(?: \(({NUMBER}) \.\. ({NUMBER})\))?(?: \+- ({NUMBER}))?(?: (\D.*))?"
)
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


def measured(lines: Iterable[Line], rounds: Sequence[dict[str, float]]) -> list[Json]:
    """Return a row for every line: what it is, how fast that is, and what that is compared with."""

    def cell(figure: Figure | None) -> Json | None:
        if figure is None:
            return None
        name, form, unit = figure
        return ranged([one[name] for one in rounds], form, unit)

    return [
        {"what": what, "how fast": cell(speed), "compared": cell(other)}
        for what, speed, other in lines
    ]


def ranged(values: Sequence[float], form: str, unit: str) -> Json:
    """Return a cell with the median of some values, and their range."""
    value, low, high = (float(f"{x:.4g}") for x in (median(values), min(values), max(values)))
    return {"value": value, "ci": [low, high], "format": form, "unit": unit}


def named(table: Sequence[Sequence[str]]) -> list[Json]:
    """Return the rows of a table of text, whose first row has the headings, as data."""
    heads, *rows = table
    return [dict(zip(heads, map(_parsed, row), strict=True)) for row in rows]


def _parsed(text: str) -> Any:
    found = CELL.fullmatch(text)
    if not found:
        return text
    numbers = [float(one.replace(",", "")) for one in found.groups()[:4] if one]
    decimals = max(len(one.partition(".")[2]) for one in found.groups()[:4] if one)
    cell: Json = {"value": numbers[0]}
    if found[2]:
        cell["ci"] = numbers[1:3]
    if found[4]:
        cell["error"] = numbers[-1]
    if found[5]:
        cell["unit"] = found[5]
    forms = (f"{sign},.{decimals}f" for sign in ("", "+"))
    return next((one for form in forms if _cell(one := cell | {"format": form}) == text), text)


def publish(name: str, *, keep: bool, **lists: list[Json]) -> None:
    """Print lists of rows that this command measured; with `keep`, write `results/NAME.json`."""
    for rows in filter(None, lists.values()):
        print(columns([list(rows[0]), *(list(map(_cell, row.values())) for row in rows)], set()))
    if not keep:
        return
    program = Path(sys.argv[0]).resolve().relative_to(ROOT).with_suffix("")
    git = ["git", "rev-parse", "--short", "HEAD"]
    said = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    content = {
        "command": shlex.join(["python", "-m", ".".join(program.parts), *sys.argv[1:]]),
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
    """Return what a file of results holds."""
    content: Json = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return content


def names(places: str) -> list[str]:
    """Return the names of the files from which the figures of a table come."""
    found: dict[str, None] = {}
    for place in places.split():
        name = re.split("[/:]", place)[0]
        pairs = [row["pair"][0] for row in read(name).get("rows", ()) if "pair" in row]
        found |= dict.fromkeys([name, *pairs])
    return list(found)


def commands(places: str) -> str:
    """Return the commands that measured the figures of a table, a line each."""
    lines: dict[str, None] = {}
    for content in map(read, names(places)):
        commit = f"  # commit {content['commit']}" if content.get("commit") else ""
        lines |= {line + commit: None for line in content.get("command", "").splitlines()}
    return "\n".join(lines)


def table(places: str) -> str:
    """Return the Markdown table of rows from places such as `ladder/ratings` or `engine:1,3`."""
    rows = [row for place in places.split() for row in map(_resolved, _rows(place))]
    keys = [key for key in rows[0] if not key.endswith("_ci")]
    heads = [HEADINGS.get(key, (key, ""))[0] for key in keys]
    lines = [heads, ["---"] * len(keys), *([_cell_of(row, key) for key in keys] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
    (pair,) = (one for one in read(name)["pairs"] if {one["a"], one["b"]} == {agent, opponent})
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
    text = format(cell["value"], form).rstrip("%")
    if ci := cell.get("ci"):
        text += f" ({' .. '.join(format(end, form).rstrip('%') for end in ci)})"
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
