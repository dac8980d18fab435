"""A table without a server: what is seen, what may be done, and what is never shown."""

from __future__ import annotations

import json
import threading
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Game, Rules, Tile
from fiveup_env.errors import (
    AgentError,
    FiveUpError,
    GameOverError,
    IllegalMoveError,
    OptionError,
    RulesError,
    SeatError,
    WrongMomentError,
)
from fiveup_env.game.records import record_of
from fiveup_env.play.eyes import advice_of, hidden_of
from fiveup_env.play.frames import frames_of, state_of, tile_symbols
from fiveup_env.play.study import Study, moves_at_moments
from fiveup_env.play.table import Setup, Table, setup_of
from fiveup_env.play.terminal import play_in_terminal
from fiveup_env.rules.presets import PRESETS
from tests.support import EVERY_PRESET, label, play_randomly, tiles_named

if TYPE_CHECKING:
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


def shows_no_hidden_tile(table: Table, random: Random, moves: int = 10_000) -> int:
    """Play, and search every byte that would be sent for tiles that the seat may not know."""
    told, searched = table.start(), 0
    pending = list(told)
    while True:
        for frame, sight in zip(frames_of(pending), pending, strict=True):
            named = tiles_named(json.dumps(frame))
            assert named <= knows(told, sight), (sight.said, named)
            searched += 1
        state = state_of(table, [table.now])
        assert tiles_named(json.dumps(state)) <= knows(told, table.now)
        if table.is_over or not moves:
            return searched
        moves -= 1
        pending = table.play(random.choice(table.choices()).move)
        told += pending


@pytest.mark.parametrize("name", PRESETS)
def test_no_frame_names_a_hidden_tile(name: str) -> None:
    table = Table(setup(name=name, players=3, seed=2))
    assert shows_no_hidden_tile(table, Random(7), moves=12)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))
def test_no_frame_of_a_thousand_random_games_names_a_hidden_tile(tenth: int) -> None:
    for number in range(100 * tenth, 100 * tenth + 100):
        random = Random(number)
        rules = random.choice(EVERY_PRESET)
        draw: Any = random.choice(["until_playable"] * 3 + ["optional"])
        rules = Rules.of(rules, draw=draw, target=random.choice([5, 10]) * rules.unit)
        seat = random.randrange(rules.players)
        table = Table(Setup(rules=rules, opponents="random", seed=number, seat=seat))
        assert shows_no_hidden_tile(table, random, moves=60)


def test_a_frame_leaves_out_pictures_that_did_not_change() -> None:
    table = Table(setup(seed=3))
    frames = frames_of(play_out(table, Random(1))[:150])
    assert {"felt", "board"} <= set(frames[0])
    waits = [frame for frame in frames if frame["kind"] in {"pass", "draw"}]
    assert waits
    assert all("felt" not in frame and "board" not in frame for frame in waits)
    plays = [frame for frame in frames if frame["kind"] == "play"]
    assert all("felt" in frame for frame in plays)


def test_every_tile_is_a_symbol() -> None:
    assert tile_symbols().count("<symbol") == 29


# --- What may be done


def test_undo_returns_to_ones_own_last_decision_and_the_others_reply_as_before() -> None:
    table = Table(setup(seed=6, opponents="random"))
    table.start()
    first, choices = table.now, table.choices()
    seen = table.play(choices[0].move)
    version = table.version
    assert table.can_undo
    back = table.undo()
    assert [sight.plays for sight in back] == [first.plays]
    assert table.choices() == choices
    assert table.version > version
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
    assert not table.can_undo


def test_the_same_deal_is_played_once_more() -> None:
    table = Table(setup(seed=None))
    before = [sight.said for sight in table.start()], table.now.hand
    table.play(table.choices()[0].move)
    after = [sight.said for sight in table.again()], table.now.hand
    assert before == after


def test_moves_that_are_not_allowed_change_nothing() -> None:
    table = Table(setup(seed=1))
    table.start()
    now, version = table.now, table.version
    with pytest.raises(IllegalMoveError, match="allowed here"):
        table.play("6-5@5x")
    with pytest.raises(FiveUpError, match="not a valid move"):
        table.play("hello")
    with pytest.raises(WrongMomentError, match="has changed meanwhile"):
        table.play(table.choices()[0].move, version + 1)
    assert (table.now, table.version) == (now, version)


def test_after_the_end_nothing_may_be_set_and_after_giving_up_neither() -> None:
    table = Table(setup(seed=1, target=1, players=2))
    play_out(table, Random(0))
    with pytest.raises(GameOverError):
        table.play("5-5")
    other = Table(setup(seed=1))
    other.start()
    game = other.give_up()
    assert other.is_over
    assert not other.can_undo
    with pytest.raises(WrongMomentError, match="given up"):
        other.play(next(iter(game.legal_moves)))
    other.again()
    assert not other.is_over


def test_two_fingers_make_one_move() -> None:
    table = Table(setup(seed=1))
    table.start()
    move, version, refused = table.choices()[0].move, table.version, []

    def press() -> None:
        try:
            table.play(move, version)
        except WrongMomentError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7


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
        ({"opponents": "os:getcwd"}, AgentError, "there is no agent 'os'"),
        ({"opponents": "program:sh"}, AgentError, "there is no agent 'program'"),
        ({"opponents": "model.zip"}, AgentError, "there is no agent 'model.zip'"),
        ({"opponents": 3}, OptionError, "opponents are specs"),
        ({"rules": "chess"}, RulesError, "there is no preset 'chess'"),
        ({"players": 9}, SeatError, "there must be 2 to 5 players"),
        ({"colour": "red"}, OptionError, "a new game has the choices"),
    ],
)
def test_a_setup_that_cannot_be_played_is_refused_in_a_sentence(
    options: dict[str, object], error: type[FiveUpError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        setup_of(options, Setup())


def test_opponents_may_be_one_for_each_other_seat() -> None:
    specs = Setup(opponents="partner,pimc:worlds=4,playout=greedy,student", seat=1).specs
    assert specs == ["partner", "pimc:worlds=4,playout=greedy", "student"]


# --- Eyes


def test_pimc_advises_with_chances_points_and_errors() -> None:
    game = play_randomly(Game(seed=3), Random(3), 6)
    advice = advice_of("pimc:worlds=64", game.view())
    assert advice.unit == "chance to win"
    assert {row["move"] for row in advice.moves} == set(map(str, game.legal_moves))
    assert all(0 <= row["value"] <= 1 and row["error"] >= 0 for row in advice.moves)
    values = [row["value"] for row in advice.moves]
    assert values == sorted(values, reverse=True)


def test_a_policy_advises_with_its_probabilities() -> None:
    game = play_randomly(Game(seed=3), Random(3), 6)
    advice = advice_of("random", game.view())
    assert advice.unit == "probability"
    assert sum(row["value"] for row in advice.moves) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("spec", ["student+search:worlds=32", "pimc:worlds=32,weighed=2"])
def test_a_search_advises_with_its_values_and_leaves_out_what_it_rules_out(spec: str) -> None:
    game = play_randomly(Game(seed=3), Random(3), 6)
    advice = advice_of(spec, game.view())
    assert advice.unit == "value"
    assert {row["move"] for row in advice.moves} <= set(map(str, game.legal_moves))
    assert advice.moves
    assert json.loads(json.dumps(advice.moves, allow_nan=False)) == advice.moves


def test_an_agent_without_numbers_is_refused_as_adviser() -> None:
    game = Game(seed=3)
    with pytest.raises(AgentError, match="puts no number on its moves"):
        advice_of("greedy", game.view())


def test_hidden_tiles_are_shared_out_among_the_others() -> None:
    game = play_randomly(Game(players=3, seed=4), Random(4), 5)
    seat = game.turn or 0
    found = hidden_of(game.view())
    others = [other for other in range(3) if other != seat]
    assert [row["seat"] for row in found["rows"]] == [*others, None]
    shares = np.array([row["shares"] for row in found["rows"]])
    assert shares.sum(0) == pytest.approx(np.ones(len(found["tiles"])), abs=0.001)
    sizes = [len(game.hand_of(other)) for other in others]
    assert shares[:-1].sum(1) == pytest.approx(sizes, abs=0.01)
    assert int(found["worlds"]) > 1
    assert not {str(tile) for tile in game.hand_of(seat)} & set(found["tiles"])


# --- The terminal


def typed(table: Table, *lines: str) -> str:
    """What a terminal shows to someone who types these lines."""
    rest = iter(lines)
    shown: list[str] = []

    def read(_prompt: str) -> str:
        line = next(rest, None)
        if line is None:
            raise EOFError
        return line

    play_in_terminal(table, read, shown.append)
    return "\n".join(shown)


def test_a_game_is_played_in_the_terminal_by_numbers_and_by_moves() -> None:
    table = Table(setup(seed=2))
    table.start()
    move = str(table.choices()[0].move)
    fresh = Table(setup(seed=2))
    shown = typed(fresh, move, "1", "undo", "5-5@5x or so", "new", "quit", "1")
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


@pytest.mark.parametrize("draw", ["until_playable", "optional"])
@pytest.mark.parametrize("moves", [0, 3, 40, 10_000])
def test_a_study_has_a_chance_for_every_moment_that_is_drawn(moves: int, draw: Any) -> None:
    game = play_randomly(Game(players=3, draw=draw, seed=3, target=6), Random(3), moves)
    study = Study(game, "pimc:worlds=4,playout=greedy")
    study.go_on()
    assert study.done == study.total
    about, verdicts = study.about(), study.verdicts
    assert verdicts
    assert len(about["moments"]) == len(verdicts["chances"]) == len(moves_at_moments(game))
    assert all(len(chances) == 3 for chances in verdicts["chances"])
    assert [m["move"] for m in about["moments"]] == sorted(m["move"] for m in about["moments"])
    for decision in verdicts["decisions"]:
        at = about["moments"][decision["moment"]]
        assert at["move"] > decision["number"]
        if draw == "until_playable":
            assert at["line"].startswith(f"Seat {decision['seat']} ")
            assert decision["move"].partition("@")[0] in at["line"]


def test_a_saved_study_is_one_page_that_needs_nothing_else() -> None:
    game = play_randomly(Game(players=2, seed=3, target=3), Random(3))
    study = Study(game, "pimc:worlds=4,playout=greedy", ["you", "</script>"])
    study.go_on()
    page = study.to_html()
    assert "http://www.w3.org/2000/svg" in page
    assert not [part for part in ("src=", 'href="/assets', "http://127", "@import") if part in page]
    assert page.count("</script>") == 2
    saved = study.to_json()
    assert saved["record"] == record_of(game)
    assert json.loads(json.dumps(saved, allow_nan=False)) == json.loads(json.dumps(saved))


def test_a_game_can_be_played_on_from_any_move_of_a_study() -> None:
    game = play_randomly(Game(seed=3), Random(3), 20)
    study = Study(game, "pimc:worlds=4")
    assert len(study.from_here(7).moves) == 7
    assert len(game.moves) == 20
