"""Games as text for people."""

from __future__ import annotations

from fiveup_env.drawing.transcript import table_text, transcript
from tests.support import game_of, push_all


def test_the_text_of_a_hand_that_somebody_read() -> None:
    top = "3-2 1-1 3-3 1-0 2-0 2-2"
    game = game_of("0-0 2-1", "3-0 3-1", top=top, max_pip=3, reserve=2, spinners="none")
    push_all(game, "2-1 3-1@1 3-2@3")
    assert transcript(game).splitlines()[3:] == [
        "Hand 0: seat 0 leads, scores 0 : 0",
        "  seat 0 holds 0-0 2-1",
        "  seat 1 holds 3-0 3-1",
        "  boneyard 3-2 1-1 3-3 1-0 2-0 2-2",
        "    0  seat 0 sets 2-1: total 3",
        "    1  seat 1 sets 3-1 on the 1: total 5, +1",
        "    2  seat 0 draws 3-2, sets 3-2 on the 3: total 4",
        "    3  seat 1 draws 1-1 3-3 1-0, passes",
        "    4  seat 0 passes",
        "  blocked, end points 0 : -2; scores 0 : -1",
        "",
        "   2←[2│1][1│3]┃3┃2┃→2",
        "",
        "  last 3-2; open ends 2, 2; total 4",
        "",
        "Not finished; scores 0 : -1",
    ]


def test_the_text_of_a_table_shows_all_hands_and_whose_turn_it_is() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2"), "6-4")
    text = table_text(game)
    assert str(game) == text
    assert text.splitlines()[-3:] == [
        "seat 0   1-1",
        "seat 1 * 2-2 4-0",
        "boneyard 24, hand 0, scores 2 : 0",
    ]
