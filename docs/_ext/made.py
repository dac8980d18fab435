"""Parts of pages that are made when the site is built: layouts, tables, and what commands print."""

from __future__ import annotations

import dataclasses
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from agents.learn.runs.config import Config
from fiveup_env import PRESETS, Move, Rules
from fiveup_env.drawing.scene import layout_picture
from fiveup_env.drawing.snapshot import Snapshot, placement_of
from fiveup_env.drawing.svg import picture_svg
from fiveup_env.rules.fields import CHOICES, FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

ROOT: Final = Path(__file__).parents[2]
