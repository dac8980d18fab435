"""A table without a server: what is seen, what may be done, and what is never shown."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fiveup_env import Game, Rules, Tile
from fiveup_env.errors import (
    AgentError,
    FiveUpError,
    IllegalMoveError,
    InputError,
    OptionError,
    SeatError,
    WrongMomentError,
)
from fiveup_env.game.records import loads, record_of
from fiveup_env.play.table import Setup, Table
from fiveup_env.play.terminal import KEPT, kept_table, play_in_terminal
from fiveup_env.rules.presets import PRESETS
from tests.support import EVERY_PRESET, label, play_randomly, tiles_named

if TYPE_CHECKING:
    from pathlib import Path

    from fiveup_env.play.sights import Sight


def setup(**options: object) -> Setup:
    """A setup with random opponents, whose rules may be changed."""
    known = {"seat", "opponents", "seed"}
    fields = {name: value for name, value in options.items() if name not in known}
    chosen = {name: value for name, value in options.items() if name in known}
    return Setup(**{"opponents": "random", "seed": 1, "rules": Rules.preset(**fields)} | chosen)  # type: ignore[arg-type]


def play_out(table: Table, random: Random, seen: list[Sight] | None = None) -> list[Sight]:
    """Play a table to its end with random moves; return all that was seen."""
    seen = [*(seen or []), *table.start()]
    while not table.is_over:
        seen += table.play(random.choice(table.choices()).move)
    return seen


# --- What is seen


@pytest.mark.parametrize("draw", ["until_playable", "optional"])
@pytest.mark.parametrize("rules", EVERY_PRESET[:5], ids=label)
def test_everything_that_happened_is_said_once_and_in_order(rules: Rules, draw: Any) -> None:
    rules = Rules.of(rules, draw=draw, target=12)
    table = Table(Setup(rules=rules, opponents="random", seed=4, seat=1))
    told = play_out(table, Random(2))
    recorded = []
    for number, hand in enumerate(record_of(table.game)["hands"]):
        recorded.append(("deal", number, hand["lead"], 0))
        for move in hand["moves"]:
            if move["draws"] and draw == "until_playable":
                recorded.append(("draw", number, move["player"], len(move["draws"])))
            elif move["draws"]:
                recorded += [("draw", number, move["player"], 1)] * len(move["draws"])
            recorded.append(("pass" if move["play"] is None else "play", number, move["player"], 0))
        recorded.append(("end", number, None, 0))
    recorded.append(("over", len(record_of(table.game)["hands"]) - 1, None, 0))
    assert [kind for kind, *_ in recorded] == [sight.kind for sight in told]
    for (kind, number, seat, count), sight in zip(recorded, told, strict=True):
        assert sight.number == number
        if seat is not None:
            assert (
                f"You {'lead' if kind == 'deal' else ''}".strip() in sight.said
                or f"Seat {seat} " in sight.said
            )
        if kind == "draw":
            assert f"{count} tile" in sight.said


@pytest.mark.parametrize("rules", EVERY_PRESET[:5], ids=label)
def test_sights_agree_with_the_game_whenever_it_is_ones_turn(rules: Rules) -> None:
    table = Table(Setup(rules=Rules.of(rules, target=12), opponents="random", seed=5))
    table.start()
    random = Random(3)
    while not table.is_over:
        now, game = table.now, table.game
        assert now.hand == game.hand_of(0)
        assert now.sizes == tuple(len(game.hand_of(k)) for k in range(game.rules.players))
        assert (now.scores, now.boneyard) == (game.scores, game.boneyard_count)
        assert (now.plays, now.total, now.turn) == (game.plays, game.layout().total, 0)
        for choice in table.choices():
            after = game.copy()
            after.push(choice.move)
            if after.hand_number == game.hand_number and after.plays == (*game.plays, choice.move):
                assert choice.total == after.layout().total
        table.play(random.choice(table.choices()).move)
    assert table.now.scores == table.game.scores


def knows(told: list[Sight], now: Sight) -> set[Tile]:
    """The tiles that a seat may know at a moment: played in this hand, or ever in its own hand."""
    return {tile for sight in told if sight.number == now.number for tile in sight.hand} | {
        move.tile for move in now.plays if move.tile
    }


@pytest.mark.parametrize("name", PRESETS)
def test_no_sight_names_a_hidden_tile(name: str) -> None:
    table = Table(setup(name=name, players=3, seed=2))
    random, told = Random(7), table.start()
    for _ in range(12):
        if table.is_over:
            break
        told += table.play(random.choice(table.choices()).move)
    for k, sight in enumerate(told):
        assert tiles_named(sight.said) <= knows(told[: k + 1], sight), sight.said


def test_undo_returns_to_ones_own_last_decision_and_the_others_reply_as_before() -> None:
    table = Table(setup(seed=6, opponents="random"))
    table.start()
    first, choices = table.now, table.choices()
    seen = table.play(choices[0].move)
    back = table.undo()
    assert [sight.plays for sight in back] == [first.plays]
    assert table.choices() == choices
    assert [sight.said for sight in table.play(choices[0].move)] == [s.said for s in seen]
    table.undo()
    with pytest.raises(WrongMomentError, match="no move of yours to take back"):
        table.undo()


def test_undo_takes_back_the_end_of_a_hand_and_of_the_game() -> None:
    table = Table(setup(seed=8, target=1, hand_size=2, players=2))
    table.start()
    random, steps = Random(1), 0
    while not table.is_over:
        table.play(random.choice(table.choices()).move)
        steps += 1
    scores = table.now.scores
    for _ in range(steps):
        table.undo()
    assert table.game.scores == (0, 0) != scores
    assert table.now.number == 0
    with pytest.raises(WrongMomentError, match="no move of yours"):
        table.undo()


def test_the_same_deal_is_played_once_more() -> None:
    table = Table(setup(seed=None))
    before = [sight.said for sight in table.start()], table.now.hand
    table.play(table.choices()[0].move)
    after = [sight.said for sight in table.again()], table.now.hand
    assert before == after


def test_moves_that_are_not_allowed_change_nothing() -> None:
    table = Table(setup(seed=1))
    table.start()
    now = table.now
    with pytest.raises(IllegalMoveError, match="allowed here"):
        table.play("6-5@5x")
    with pytest.raises(FiveUpError, match="not a valid move"):
        table.play("hello")
    assert table.now == now


def test_a_game_goes_on_from_where_it_stands() -> None:
    game = play_randomly(Game(players=3, seed=2), Random(2), 7)
    table = Table(setup(players=3, seat=game.turn), game)
    table.start()
    assert table.now.plays == game.plays
    table.play(table.choices()[0].move)
    table.again()
    assert table.now.plays == game.plays
    assert len(game.moves) == 7


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"seat": 4}, SeatError, "the seat must be from 0 to 3, not 4"),
        ({"seat": "0"}, SeatError, "the seat must be from 0 to 3"),
        ({"opponents": "greedi"}, AgentError, "did you mean 'greedy'"),
        ({"opponents": "greedy,random"}, OptionError, "name one opponent for all 3 other seats"),
        ({"opponents": 3}, OptionError, "opponents are specs"),
    ],
)
def test_a_setup_that_cannot_be_played_is_refused_in_a_sentence(
    options: dict[str, object], error: type[FiveUpError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        Setup(**options)  # type: ignore[arg-type]


def test_opponents_may_be_one_for_each_other_seat() -> None:
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
    table.start()
    move = str(table.choices()[0].move)
    fresh = Table(setup(seed=2))
    shown = typed(fresh, move, "1", "undo", "5-5@5x or so", "again", "quit", "1")
    assert "You sit in seat 0" in shown
    assert "Taken back." in shown
    assert "is not a valid move" in shown
    assert shown.count("is dealt") == 2
    assert not fresh.game.moves or fresh.game.turn == 0


def test_a_whole_game_can_be_played_in_the_terminal() -> None:
    table = Table(setup(seed=2, target=3, players=2))
    shown = typed(table, *["1"] * 400)
    assert table.is_over
    assert "You win" in shown or "You lose" in shown


# --- Studies


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
