"""A folder of games on disk: a file for each, which every command reads."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import InputError, RequestError, shown
from fiveup_env.files import write_atomic
from fiveup_env.game.records import STUDY_FORMAT

if TYPE_CHECKING:
    import os

    from fiveup_env.files import Json

NAME: Final = re.compile(r"[\w-]{1,60}")


class Folder:
    """The games in a folder, as the page keeps them."""

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
        if game.get("format") != STUDY_FORMAT or not isinstance(game.get("record"), dict):
            raise RequestError(f"a game is kept as {STUDY_FORMAT}, with its record")
        content = f"{json.dumps(game, ensure_ascii=False)}\n".encode()
        try:
            write_atomic(self.path / f"{name}.json", content)
        except OSError as error:
            raise RequestError(f"the game cannot be kept: {error}", 507) from None

    def games(self) -> list[Json]:
        """Return all games that can be read."""
        found = map(game_in, sorted(self.path.glob("*.json")))
        return [game for game in found if game is not None]


def game_in(path: Path) -> Json | None:
    """Return the game in a file, or None if there is none that can be read."""
    with suppress(OSError, ValueError, RecursionError):
        game = json.loads(path.read_bytes())
        if isinstance(game, dict) and game.get("format") == STUDY_FORMAT:
            return game
    return None
