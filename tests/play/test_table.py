"""A table without a server: what may be done at it, and the terminal."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from fiveup_env import Game, Rules
from fiveup_env.errors import FiveUpError, IllegalMoveError, InputError, WrongMomentError
from fiveup_env.game.records import loads, record_of
from fiveup_env.play.table import Setup, Table
from fiveup_env.play.terminal import KEPT, kept_table, play_in_terminal
from tests.support import play_randomly


def setup(**options: object) -> Setup:
    """A setup with random opponents, whose rules may be changed."""
    known = {"seat", "opponents", "seed"}
    fields = {name: value for name, value in options.items() if name not in known}
    chosen = {name: value for name, value in options.items() if name in known}
    return Setup(**{"opponents": "random", "seed": 1, "rules": Rules.preset(**fields)} | chosen)  # type: ignore[arg-type]


def test_a_choice_says_what_it_brings() -> None:
    table = Table(setup(seed=5, players=2, target=12))
    table.go_on()
    while not table.game.is_game_over():
        for step in table.choices():
            twin = table.game.copy()
            twin.push(step.move)
            moves = record_of(twin)["hands"][table.game.hand_number]["moves"]
            (*_, move) = (move for move in moves if move["play"])
            assert (step.total, step.points) == (move["total"], move["points"])
        table.play(table.choices()[-1].move)
    assert table.choices() == []


def test_undo_returns_to_ones_own_last_decision_and_the_others_reply_as_before() -> None:
    table = Table(setup(seed=6))
    start = table.go_on()
    first, hand = table.game.copy(), table.game.hand_of(0)
    move = table.choices()[0].move
    said = table.play(move)
    assert len(said) > 1
    table.undo()
    assert table.game == first
    assert table.play(move) == said
    assert (table.again(), table.game.hand_of(0)) == (start, hand)  # the same deal once more
    with pytest.raises(WrongMomentError, match="no move of yours to take back"):
        table.undo()


def test_moves_that_are_not_allowed_change_nothing() -> None:
    table = Table(setup(seed=1))
    table.go_on()
    before = table.game.copy()
    with pytest.raises(IllegalMoveError, match="allowed here"):
        table.play("6-5@5x")
    with pytest.raises(FiveUpError, match="not a valid move"):
        table.play("hello")
    assert table.game == before


def test_where_an_agent_fails_nobody_plays_in_its_place() -> None:
    table = Table(setup(players=2), Game(players=2, seed=29))
    table._agents[1] = lambda *_: np.array([-1])
    with pytest.raises(FiveUpError):
        table.play("6-4")
    assert table.choices() == []
    with pytest.raises(WrongMomentError, match="seat 1 is to move, not you"):
        table.play(next(iter(table.game.legal_moves)))


def test_a_game_goes_on_from_where_it_stands_with_one_opponent_or_one_for_each_seat() -> None:
    game = play_randomly(Game(players=3, seed=2), Random(2), 7)
    table = Table(setup(players=3, seat=game.turn), game)
    assert table.go_on() == []
    table.play(table.choices()[0].move)
    assert len(game.moves) > 7
    specs = Setup(opponents="partner,pimc:worlds=4,playout=greedy,student", seat=1).specs
    assert specs == ["partner", "pimc:worlds=4,playout=greedy", "student"]


# --- The terminal


def typed(table: Table, *lines: str, folder: Path | None = None) -> str:
    """What a terminal shows to someone who types these lines."""
    rest = iter(lines)
    shown: list[str] = []

    def read(_prompt: str) -> str:
        line = next(rest, None)
        if line is None:
            raise EOFError
        return line

    play_in_terminal(table, folder, read, shown.append)
    return "\n".join(shown)


def test_a_game_is_played_in_the_terminal_by_numbers_and_by_moves() -> None:
    table = Table(setup(seed=2))
    table.go_on()
    move = str(table.choices()[0].move)
    fresh = Table(setup(seed=2))
    shown = typed(fresh, move, "1", "undo", "5-5@5x or so", "again", "quit", "1")
    for words in ("You sit in seat 0", "Taken back.", "is not a valid move"):
        assert words in shown
    assert fresh.game.turn == 0
    assert all(step.seat for step in fresh.game.steps())
    short = Table(setup(seed=2, target=3, players=2))
    shown = typed(short, *["1"] * 400)
    assert short.game.is_game_over()
    assert "The hand is over" in shown
    assert "You win" in shown or "You lose" in shown


def test_the_terminal_keeps_its_game_helps_saves_and_studies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = Table(setup(seed=2, players=2))
    shown = typed(table, "help", "1", "1", "save mine.json", "study", folder=tmp_path)
    assert "take back your last move" in shown
    assert "saved in mine.json" in shown
    assert "mistakes in" in shown
    assert loads((tmp_path / "mine.json").read_text()) == table.game
    left = kept_table(setup(seed=None, players=2), tmp_path)
    assert left.game == table.game
    assert kept_table(setup(seed=3, players=2), tmp_path).game != table.game
    (tmp_path / KEPT).write_text("{}")
    with pytest.raises(InputError, match="is not a game that was left"):
        kept_table(setup(seed=2), tmp_path)
