"""The version of all the code here, for files that are made once and kept."""

from __future__ import annotations

from pathlib import Path

from fiveup_env import __version__
from fiveup_env.native.sources import PACKAGE, source_digest


def code_version() -> str:
    """Return the version of the package, and a digest of the code that plays and learns."""
    return f"{__version__}+{source_digest(frozenset({Path(__file__).parent, PACKAGE}))}"
