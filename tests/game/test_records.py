"""Records are read back to the same game, and refused where they break the rules."""

from __future__ import annotations

import copy
import json
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import Deal, Game, Rules
from fiveup_env.errors import RecordError
from fiveup_env.game.records import dumps, game_of, loads, read_file, record_of
from tests.engines.test_engine_against_reference import any_rules
from tests.support import ending_of, play_randomly, push_all
from tests.support import game_of as dealt_game

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.compiled


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(rules=any_rules(), seed=st.integers(0, 2**64 - 1), legal=st.booleans(), dealt=st.booleans())
def test_a_record_keeps_the_game_at_every_moment(
    rules: Any, seed: int, *, legal: bool, dealt: bool
) -> None:
    random = Random(seed)
    others = [play_randomly(Game(rules, seed=seed ^ k), random, 1) for k in (1, 2) if dealt]
    hands = [record_of(other)["hands"][0] for other in others]
    deals = [Deal(hand["deal"], hand["boneyard"], hand["lead"]) for hand in hands]
    game = play_randomly(
        Game(rules, seed=seed, deals=deals), random, random.choice([0, 7, 40, 150])
    )
    again = loads(dumps(game, legal=legal))
    assert again == game
    assert record_of(again, legal=legal) == record_of(game, legal=legal)
    assert (again.scores, again.outcome()) == (game.scores, game.outcome())
    later = [play_randomly(one, Random(seed), 60) for one in (game, again)]
    assert later[0] == later[1]
    assert later[0].state().tobytes() == later[1].state().tobytes()


def test_the_record_of_a_hand_that_somebody_read() -> None:
    hands = ("5-5 5-1", "4-3 3-1", "0-0 1-1", "6-6 2-1")
    game = dealt_game(*hands, top="5-2 5-0", target=3, reserve=2)
    record = record_of(push_all(game, "5-5 5-2@5x 5-0@5x"), legal=True)
    assert (record["complete"], record["winner"]) == (False, None)
    assert (record["rules"]["preset"], record["rules"]["hand_size"]) == (None, 2)
    (hand,) = record["hands"]
    assert (hand["lead"], hand["scores_before"], hand["ended"]) == (0, [0, 0], None)
    assert hand["deal"] == [["1-5", "5-5"], ["1-3", "3-4"], ["0-0", "1-1"], ["1-2", "6-6"]]
    assert hand["boneyard"][:2] == ["2-5", "0-5"]

    def move(seat: int, play: str, total: int, points: int, *draws: str) -> dict[str, Any]:
        on = {"pip": 5, "end": "double"} if draws else None
        legal = [{"play": tile, "on": on} for tile in (draws or ("1-5", "5-5"))]
        made = {"player": seat, "draws": [*draws], "play": play, "on": on}
        return made | {"total": total, "points": points, "legal": legal}

    assert hand["moves"] == [
        move(0, "5-5", 10, 2),
        move(1, "2-5", 12, 0, "2-5"),
        move(2, "0-5", 2, 0, "0-5"),
    ]


def test_blocked_hands_optional_draws_and_ends_at_the_target_are_written() -> None:
    top = "3-2 1-1 3-3 1-0 2-0 2-2"
    game = dealt_game("0-0 2-1", "3-0 3-1", top=top, max_pip=3, reserve=2, spinners="none")
    hand = record_of(push_all(game, "2-1 3-1@1 3-2@3"))["hands"][0]
    assert hand["moves"][-2:] == [
        {"player": 1, "draws": ["1-1", "3-3", "0-1"], "play": None},
        {"player": 0, "draws": [], "play": None},
    ]
    assert (hand["ended"], hand["end_points"]) == ("blocked", [0, -2])
    assert hand["scores_after"] == [0, -1]
    game = dealt_game("6-4 1-1", "4-0 2-2", top="3-3 2-0", draw="optional")
    record = record_of(push_all(game, "6-4 draw draw 4-0@4"))
    assert record["hands"][0]["moves"][1]["draws"] == ["3-3", "0-2"]
    game = push_all(dealt_game("6-4", "6-6", target=2, game_end="immediate"), "6-4")
    record = record_of(game)
    assert (record["hands"][0]["ended"], record["hands"][0]["end_points"]) == ("target", None)
    assert (record["complete"], record["winner"]) == (True, 0)
    assert game_of(record).outcome() == game.outcome()


def test_the_preset_is_named_where_every_field_is_its_own() -> None:
    for reserve, name in ((0, "muggins"), (1, None)):
        rules = Rules.preset("muggins", 3, reserve=reserve)
        assert record_of(Game(rules, seed=1))["rules"]["preset"] == name


# --- Damage


@pytest.fixture(scope="module")
def whole() -> str:
    """Return the record of a game with all that records may have, as JSON."""
    game = play_randomly(Game(players=3, seed=6, target=8), Random(6))
    return json.dumps(record_of(game, legal=True))


GONE: Any = object()


def change(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def apply(record: Any) -> None:
        for step in path[:-1]:
            record = record[step]
        if to is GONE:
            del record[path[-1]]
        else:
            record[path[-1]] = to

    return apply


remove = partial(change, to=GONE)


@pytest.mark.parametrize(
    ("match", "damage"),
    [
        ("the format must be 'fiveup-record'", change("format", to="chess")),
        ("the version must be 1, not 2", change("version", to=2)),
        ("the record: 'players' is missing", remove("players")),
        ("there must be 2 to 5 players, not 7", change("players", to=7)),
        ("the rules lack target", remove("rules", "target")),
        ("there is no rule field 'bonus'", change("rules", "bonus", to=1)),
        ("not those of the preset 'muggins'", change("rules", "preset", to="muggins")),
        ("hand 1 must be a JSON object", change("hands", 1, to=[])),
        ("hand 0: the deal must hold every tile", change("hands", 0, "deal", 0, 0, to="6-6")),
        ("hand 0: '9-9' is not a valid tile", change("hands", 0, "boneyard", 0, to="9-9")),
        ("hand 2, lead: . is written, but the rules give", change("hands", 2, "lead", to=None)),
        ("hand 1, move 2, total: 99 is written, but the rules give", change("hands", 1, "moves", 2, "total", to=99)),
        ("hand 1, move 2: seat . is to move, not seat 9", change("hands", 1, "moves", 2, "player", to=9)),
        ("hand 1, move 0: .* cannot be set on", change("hands", 1, "moves", 0, "on", to={"pip": 9, "end": "plain"})),
        ("hand 1, move 0: .* is not allowed", change("hands", 1, "moves", 0, "play", to="0-0")),
        ("hand 1, move 3: 'legal' must list exactly the legal plays", change("hands", 1, "moves", 3, "legal", to=[])),
        ('hand 0, ended: "blocked" is written', change("hands", 0, "ended", to="blocked")),
        ("hand 0, end_points 1: 5 is written", change("hands", 0, "end_points", 1, to=5)),
        ("hand 1: the hand before it did not end", remove("hands", 0, "moves", -1)),
        ("complete: false is written", change("complete", to=False)),
        ("winner: 9 is written", change("winner", to=9)),
        ("'comment' does not belong here", change("comment", to="hello")),
        ("hand 1: 'seed' does not belong here", change("hands", 1, "seed", to="1")),
        ("the record: 'seed' cannot be 7", change("seed", to=7)),
        ("a seed .* as text", change("seed", to="9" * 5000)),
        ('seed: "007" is written', change("seed", to="007")),
        ("there is no rule field 'players'", change("rules", "players", to=3)),
        ("hand 1, move 0: 'play' is missing", remove("hands", 1, "moves", 0, "legal", 0, "play")),
        ("hand 1, move 0: 'play' cannot be null", change("hands", 1, "moves", 0, "legal", 0, "play", to=None)),
        ("target must be a whole number .* not <int that cannot be shown>", change("rules", "target", to=10**5000)),
        ("hand 0: 'lead' cannot be NaN", change("hands", 0, "lead", to=float("nan"))),
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused_with_its_place(match: str, damage: Any, whole: str) -> None:
    record = json.loads(whole)
    if "lead: ." in match:
        damage = change("hands", 2, "lead", to=(record["hands"][2]["lead"] + 1) % 3)
    damage(record)
    with pytest.raises(RecordError, match=match):
        game_of(record)


def test_every_single_value_that_is_changed_is_noticed() -> None:
    rules = Rules.preset(players=2, max_pip=3, hand_size=3)
    record = record_of(play_randomly(Game(rules, seed=1), Random(1), 12))

    def leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            if isinstance(inner, (dict, list)):
                yield from leaves(inner, (*path, name))
            else:
                yield (*path, name)

    given_freely = {"deal", "boneyard", "rules"}
    paths = [path for path in leaves(record, ()) if not given_freely & {*path}]
    assert len(paths) > 50
    for path in paths:
        damaged = copy.deepcopy(record)
        change(*path, to="nonsense")(damaged)
        with pytest.raises(RecordError):
            game_of(damaged)


@settings(max_examples=30)
@given(text=st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["rules", "hands", "players"]), inner),
).map(json.dumps) | st.text())  # fmt: skip
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        loads(text)


def test_a_damaged_line_names_its_number_and_does_not_hide_the_rest(tmp_path: Path) -> None:
    lines = [dumps(play_randomly(Game(seed=seed), Random(seed), 60)) for seed in range(3)]
    damaged = lines[1].replace('"total": ', '"total": 1', 1)
    file = tmp_path / "games.jsonl"
    file.write_bytes("\n".join([lines[0], damaged, "", "{", lines[2]]).encode() + b"\n\xff\xfe\n")
    read = list(read_file(file))
    assert [line.number for line in read] == [1, 2, 4, 5, 6]
    assert [line.game is not None for line in read] == [True, False, False, True, False]
    assert str(read[1].error).startswith("line 2: hand 0, move ")
    assert str(read[2].error).startswith("line 4: not valid JSON")


def test_the_example_in_the_rules_is_a_right_record() -> None:
    rules = (Path(__file__).parents[2] / "RULES.md").read_text()
    (written,) = (block for block in rules.split("```") if "fiveup-record" in block[:40])
    game = loads(written)
    assert record_of(game)["hands"][0]["scores_after"] == [4, 6]
    assert ending_of(game) == "domino"
