"""How the page looks, in Chromium: sizes, languages, paper, and what the tiles are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.play.test_browser import FREE, begin, deal, menu, play_by_mouse, play_out, state_of
from tests.web import visitor

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_NAMES: Final = "?seed=5&target=3&levels=greedy,level:7,level:7,level:7"
# Words that are wider than their place, or that stand outside the window.
CUT: Final = """[...document.querySelectorAll("body *")].filter((one) => {
  const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!words || !one.checkVisibility() || one.id === "title") return false; // hidden from the eye
  const { overflowX, display } = getComputedStyle(one), range = document.createRange();
  range.selectNodeContents(one);
  const { left, right } = range.getBoundingClientRect();
  const clipped = overflowX !== "visible" && display !== "inline" && one.scrollWidth > one.clientWidth + 1;
  return clipped || left < -1 || right > innerWidth + 1;
}).map((one) => one.textContent)"""


@pytest.fixture
def german(browser: Any) -> Iterator[Any]:
    """A page in German."""
    with visitor(browser) as (page, complaints):
        page.context.add_init_script("localStorage.setItem('fiveup:tongue', 'de')")
        yield page
        assert not complaints


def study_the_end(page: Any) -> None:
    """Play the game to its end, and have it judged."""
    play_out(page, play_by_mouse)
    page.click("#dialog-menu button[value=study]")
    page.wait_for_selector("#luck table", timeout=60_000)


@pytest.mark.parametrize("players", [4, 5])
def test_no_word_is_cut_in_german_on_the_narrowest_phone(
    german: Any, address: str, players: int
) -> None:
    german.set_viewport_size({"width": 320, "height": 640})
    begin(german, address, f"{LONG_NAMES}&players={players}")
    german.locator(FREE).last.click()
    assert not german.evaluate(CUT)
    german.keyboard.press("Escape")
    german.click("#fresh")
    for summary in german.locator("#dialog summary").all():
        summary.click()
    assert not german.evaluate(CUT)
    german.keyboard.press("Escape")
    for entry in ("learn", "daily", "puzzles", "games", "progress"):
        menu(german, entry)
        german.wait_for_selector("dialog[open]")
        assert not german.evaluate(CUT), entry
        german.keyboard.press("Escape")
    study_the_end(german)
    german.click("#biggest")
    assert not german.evaluate(CUT)


def test_agents_that_learnt_here_are_not_cut_on_the_narrowest_phone(
    german: Any, address: str
) -> None:
    german.set_viewport_size({"width": 320, "height": 640})
    begin(german, address, f"?seed=5&levels={','.join(4 * ['trained:gone'])}")
    assert not german.evaluate(CUT)
    menu(german, "train")
    german.locator("#dialog-body summary").first.click()
    german.click("#dialog-body button[value=trainBySides]")
    german.wait_for_selector("#dialog-body td:nth-child(3)")
    assert not german.evaluate(CUT)


@pytest.mark.parametrize("width", [390, 320])
def test_a_long_total_is_whole_beside_the_boneyard_of_a_phone(
    page: Any, address: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    begin(page, address, LONG_NAMES)
    total = "Total 25 = 10 + 5 + 6 + 4: +5"
    page.locator("#total").evaluate("(button, text) => { button.textContent = text; }", total)
    assert not page.evaluate(CUT)


@pytest.mark.parametrize(("width", "height"), [(2560, 1440), (1366, 768)])
def test_the_tiles_of_the_hand_are_as_large_as_those_on_the_felt(
    page: Any, address: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    begin(page, address)
    play_by_mouse(page)
    assert state_of(page) == "yours"
    held = page.locator("#hand .held").first.bounding_box()
    laid = page.locator("#layout .tile .edge").first.bounding_box()
    assert held["height"] >= max(laid["width"], laid["height"])


def test_a_printed_study_has_dark_ink_on_white_and_every_move(page: Any, address: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.context.add_init_script("localStorage.setItem('fiveup:tiles', 'ebony')")
    begin(page, address)
    study_the_end(page)
    page.click("#biggest")
    page.emulate_media(media="print")
    look = "one => (({ fill, stroke, backgroundColor }) => [fill, stroke, backgroundColor])(getComputedStyle(one))"
    assert page.locator("#study-layout .face").first.evaluate(look)[:2] == [
        "rgb(255, 255, 255)",
        "rgb(0, 0, 0)",
    ]
    assert page.locator("#study-layout .pips").first.evaluate(look)[1] == "rgb(0, 0, 0)"
    assert page.locator("#studying .felt").evaluate(look)[2] == "rgb(255, 255, 255)"
    assert page.is_hidden("#steps")
    moves = page.locator("#study-moves li")
    assert moves.count() > 10
    assert all(moves.nth(k).is_visible() for k in range(moves.count()))
    inner, outer = page.evaluate(
        "[document.querySelector('#study-moves').clientHeight, document.querySelector('#study-moves').scrollHeight]"
    )
    assert inner == outer  # nothing is scrolled away


def test_the_current_move_is_seen_in_the_list_of_moves(page: Any, address: str) -> None:
    begin(page, address)
    study_the_end(page)
    for way in ("#last", "#first", "#forward"):
        page.click(way)
        current = page.locator("#study-moves [aria-current]")
        assert current.inner_text().startswith(page.inner_text("#study-said"))
        inside = """one => { const list = one.closest("ol").getBoundingClientRect(), { top, bottom } = one.getBoundingClientRect();
          return top >= list.top - 1 && bottom <= list.bottom + 1; }"""
        assert current.evaluate(inside)
    page.locator("#study-moves button").nth(3).click()
    assert page.locator("#study-moves li").nth(3).get_attribute("class") == "here"


def test_tiles_look_as_chosen_and_a_reload_keeps_it(page: Any, address: str) -> None:
    begin(page, address)
    face = "getComputedStyle(document.querySelector('#hand .face')).fill"
    ivory = page.evaluate(face)
    page.click("#menu")
    page.select_option("#look", "ebony")
    assert page.evaluate(face) != ivory
    page.reload()
    state_of(page)
    assert page.evaluate(face) != ivory


def test_all_fives_for_two_with_seven_is_dealt_kept_and_linked(page: Any, address: str) -> None:
    begin(page, address)
    page.click("#fresh")
    page.select_option("#rules", "all_fives")
    page.select_option("#players", "2")
    assert page.input_value("#hand-size") == "9"
    page.select_option("#hand-size", "7")
    page.fill("#target", "40")
    deal(page)
    size = """JSON.parse(localStorage[`fiveup:game:${localStorage["fiveup:latest"]}`]).setup.hand_size"""
    assert page.evaluate(size) == 7
    state_of(page)
    held = page.inner_html("#hand")
    page.reload()
    state_of(page)
    assert page.inner_html("#hand") == held
    begin(page, address, "?rules=all_fives&players=2&tiles=7&seed=5&levels=greedy,greedy")
    assert page.evaluate(size) == 7


def test_numbers_are_written_as_the_language_writes_them(german: Any, address: str) -> None:
    begin(german, address)
    german.check("#eye-moves")
    german.wait_for_selector("#seen-moves .row")
    assert "," in german.inner_text("#seen-moves .row span:last-child")
    assert "." not in german.inner_text("#seen-moves .row span:last-child")
