"""A folder of games on disk: a file for each, for the host's commands; no page is sent any."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import InputError, RequestError, shown
from fiveup_env.files import is_stream, read_plain, write_atomic
from fiveup_env.game.records import STUDY_FORMAT
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    import os

    from fiveup_env.files import Json

NAME: Final = re.compile(r"[\w-]{1,60}", re.ASCII)
MOST_BYTES: Final = 1 << 20  # of a game: a record of several hundred hands


class Folder:
    """A folder in which pages keep games."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Keep games in a folder, which is made if need be; raise InputError if it cannot be."""
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"games cannot be kept in {path}: {error}") from None

    def keep(self, name: str, game: Json) -> None:
        """Keep a game under its name; raise RequestError for what is not one, or cannot be kept."""
        if not NAME.fullmatch(name):
            raise RequestError(f"a game is named by letters, digits and dashes, not {shown(name)}")
        try:
            content = f"{json.dumps(game, ensure_ascii=False, separators=(',', ':'))}\n".encode()
            _read_game(content)
        except ValueError as error:
            raise RequestError(f"the game cannot be kept: {error}") from None
        path = self.path / f"{name}.json"
        if is_stream(path):
            raise RequestError(f"the game cannot be kept: {path} is not a plain file", 507)
        try:
            write_atomic(path, content)
        except OSError as error:
            raise RequestError(f"the game cannot be kept: {error}", 507) from None


def game_in(path: Path) -> Json | None:
    """Return the game in a file, or None if there is none that can be read."""
    try:
        return _read_game(read_plain(path, MOST_BYTES))
    except (OSError, ValueError):
        return None


def _read_game(content: bytes) -> Json:
    """Return the game that a file holds; raise ValueError if it holds none."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"a file of a game has at most {MOST_BYTES:,} bytes")
    game = parse_json(content)
    if (
        not isinstance(game, dict)
        or game.get("format") != STUDY_FORMAT
        or not isinstance(game.get("record"), dict)
    ):
        raise ValueError(f"a game is kept as {STUDY_FORMAT}, with its record")
    return game
