"""Lessons, puzzles and the solved hand, in Chromium: they show what they say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.play.test_browser import SHORT, begin, menu
from tests.web import check_access, visitor


def lesson(page: Any, number: int) -> None:
    """Go to a lesson by doing those before it."""
    page.click("#learn")
    for tiles in (["6-5"], ["6-5"], ["5-5", "5-3"], ["6-6"])[: number - 1]:
        play(page, *tiles)
        page.click("#lesson-menu button.main")


def play(page: Any, *tiles: str) -> None:
    for tile in tiles:
        page.click(f"#lesson-hand [data-tile='{tile}']")
        page.locator("#lesson-choices button").first.click()


def test_a_wrong_try_is_told_why(page: Any, address: str) -> None:
    begin(page, address)
    lesson(page, 2)
    play(page, "5-3")
    assert "would make 7, which is not a multiple of five" in page.inner_text("#lesson-text")


def test_a_double_branches_and_the_others_draw_pass_and_are_counted(
    page: Any, address: str
) -> None:
    begin(page, address)
    lesson(page, 3)
    play(page, "5-5", "5-3")
    marks = page.locator("#lesson-felt .end:has(text)")
    assert sorted(marks.all_text_contents()) == ["1", "3", "4"]
    page.click("#lesson-menu button.main")
    backs = page.locator("#lesson-others .seat").first.locator(".tiles svg")
    assert backs.count() == 6
    play(page, "6-6")
    assert backs.count() == 10
    others = [box.inner_text() for box in page.locator("#lesson-others .seat").all()]
    assert "draws 4, passes" in others[0]
    assert "passes" in others[1]
    page.click("#lesson-menu button.main")
    play(page, "5-0")
    assert "7 pips, rounded to 5: 1 point" in page.inner_text("#lesson-others")
    assert page.locator("#lesson-others .face").count() == 1


def test_who_plays_next_is_seen_in_puzzles_and_seats_show_their_level(
    page: Any, address: str
) -> None:
    begin(page, address, "?seed=5&levels=level:8,level:10,level:5,level:3")
    levels = [note.inner_text() for note in page.locator("#seats .level").all()]
    assert levels == ["level 10", "level 5", "level 3"]
    menu(page, "puzzles")
    page.click("#dialog-body button[value='1']")
    page.wait_for_selector("#lesson[open]")
    seats = page.locator("#lesson-others .seat b").all_inner_texts()
    assert [name.split(".")[0] for name in seats] == [str(k + 1) for k in range(len(seats))]
    assert f"after you: {seats[0].split()[1]}" in page.inner_text("#lesson-facts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_solved_hand_is_explained_move_by_move(browser: Any, address: str, scheme: str) -> None:
    with visitor(browser, color_scheme=scheme, bypass_csp=True) as (page, complaints):
        begin(page, address, SHORT)
        menu(page, "solved")
        page.wait_for_selector("#lesson[open]")
        assert page.locator("#lesson-others .face").count() == 20  # all tiles lie open
        onward, laid = page.locator("#lesson-menu .main"), page.locator("#lesson-felt .tile")
        plays = 0
        while onward.inner_text() == "Next":
            onward.click()
            plays += 1
            page.wait_for_selector("#lesson-menu .main:enabled", timeout=60_000)
            assert laid.count() == plays
            assert "The ends make" in page.inner_text("#lesson-text")
            if plays == 3:
                check_access(page)
        assert plays > 8
        assert "The end of the hand brings" in page.inner_text("#lesson-text")
        onward.click()
        assert page.is_hidden("#lesson")
        assert not complaints
