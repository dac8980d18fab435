"""Parts of pages that are made when the site is built: layouts, tables, and what commands print."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from agents import results
from agents.data.plan import COLUMNS
from agents.runs.config import Config
from fiveup_env import TILES, Deal, Game, Move, Rules
from fiveup_env.arena.tables import markdown
from fiveup_env.drawing.scene import layout_picture
from fiveup_env.drawing.snapshot import Snapshot
from fiveup_env.drawing.svg import picture_svg
from fiveup_env.rules.fields import BOUNDS, CHOICES, FIELDS
from fiveup_env.rules.presets import FAMILY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

ROOT: Final = Path(__file__).parents[2]


class Layout(SphinxDirective):
    """A layout, drawn from its moves, with its total and what the last play scores."""

    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]] | None] = {
        "rules": directives.unchanged,
        "set": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Return the picture with its caption."""
        fields = dict(one.split("=") for one in self.options.get("set", "").split())
        moves = " ".join(self.content).split()
        game = played(moves, self.options.get("rules", "five_up"), fields)
        last = list(game.steps())[-1]
        before, after = (
            int(state[0]["public"]["scores"].sum()) for state in (last.before, last.after)
        )
        points = (
            f"{after - before} point{'s' * (after - before != 1)}" if after > before else "nothing"
        )
        said = f"total {game.layout().total}: {points}"
        picture = layout_picture(Snapshot.of(game), (0, 0))
        svg = picture_svg(picture, f"{' '.join(moves)}, {said}")
        html = f'<figure class="layout">{svg}<figcaption>{said}</figcaption></figure>'
        return [nodes.raw("", html, format="html")]


def played(moves: Sequence[str], rules: str, fields: Mapping[str, str]) -> Game:
    """Return a game of two in which these moves have been made; whoever moves has the tile."""
    changes: Any = {name: int(value) for name, value in fields.items()}
    tiles = [str(Move.parse(move).tile) for move in moves]
    rest = iter(tile for tile in map(str, TILES) if tile not in tiles)
    half = len(TILES) // 2
    hands = [own + list(islice(rest, half - len(own))) for own in (tiles[::2], tiles[1::2])]
    game = Game(rules, players=2, hand_size=half, deals=[Deal(hands, [])], seed=0, **changes)
    for move in moves:
        game.push(move)
    return game


class Console(SphinxDirective):
    """Commands, each with what it prints in the root of the repository."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the commands with their output."""
        texts = map(printed, self.content)
        return [nodes.literal_block(text, text, language="text") for text in texts]


def printed(command: str) -> str:
    """Return a command and what it prints; raise RuntimeError if it fails."""
    words = shlex.split(command)
    done = subprocess.run(  # noqa: S603  (our own pages say what is run)
        [sys.executable, *words[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "88"},
    )
    if done.returncode or words[0] != "python":
        raise RuntimeError(f"{command} failed: {done.stderr}")
    return f"$ {command}\n{done.stdout.strip()}"


class Commands(SphinxDirective):
    """What a command prints for `--help`, and so does each of its own commands."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the help texts."""
        command = self.arguments[0]
        helps = [printed(f"{command} --help")]
        names = re.findall(r"^    (\w+)", helps[0], re.MULTILINE)
        helps += [printed(f"{command} {name} --help") for name in names]
        return [nodes.literal_block(text, text, language="text") for text in helps]


class Docstring(SphinxDirective):
    """The docstring of a module, as it stands."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the text."""
        text = inspect.getdoc(import_module(self.arguments[0])) or ""
        return [nodes.literal_block(text, text, language="text")]


class FromCode(SphinxDirective):
    """A table that is made from the code: one of TABLES."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        return self.parse_text_to_nodes(markdown(TABLES[self.arguments[0]]()))


class Results(SphinxDirective):
    """A table of what commands measured, from files in `results/`, and these commands."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the table and the commands."""
        places = self.arguments[0]
        for name in results.names(places):
            self.env.note_dependency(str(results.FOLDER / f"{name}.json"))
        commands = results.commands(places)
        return [
            *self.parse_text_to_nodes(results.table(places)),
            nodes.literal_block(commands, commands, language="bash"),
        ]


def rule_fields() -> Iterator[list[str]]:
    """Yield every rule field, with the values that it takes and its default."""
    yield ["field", "values", "default"]
    for name in FIELDS:
        default = getattr(Rules.preset("five_up"), name)
        if name in CHOICES:
            values = ", ".join(f"`{value!r}`" for value in CHOICES[name])
        elif isinstance(default, bool):
            values = "`True`, `False`"
        else:
            values = "a whole number from {} to {}".format(*BOUNDS[name])
        yield [f"`{name}`", values, f"`{default!r}`"]


def presets() -> Iterator[list[str]]:
    """Yield the fields in which presets differ, with their values for two, three and four."""
    rules = {name: [Rules.preset(name, players) for players in (2, 3, 4)] for name in FAMILY}
    differ = [
        field
        for field in FIELDS
        if len({getattr(one, field) for some in rules.values() for one in some}) > 1
    ]
    yield ["preset", *(f"`{field}`" for field in differ)]
    for name, some in rules.items():
        cells = ([str(getattr(one, field)) for one in some] for field in differ)
        yield [f"`{name}`", *(", ".join(dict.fromkeys(values)) for values in cells)]


def config_keys() -> Iterator[list[str]]:
    """Yield every key of a training config, with its default."""
    yield ["key", "default", "meaning"]
    for key in dataclasses.fields(Config):
        about = key.metadata["help"].replace("|", r"\|")
        yield [f"`{key.name}`", f"`{key.default!r}`", about]


def configs() -> Iterator[list[str]]:
    """Yield every config, with what it says of itself."""
    yield ["config", "what it is"]
    for path in sorted((ROOT / "configs").glob("*.yaml")):
        comment = takewhile(lambda line: line[0] == "#", path.read_text("utf-8").splitlines())
        yield [f"`{path.stem}`", " ".join(line.lstrip("# ") for line in comment)]


def data_columns() -> Iterator[list[str]]:
    """Yield the columns of decision data."""
    yield ["column", "what it is"]
    for name, about in COLUMNS.items():
        yield [f"`{name}`", about]


TABLES: Final[dict[str, Callable[[], Iterator[list[str]]]]] = {
    "rule-fields": rule_fields,
    "presets": presets,
    "config-keys": config_keys,
    "configs": configs,
    "data-columns": data_columns,
}


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the directives."""
    app.add_directive("layout", Layout)
    app.add_directive("console", Console)
    app.add_directive("commands", Commands)
    app.add_directive("docstring", Docstring)
    app.add_directive("from-code", FromCode)
    app.add_directive("results", Results)
    return {"parallel_read_safe": True}
