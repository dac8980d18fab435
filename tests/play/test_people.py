"""Several people at one screen, in Chromium."""

from __future__ import annotations

from typing import Any

from tests.play.test_browser import FREE, SHORT, begin, deal, play_by_mouse
from tests.web import check_access

COVERED = "dialog#dialog[open] button[value=show]"


def hand_of(page: Any) -> list[str]:
    return [tile.get_attribute("aria-label") for tile in page.query_selector_all("#hand .held")]


def begin_with(page: Any, address: str, names: dict[int, str]) -> None:
    """Begin a game of two hands at most with people in some seats."""
    begin(page, address, SHORT)
    page.click("#fresh")
    page.fill("#target", "3")
    page.click("#dialog summary >> nth=0")
    for seat, name in names.items():
        page.fill(f"#person-{seat}", name)
    deal(page)


def test_people_at_one_screen_never_see_each_others_tiles(page: Any, address: str) -> None:
    begin_with(page, address, {0: "Ann", 1: "Ben"})
    seen: dict[str, dict[str, set[str]]] = {}  # by hand and name
    while True:
        page.wait_for_selector("body[data-state=yours], dialog#dialog[open]", timeout=60_000)
        if page.query_selector(COVERED):
            assert set(hand_of(page)) == {"?"}
            if not seen:
                check_access(page)
            page.keyboard.press("Escape")
            page.wait_for_selector(COVERED)
            assert set(hand_of(page)) == {"?"}
            page.click(COVERED)
        elif page.query_selector("dialog#dialog[open]"):
            if page.query_selector("#dialog-menu button[value=study]"):
                break
            page.click("#dialog-menu button")
        else:
            who = page.inner_text("#dialog-title").removesuffix(", it is your turn")
            hand = seen.setdefault(page.inner_text("#game"), {"Ann": set(), "Ben": set()})
            hand[who].update(hand_of(page))
            if page.locator(FREE).count():
                play_by_mouse(page)
            else:
                page.locator("#choices button").first.click()
    assert all(hand["Ann"] and hand["Ben"] for hand in seen.values())
    assert not any(hand["Ann"] & hand["Ben"] for hand in seen.values())
    said = page.inner_text("#log")
    assert "Ann sets" in said
    assert "Ben sets" in said
    assert "You " not in said
    assert page.is_disabled("#undo")


def test_a_shared_game_goes_on_covered_after_a_reload(page: Any, address: str) -> None:
    begin_with(page, address, {2: "<b>Cleo</b>"})
    page.click(COVERED)
    play_by_mouse(page)
    page.reload()
    page.wait_for_selector(COVERED)
    assert set(hand_of(page)) == {"?"}
    page.click(COVERED)
    names = page.inner_text("#seats") + page.inner_text("#scores")
    assert "<b>Cleo</b>" in names
    saved = page.evaluate(
        """() => {
          const id = localStorage["fiveup:latest"];
          return JSON.parse(localStorage[`fiveup:game:${id}`]).setup.people;
        }"""
    )
    assert saved == ["Seat 1", None, "<b>Cleo</b>", None]
