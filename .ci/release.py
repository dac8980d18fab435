"""Check that a tag may be released, and print what is new: release.py TAG.

The tag, the version of the package, the newest heading of CHANGELOG.md and CITATION.cff must agree,
and nothing may be left under "Unreleased".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADING = re.compile(
    r"^## (?:Unreleased|(?P<version>[\d.]+) \((?P<date>\d{4}-\d\d-\d\d)\))$", re.MULTILINE
)


def release_notes(tag: str, root: Path) -> str:
    """Return what is new in the version of a tag; exit with a sentence if something disagrees."""
    package = (root / "fiveup_env" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', package, re.MULTILINE)
    if tag != f"v{version}":
        sys.exit(f"the tag is {tag}, but the package is version {version}: tag v{version}")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = HEADING.split(
        changelog
    )  # before the first heading, then version, date and text of each
    headings = list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))
    waiting = "".join(text.strip() for number, _, text in headings if number is None)
    if waiting:
        sys.exit(f"CHANGELOG.md has changes under Unreleased: move them under {version}")
    newest, date, notes = next((one for one in headings if one[0]), (None, None, ""))
    if newest != version:
        sys.exit(f"the newest version of CHANGELOG.md is {newest}, not {version}: add its heading")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    for line in (f"version: {version}", f"date-released: {date}"):
        if line not in citation.splitlines():
            sys.exit(f"CITATION.cff must say {line!r}, as CHANGELOG.md does")
    return notes.strip()


if __name__ == "__main__":
    print(release_notes(sys.argv[1], ROOT))
