"""Views, states and saved batches with any bytes are refused before compiled code reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from fiveup_env import Batch, Game, Move, Rules, Tile, legal_masks
from fiveup_env.analysis import chances_of
from fiveup_env.belief import count
from fiveup_env.encoders import ENCODERS, bounds, get_encoder, row_size
from fiveup_env.encoders.flat import Flat
from fiveup_env.encoders.pieces import rows_of
from fiveup_env.engine.legality import legal_count_at, mark_legal_at
from fiveup_env.engine.state import BLOCKED, DOMINO, GAME, GAME_OVER, PLAYING, TARGET, VIEW
from fiveup_env.engine.valid import (
    HISTORY_WRONG,
    NUMBERS_WRONG,
    RULES_WRONG,
    SOUND,
    SUMS_WRONG,
    TILES_WRONG,
    complete_views,
    first_unsound_game,
    first_unsound_view,
    rules_fit,
)
from fiveup_env.engine.view import as_game, as_view, as_views, observe_seats
from fiveup_env.envs.batch import SAVED as SAVED_BATCH
from fiveup_env.envs.vector import SAVED as SAVED_VECTOR
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import InputError, OptionError
from fiveup_env.native import Array, compiled
from fiveup_env.opponents.agent import unchecked as agents_unchecked
from fiveup_env.opponents.heuristics.ladder import Greedy
from fiveup_env.rules.actions import (
    ACTION_COUNT,
    ACTION_END,
    ACTION_PIP,
    ACTION_TILE,
    DRAW,
    PLAIN_END,
)
from fiveup_env.rules.fields import CHOICES, MAX_MULTIPLE, MAX_TARGET, RULES
from fiveup_env.rules.tiles import TILE_COUNT
from fiveup_env.sealed import seal, unseal
from tests.fuzz import DOORS, door
from tests.support import EVERY_PRESET, game_of, play_randomly, push_all

RANDOM = np.random.default_rng

# Numbers that compiled code would believe of the public part of a game, by what is said of them.
HOSTILE_BY_FAULT: Final[dict[int, dict[str, tuple[int, ...]]]] = {
    RULES_WRONG: {
        "rules.players": (127, 0), "rules.sides": (127,), "rules.hand_size": (127,), "rules.max_pip": (127,),
        "rules.multiple": (127, 0), "rules.unit": (0,), "rules.spinners": (120,), "rules.hand_end": (-128,),
        "rules.target": (0,),
    },
    NUMBERS_WRONG: {
        "turn": (120, -128, 3, -1), "lead": (120, 3, -1), "forced_lead": (127, 0), "plies": (127, -1),
        "drawn": (127, -1), "boneyard": (127,), "phase": (120,), "ended": (-128,), "winner": (127, 0),
        "hand_number": (-1, 2**30 + 1), "scores": (-(2**31),), "end_points": (2**31 - 1,),
    },
    HISTORY_WRONG: {
        "turn": (1,), "play_seat": (120,), "play_action": (127, -1), "draw_seat": (120,), "draw_ply": (127,),
    },
    SUMS_WRONG: {
        "passes": (127,), "sizes": (127,), "draws": (127,), "lacked": (255,), "lack_ply": (127,),
        "lack_draws": (-128,), "layout.total": (127, -1000), "layout.plain": (127,), "layout.double": (120,),
        "layout.open": (0xFFFF,), "layout.spinner": (120,),
    },
}  # fmt: skip
HOSTILE: Final = [
    (field, value, fault)
    for fault, fields in HOSTILE_BY_FAULT.items()
    for field, values in fields.items()
    for value in values
]


def a_game() -> Game:
    """A game in which tiles have been drawn, and seats have shown what they lack."""
    game = play_randomly(Game(players=3, seed=4), Random(4), 7)
    public = game.state()[0]["public"]
    assert public["drawn"] > 0
    assert public["plies"] > 4
    return game


def set_field(structs: np.ndarray, field: str, value: int) -> np.ndarray:
    """Set all entries of a field of the public part."""
    place_of(structs, field)[...] = value
    return structs


def place_of(structs: np.ndarray, field: str) -> np.ndarray:
    """Return the numbers of a field of the public part."""
    place = structs["public"]
    for name in field.split("."):
        place = place[name]
    return place


# --- Views


@pytest.mark.parametrize(("field", "value", "fault"), HOSTILE)
def test_a_hostile_view_or_state_is_refused(field: str, value: int, fault: int) -> None:
    state = set_field(a_game().state(), field, value)
    assert first_unsound_game(state) == (0, fault)
    with pytest.raises(InputError, match="game 0 is not valid: its "):
        as_game(state)
    with pytest.raises(InputError, match="view 0 is not valid: its "):
        as_views(set_field(a_game().view(), field, value))


@pytest.mark.compiled
@pytest.mark.parametrize("name", DOORS)
def test_no_door_lets_a_hostile_view_in(name: str) -> None:
    with pytest.raises(InputError, match="view 0 is not valid: its "):
        door(name)(set_field(a_game().view(), "turn", 120))


def test_no_judge_lets_a_hostile_state_in() -> None:
    for judge in (chances_of, as_game):
        with pytest.raises(InputError, match="game 0 is not valid: its "):
            judge(set_field(a_game().state(), "turn", 120))
    with pytest.raises(InputError, match="one game is needed, not 2"):
        as_game(a_game().state().repeat(2))
    with pytest.raises(InputError, match="one view is needed, not"):
        count(a_game().view().repeat(2))


@pytest.mark.parametrize("field", ["scores", "end_points"])
def test_points_may_be_as_large_as_sums_of_two_can_hold(field: str) -> None:
    over = over_hands()
    for value in (2**30, -(2**30)):
        assert first_unsound_game(set_field(over.copy(), field, value)) == (-1, 0)
        larger = set_field(over.copy(), field, value + np.sign(value))
        assert first_unsound_game(larger) == (0, NUMBERS_WRONG)
    assert first_unsound_game(set_field(a_game().state(), "hand_number", 2**30)) == (-1, 0)


def test_a_game_that_is_over_has_a_winner_and_an_end() -> None:
    over = over_hands()
    over = over[over["public"]["phase"] == GAME_OVER]
    assert len(over)
    for hand in over_hands()[:2]:
        won = public_of(hand.reshape(1).copy(), phase=GAME_OVER, winner=0)
        assert first_unsound_game(won) == (-1, 0)
    sides = int(over["public"]["rules"]["sides"][0])
    for field, values in {"winner": (-1, sides), "ended": (0, 4)}.items():
        for value in values:
            wrong = first_unsound_game(set_field(over[:1].copy(), field, value))
            assert wrong == (0, NUMBERS_WRONG)


@pytest.mark.parametrize(
    ("field", "value"),
    [("seat", 120), ("seat", -1), ("hand", 2**32 - 1), ("hand", 0), ("drawn", 127)],
)
def test_a_view_of_another_seat_or_other_tiles_is_refused(field: str, value: int) -> None:
    view = a_game().view()
    view[field] = value
    for name in ("as_views", "count", "agent partner", "encoder flat"):
        with pytest.raises(InputError, match="view 0 is not valid: its tiles do not agree"):
            door(name)(view)


def test_the_message_names_the_first_view_that_is_wrong() -> None:
    views = np.concatenate([a_game().view()] * 3)
    views["public"]["turn"][1:] = 120
    with pytest.raises(InputError, match="view 1 is not valid: its scores, phase, lead, turn"):
        as_views(views)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_writes_into_rows_that_fit_and_into_no_others(name: str) -> None:
    encoder, views = get_encoder(name), a_game().view()
    size, (low, high) = row_size(encoder), bounds(encoder)
    fixed = np.zeros((1, size), np.int8)
    encoder.encode(views, fixed)
    assert ((low <= fixed) & (fixed <= high)).all()
    for scaled in (False, True):
        assert (np.sign(rows_of(encoder, views, scaled=scaled)) == np.sign(fixed)).all()
    fixed.flags.writeable = False
    for rows in (
        np.zeros((1, size - 1), np.int8),
        np.zeros((0, size), np.int8),
        np.zeros(size, np.int8),
        np.zeros((1, size)),
        fixed,
    ):
        with pytest.raises(InputError, match="rows must be a writeable array of int8 in the shape"):
            encoder.encode(views, rows)


def test_only_what_nobody_has_overridden_is_called_without_its_check() -> None:
    class Last(Greedy):
        def __call__(self, views: np.ndarray, _rng: Any) -> np.ndarray:
            return ACTION_COUNT - 1 - legal_masks(views)[:, ::-1].argmax(1)

    class Ones(Flat):
        name = "ones"

        def encode(self, _views: np.ndarray, rows: np.ndarray) -> None:
            rows[:] = 1

    last, greedy = Last(), Greedy()
    assert agents_unchecked(last) is last
    assert agents_unchecked(greedy) == greedy.choose_unchecked
    batch = Batch(2, encoder=Ones(), seed=1)
    batch.reset()
    assert (batch.observation == 1).all()


# --- States


FOLLOWS: Final = ("passes", "sizes", "draws", "lacked", "lack_ply", "lack_draws")
LAYOUT: Final = ("total", "open", "spinner", "plain", "double")


@pytest.mark.parametrize("field", [*FOLLOWS, *(f"layout.{name}" for name in LAYOUT)])
def test_every_number_that_follows_from_the_plays_is_compared(field: str) -> None:
    for state in (a_game().state(), over_hands()[:1], over_hands()[1:2]):
        for k in range(place_of(state, field).size):
            wrong = state.copy()
            place_of(wrong, field).flat[k] ^= 1
            assert first_unsound_game(wrong) == (0, SUMS_WRONG), k


def without_what_follows(views: np.ndarray) -> np.ndarray:
    """Return views whose fields that follow from plays and draws hold something else."""
    bare = views.copy()
    for field in (*FOLLOWS, *(f"layout.{name}" for name in LAYOUT)):
        place_of(bare, field)[...] = 1
    return bare


def test_what_follows_from_plays_and_draws_can_be_written() -> None:
    for state in (a_game().state(), game_with_draws().state(), over_hands()):
        for seat in range(int(state[0]["public"]["rules"]["players"])):
            views = np.zeros(len(state), VIEW)
            observe_seats(state, np.arange(len(state)), np.full(len(state), seat), views)
            bare = without_what_follows(views)
            assert complete_views(bare) == (-1, SOUND)
            np.testing.assert_array_equal(bare, views)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("rules.players", 127, RULES_WRONG),
        ("lead", 120, NUMBERS_WRONG),
        ("play_action", 127, HISTORY_WRONG),
    ],
)
def test_what_follows_from_no_history_is_not_written(field: str, value: int, fault: int) -> None:
    views = np.concatenate([a_game().view(), set_field(a_game().view(), field, value)])
    assert complete_views(views) == (1, fault)


def test_a_view_that_is_completed_must_have_a_hand_that_fits() -> None:
    view = without_what_follows(a_game().view())
    view["hand"] = 0
    assert complete_views(view) == (0, TILES_WRONG)


@cache
def over_hands() -> np.ndarray:
    """Hands that are over: dominoes, blocks and games won by a play, in this order."""
    rules = Rules.preset(
        players=2, max_pip=3, hand_size=3, reserve=2, target=2, game_end="immediate"
    )
    batch = Batch(64, rules, episode="hand", seed=1)
    batch.reset()
    while not (batch._finals["public"]["rules"]["players"] > 0).all():
        batch.step(batch.random_actions(RANDOM(0)))
    ended = batch._finals["public"]["ended"]
    return batch._finals[[int((ended == how).argmax()) for how in (DOMINO, BLOCKED, TARGET)]]


def test_hands_that_are_over_are_sound_and_allow_nothing() -> None:
    over = over_hands()
    assert over["public"]["ended"].tolist() == [DOMINO, BLOCKED, TARGET]
    assert first_unsound_game(over) == (-1, 0)
    mask = np.zeros((1, ACTION_COUNT), np.int8)
    for i in range(3):
        mark_legal_at(over, i, mask)
        assert legal_count_at(over, i) == mask.sum() == 0


def public_of(states: np.ndarray, **fields: Any) -> np.ndarray:
    """The same states with other values in whole fields of the public part."""
    for name, value in fields.items():
        states["public"][name] = value
    return states


def drawn_before_the_lead() -> np.ndarray:
    state = public_of(Game(players=2, seed=1).state(), drawn=1)
    public = state["public"]
    public["draw_seat"][0, 0], public["draw_ply"][0, 0] = public["lead"][0], 0
    return state


def set_twice() -> np.ndarray:
    state = a_game().state()
    state["public"]["play_action"][0, 1] = state["public"]["play_action"][0, 0]
    return state


def set_again_at_its_other_end() -> np.ndarray:
    state = push_all(game_of("6-6 5-1 2-2", "6-5 0-0 3-3"), "6-6 6-5@6x").state()
    return with_play(public_of(state, turn=1), 0, Move.parse("6-5@5").action)


def set_by_nobody_after_a_block() -> np.ndarray:
    state = over_hands()[1:2].copy()
    public = state[0]["public"]
    plays = public["play_action"][: public["plies"]]
    fits = [
        action
        for action in range(DRAW)
        if public["layout"]["plain"][ACTION_PIP[action]]
        and ACTION_END[action] == PLAIN_END
        and ACTION_TILE[action] not in ACTION_TILE[plays]
    ]
    return with_play(state, -1, fits[0])


def with_play(state: np.ndarray, seat: int, action: int) -> np.ndarray:
    public = state[0]["public"]
    public["play_seat"][public["plies"]], public["play_action"][public["plies"]] = seat, action
    public["plies"] += 1
    return state


def led_with_a_draw() -> np.ndarray:
    state = a_game().state()
    state["public"]["play_action"][0, 0] = DRAW
    return state


def played_on_after_domino(plays: str = "6-6 6-5@6x") -> np.ndarray:
    state = push_all(game_of("6-6 1-1", "0-0 2-2", top="6-5 6-4"), plays).state()
    state["public"]["rules"]["hand_size"] = 1
    return public_of(state, boneyard=26)


def with_second_play(move: str) -> np.ndarray:
    state = push_all(game_of("6-6 5-1 2-2", "6-5 0-0 3-3"), "6-6 6-5@6x").state()
    state["public"]["play_action"][0, 1] = Move.parse(move).action
    return state


def led_another_tile_than_the_forced_one() -> np.ndarray:
    game = Game(players=2, lead_tile="highest_double", seed=1)
    assert game.push(next(iter(game.legal_moves))) != Move.parse("0-0")
    return public_of(game.state(), forced_lead=0)


def set_a_tile_beyond_the_set() -> np.ndarray:
    game = push_all(game_of("1-0 1-1", "3-3 2-2", max_pip=3), "1-0")
    return with_play(public_of(game.state(), turn=0), 1, Move.parse("4-0@0").action)


def passed_before_the_lead() -> np.ndarray:
    rules = Rules.preset(players=2, max_pip=1, hand_size=1, multiple=2, reserve=1)
    state = Game(rules, seed=1).state()
    return public_of(state, turn=1 - state["public"]["turn"])


def with_twice(field: str, first: int, second: int) -> np.ndarray:
    """A game in which a seat has drawn two tiles; one of the boneyard's is there twice."""
    state = game_with_draws().state()
    boneyard = int(state["public"]["boneyard"][0])
    state[field][0, second % boneyard] = state[field][0, first % boneyard]
    return state


def game_with_draws() -> Game:
    """A game in which seat 1 has drawn two tiles."""
    game = push_all(game_of("6-6 5-1", "2-2 3-3", top="0-0 6-5"), "6-6")
    assert game.state()["public"]["draw_seat"][0, :3].tolist() == [1, 1, -1]
    return game


def over_before_a_play(ended: int) -> np.ndarray:
    return public_of(Game(players=2, seed=1).state(), phase=GAME_OVER, ended=ended, winner=0)


@pytest.mark.parametrize(
    ("fault", "forge"),
    [
        ("scores, phase", lambda: public_of(over_hands()[:1].copy(), ended=TARGET)),
        ("scores, phase", lambda: public_of(over_hands()[1:2].copy(), winner=0)),
        ("plays and draws", lambda: public_of(over_hands()[:1].copy(), phase=PLAYING, ended=0)),
        ("layout, sizes", lambda: public_of(over_hands()[1:2].copy(), phase=PLAYING, ended=0)),
        ("plays and draws", drawn_before_the_lead),
        ("plays and draws", set_twice),
        ("plays and draws", set_again_at_its_other_end),
        ("plays and draws", set_by_nobody_after_a_block),
        ("plays and draws", led_with_a_draw),
        ("plays and draws", played_on_after_domino),
        ("plays and draws", lambda: public_of(played_on_after_domino("6-6"), turn=1)),
        ("plays and draws", lambda: over_before_a_play(DOMINO)),
        ("plays and draws", lambda: over_before_a_play(TARGET)),
        ("plays and draws", lambda: with_second_play("6-5")),
        ("plays and draws", lambda: with_second_play("5-1@5")),
        ("plays and draws", led_another_tile_than_the_forced_one),
        ("plays and draws", set_a_tile_beyond_the_set),
        ("plays and draws", passed_before_the_lead),
        ("tiles do not agree", lambda: with_twice("order", 0, 1)),
        ("tiles do not agree", lambda: with_twice("order", -1, -2)),
    ],
)
def test_a_state_whose_history_cannot_be_is_refused(
    fault: str, forge: Callable[[], np.ndarray]
) -> None:
    with pytest.raises(InputError, match=f"game 0 is not valid: its {fault}"):
        as_game(forge())


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [
        ("hands", 1, 0),
        ("hands", 4, 1),
        ("order", 0, 40),
        ("order", 0, 27),
        ("order", -1, -2),
        ("order", 5, 32),
    ],
)
def test_a_state_with_a_tile_in_the_wrong_place_is_refused(
    field: str, place: int, value: int
) -> None:
    state = a_game().state()
    place = int(state["public"]["boneyard"][0]) - 1 if place < 0 else place
    assert state[field][0, place] != value
    state[field][0, place] = value
    with pytest.raises(InputError, match="its tiles do not agree"):
        as_game(state)


def test_a_view_tells_the_tiles_that_its_seat_drew_and_no_others() -> None:
    game = a_game()
    drew = int(game.state()["public"]["draw_seat"][0, 0])
    for seat in range(3):
        for tile in range(TILE_COUNT):
            view = game.view(seat)
            right = game.state()["order"][0, 0] if seat == drew else -1
            view["drawn"][0, 0] = tile
            assert (first_unsound_view(view) == (-1, 0)) == (
                tile == right or may_have_drawn(view, tile)
            )


def may_have_drawn(view: np.ndarray, tile: int) -> bool:
    """Whether a viewer who drew may have drawn this tile: it holds it or has set it."""
    public, seat = view[0]["public"], int(view[0]["seat"])
    if public["draw_seat"][0] != seat or tile in view[0]["drawn"][1:].tolist():
        return False
    plays = zip(public["play_seat"].tolist(), public["play_action"].tolist(), strict=True)
    own = {int(ACTION_TILE[action]) for player, action in plays if player == seat}
    return tile in own or bool(int(view[0]["hand"]) >> tile & 1)


def changed_view(**fields: Any) -> np.ndarray:
    view = game_with_draws().view(1)
    for name, value in fields.items():
        view[name] = value
    return view


def hand_of(*tiles: str) -> int:
    return sum(1 << Tile.parse(tile).id for tile in tiles)


@pytest.mark.parametrize(
    "forge",
    [
        lambda: changed_view(seat=2, hand=0, drawn=-1),
        lambda: changed_view(seat=-1, hand=0, drawn=-1),
        lambda: changed_view(drawn=[0, 0, *[-1] * 26]),
        lambda: changed_view(hand=hand_of("2-2", "0-0", "6-5", "6-6")),  # which is on the table
        lambda: changed_view(hand=hand_of("2-2", "0-0", "4-4", "3-3")),  # not what it drew
        lambda: changed_view(  # nothing that fits
            hand=hand_of("2-2", "0-0", "4-4", "3-3"), drawn=[0, Tile.parse("4-4").id, *[-1] * 26]
        ),
    ],
)
def test_a_view_of_a_hand_that_nobody_can_hold_is_refused(forge: Callable[[], np.ndarray]) -> None:
    as_view(changed_view())
    with pytest.raises(InputError, match="view 0 is not valid: its tiles do not agree"):
        as_view(forge())


def test_a_view_without_the_tile_that_must_be_led_is_refused() -> None:
    view = Game(players=2, lead_tile="highest_double", seed=1).view()
    other = next(tile for tile in range(TILE_COUNT) if not int(view["hand"][0]) >> tile & 1)
    with pytest.raises(InputError, match="its tiles do not agree"):
        as_view(set_field(view, "forced_lead", other))


def test_a_tile_beyond_the_set_is_refused_in_a_boneyard_and_in_a_hand() -> None:
    state = Game(players=2, max_pip=3, hand_size=2, seed=1).state()
    in_boneyard, in_hand = state.copy(), state.copy()
    in_boneyard["order"][0, 3] = 20
    waiting = 1 - int(state["public"]["turn"][0])
    hand = int(state["hands"][0, waiting])
    in_hand["hands"][0, waiting] = hand & (hand - 1) | 1 << 10
    for wrong in (in_boneyard, in_hand):
        with pytest.raises(InputError, match="its tiles do not agree"):
            as_game(wrong)


def test_what_lies_beyond_the_last_draw_and_play_is_not_read() -> None:
    state = game_with_draws().state()
    public = state["public"]
    public["draw_seat"][0, 2:], public["draw_ply"][0, 2:] = 1, 1
    public["play_seat"][0, 1:], public["play_action"][0, 1:] = 1, 5
    assert as_game(state) is not None


# --- Saved batches, whose digest says nothing of who made it


def altered(kind: str, state: bytes, **changes: Any) -> bytes:
    """A saved state with other content in some of its arrays, and the right digest."""
    arrays, about = unseal(kind, state)
    for name, change in changes.items():
        if name in arrays:
            arrays[name] = change(arrays[name])
        else:
            about[name] = change(about[name])
    return seal(kind, arrays, about)


def with_field(field: str, value: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda content: set_field(content.copy().view(GAME), field, value).view(np.uint8)


def a_batch() -> Batch:
    batch = Batch(4, players=[2, 3], episode="hand", hand_size=2, seed=1)
    batch.reset()
    while not (batch._finals["public"]["rules"]["players"] > 0).all():
        batch.step(batch.random_actions(RANDOM(0)))
    return batch


@pytest.mark.compiled
def test_a_saved_batch_with_other_content_is_refused_and_changes_nothing() -> None:
    batch = a_batch()
    state = batch.save()
    hostile: list[tuple[str, Any]] = [
        *(
            (array, with_field(field, value))
            for array in ("_games", "_finals")
            for field, value in (("turn", 120), ("passes", 127), ("rules.players", 127))
        ),
        ("_endings", lambda old: np.full_like(old, 120)),
        ("_episodes_played", lambda old: np.full_like(old, 255)),
        ("_episodes_played", lambda old: np.full_like(old, 127)),
        ("reward", lambda old: np.full_like(old, 255)),
        ("_games", lambda old: old.astype(np.float64)),
        ("_games", lambda old: old[:-1]),
        ("_keys", lambda old: old.view(np.uint64)),
        ("rules", lambda _: None),
        ("struct", lambda _: 1),
    ]
    for array, content in hostile:
        with pytest.raises(InputError, match=r"saved batch|there is no"):
            batch.load(altered(SAVED_BATCH, state, **{array: content}))
        assert batch.save() == state


def test_games_by_other_rules_are_not_taken_over() -> None:
    batch, other = Batch(2, players=[2, 3], seed=1), Batch(2, players=[3, 2], seed=1)
    for games in (batch, other):
        games.reset()
    arrays, _ = unseal(SAVED_BATCH, other.save())
    state = altered(SAVED_BATCH, batch.save(), _games=lambda _: arrays["_games"])
    with pytest.raises(OptionError, match="the saved batch has a game by other rules"):
        batch.load(state)


@pytest.mark.compiled
def test_a_saved_vector_environment_with_other_content_is_refused_and_changes_nothing() -> None:
    envs = FiveUpVectorEnv(6, players=3, seed=1)
    envs.reset(seed=1)
    state, batch = envs.save(), envs.batch.save()
    worse = altered(SAVED_BATCH, batch, _games=with_field("plies", 127))
    hostile: list[tuple[str, Any]] = [
        ("_seats", lambda old: np.full_like(old, 120)),
        ("_seats", lambda old: (old + 1) % 3),
        ("_seats", lambda old: old[:-1]),
        ("_fresh", lambda old: np.full(len(old), 127, np.uint8).view(np.bool_)),
        ("_over", lambda old: old.astype(np.int8)),
        ("_before_first_turn", lambda old: np.full_like(old, np.nan)),
        ("chance", lambda _: {"bit_generator": "PCG64"}),
        ("chance", lambda _: None),
        ("batch", lambda old: old[:-1]),
        ("batch", lambda _: np.frombuffer(worse, np.uint8)),
    ]
    for array, content in hostile:
        with pytest.raises(InputError, match=r"saved (games|batch)|there is no"):
            envs.load(altered(SAVED_VECTOR, state, **{array: content}))
        assert envs.save() == state


# --- What is sound


@pytest.mark.compiled
@pytest.mark.parametrize("fields", [{}, {"draw": "optional"}, {"hand_size": 1}, {"reserve": 2}])
def test_whatever_is_played_is_sound_at_every_moment_and_for_every_seat(
    fields: dict[str, Any],
) -> None:
    leads: list[Any] = list(product(CHOICES["leader"], CHOICES["lead_tile"]))
    rules = [
        Rules.of(preset, leader=leader, lead_tile=lead_tile, **fields)
        for preset in EVERY_PRESET[::2]
        for leader, lead_tile in leads
    ]
    batch = Batch(len(rules), rules, episode="hand", seed=3)
    batch.reset()
    games, rng, views = np.arange(len(rules)), RANDOM(0), np.zeros(len(rules), VIEW)
    for moves in range(60):
        for structs in (batch.states, batch._finals[batch.terminated]):
            assert first_unsound_game(structs) == (-1, 0)
            seats = (moves + games[: len(structs)]) % structs["public"]["rules"]["players"]
            observe_seats(structs, games[: len(structs)], seats, views[: len(structs)])
            assert first_unsound_view(views[: len(structs)]) == (-1, 0)
        batch.step(batch.random_actions(rng))
    assert (batch._episodes_played > 0).sum() > len(rules) / 2


def test_the_check_allows_the_rules_that_rules_allow() -> None:
    structs, rng = np.zeros(2_000, RULES), RANDOM(0)
    known = np.array([rules.to_struct() for rules in EVERY_PRESET], RULES)
    structs[:] = known[rng.integers(len(known), size=len(structs))]
    for name in RULES.names or ():
        some = rng.random(len(structs)) < 0.1
        structs[name][some] = rng.integers(-2, 8, size=some.sum())
    allowed = np.array([is_allowed(struct) for struct in structs])
    assert 200 < allowed.sum() < len(structs) - 200
    assert (allowed == np.array([fits(structs, i) for i in range(len(structs))])).all()


def is_allowed(struct: np.void) -> bool:
    try:
        return bool(Rules.from_struct(struct).to_struct() == struct)
    except InputError:
        return False


@compiled
def fits(rules: Array, i: int) -> bool:
    return rules_fit(rules[i])


@pytest.mark.parametrize(
    "fields",
    [
        {"max_pip": 1, "hand_size": 1},
        {"multiple": 2, "unit": 2},
        {"multiple": MAX_MULTIPLE, "unit": 1, "reserve": 2},
        {"unit": 1, "target": MAX_TARGET},
        {"unit": 1, "target": 1},
    ],
)
def test_the_check_allows_the_least_and_the_most_of_every_number(fields: dict[str, Any]) -> None:
    state = Game(Rules.preset(players=2, **fields), seed=1).state()
    assert as_game(state) is not None
    for wrong in (-1, 100):
        for name in fields:
            with pytest.raises(InputError, match="its rules are not rules"):
                as_game(set_field(state.copy(), f"rules.{name}", wrong if name != "target" else 0))
