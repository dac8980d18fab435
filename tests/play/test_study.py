"""What a study says and draws, in Chromium, on one game that is judged once."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.play.test_browser import play_by_mouse, play_out
from tests.web import AXE, check_access, visitor

if TYPE_CHECKING:
    from collections.abc import Iterator

GAME: Final = "?seed=5&target=5&levels=greedy,greedy,greedy,greedy"
# One of something is not many, and moves are words.
BROKEN: Final = re.compile(
    r"\b1 (points|tiles|hidden tiles|Punkte|Steine|verdeckten Steinen)\b|@|undefined|NaN|\{"
)
MEET: Final = """() => {
  const box = (one) => one.querySelector(".face").getBoundingClientRect();
  const ghost = box(document.querySelector("#study-layout .ghost"));
  return [...document.querySelectorAll("#study-layout .tile")].map(box).some((one) =>
    one.left < ghost.right - 1 && ghost.left < one.right - 1 && one.top < ghost.bottom - 1 && ghost.top < one.bottom - 1);
}"""


def study_it(page: Any, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("body[data-state]:not([data-state=theirs])")
    page.keyboard.press("s")
    page.wait_for_selector("#luck table", timeout=60_000)
    page.wait_for_function(
        "() => !/judged|beurteilt/.test(document.querySelector('#progress').textContent)"
    )


@pytest.fixture(scope="module")
def kept(browser: Any, address: str) -> dict[str, str]:
    """What a browser keeps of a game that was played and judged."""
    with visitor(browser) as (page, _):
        page.goto(address + GAME)
        play_out(page, play_by_mouse)
        page.keyboard.press("Escape")
        page.wait_for_selector("body[data-state=over]")
        study_it(page, address)
        return dict(page.evaluate("({ ...localStorage })"))


def bring(page: Any, kept: dict[str, str]) -> None:
    """Let a new visitor have what another browser keeps."""
    page.context.add_init_script(
        f"localStorage['fiveup:latest'] || Object.assign(localStorage, {json.dumps(kept)})"
    )


@pytest.fixture
def studied(page: Any, address: str, kept: dict[str, str]) -> Any:
    bring(page, kept)
    study_it(page, address)
    return page


def verdicts(page: Any) -> Iterator[str]:
    """Go through the game, and yield all that is said at every moment."""
    for button in page.locator("#study-moves button").all():
        button.click()
        yield page.inner_text("#studying")


def test_a_mistake_is_told_drawn_beside_the_move_and_played_on(studied: Any) -> None:
    studied.click("#biggest")
    said = studied.locator("#verdict-said p")
    assert "points of winning chance" in said.first.inner_text()
    assert "%" not in studied.inner_text("#verdict-said")
    assert said.nth(1).inner_text()
    assert studied.locator("#study-layout .ghost").count() == 1
    assert not studied.evaluate(MEET)
    tiles = studied.locator("#study-layout .tile").count()
    studied.click("#verdict summary")
    plays = studied.locator("#verdict ol button")
    plays.last.click()
    assert studied.inner_text("#study-said") == plays.last.inner_text()
    assert studied.locator("#study-layout .tile").count() > tiles
    assert studied.locator("#study-layout .tile.ghost").count() > 1
    assert "in the game it became" in studied.inner_text("#verdict")
    studied.click("#back")
    assert not studied.locator("#study-layout .ghost").count()


@pytest.mark.parametrize("tongue", ["en", "de"])
def test_every_moment_is_told_in_words_of_one_and_of_many(
    studied: Any, address: str, tongue: str
) -> None:
    studied.evaluate("tongue => localStorage.setItem('fiveup:tongue', tongue)", tongue)
    study_it(studied, address)
    for said in verdicts(studied):
        assert studied.inner_text("#verdict-said")
        assert not BROKEN.search(said)
        if studied.locator("#study-layout .ghost").count():
            assert not studied.evaluate(MEET)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (320, 640)])
def test_the_verdict_is_seen_first_on_a_phone(studied: Any, width: int, height: int) -> None:
    studied.set_viewport_size({"width": width, "height": height})
    studied.click("#biggest")
    studied.evaluate("document.querySelector('#studying').scrollTop = 0")
    box = studied.locator("#verdict-said p").first.bounding_box()
    assert box["y"] > 0
    assert box["y"] + box["height"] <= height


@pytest.mark.skipif(not AXE, reason="the accessibility of the page (no axe)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_beside_a_mistake(
    browser: Any, address: str, kept: dict[str, str], scheme: str
) -> None:
    with visitor(browser, color_scheme=scheme, bypass_csp=True) as (page, _):
        bring(page, kept)
        study_it(page, address)
        page.click("#biggest")
        page.click("#verdict summary")
        page.locator("#verdict ol button").last.click()
        check_access(page)


def test_luck_and_skill_say_whose_they_are(studied: Any) -> None:
    assert studied.inner_text("#luck-whose").startswith("Luck and skill: You · ")
    studied.select_option("#seer", "1")
    assert "You" not in studied.inner_text("#luck-whose")
