"""Check the published figures: `python -m benchmarks.figures`.

figures.yaml lists every figure on our pages that a command prints. What is cheap is run again, and
what it prints now is compared with what the pages say. Numbers with intervals must come so close
that the intervals would overlap if they were twice as wide, because some of many 95 % intervals
miss. Any other number must come as close as the list says, or be the same. After a change of a
page, `--missing` shows which entries are no longer on it, and which intervals on it are in none.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT: Final = Path(__file__).parents[1]
FILE: Final = Path(__file__).with_name("figures.yaml")
PAGES: Final = (
    "README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
    "fiveup_env/opponents/policies/README.md",
)
SECONDS: Final = 60  # of a command that is run again without being asked for
# A number that is not part of a word such as `mini-2` or `worlds=50`.
NUMBER: Final = re.compile(r"(?<![\w=:.,@-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d+)?")
INTERVAL: Final = re.compile(
    r"\([+-]?\d[\d.]* \.\. [+-]?\d[\d.]*\)|(?<![\d.])[+-]?\d[\d.]* \+- \d[\d.]*"
)


class FiguresError(Exception):
    """A list of figures that cannot be read."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Figures that one command printed.

    Attributes:
        command: what printed them.
        seconds: how long that takes on an idle core, roughly, with the training of what it plays.
        again: what is run instead to compare, such as the same with fewer deals. Then only numbers
            with an interval are compared, unless `within` is given.
        within: the share by which a number without an interval may differ.
        figures: the page, and what it says, word for word; or that and what is printed.
    """

    command: str
    seconds: float
    again: str | None = None
    within: float | None = None
    figures: dict[str, list[str | dict[str, str]]] = field(default_factory=dict)

    def said(self) -> Iterator[tuple[str, str, str]]:
        """Yield the page, what it says, and what was printed for it, for every figure."""
        for page, figures in self.figures.items():
            for figure in figures:
                pairs = figure if isinstance(figure, dict) else {figure: figure}
                yield from ((page, text, printed) for text, printed in pairs.items())

    @property
    def cheap(self) -> str | None:
        """The command that is run again, if any is cheap enough."""
        return self.again or (self.command if self.seconds <= SECONDS else None)


def read_entries(path: Path = FILE) -> list[Entry]:
    """Return the entries of a list of figures; raise FiguresError if one is not as it should be."""
    listed = yaml.safe_load(path.read_text("utf-8"))
    return [_entry(one, f"entry {number} of {path.name}") for number, one in enumerate(listed, 1)]


def _entry(given: dict[str, Any], name: str) -> Entry:
    try:
        return Entry(**given)
    except TypeError as error:
        raise FiguresError(f"{name}: {error}") from None


def plain(text: str) -> str:
    """Return text without the marks of Markdown, and with single spaces."""
    return " ".join(re.sub(r"[|`*]", " ", text).split())


def on_page(page: str) -> str:
    """Return the text of a page, with single spaces."""
    return " ".join((ROOT / page).read_text("utf-8").split())


def not_on_their_pages(entries: Sequence[Entry]) -> list[str]:
    """Return the figures that their pages do not say, each with its page."""
    pages = {page: on_page(page) for entry in entries for page in entry.figures}
    return [
        f"{page}: {text}"
        for entry in entries
        for page, text, _ in entry.said()
        if " ".join(text.split()) not in pages[page]
    ]


def in_no_entry(entries: Sequence[Entry]) -> list[str]:
    """Return the intervals on our pages that no entry lists, each with its page."""
    listed: dict[str, str] = {}
    for entry in entries:
        for page, text, _ in entry.said():
            listed[page] = listed.get(page, "") + f" {text}"
    return [
        f"{page}: {text}"
        for page in PAGES
        for text in sorted(set(INTERVAL.findall(on_page(page))))
        if text not in listed.get(page, "")
    ]


def disagreement(entry: Entry, printed: str, output: str) -> str | None:
    """Return what is wrong with a figure, given what its command prints now; None if nothing is."""
    wanted, pieces = plain(printed), NUMBER.split(plain(printed))
    pattern = f"({NUMBER.pattern})".join(re.escape(piece) for piece in pieces)
    found = list(re.finditer(pattern, plain(output)))
    if any(_agree(entry, pieces, NUMBER.findall(wanted), one.groups()) for one in found):
        return None
    return f"{wanted!r}, but now {found[0].group()!r}" if found else f"{wanted!r} is not printed"


def _agree(entry: Entry, pieces: list[str], was: Sequence[str], now: Sequence[str]) -> bool:
    """Return whether numbers agree; `pieces` is the text around them."""
    old, new = ([float(text.replace(",", "")) for text in numbers] for numbers in (was, now))
    k = 0
    while k < len(old):
        if pieces[k + 1 : k + 3] == [" (", " .. "] and pieces[k + 3][:1] == ")":
            widths = old[k + 2] - old[k + 1] + new[k + 2] - new[k + 1]
            if abs(new[k] - old[k]) > widths:
                return False
            k += 3
            continue
        share = entry.within or 0.0
        judged = entry.within is not None or not entry.again
        if judged and abs(new[k] - old[k]) > share * abs(old[k]):
            return False
        k += 1
    return True


def run(command: str) -> str:
    """Return what a command prints, run in the root of the repository by this Python."""
    words = shlex.split(command)
    words[0] = sys.executable if words[0] == "python" else words[0]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"


def check(entries: Sequence[Entry]) -> int:
    """Run the cheap commands again, print how they compare, and count the figures that differ."""
    wrong, skipped = 0, 0
    outputs: dict[str, str] = {}
    for entry in entries:
        figures = list(entry.said())
        if not entry.cheap:
            skipped += len(figures)
            continue
        if entry.cheap not in outputs:
            outputs[entry.cheap] = run(entry.cheap)
        differ = [
            f"  {page}: {why}"
            for page, _, printed in figures
            if (why := disagreement(entry, printed, outputs[entry.cheap]))
        ]
        print(f"{len(figures) - len(differ)} of {len(figures)} agree: {entry.cheap}", flush=True)
        print("\n".join(differ), end="\n" if differ else "")
        wrong += len(differ)
    print(f"{skipped} figures come from commands that take longer than {SECONDS} s")
    return wrong


def main() -> int:
    """Check the figures and return the exit status: 1 if one differs or is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="commands or pages with TEXT")
    parser.add_argument(
        "--missing", action="store_true", help="run nothing; compare only the pages with the list"
    )
    options = parser.parse_args()
    entries = read_entries()
    missing: list[Any] = [f"not on the page: {one}" for one in not_on_their_pages(entries)]
    missing += [f"in no entry: {one}" for one in in_no_entry(entries)]
    print("\n".join(missing), end="\n" if missing else "")
    if options.missing:
        return int(bool(missing))
    chosen = [one for one in entries if options.only in f"{one.command} {' '.join(one.figures)}"]
    return int(bool(check(chosen) or missing))


if __name__ == "__main__":
    sys.exit(main())
