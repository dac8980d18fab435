"""What the page says of a record in node is what `fiveup check` says of it."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from fiveup_env import Game, Rules
from fiveup_env.errors import RecordError
from fiveup_env.game.records import game_of, record_of
from fiveup_env.play.page import write_page
from tests.support import play_randomly

NODE: Final = shutil.which("node")
READ: Final = """
globalThis.navigator ??= { language: "en" };
const { gameOf } = await import(`${process.argv[1]}/reading.js`);
const { Refused } = await import(`${process.argv[1]}/errors.js`);
const { readFileSync } = await import("node:fs");
const said = JSON.parse(readFileSync(0, "utf8")).map((record) => {
  try { gameOf(record); return null; } catch (error) {
    return error instanceof Refused ? error.message : `raw: ${error.stack}`;
  }
});
process.stdout.write(JSON.stringify(said), () => process.exit(0));
"""

pytestmark = pytest.mark.skipif(NODE is None, reason="the modules of the page (no Node)")


def said_in_node(folder: Path, records: list[Any]) -> list[str | None]:
    """Return what the page says of each record; None if it is right."""
    write_page(folder)
    (folder / "package.json").write_text('{"type": "module"}')
    line = [str(NODE), "--input-type=module", "-e", READ, str(folder)]
    text = json.dumps(records)
    done = subprocess.run(line, input=text, capture_output=True, text=True, check=True)
    said: list[str | None] = json.loads(done.stdout)
    return said


def said_by_check(record: Any) -> str | None:
    try:
        game_of(record)
    except RecordError as error:
        return str(error)
    return None


def damaged(record: Any) -> Iterator[Any]:
    """Yield copies of a record, each with one value changed, missing or added."""

    def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, name)
            if isinstance(inner, (dict, list)):
                yield from places(inner, (*path, name))

    path: tuple[Any, ...]
    value: Any
    for path in places(record):
        inside_rules = path[0] == "rules" and len(path) > 1 and path[1] != "preset"
        for value in ("nonsense", 99, None, [], {}, "gone", "more"):
            changed = copy.deepcopy(record)
            place = changed
            for step in path[:-1]:
                place = place[step]
            if value == "gone":
                del place[path[-1]]
            elif value == "more" and isinstance(place, dict):
                place["more"] = 1
            elif inside_rules:
                continue  # what a rule allows is said by the module, in its own words
            else:
                place[path[-1]] = value
            yield changed


def test_every_damage_to_a_record_is_refused_in_the_words_of_check(tmp_path: Path) -> None:
    small = Rules.preset(players=2, max_pip=3, hand_size=3)
    drawing = Rules.preset("all_fives", 2, draw="optional", max_pip=3, hand_size=3)
    games = [play_randomly(Game(rules, seed=1), Random(1), 12) for rules in (small, drawing)]
    whole = [record_of(game, legal=legal) for game, legal in zip(games, (False, True), strict=True)]
    last = record_of(Game("five_up", seed=2**64 - 1))  # a seed of all 64 bits
    others = [record_of(Game("muggins", n, target=30, seed=7)) for n in (3, 4, 5)]
    records: list[Any] = [
        *whole,
        last,
        *others,
        *(one for record in whole for one in damaged(record)),
    ]
    records += [None, 1, "x", [], {}]
    said = said_in_node(tmp_path, records)
    wrong = [
        (mine, theirs)
        for mine, theirs in zip(said, map(said_by_check, records), strict=True)
        if mine != theirs
    ]
    assert not wrong, wrong[:20]
    assert said[:6] == [None] * 6
    assert len(set(said)) > 200
