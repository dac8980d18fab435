"""The page in Chromium: real games by mouse and by keyboard, and what a visitor may run into.

Set FIVEUP_PICTURES to a folder to keep the pictures that docs/play.md shows, and FIVEUP_CHROMIUM to
the browser's program. With FIVEUP_NEEDS_CHROMIUM set, as `nox -s slow` does, these tests may not be skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Game, Rules, make_agent
from fiveup_env.game.records import dumps
from tests.support import play_randomly

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDED = "FIVEUP_NEEDS_CHROMIUM" in os.environ
CHROMIUM = os.environ.get("FIVEUP_CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
PICTURES = os.environ.get("FIVEUP_PICTURES")
pytestmark = pytest.mark.slow
if not NEEDED:
    pytest.importorskip("uvicorn", reason="the page needs the extra: pip install 'fiveup-env[web]'")
    pytest.importorskip("playwright", reason="these tests need Playwright: pip install playwright")
    if not CHROMIUM:
        pytest.skip(
            "these tests need Chromium, such as that of `apt-get install chromium`",
            allow_module_level=True,
        )

QUICK = "pimc:worlds=16,playout=greedy"


@contextmanager
def served(**house: Any) -> Iterator[str]:
    """The address of a server of its own."""
    import uvicorn

    from fiveup_env.play.house import House
    from fiveup_env.play.launch import free_socket
    from fiveup_env.play.server import app_of

    bound = free_socket("127.0.0.1", 0)
    app = app_of(House(**{"reference": QUICK, "advisers": (QUICK, "random")} | house))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium from the system's packages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of a new visitor that shows frames at once, and must never complain."""
    context = new_context(browser)
    made = context.new_page()
    made.complaints = listen(made)
    yield made
    assert not made.complaints
    context.close()


def new_context(browser: Any, width: int = 1280, height: int = 900, **options: Any) -> Any:
    """A new visitor, with a window of some size."""
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.add_init_script("localStorage.setItem('pace', '0')")
    return context


def listen(page: Any) -> list[str]:
    """What a page complains of: errors of its script, and what its policy blocks."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def note(message: Any) -> None:
        refused = "the server responded with a status of 4" in message.text
        if message.type == "error" and not refused:
            complaints.append(message.text)

    page.on("console", note)
    return complaints


def picture(page: Any, name: str, **options: Any) -> None:
    """Keep a picture for the documentation, if one asks for them."""
    if PICTURES:
        path = Path(PICTURES) / f"{name}.png"
        page.screenshot(path=path, **options)
        with suppress(ImportError):  # fewer colours make a smaller file
            from PIL import Image

            Image.open(path).quantize(224, kmeans=2).save(path, optimize=True)


def played_by_agents() -> Game:
    """A game by the default rules between agents of several strengths."""
    game, rng = Game(seed=3), np.random.default_rng(3)
    agents = [make_agent(spec) for spec in ("partner", "defensive", "greedy", "partner")]
    while game.outcome() is None:
        agent = agents[game.turn or 0]
        game.push(game.ask(agent, rng))
    return game


def setup(**options: Any) -> Any:
    """A setup that the server begins with."""
    from fiveup_env.play.table import Setup

    seat, seed = options.pop("seat", 0), options.pop("seed", 5)
    opponents = options.pop("opponents", "partner")
    return Setup(rules=Rules.preset(**options), seat=seat, seed=seed, opponents=opponents)


def wait_for_turn(page: Any) -> None:
    """Wait until a tile may be set, or the game is over."""
    page.wait_for_selector("#hand .held:enabled, dialog#over[open]", timeout=90_000)


def until(page: Any, condition: str) -> None:
    """Wait until a condition holds on the page, whose policy forbids that the page looks itself."""
    for _ in range(900):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def play_some(page: Any, moves: int) -> None:
    """Make some moves, the first that are allowed, and wait for the next turn."""
    for _ in range(moves):
        wait_for_turn(page)
        version = page.evaluate("state.version")
        page.locator("#hand .held:enabled").first.click()
        page.locator("#choices button").first.click()
        until(page, f"state.version > {version} && !busy")
    wait_for_turn(page)


def hand_number(page: Any) -> int:
    """The number of the hand that the page shows."""
    return int(page.inner_text("#game").rpartition(" ")[2])


# --- Playing


def test_a_whole_hand_is_played_by_mouse(page: Any) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        wait_for_turn(page)
        dragged = clicked = 0
        while hand_number(page) == 0 and not page.query_selector("dialog#over[open]"):
            version = page.evaluate("state.version")
            page.locator("#hand .held:enabled").last.click()
            page.wait_for_selector("#choices button")
            lit = page.locator("#layout .end.lit")
            if lit.count() and dragged <= clicked:
                page.keyboard.press("Escape")
                tile = page.locator("#hand .held:enabled").last.bounding_box()
                page.mouse.move(tile["x"] + 20, tile["y"] + 30)
                page.mouse.down()
                page.mouse.move(tile["x"] + 40, tile["y"] - 30, steps=3)
                end = page.locator("#layout .end.lit").first.bounding_box()
                page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
                page.mouse.up()
                dragged += 1
            elif lit.count():
                lit.first.click()
                clicked += 1
            else:
                page.locator("#layout").click()  # a lead
            until(page, f"state.version > {version} && !busy")
            wait_for_turn(page)
        assert dragged
        assert clicked
        assert "Hand 0" in page.inner_text("#log")


def test_a_hand_is_played_by_the_keyboard_alone_and_every_move_is_told(page: Any) -> None:
    with served(default=setup(players=2)) as address:
        page.goto(address)
        wait_for_turn(page)
        assert page.get_attribute("#said", "aria-live") == "polite"
        while hand_number(page) == 0 and not page.query_selector("dialog#over[open]"):
            version = page.evaluate("state.version")
            assert page.evaluate("document.activeElement.className").startswith("held")
            label = page.evaluate("document.activeElement.getAttribute('aria-label')")
            assert re.fullmatch(r"[0-6]-[0-6]", label)
            page.keyboard.press("Enter")
            until(page, "Boolean(document.activeElement.closest('#choices'))")
            page.keyboard.press("Enter")
            until(page, f"state.version > {version} && !busy")
            wait_for_turn(page)
        log = page.inner_text("#log")
        said = page.evaluate("state.frames.length")
        assert said
        assert log.count("You set") + log.count("You lead") >= 2


def test_digits_choose_tiles_and_escape_lets_go(page: Any) -> None:
    with served(default=setup(seed=6)) as address:
        page.goto(address)
        wait_for_turn(page)
        tiles = page.locator("#hand .held")
        k = next(k for k in range(tiles.count()) if tiles.nth(k).is_enabled())
        page.keyboard.press(str(k + 1))
        assert "chosen" in tiles.nth(k).get_attribute("class")
        page.keyboard.press("Escape")
        assert "chosen" not in tiles.nth(k).get_attribute("class")


def test_a_move_is_taken_back_and_the_deal_played_once_more(page: Any) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        wait_for_turn(page)
        before = page.inner_html("#hand"), page.inner_html("#layout")
        assert page.is_disabled("#undo")
        first = page.locator("#hand .held:enabled").first
        first.click()
        page.locator("#choices button").first.click()
        until(page, "state.undo && !busy")
        wait_for_turn(page)
        page.keyboard.press("u")
        until(page, "!state.undo && !busy")
        wait_for_turn(page)
        assert page.inner_text("#said") == "Taken back."
        again = page.inner_html("#hand"), page.inner_html("#layout")
        assert [part.count("<svg") for part in again] == [part.count("<svg") for part in before]
        page.click("#again")
        until(page, "!busy")
        wait_for_turn(page)
        assert page.inner_html("#layout").count('class="tile') == before[1].count('class="tile')


def test_a_wrong_move_is_refused_with_its_sentence(page: Any) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        wait_for_turn(page)
        page.evaluate("play({ move: '6-5@5x' })")
        page.wait_for_selector("#said.wrong")
        assert "6-5@5x is not allowed for seat 0; allowed here" in page.inner_text("#said")
        wait_for_turn(page)


def test_a_reload_in_the_middle_goes_on(page: Any) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        play_some(page, 1)
        before = page.evaluate("[name, state.version]"), page.inner_html("#hand")
        page.reload()
        wait_for_turn(page)
        assert (page.evaluate("[name, state.version]"), page.inner_html("#hand")) == before


def test_two_tabs_of_one_table_stay_in_step_and_another_visitor_has_a_table_of_its_own(
    page: Any, browser: Any
) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        wait_for_turn(page)
        tab = page.context.new_page()
        tab.goto(address)
        wait_for_turn(tab)
        assert tab.evaluate("name") == page.evaluate("name")
        page.locator("#hand .held:enabled").first.click()
        page.locator("#choices button").first.click()
        until(page, "state.undo && !busy")
        version = page.evaluate("state.version")
        until(tab, f"state.version === {version}")
        stranger = new_context(browser).new_page()
        stranger.goto(f"{address}/#{page.evaluate('name')}")
        wait_for_turn(stranger)
        assert stranger.evaluate("name") != page.evaluate("name")


def test_a_new_game_is_begun_and_a_wrong_choice_gets_its_sentence(page: Any) -> None:
    with served(default=setup()) as address:
        page.goto(address)
        wait_for_turn(page)
        page.keyboard.press("n")
        page.fill("#begin [name=opponents]", "greedi")
        page.click("#begin button.main")
        until(page, "document.querySelector('#begin-error').textContent")
        assert "did you mean 'greedy'" in page.inner_text("#begin-error")
        page.select_option("#begin [name=players]", "3")
        page.fill("#begin [name=opponents]", "greedy")
        page.click("#begin button.main")
        until(page, "state.players.length === 3")
        assert page.evaluate("state.players") == ["you", "greedy", "greedy"]


def test_a_game_is_played_to_its_end_and_its_dialog_offers_a_study(page: Any) -> None:
    with served(default=setup(players=2, target=3, opponents="random")) as address:
        page.goto(address)
        for _ in range(200):
            wait_for_turn(page)
            if page.query_selector("dialog#over[open]"):
                break
            version = page.evaluate("state.version")
            page.locator("#hand .held:enabled").first.click()
            page.locator("#choices button").first.click()
            until(page, f"state.version > {version} && !busy")
        assert page.inner_text("#verdict").startswith("You ")
        page.click("#over button.main")
        page.wait_for_selector("#graph svg", timeout=90_000)


# --- Eyes


def test_every_eye_opens_and_closes_and_the_table_goes_on(page: Any) -> None:
    adviser = "pimc:worlds=200,playout=greedy"
    with served(default=setup(seed=9), advisers=(adviser, "random")) as address:
        page.goto(address)
        play_some(page, 3)
        assert not page.is_visible("#seen-moves")
        for eye in ("moves", "chance", "hidden"):
            page.check(f"#eye-{eye}")
            page.wait_for_selector(f"#seen-{eye}:not(.busy) > *", timeout=90_000)
        moves = page.locator("#seen-moves .bar b").all_inner_texts()
        assert sorted(moves) == sorted(page.evaluate("state.choices.map((choice) => choice.move)"))
        assert "±" in page.inner_text("#seen-moves")
        assert "worlds are left" in page.inner_text("#seen-hidden")
        page.locator("#hand .held:enabled").first.click()
        picture(page, "play-eyes")
        page.select_option("#adviser", "random")
        until(page, "document.querySelector('#seen-moves').innerText.includes('probability')")
        for eye in ("moves", "chance", "hidden"):
            page.uncheck(f"#eye-{eye}")
            assert not page.is_visible(f"#seen-{eye}")
        page.locator("#choices button").first.click()
        until(page, "state.undo && !busy")


# --- Studies


def test_a_record_is_dropped_studied_saved_and_played_on(page: Any, tmp_path: Path) -> None:
    games = [play_randomly(Game(players=2, seed=1, target=12), Random(1)), played_by_agents()]
    file = tmp_path / "games.jsonl"
    file.write_text("".join(f"{dumps(game)}\n" for game in games))
    with served(reference="pimc:worlds=200,playout=greedy") as address:
        page.goto(f"{address}/study")
        page.set_input_files("#file", file)
        page.fill("#number", "1")
        page.click("#judge")
        page.wait_for_selector("#graph svg", timeout=90_000)
        assert page.locator("#rates tbody tr").count() == 4
        page.click("#biggest")
        assert "lost" in page.inner_text("#verdict-of")
        picture(page, "play-study")
        line = page.inner_text("#said")
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#said") != line
        box = page.locator("#graph svg").bounding_box()
        page.keyboard.press("Home")
        assert "Hand 0" in page.inner_text("#said")
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 40)
        assert "Hand 0" not in page.inner_text("#said")
        with page.expect_download() as saved:
            page.click("#json")
        record = json.loads(Path(saved.value.path()).read_text())["record"]
        assert record == json.loads(dumps(games[1]))
        with page.expect_download() as saved:
            page.click("#html")
        alone = tmp_path / "study.html"
        saved.value.save_as(alone)
        page.click("#biggest")
        page.fill("#against", "greedi")
        page.click("#from-here")
        until(page, "byId('said').textContent.includes(\"did you mean 'greedy'\")")
        page.fill("#against", "greedy")
        page.click("#from-here")
        page.wait_for_url(re.compile(r"/#[0-9a-f]+$"))
        wait_for_turn(page)
        assert sorted(set(page.evaluate("state.players"))) == ["greedy", "you"]
    page.goto(alone.as_uri())  # the server is gone
    page.click("#next-mistake")
    assert "lost" in page.inner_text("#verdict-of")
    assert not page.is_visible("#from-here")


def test_a_file_that_is_no_record_is_refused_with_its_sentence(page: Any, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    with served() as address:
        page.goto(f"{address}/study")
        for content, sentence in (("{}", "'format' is missing"), ("oops", "not a record")):
            file.write_text(content)
            page.set_input_files("#file", [])
            page.set_input_files("#file", file)
            until(
                page,
                f"document.querySelector('#open-error').textContent.includes({json.dumps(sentence)})",
            )


# --- Sizes and colours


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything_in_its_width(browser: Any, scheme: str) -> None:
    context = new_context(browser, 390, 844, color_scheme=scheme, is_mobile=True, has_touch=True)
    page = context.new_page()
    complaints = listen(page)
    with served(default=setup(seed=9)) as address:
        page.goto(address)
        play_some(page, 3)
        page.locator("#hand .held:enabled").first.tap()
        for eye in ("moves", "chance", "hidden"):
            page.check(f"#eye-{eye}")
            page.wait_for_selector(f"#seen-{eye}:not(.busy) > *", timeout=90_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.evaluate("scrollTo(0, 0)")
        if scheme == "dark":
            picture(page, "play-phone")
    assert not complaints
    context.close()


def test_the_table_is_pictured(page: Any) -> None:
    with served(default=setup(seed=12)) as address:
        page.goto(address)
        play_some(page, 3)
        page.locator("#hand .held:enabled").first.click()
        picture(page, "play-table")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
