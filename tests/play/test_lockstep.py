"""The page's own modules in node: what they play, place, judge and save is what Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from fiveup_env import Game, Move, Rules, make_agent
from fiveup_env.analysis import judge
from fiveup_env.drawing.placement import Placement, place
from fiveup_env.drawing.snapshot import SIZES
from fiveup_env.game.records import game_of, record_of
from fiveup_env.play.page import write_page

NODE: Final = shutil.which("node")
TSC: Final = shutil.which("tsc")
GAMES: Final = 6
MANY: Final = 500

pytestmark = pytest.mark.skipif(NODE is None, reason="the modules of the page (no Node)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_page(folder)
    (folder / "package.json").write_text('{"type": "module"}')  # browsers need none
    return folder


def played_in_node(site: Path, games: int) -> Any:
    script = Path(__file__).with_name("lockstep.mjs")
    line = [str(NODE), str(script), str(site), str(games)]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def played(site: Path) -> Any:
    return played_in_node(site, GAMES)


def rules_in(setup: dict[str, Any]) -> Rules:
    return Rules.preset(setup["rules"], setup["players"], target=setup["target"])


def check_game(game_of_page: dict[str, Any]) -> None:
    """Play a game of the page again: the same legal moves, answers, points, deals and record."""
    game = Game(rules_in(game_of_page["rules"]), seed=int(game_of_page["seed"]))
    agents = [make_agent(level) for level in game_of_page["levels"]]
    for chosen in game_of_page["chosen"]:
        assert chosen["legal"] == ",".join(map(str, game.legal_moves))
        assert game.turn is not None
        key = SimpleNamespace(integers=lambda _most, key=chosen["key"]: int(key))
        answer = agents[game.turn](game.view(), key)  # type: ignore[arg-type]
        assert str(Move(int(answer[0]))) == chosen["move"]
        game.push(chosen["move"])
    assert list(game.scores) == game_of_page["scores"]
    assert record_of(game_of(game_of_page["record"])) == record_of(game)


def test_games_of_the_page_are_those_of_python_and_so_are_its_pictures(played: Any) -> None:
    for game in played["games"]:
        check_game(game)
        rules = rules_in(game["rules"])
        for hand in game["hands"]:
            mine = place(list(map(Move.parse, hand["plays"])), rules.spinners, SIZES, 46)
            assert mine
            theirs = hand["placed"]
            tiles = [[t["box"], t["link"], t["direction"], t["halves"]] for t in theirs["tiles"]]
            marks = [
                [m["box"], m["kind"], m["pip"], m["counts"], m["arm"]] for m in theirs["marks"]
            ]
            assert shapes(mine) == [tiles, marks, theirs["extent"]]
            assert hand["chosen"][1:] == hand["arms"][1:]
    assert sum(played["replies"]) > 500  # reasons count the replies that score, as the engine does


@pytest.mark.slow
def test_five_hundred_games_of_the_page_are_those_of_python(site: Path) -> None:
    for game in played_in_node(site, MANY)["games"]:
        check_game(game)


def shapes(placed: Placement) -> Any:
    tiles = [
        [list(tile.box), tile.link and list(tile.link), tile.direction, list(tile.halves)]
        for tile in placed.tiles
    ]
    marks = [[list(mark.box), mark.kind, mark.pip, mark.counts, mark.arm] for mark in placed.marks]
    return [tiles, marks, list(placed.extent)]


def test_the_page_judges_as_python_does(played: Any) -> None:
    judged = played["judged"]
    game = Game(players=4, seed=5, target=5)
    for move in judged["moves"]:
        game.push(move)
    mine = {d.number: d for d in judge(game).decisions}
    assert len(judged["verdicts"]) > 5
    for verdict in judged["verdicts"]:
        decision = mine[verdict["number"]]
        assert verdict["lost"] == pytest.approx([*decision.chance_lost, *decision.points_lost])
        theirs = {option["move"]: option["chance"][0] for option in verdict["options"]}
        assert theirs == pytest.approx(
            {str(option.move): option.chance.mean for option in decision.options}
        )


@pytest.mark.skipif(TSC is None, reason="the types of the page (no TypeScript)")
def test_the_types_of_the_page_hold(site: Path) -> None:
    options = "--checkJs --allowJs --noEmit --strict --skipLibCheck --target es2022"
    libraries = "--module es2022 --moduleResolution bundler --lib es2023,dom,dom.iterable"
    line = [str(TSC), *options.split(), *libraries.split()]
    line += [str(site / name) for name in ("app.js", "thinker.js", "training/trainer.js")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_sentence_is_there_in_every_language(site: Path) -> None:
    script = (
        f"const [one, two] = await Promise.all(['en', 'de'].map(async (name) => "
        f"(await import('{site}/words/' + name + '.js')).default));"
        "const holes = (text) => (text.match(/\\{\\w+\\}/g) ?? []).sort().join();"
        "for (const key of new Set([...Object.keys(one), ...Object.keys(two)]))"
        "  if (holes(one[key] ?? '-') !== holes(two[key] ?? '')) console.log(key);"
    )
    line = [str(NODE), "--input-type=module", "-e", script]
    assert not subprocess.run(line, capture_output=True, text=True, check=True).stdout
