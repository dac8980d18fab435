"""The page in Chromium, served by a plain file server: whole games by mouse, keyboard and touch.

Set FIVEUP_PICTURES to a folder to keep the pictures that docs/use/table.md shows.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from fiveup_env import Game, Rules
from fiveup_env.game.records import dumps, loads
from fiveup_env.play.page import write_page
from fiveup_env.play.table import Setup, Table
from fiveup_env.rules.actions import MOVES, Move
from tests.support import on_posix, play_randomly
from tests.web import AXE, SIZES, check_access, folder_server, table_process, visitor

PICTURES: Final = os.environ.get("FIVEUP_PICTURES")
FREE: Final = "#hand .held[aria-disabled=false]"
# Whether an agent that is trained in the page was measured after so many decisions.
LEARNT: Final = """(count) => document.querySelector(".training svg > text:last-child")
  ?.textContent.replace(/\\D/g, "") >= count"""
SHORT: Final = "?seed=5&target=5&levels=greedy,greedy,greedy,greedy"


def state_of(page: Any) -> str:
    """Return whose turn it is, once the table waits for its player."""
    page.wait_for_selector(
        "body[data-state=yours], dialog#dialog[open], body[data-state=over]", timeout=60_000
    )
    if page.query_selector("dialog#dialog[open]"):
        return "card"
    return str(page.evaluate("document.body.dataset.state"))


def moves_made(page: Any) -> int:
    return int(page.evaluate("document.body.dataset.moves"))


def wait_for_move(page: Any, before: int) -> None:
    page.wait_for_selector(f"body:not([data-moves='{before}'])", timeout=60_000)


def hand_is_visible(page: Any) -> bool:
    """Whether every tile of the hand, and every choice, lies wholly inside the window."""
    return bool(
        page.evaluate(
            """[...document.querySelectorAll("#hand .held")].every((tile) => {
              const { left, top, right, bottom } = tile.getBoundingClientRect();
              return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
            }) && document.documentElement.scrollHeight <= innerHeight
              && document.documentElement.scrollWidth <= innerWidth"""
        )
    )


def begin(page: Any, address: str, query: str = SHORT) -> None:
    """Open the table, and wait for the first turn."""
    page.goto(f"{address}{query}")
    state_of(page)


def deal(page: Any, button: str = "deal") -> None:
    """Begin a game by a button of the open dialog, and wait until it is on the table."""
    before = page.evaluate("localStorage['fiveup:latest']")
    page.click(f"#dialog-menu button[value={button}]")
    page.wait_for_function("(before) => localStorage['fiveup:latest'] !== before", arg=before)


def play_by_mouse(page: Any) -> None:
    """Choose a tile and click on an end, or drag it there; it must land on just that arm."""
    before = moves_made(page)
    tile = page.locator(FREE).last
    tile.click()
    ends = page.locator("#layout .end.lit")
    if not ends.count():
        page.locator("#choices button").first.click()
        wait_for_move(page, before)
        return
    end = ends.last
    arm = end.get_attribute("data-arm")
    if before % 2:
        end.click()
    else:
        page.keyboard.press("Escape")
        box = tile.bounding_box()
        page.mouse.move(box["x"] + 15, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 25, box["y"] - 20, steps=3)
        aim = page.locator(f"#layout .end.lit[data-arm='{arm}']").bounding_box()
        page.mouse.move(aim["x"] + aim["width"] / 2, aim["y"] + aim["height"] / 2, steps=3)
        page.mouse.up()
    wait_for_move(page, before)
    assert page.locator(f"#layout .tile[data-arm='{arm}']").count() == 1


def play_by_keyboard(page: Any) -> None:
    before = moves_made(page)
    page.wait_for_selector("#hand .held:focus, #choices button:focus")
    page.keyboard.press("Enter")
    page.wait_for_selector("#choices button:focus")
    page.keyboard.press("Enter")
    wait_for_move(page, before)


def play_by_touch(page: Any) -> None:
    before = moves_made(page)
    page.locator(FREE).first.tap()
    ends = page.locator("#layout .end.lit")
    (ends if ends.count() else page.locator("#choices button")).first.tap()
    wait_for_move(page, before)


def play_out(page: Any, play: Any) -> None:
    """Play a whole game; the hand is wholly visible at every turn."""
    while (now := state_of(page)) != "over":
        if now == "card":
            if page.query_selector("#dialog-menu button[value=study]"):
                return
            page.click("#dialog-menu button")
        else:
            assert hand_is_visible(page)
            play(page)


# --- Playing


def test_a_whole_game_is_played_by_mouse_and_every_tile_lands_where_it_was_put(
    page: Any, address: str
) -> None:
    page.goto(address + SHORT)
    play_out(page, play_by_mouse)
    assert "The game is over" in page.inner_text("#dialog-title")
    assert "Hand 1 ends." in page.inner_text("#log")


def test_buttons_wait_for_the_engine(page: Any, address: str) -> None:
    held: list[Any] = []
    page.route("**/fiveup.wasm", lambda route: held.append(route))  # noqa: PLW0108  needs a name
    page.goto(address)
    assert page.evaluate("document.getElementById('actions').inert")
    held[0].continue_()
    page.click("#fresh")
    page.wait_for_selector("#players")


def test_a_whole_game_is_played_by_the_keyboard_alone(page: Any, address: str) -> None:
    page.goto(address + "?seed=6&players=2&target=3&levels=greedy,greedy")
    play_out(page, play_by_keyboard)
    assert page.get_attribute("#said", "aria-live") == "polite"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_a_whole_game_is_played_by_touch_at_every_size(
    browser: Any, address: str, size: str, scheme: str
) -> None:
    with visitor(browser, size, has_touch=True, color_scheme=scheme) as (page, complaints):
        page.goto(address + "?rules=all_fives&players=2&seed=3&target=60&levels=greedy,greedy")
        play_out(page, play_by_touch)
        assert not complaints


def test_a_running_game_is_taken_back_looked_back_at_and_given_up(page: Any, address: str) -> None:
    begin(page, address)
    hand = page.inner_html("#hand")
    assert page.is_disabled("#undo")
    play_by_mouse(page)
    state_of(page)
    page.keyboard.press("u")
    page.wait_for_selector("#undo:disabled")
    assert page.inner_text("#said") == "Taken back."
    assert page.inner_html("#hand") == hand
    page.click("#again")
    assert "Begin the same deal once more?" in page.inner_text("#dialog-body")
    page.keyboard.press("Escape")
    assert page.inner_html("#hand") == hand

    page.evaluate(
        """() => {
          const { setItem } = Storage.prototype;
          window.mend = () => { Storage.prototype.setItem = setItem; };
          Storage.prototype.setItem = () => { throw new DOMException("", "QuotaExceededError"); };
        }"""
    )
    play_by_mouse(page)  # with a full disk
    assert state_of(page) == "yours"
    page.evaluate("mend()")
    page.locator("#log button").first.click()  # the past
    page.wait_for_selector("#now")
    assert page.locator("#layout .tile").count() == 1
    assert not page.locator("#hand .held").count()
    page.click("#now")
    assert page.locator("#layout .tile").count() > 1
    page.click("#total")
    assert "The open ends are" in page.inner_text("#dialog-body")
    page.keyboard.press("Escape")

    page.keyboard.press("s")  # the tiles are shown only once the game is given up
    assert "ends here" in page.inner_text("#dialog-body")
    page.keyboard.press("Escape")
    assert page.is_hidden("#studying")
    page.click("#study")
    page.click("#dialog-menu button[value=yes]")
    page.wait_for_selector("#racks svg")
    page.click("#leave")
    assert state_of(page) == "over"
    assert page.is_disabled("#undo")
    assert not page.locator(FREE).count()


# --- Nothing is lost


def test_a_game_goes_on_after_a_reload_in_a_second_tab_and_offline(
    browser: Any, site: Path
) -> None:
    def shown(tab: Any) -> tuple[str, int]:
        state_of(tab)
        return tab.inner_html("#hand"), moves_made(tab)

    with visitor(browser, service_workers="allow") as (page, complaints):
        with folder_server(site) as served:
            begin(page, f"{served}/")
            play_by_mouse(page)
            before = shown(page)
            page.goto(f"{served}/")
            assert shown(page) == before
            tab = page.context.new_page()
            tab.goto(f"{served}/")
            assert shown(tab) == before
            play_by_mouse(page)
            before = shown(page)
            tab.wait_for_selector(f"body[data-moves='{before[1]}']")
            assert shown(tab) == before
            tab.close()
            page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.goto(f"{served}/")  # nobody serves it any more
        assert shown(page) == before
        play_by_mouse(page)
        state_of(page)
        assert not [text for text in complaints if "ERR_CONNECTION_REFUSED" not in text]


def test_the_page_keeps_its_own_files_and_nothing_else(browser: Any, tmp_path: Path) -> None:
    write_page(tmp_path)
    (tmp_path / "other.json").write_text("{}")
    own = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*") if path.is_file()}
    with visitor(browser, service_workers="allow") as (page, _), folder_server(tmp_path) as served:
        page.goto(served)
        page.evaluate("""async () => {
            const old = await caches.open(`fiveup ${location.origin}/ old`);
            await old.put("gone.js", new Response(""));
            await caches.open(`fiveup ${location.origin}/beside/ old`);
            await navigator.serviceWorker.ready;
        }""")
        for _ in range(2):  # a page that was there before its worker is not served by it
            begin(page, f"{served}/index.html")
        for path in ("other.json", "app.js?again", "family.weights"):
            assert page.evaluate("async path => (await fetch(path)).ok", path)
        page.wait_for_function("async () => (await caches.keys()).length === 2")
        name, beside = sorted(page.evaluate("caches.keys()"))
        assert beside == f"fiveup {served}/beside/ old"
        kept = page.evaluate(
            "async name => (await (await caches.open(name)).keys()).map(one => one.url)", name
        )
    left = own - {"index.html", "service.js", "other.json"} | {""}
    assert sorted(url.removeprefix(f"{served}/") for url in kept) == sorted(left)


def test_a_broken_storage_and_files_that_are_no_games_are_survived(
    page: Any, address: str, tmp_path: Path
) -> None:
    begin(page, address, "")
    for broken in ("{", "[]", '{"id":"x","moves":["9-9"],"arms":[],"seed":"1"}'):
        page.evaluate(
            "text => { localStorage['fiveup:game:x'] = text; localStorage['fiveup:latest'] = 'x'; }",
            broken,
        )
        page.goto(address)
        assert state_of(page) == "yours"
    play_by_mouse(page)
    for kept in ("{", "[]", '{"salt":7}', '{"salt":"7","solved":["x"]}'):
        page.evaluate("kept => localStorage.setItem('fiveup:puzzles', kept)", kept)
        page.goto(f"{address}?{kept}#puzzle=1")
        page.wait_for_selector("#dialog[open]")
        assert "There is no puzzle 1." in page.inner_text("#dialog-body")
        page.keyboard.press("Escape")
    for number, content in enumerate(("", "{", "[1]", '{"format":"fiveup-record"}', "\x00\xff")):
        file = tmp_path / f"other-{number}.json"
        file.write_text(content)
        page.set_input_files("#file", file)
        page.wait_for_selector(f"#said.wrong:has-text('{file.name} is not a game')")
    state_of(page)
    play_by_mouse(page)


def test_agents_that_cannot_be_reached_are_stood_in_for(browser: Any, address: str) -> None:
    with visitor(browser) as (page, _):
        begin(page, address, "?seed=5&players=2&target=5&levels=partner,random")
        play_by_mouse(page)
        state_of(page)
        assert "The server does not answer. random plays as Pia" in page.inner_text("#said")
        fetched = []
        page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
        page.route("**/family.weights", lambda route: route.abort())
        begin(page, address, "?seed=5&players=2&target=5&levels=level:5,level:9")
        assert not [name for name in fetched if name.endswith(".weights")]
        begin(page, address, "?seed=5&players=2&target=5&levels=level:5,level:10")
        play_by_mouse(page)
        state_of(page)
        assert "family.weights" in fetched  # the network of the strongest level
        assert "The server does not answer. Sara plays as Pia" in page.inner_text("#said")
        page.unroute("**/family.weights")
        play_by_mouse(page)
        state_of(page)
        assert "Sara" in page.inner_text("#said")
        assert "The server" not in page.inner_text("#said")


def kept_moves(folder: Path) -> int:
    """Return the number of moves that a server has kept of its games."""
    return sum(len(loads(file.read_text()).moves) for file in folder.glob("*.json"))


@on_posix
@pytest.mark.slow
def test_the_game_goes_on_when_the_server_is_killed_and_started_again(
    browser: Any, tmp_path: Path
) -> None:
    port, hand = "0", ""
    with visitor(browser) as (page, _):
        for _ in range(2):
            words = ("--games", str(tmp_path), "--opponents", "random", "--port", port)
            with table_process(*words) as (_process, port):
                begin(page, f"http://127.0.0.1:{port}/", "")
                assert hand in {"", page.inner_html("#hand")}
                play_by_mouse(page)
                assert state_of(page) == "yours"
                hand = page.inner_html("#hand")
                while kept_moves(tmp_path) != moves_made(page):
                    page.wait_for_timeout(50)


@on_posix
@pytest.mark.slow
def test_a_game_that_goes_on_elsewhere_is_watched(browser: Any, tmp_path: Path) -> None:
    file, table = tmp_path / "game.json", Table(Setup(rules=Rules.preset(players=2), seed=7))
    words = ("--port", "0", "--watch", str(file))
    with visitor(browser) as (page, _), table_process(*words) as (_process, port):
        page.goto(f"http://127.0.0.1:{port}/")
        table.go_on()
        for _ in range(2):
            table.play(table.choices()[0].move)
            table.save(file, ["model", "partner"])
            watched = f"body[data-moves='{len(table.game.moves)}']:has(#log:has-text('model'))"
            page.wait_for_selector(watched, timeout=60_000)
            assert page.locator(FREE).count() == 0


# --- Files and the study


def menu(page: Any, entry: str) -> None:
    """Choose an entry of the menu."""
    page.click("#menu")
    page.click(f"#dialog-body button[value={entry}]")


def test_a_record_is_studied_and_what_is_saved_is_read_by_python(
    page: Any, address: str, tmp_path: Path
) -> None:
    game = play_randomly(Game(players=2, seed=4, target=3), Random(4))
    (tmp_path / "game.jsonl").write_text(f"{dumps(game)}\n")
    begin(page, address, "")
    page.set_input_files("#file", tmp_path / "game.jsonl")
    page.wait_for_selector("#studying:not([hidden])")
    page.wait_for_selector("#luck table", timeout=60_000)
    page.wait_for_selector("#progress:not(:has-text('judged'))", state="attached", timeout=60_000)
    assert page.locator("#rates tbody tr").count() == 2
    page.click("#biggest")
    page.keyboard.press("ArrowLeft")
    page.click("#leave")
    menu(page, "games")
    with page.expect_download() as download:
        page.locator(".games li", has_text=re.compile("won|lost")).get_by_text("Save as").click()
    saved = Path(download.value.path()).read_text()
    assert loads(saved) == game
    decisions = json.loads(saved)["verdicts"]["decisions"]
    mistakes = [decision for decision in decisions if decision["seat"] == 0 and decision["mistake"]]
    worst = max(mistakes, key=lambda decision: decision["chance"][0])
    page.click("#dialog-menu button")
    menu(page, "mistakes")
    page.wait_for_selector("#lesson[open]")
    assert "Find better than" in page.inner_text("#lesson-text")
    for move, said in ((worst["move"], "Try another."), (worst["best"], "is the best move.")):
        page.click(f"#lesson-hand [data-tile='{move.partition('@')[0]}']")
        page.click(f"#lesson-choices button[data-move='{move}']")
        assert said in page.inner_text("#lesson-text")
    page.wait_for_selector("#lesson-menu .main:focus")


# --- Learning


def test_each_dialog_ends_with_its_own_value_when_another_follows_at_once(
    page: Any, address: str
) -> None:
    page.goto(address)
    ended = page.evaluate("""async () => {
      const { showDialog } = await import("./dialogs.js"), dialog = document.querySelector("#dialog"), ended = [];
      const show = (name) => void showDialog(name, [], []).then((value) => ended.push([name, value]));
      for (const name of ["replaced", "closed", "last"]) {
        show(name);
        if (name === "closed") dialog.close("yes");
      }
      await new Promise((done) => setTimeout(done, 200));
      ended.push(["open", dialog.open]);
      dialog.close("no");
      await new Promise((done) => setTimeout(done, 200));
      return ended;
    }""")
    assert ended == [["replaced", ""], ["closed", "yes"], ["open", True], ["last", "no"]]


def test_the_lessons_are_learnt_in_german(page: Any, address: str) -> None:
    begin(page, address)
    page.click("#menu")
    page.select_option("#tongue", "de")
    page.wait_for_selector("html[lang=de]")
    page.click("#learn")
    page.locator("#lesson-hand .held[aria-disabled=false]").first.click()  # the wrong tile
    page.locator("#lesson-choices button").first.click()
    assert "braucht aber 6-5 an die 6. Versuchen Sie es noch einmal" in page.inner_text(
        "#lesson-text"
    )
    shown = (
        (("6-5",), ""),
        (("6-5",), ""),
        (("5-5", "5-3"), "zieht 2"),
        (("6-6",), "passt"),
        (("5-0",), "7 Augen"),
    )
    for tiles, others in shown:
        for tile in tiles:
            page.locator(f"#lesson-hand [data-tile='{tile}']").click()
            page.locator("#lesson-choices button").first.click()
        page.wait_for_selector("#lesson-menu button.main:enabled")
        assert others in page.inner_text("#lesson-others")
        page.click("#lesson-menu button.main")
    page.wait_for_selector("#dialog[open] #level-others")


# --- Puzzles


@pytest.fixture(scope="module")
def puzzles(site: Path) -> list[dict[str, Any]]:
    """The puzzles that are shipped."""
    shipped: list[dict[str, Any]] = json.loads((site / "puzzles.json").read_text())["puzzles"]
    return shipped


def try_by_mouse(page: Any, move: Move) -> None:
    page.click(f"#lesson-hand [data-tile='{move.tile}']")
    page.click(f"#lesson-choices button[data-move='{move}']")
    page.wait_for_selector("#lesson-more .row")


def try_a_wrong_move_by_keyboard(page: Any, best: Move) -> None:
    """Choose tiles until one may be set elsewhere than is best, and set it there."""
    page.wait_for_selector("#lesson-hand .held:focus")
    for tile in page.locator("#lesson-hand .held[aria-disabled=false]").all():
        tile.press("Enter")
        others = page.locator(f"#lesson-choices button:not([data-move='{best}'])")
        if others.count():
            others.first.press("Enter")
            page.wait_for_selector("#lesson-more .row")
            return
    raise AssertionError("only one move is legal")


def puzzle_shown(page: Any) -> str:
    page.wait_for_selector("#lesson[open]")
    return str(page.evaluate("location.hash.split('=')[1]"))


def test_puzzles_are_solved_or_not_by_mouse_and_keyboard_and_a_reload_keeps_the_count(
    page: Any, address: str, puzzles: list[dict[str, Any]]
) -> None:
    by_seed = {str(puzzle["seed"]): puzzle for puzzle in puzzles}
    begin(page, address, "")
    menu(page, "puzzles")
    page.click("#dialog-body button[value='2']")
    some = [puzzle for puzzle in puzzles if puzzle["grade"] == 2]
    seeds = []
    for right in (True, False):
        seeds.append(puzzle_shown(page))
        puzzle = by_seed[seeds[-1]]
        best = MOVES[puzzle["best"]]
        assert puzzle["grade"] == 2
        assert "boneyard" in page.inner_text("#lesson-facts")
        if right:
            try_by_mouse(page, best)
            verdict = "is the best move"
        else:
            try_a_wrong_move_by_keyboard(page, best)
            verdict = "points of winning chance. The best move is"
        assert verdict in page.inner_text("#lesson-text")
        rows = page.locator("#lesson-more .row")
        assert rows.count() == len(puzzle["chances"])
        assert rows.first.get_attribute("data-move") == str(best)
        assert page.locator(f"#lesson-felt [data-tile='{best.tile}']").count() == 1
        assert f"1 of {len(some)} solved, {int(right)} in a row" in page.inner_text("#lesson-title")
        page.wait_for_selector("#lesson-menu .main:focus")
        page.keyboard.press("Enter")
        page.wait_for_selector("#lesson-more .row", state="detached")
    assert seeds[0] != seeds[1]
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: not urlsplit(url).fragment)
    begin(page, address, "")
    menu(page, "puzzles")
    assert f"1 of {len(some)}" in page.inner_text("#dialog-body button[value='2']")
    assert f"1 of {len(puzzles):,}" in page.inner_text("#dialog-body button[value='0']")
    assert "0, at most 1" in page.inner_text("#dialog-body")


def test_positions_of_puzzles_are_reached_and_none_comes_again_before_all_are_solved(
    page: Any, address: str, puzzles: list[dict[str, Any]]
) -> None:
    lead = next(puzzle for puzzle in puzzles if "@" not in str(MOVES[puzzle["best"]]))
    page.goto(f"{address}?#puzzle={lead['seed']}")
    page.wait_for_selector("#lesson[open]")
    try_by_mouse(page, MOVES[lead["best"]])
    assert "is the best move" in page.inner_text("#lesson-text")
    wrong = page.evaluate(
        """async () => {
          const { load, tableOf } = await import("./learn/puzzles.js");
          const { info } = await import("./fiveup.mjs");
          return (await load()).filter((_, k) => k % 10 === 0).filter((puzzle) => {
            const legal = tableOf(puzzle).game.legalMoves();
            return legal.length !== puzzle.chances.length || !legal.includes(info.moves[puzzle.best]);
          });
        }"""
    )
    assert not wrong
    open_seed, *solved = [puzzle["seed"] for puzzle in puzzles]
    kept = {"salt": "7", "last": solved[0], "run": 3, "longest": 5, "solved": solved}
    page.evaluate("kept => localStorage.setItem('fiveup:puzzles', JSON.stringify(kept))", kept)
    begin(page, address, "?again")
    menu(page, "puzzles")
    page.click("#dialog-body button[value='0']")
    assert puzzle_shown(page) == str(open_seed)
    page.goto(f"{address}?linked#puzzle={solved[5]}")
    assert puzzle_shown(page) == str(solved[5])
    page.click("#lesson-menu .main")
    assert puzzle_shown(page) == str(open_seed)


# --- Accessibility, and pictures for the documentation


@pytest.mark.skipif(not AXE, reason="the accessibility of the page (no axe)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, address: str, scheme: str) -> None:
    options: dict[str, Any] = {
        "color_scheme": scheme,
        "bypass_csp": True,
        "reduced_motion": "reduce",
    }
    with visitor(browser, **options) as (page, _):
        begin(page, address)
        page.check("#eye-hidden")
        page.check("#eye-moves")
        page.wait_for_selector("#seen-moves .row")
        page.locator(FREE).first.click()
        check_access(page)
        for button in ("#fresh", "#menu", "#daily", "#learn"):
            page.click(button)
            check_access(page)
            page.keyboard.press("Escape")
        page.click("#daily")
        page.click("#dialog-menu button[value=days]")
        page.wait_for_selector(".days")
        check_access(page)
        page.keyboard.press("Escape")
        menu(page, "progress")
        check_access(page)
        page.keyboard.press("Escape")
        menu(page, "train")
        check_access(page)
        page.locator("#dialog-body summary").first.click()
        page.click("#dialog-body button[value=trainBySides]")
        page.wait_for_selector(".training circle.curve-1", state="attached", timeout=60_000)
        check_access(page)
        page.keyboard.press("Escape")
        menu(page, "puzzles")
        check_access(page)
        page.click("#dialog-body button[value='0']")
        check_access(page)
        page.locator("#lesson-hand .held[aria-disabled=false]").first.click()
        page.locator("#lesson-choices button").first.click()
        check_access(page)
        page.keyboard.press("Escape")
        page.click("#study")
        page.click("#dialog-menu button[value=yes]")
        check_access(page)  # before anything is judged
        page.wait_for_selector("#luck table", timeout=60_000)
        page.click("#last")
        check_access(page)


@pytest.mark.slow
def test_the_table_is_pictured(browser: Any, address: str, tmp_path: Path) -> None:
    folder = Path(PICTURES or tmp_path)
    for name, size, options in (
        ("play-table", "laptop", {}),
        ("play-phone", "phone", {"has_touch": True}),
    ):
        with visitor(browser, size, **options) as (page, _):
            page.goto(address + "?seed=5&levels=level:8,level:10,level:5,level:9")
            for _ in range(3):
                state_of(page)
                play_by_mouse(page)
            state_of(page)
            if name == "play-table":
                page.check("#eye-moves")
                page.wait_for_selector("#seen-moves .row", timeout=30_000)
            page.locator(FREE).last.click()
            picture(page, folder / f"{name}.png")
            if name == "play-table":
                page.keyboard.press("Escape")
                page.goto(address + "?seed=5&target=8")
                play_out(page, play_by_mouse)
                page.click("#dialog-menu button[value=study]")
                page.wait_for_selector("#luck table", timeout=60_000)
                page.wait_for_timeout(4000)
                page.click("#biggest")
                page.wait_for_timeout(1200)
                picture(page, folder / "play-study.png")
                page.goto(address + "?seed=5")
                menu(page, "train")
                page.click("#dialog-menu button[value=go]")
                page.wait_for_function(LEARNT, arg=600_000, timeout=180_000)
                picture(page, folder / "play-train.png")


def picture(page: Any, path: Path) -> None:
    """Keep a picture, with few colours, so that its file is small."""
    page.screenshot(path=path)
    with suppress(ImportError):
        from PIL import Image

        Image.open(path).quantize(224, kmeans=2).save(path, optimize=True)
