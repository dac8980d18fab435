"""Positions as lines and in words, and rules in words: exact, complete, and silent about the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import MOVES, Game, InvalidMoveError, Rules, Tile
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.errors import InputError
from fiveup_env.game import view_json, view_of
from fiveup_env.game.facts import facts_of, views_of
from fiveup_env.game.records import record_of
from fiveup_env.game.rules_words import rules_text
from fiveup_env.game.view_json import FACT_KEYS, views_from, views_json
from fiveup_env.game.view_line import facts_in, line_of, view_line, view_of_line
from fiveup_env.game.view_words import move_of_words, move_words, step_text, view_text
from tests.engines.reference import Move as Made
from tests.engines.reference import Reference
from tests.engines.soak import random_rules
from tests.engines.test_engine_against_reference import Lockstep, in_reference
from tests.support import EVERY_PRESET, game_of, hidden_otherwise, play_randomly, push_all

pytestmark = pytest.mark.compiled

SEED: Final = 1


def some_rules(count: int, seed: int = SEED) -> Iterator[Rules]:
    """Rules with any value in any field."""
    return islice(random_rules(np.random.default_rng(seed)), count)


def random_views(count: int, moves: int = 40) -> np.ndarray:
    """Views of random seats in random games of random rules, hands that ended among them."""
    views, chance = [], Random(SEED)
    for seed, rules in enumerate(some_rules(count)):
        game = play_randomly(Game(rules, seed=seed), chance, chance.randint(0, moves))
        for state in game.hand_states():
            view = np.zeros(1, VIEW)
            observe_at(state, 0, chance.randrange(rules.players), view, 0)
            views.append(view)
        if not game.is_game_over():
            views.append(game.view())
    return np.concatenate(views)


# --- Lines and JSON, exact


def test_a_view_its_line_and_its_json_are_equal() -> None:
    views = random_views(300)
    lines = [line_of(facts) for facts in facts_of(views)]
    assert (views_of([facts_in(line) for line in lines]) == views).all()
    for view in views[::5]:
        rules = Rules.from_struct(view["public"]["rules"])
        assert (views_from(rules, views_json(view.reshape(1))) == view).all()
    for game in (Game(rules, seed=3) for rules in EVERY_PRESET):
        assert (view_of(view_json(game.view())) == game.view()).all()
        assert (view_of_line(view_line(game.view())) == game.view()).all()


def test_what_follows_may_be_left_out_and_tiles_turned_round_but_not_be_wrong() -> None:
    game = game_of("2-2 2-1 1-1", "0-0 1-0 2-0", lead=0, max_pip=2)
    push_all(game, "1-1 1-0@1x 2-1@1x 2-0@2")
    whole = view_json(game.view(1))
    assert whole["history"][-1] == {"seat": 0, "move": "pass"}
    plays = [event for event in whole["history"] if event["move"] != "pass"]
    short = {name: whole[name] for name in ("rules", *FACT_KEYS)} | {"history": plays}
    turned = whole | {"hand": [tile[::-1] for tile in reversed(whole["hand"])]}
    for content in (whole, short, turned):
        assert (view_of(content) == game.view(1)).all()
    with pytest.raises(InputError, match="history has other passes"):
        view_of(whole | {"history": [*plays, {"seat": 1, "move": "pass"}]})


def test_every_field_of_the_struct_is_written_or_follows() -> None:
    follows = {"phase", "passes", "draws", "lack_ply", "lack_draws", "rules", "drawn"}
    history = {"plies", "play_seat", "play_action", "draw_seat", "draw_ply"}
    written = {*view_json(Game(seed=SEED).view())}
    assert {*(VIEW["public"].names or ())} <= written | follows | history
    assert {*(VIEW.names or ())} <= written | {"public", "drawn"}


LINE: Final = "five_up/2,max_pip=3,hand_size=3 1 1-0,3-1,3-3 1:0 0 0 0.3-0 t1"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("five_up/2", "five_up", "rules are written five_up/2"),
        ("max_pip=3", "colour=3", "there is no rule field 'colour'"),
        ("1-0,3-1,3-3", "1-0,3-1,3-9", "'3-9' is not a valid tile"),
        ("1-0,3-1,3-3", "1-0,3-1,1-3", "a hand has different tiles"),
        ("1-0,3-1,3-3", "-", "its tiles do not agree"),
        ("1:0", "1", "there are 2 scores"),
        ("0.3-0", "7.3-0", "an event is written"),
        ("0.3-0", "0.3-0@3", "its plays and draws do not follow"),
        ("0.3-0", "0+2-2,0.3-0", "only the viewer's own draws"),
        ("0.3-0", ",".join(["1+"] * 40), "a history has at most"),
        ("t1", "t7", "the turn is a whole number from 0 to 1"),
        ("t1", "won", "there is no stand 'won'"),
        ("t1", "domino:0", "there are 2 end points"),
    ],
)
def test_a_wrong_line_gets_a_sentence(old: str, new: str, sentence: str) -> None:
    view_of_line(LINE)
    with pytest.raises(InputError, match=sentence):
        view_of_line(LINE.replace(old, new, 1))


def test_what_is_no_line_or_no_move_is_refused() -> None:
    for line in (None, 3, b"five_up/2", "", "x" * 9_999):
        with pytest.raises(InputError, match="not a position: a "):
            view_of_line(line)
    for words in ("", "lead", "set 5-3 on the 4", "set 7-7 on the 7", "I set 5-3", None, 5):
        with pytest.raises(InvalidMoveError, match="a move is 'lead 5-3'"):
            move_of_words(words)


# --- Moves in words


def test_every_move_is_read_from_its_words() -> None:
    for move in MOVES:
        for words in (move_words(move), str(move), f" {move_words(move).upper()}. "):
            assert move_of_words(words) == move


# --- What happened, in sentences


@pytest.mark.parametrize("draw", ["until_playable", "optional"])
def test_everything_that_happened_is_told_once_in_order_without_hidden_tiles(draw: Any) -> None:
    game = play_randomly(Game(players=3, draw=draw, target=12, seed=4), Random(2))
    steps = (step_text(step, seat=1) for step in game.steps())
    sentences = (words for text in steps for words in re.findall(r"\w[^.]*", text))
    for hand in record_of(game)["hands"]:
        for move in hand["moves"]:
            who = "You" if move["player"] == 1 else f"Seat {move['player']}"
            drawn: list[str] = []
            while len(drawn) < len(move["draws"]):
                words = next(sentences)
                assert words.startswith(f"{who} drew")
                count = re.search(r"(\d+) tiles", words)
                drawn += re.findall(r"\d-\d", words) or ["?"] * int(count[1] if count else 1)
            names = [str(Tile.parse(tile)) for tile in move["draws"]]
            assert drawn == (names if who == "You" else ["?"] * len(names))
            words = next(sentences)
            if move["play"] is None:
                assert words == f"{who} passed"
            else:
                assert words.startswith(f"{who} {'set' if move['on'] else 'led'}")
                assert f": total {move['total']}" in words
                assert f", {move['points']} point" in words or not move["points"]
        assert next(sentences).startswith("The hand is over")
        assert next(sentences).startswith("Its end brought")
    assert next(sentences).startswith("The game is over")
    assert next(sentences, None) is None


# --- Rules in words: a reader that knows the words alone plays as the engine does


def rules_read(text: str) -> tuple[dict[str, Any], int, bool]:
    """Return the fields of the rules as the words say them, the players, and the partners."""

    def number(pattern: str) -> int:
        match = re.search(pattern, text)
        assert match, pattern
        return int(match[1])

    def either(**words: str) -> str:
        said = [name for name, sentence in words.items() if sentence in text]
        assert len(said) == 1, said
        return said[0]

    multiple = number(r"is a multiple of (\d+)")
    fields: dict[str, Any] = {
        "max_pip": number(r"from 0-0 to (\d)-"),
        "hand_size": number(r"every player is dealt (\d+) tile"),
        "multiple": multiple,
        "unit": number(r"scores (\d+) points? for each"),
        "target": number(r"wins if it has (\d+) or more"),
        "exact_target": "are not scored, neither for a tile" in text,
        "spinners": either(
            all="both sides of a double are covered, its two ends are open",
            first="both sides of the first double that was set or led in the hand are covered",
            none="both sides of a double are covered, it is closed",
        ),
        "draw": either(
            optional="may set a tile, or draw one from the boneyard while",
            until_playable="draws from the boneyard until a drawn tile fits",
        ),
        "reserve": 0,
        "lead_tile": either(
            any="a seat is drawn by lot, and it leads any tile",
            highest_double="must lead that double; if no double was dealt",
        ),
        "leader": either(
            rotate="In every later hand the seat after the last leader leads any tile",
            winner="After a hand in which a player went out, that player leads any tile",
        ),
        "game_end": either(
            immediate="The game ends as soon as a side scores points for a tile",
            finish_hand="A hand is always played to its end.",
        ),
        "hand_end": either(
            subtract_own="every side loses what is left in its own hands",
            winner_takes="After a player went out, that player's side gains",
        ),
        "round_per": either(
            hand="each hand is rounded" if "loses" in text else "each hand of theirs is rounded",
            side="side's pips together are rounded"
            if "loses" in text
            else "what each side holds is",
            all="all of that together is rounded",
        ),
        "block_pays": "difference"
        if "gains what all others hold together less" in text
        else "others",
    }
    if kept := re.search(r"The last (?:(\d) tiles|tile) of the boneyard may never", text):
        fields["reserve"] = int(kept[1] or 1)
    if "Of the two other sides, the one that holds less gains" in text:
        fields["hand_end"] = "armanino"
    return fields, number(r"There are (\d) players"), "Seats 0 and 2 are partners" in text


def made_in(words: str) -> Made:
    """Return the move that words such as `set 5-3 on the double 5` say."""
    if words in {"draw a tile", "pass"}:
        return ("pass" if words == "pass" else "draw", None)
    match = re.fullmatch(r"(?:lead|led|set) (\d)-(\d)(?: on the (double )?(\d))?", words)
    assert match, words
    tile = (int(match[2]), int(match[1]))
    return (tile, None if match[4] is None else (int(match[4]), "double" if match[3] else "plain"))


def reader_of(rules: str, position: str) -> Reference:
    """Return a position as the words of the rules and of the position tell it."""
    game = Reference(*rules_read(rules))

    def said(pattern: str) -> str:
        match = re.search(pattern, position)
        return match[1] if match else ""

    game.turn = int(said(r"You are seat (\d)"))
    game.hands = [[] for _ in range(game.players)]
    tiles = re.findall(r"(\d)-(\d)", said(r"Your hand: (.*)\."))
    game.hands[game.turn] = [(int(low), int(high)) for high, low in tiles]
    if forced := said(r"It must lead (\d-\d)"):
        game.must_lead = (int(forced[2]), int(forced[0]))
    game.boneyard = [(0, 0)] * int(said(r"The boneyard has (\d+) tile"))
    for done in filter(None, said(r"What was done: (.*)\.").split("; ")):
        words = re.fullmatch(r"seat \d ((?:led|set) .*)", done)
        if words:
            tile, on = made_in(words[1])
            assert not isinstance(tile, str)
            game._attach(tile, on)
    return game


def compare_words(rule_sets: int, positions: int, seed: int = SEED) -> None:
    """Compare what the words say of random rules and positions with the engine."""
    chance = Random(seed)
    for number, rules in enumerate(some_rules(rule_sets, seed)):
        text = rules_text(rules)
        game, seen = Game(rules, seed=number), 0
        while seen < positions and not game.is_game_over() and game.hand_number < 50:
            words = game.text()
            reader, seen = reader_of(text, words), seen + 1
            assert reader.legal() == {in_reference(move) for move in game.legal_moves}
            assert reader.total == game.layout().total
            listed = re.search(r"Your legal moves: (.*)\.", words)
            assert listed
            assert {made_in(move) for move in listed[1].split(", ")} == reader.legal()
            game.push(chance.choice(list(game.legal_moves)))


def play_by_words(rule_sets: int, seed: int = SEED) -> None:
    """Play games by the rules that the words say, next to the engine: scores, ends, leaders."""
    for number, rules in enumerate(some_rules(rule_sets, seed)):
        both = Lockstep.__new__(Lockstep)
        both.rules, both.game = rules, Game(rules, seed=number)
        both.reference = Reference(*rules_read(rules_text(rules)))
        both._deal()
        both.play(Random(seed + number), 150)


def test_words_alone_tell_the_legal_moves_the_scores_and_the_ends() -> None:
    compare_words(40, 12)
    play_by_words(40)


@pytest.mark.slow
def test_words_alone_tell_the_rules_of_many_games() -> None:
    compare_words(2_000, 20, SEED + 1)
    play_by_words(2_000, SEED + 1)


# --- No leak


def test_hidden_tiles_change_no_character() -> None:
    for seed, rules in enumerate(some_rules(20)):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 12)
        if game.is_game_over():
            continue
        other = hidden_otherwise(game, Random(seed))
        assert game.text() == other.text()
        assert view_line(game.view()) == view_line(other.view())
        assert view_json(game.view()) == view_json(other.view())
        told, same = (
            [step_text(step, int(game.turn or 0)) for step in one.steps()] for one in (game, other)
        )
        assert told == same


def test_words_do_not_list_moves_for_others_or_when_told_not_to() -> None:
    game = Game(seed=3)
    assert "legal moves" in game.text()
    assert "legal moves" not in view_text(game.view(), moves=False)
    seat = next(seat for seat in range(4) if seat != game.turn)
    assert "legal moves" not in game.text(seat)
