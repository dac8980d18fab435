"""`fiveup schema`: the JSON Schema of rules, views or records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    from fiveup_env.game.schemas import SCHEMAS

    schema = commands.add_parser("schema", help="print the JSON Schema of what is written as JSON")
    schema.set_defaults(run=run)
    schema.add_argument("name", choices=list(SCHEMAS), metavar="NAME", help=", ".join(SCHEMAS))


def run(options: argparse.Namespace) -> int:
    """Print the schema, and return the exit status."""
    from fiveup_env.game.schemas import schema

    print(json.dumps(schema(options.name), indent=2))
    return 0
