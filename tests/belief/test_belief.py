"""Beliefs: the worlds that are consistent with a view, compared with trying every deal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations, product
from math import comb, perm
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env import Game, Rules
from fiveup_env.belief.counting import count
from fiveup_env.belief.marginals import marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD, WORLD
from fiveup_env.belief.worlds import _number_below, fill_worlds, sample, worlds_to_games
from fiveup_env.engine.legality import mark_legal_at
from fiveup_env.engine.play import REFUSED, play_at, start_given_hand
from fiveup_env.engine.state import GAME, PLAYING, VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.errors import BeliefError
from fiveup_env.rules.tiles import TILE_COUNT, Tile, mask_of, tiles_in
from tests.game.test_game import a_game, thorough
from tests.support import deal, game_of, impossible_view, play_randomly, push_all

# In some of them the tiles dealt decide who leads, and with which tile.
MINI_SETS: list[tuple[int, int, int, int, Any]] = [
    (2, 2, 2, 1, "any"),
    (2, 3, 4, 2, "any"),
    (3, 2, 2, 0, "any"),
    (3, 3, 2, 2, "any"),
    (3, 3, 3, 0, "any"),
    (2, 3, 3, 1, "highest_double"),
    (2, 4, 2, 2, "highest_double"),
    (3, 3, 2, 0, "highest_double"),
]
SETS = [
    *(
        Rules.preset(
            "five_up",
            players,
            max_pip=max_pip,
            hand_size=size,
            draw=draw,
            reserve=reserve,
            lead_tile=lead_tile,
        )
        for draw in ("until_playable", "optional")
        for players, max_pip, size, reserve, lead_tile in MINI_SETS
    ),
    Rules.preset("five_up", 4),
    Rules.preset("all_fives", 3, reserve=2),
    Rules.preset("five_up", 5, draw="optional"),
]


def brief(rules: Rules) -> str:
    """A name for a test's parameter."""
    sizes = rules.players, rules.max_pip, rules.hand_size, rules.reserve
    return "-".join(map(str, (rules.draw, *sizes, rules.lead_tile)))


class Deals:
    """Every deal that a seat could imagine, and whether it would have led to what the seat saw."""

    def __init__(self, game: Game, seat: int) -> None:
        self.seat = seat
        self.view = game.view(seat)
        self.public = self.view[0]["public"]
        self.players = game.rules.players
        hand = [
            step
            for step in game.steps()
            if step.before["public"]["hand_number"] == game.hand_number
        ]
        self.start = (hand[0].before if hand else game.state()).tobytes()
        self.actions = [step.move.action for step in hand]
        last = game.last_hand() if game.hand_number else None
        self.by_lot = last is None or (last.ended == "blocked" and game.rules.leader == "winner")
        self.others = [other for other in range(self.players) if other != seat]
        self.played = [0] * self.players
        for by, move in zip(self.public["play_seat"].tolist(), game.plays, strict=False):
            self.played[by] |= mask_of([move.tile or Tile(0, 0)])
        self.draws = [
            [k for k in range(self.public["drawn"]) if self.public["draw_seat"][k] == other]
            for other in range(self.players)
        ]
        self.own = int(self.view["hand"][0]) | self.played[seat]
        shown = self.own | sum(self.played[other] for other in self.others)
        self.hidden = [tile for tile in range(game.rules.tile_count) if not shown >> tile & 1]

    @property
    def trials(self) -> int:
        """The number of deals to try."""
        left, trials = len(self.hidden), 1
        for other in self.others:
            size = int(self.public["sizes"][other])
            trials *= comb(left, size)
            trials *= perm(size + self.played[other].bit_count(), len(self.draws[other]))
            left -= size
        return trials

    def agreeing(self) -> list[np.ndarray]:
        """Return the games in which the seat saw the same, by trying all deals.

        All that is assumed is that a tile played was its player's. The tiles left in the boneyard
        are tried in one order only, because nobody has seen that order.
        """
        states = (self.replayed(hands, order) for hands, order in self._imagined())
        return [state for state in states if state is not None]

    def replayed(self, hands: list[int], order: list[int]) -> np.ndarray | None:
        """Return the same moves after another deal, or None if the seat would see another view."""
        state = np.frombuffer(bytearray(self.start), GAME)
        state["hands"][0, : self.players] = hands
        state["order"][0, : len(order)] = order
        if self.by_lot:
            start_given_hand(state, 0, self.public["lead"])
        for action in self.actions:
            if play_at(state, 0, action) == REFUSED:
                return None
        view = np.zeros(1, VIEW)
        observe_at(state, 0, self.seat, view, 0)
        return state if view.tobytes() == self.view.tobytes() else None

    def dealt(self, world: np.void) -> tuple[list[int], list[int]]:
        """Return the hands and the boneyard that were dealt in a sampled world."""
        order = world["order"][: self.public["boneyard"]].tolist()
        hands = world["hands"][: self.players].tolist()
        for seat in range(self.players):
            hands[seat] |= self.played[seat]
            hands[seat] -= sum(1 << order[k] for k in self.draws[seat])
        return hands, order

    def _imagined(self) -> Iterator[tuple[list[int], list[int]]]:
        own_draws = {k: int(self.view["drawn"][0, k]) for k in self.draws[self.seat]}
        for held in self._shared_out(self.hidden, self.others):
            got = {s: self.played[s] | mask for s, mask in zip(self.others, held, strict=True)}
            left = [tile for tile in self.hidden if not sum(held) >> tile & 1]
            drawn = (
                permutations([t.id for t in tiles_in(got[s])], len(self.draws[s]))
                for s in self.others
            )
            for choice in product(*drawn):
                order = dict(own_draws)
                for s, tiles in zip(self.others, choice, strict=True):
                    order.update(zip(self.draws[s], tiles, strict=True))
                hands = [got.get(s, self.own) for s in range(self.players)]
                for s in range(self.players):
                    hands[s] -= sum(1 << order[k] for k in self.draws[s])
                yield hands, [order[k] for k in range(len(order))] + left

    def _shared_out(self, tiles: list[int], seats: list[int]) -> Iterator[list[int]]:
        if not seats:
            yield []
            return
        for hand in combinations(tiles, self.public["sizes"][seats[0]]):
            rest = [tile for tile in tiles if tile not in hand]
            for hands in self._shared_out(rest, seats[1:]):
                yield [sum(1 << tile for tile in hand), *hands]


def shares_of(games: list[np.ndarray]) -> np.ndarray:
    """Return the share of some games in which each tile is in each hand and in the boneyard."""
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    for state in games:
        public = state[0]["public"]
        for seat, hand in enumerate(state[0]["hands"].tolist()):
            shares[seat, [tile.id for tile in tiles_in(hand)]] += 1
        shares[BONEYARD, state[0]["order"][public["drawn"] : public["boneyard"]]] += 1
    return shares / len(games)


def even(tally: Counter[Any], kinds: int) -> bool:
    """Return whether n kinds are drawn evenly; by chance this fails once in 100,000 times."""
    freedom = kinds - 1
    expected = tally.total() / kinds
    squares = sum(n * n for n in tally.values()) / expected - tally.total()
    spread = 2 / (9 * freedom)
    return bool(squares < freedom * (1 - spread + 4.3 * spread**0.5) ** 3)


def kind(record: np.void, drawn: int) -> tuple[bytes, bytes]:
    """Return what distinguishes worlds: the hands, and the tiles that have been drawn."""
    return record["hands"].tobytes(), record["order"][:drawn].tobytes()


def compare(deals: Deals, random: Random) -> int:
    """Compare a belief with every deal, and return how many deals are consistent with the view."""
    view, drawn = deals.view, int(deals.public["drawn"])
    games = deals.agreeing()
    assert count(view) == len(games)
    np.testing.assert_allclose(marginals(view)[0], shares_of(games), rtol=0, atol=1e-14)
    n = 30 * min(len(games), 100)
    worlds = sample(view, n, np.random.default_rng(random.getrandbits(64)))
    tally = Counter(kind(world, drawn) for world in worlds)
    assert tally.keys() <= {kind(state[0], drawn) for state in games}
    if 2 <= len(games) <= 100:
        assert even(tally, len(games))
    return len(games)


# --- Against every deal


@pytest.mark.compiled
@pytest.mark.parametrize("rules", SETS, ids=brief)
def test_beliefs_agree_with_trying_every_deal(rules: Rules) -> None:
    draws, mini = rules.boneyard_size > rules.reserve, rules.max_pip < 6
    # Positions before any other seat has drawn, of which few are late in the whole set, and after.
    random, left = Random(1), {False: 8 if mini or not draws else 0, True: 8 if draws else 0}
    while any(left.values()):
        game = play_randomly(Game(rules, seed=random.getrandbits(64)), random, random.randrange(50))
        if rules.lead_tile == "highest_double":
            while game.hand_number:
                game.pop()  # back to the first hand, which is led by the highest double
        for seat in range(rules.players if game.turn is not None else 0):
            deals = Deals(game, seat)
            drew = any(deals.draws[other] for other in deals.others)
            if left[drew] and 1 < deals.trials < 3_000 and compare(deals, random) > 1:
                left[drew] -= 1


# --- What always holds


def play_on(games: np.ndarray, random: Random) -> None:
    """Play the hand of the first game to its end."""
    while games["public"]["phase"][0] == PLAYING:
        mask = np.zeros((1, 121), np.int8)
        mark_legal_at(games, 0, mask)
        assert play_at(games, 0, random.choice(mask[0].nonzero()[0].tolist())) != REFUSED


@pytest.mark.compiled
@thorough
@given(game=a_game, seed=st.integers(0, 2**64 - 1))
def test_the_truth_is_possible_and_every_world_was_seen_like_this_and_is_played_on(
    game: Game, seed: int
) -> None:
    random = Random(seed)
    play_randomly(game, random, random.randrange(80))
    if game.turn is None:
        return
    state, public = game.state()[0], game.state()[0]["public"]
    for seat in range(game.rules.players):
        view = game.view(seat)
        assert count(view) >= 1
        shares = marginals(view)[0]
        np.testing.assert_allclose(shares[:BONEYARD].sum(1), public["sizes"], atol=1e-9)
        on_table = mask_of(move.tile for move in game.plays if move.tile)
        somewhere = [
            tile < game.rules.tile_count and not on_table >> tile & 1 for tile in range(TILE_COUNT)
        ]
        np.testing.assert_allclose(shares.sum(0), somewhere, atol=1e-12)
        for other in range(game.rules.players):
            assert all(shares[other, tile.id] > 0 for tile in game.hand_of(other))
        assert (shares[BONEYARD, state["order"][public["drawn"] : public["boneyard"]]] > 0).all()
        deals, worlds = Deals(game, seat), sample(view, 5, np.random.default_rng(seed))
        for world in worlds:
            assert deals.replayed(*deals.dealt(world)) is not None
        games = worlds_to_games(view, worlds[:1])
        play_on(games, random)
        after = games[0]["public"]
        left = games[0]["order"][after["drawn"] : after["boneyard"]].tolist()
        places = [*games[0]["hands"].tolist(), sum(1 << tile for tile in left)]
        assert sum(place.bit_count() for place in places) + after["plies"] == game.rules.tile_count


@pytest.mark.parametrize("lead_tile", ["any", "highest_double"])
@pytest.mark.parametrize("draw", ["until_playable", "optional"])
@pytest.mark.parametrize("seed", [5, 8])
def test_shares_add_up_and_samples_look_the_same_all_through_a_hand(
    lead_tile: Any, draw: Any, seed: int
) -> None:
    game = Game(players=3, max_pip=3, hand_size=2, lead_tile=lead_tile, draw=draw, seed=seed)
    random, seen = Random(seed), np.zeros(1, VIEW)
    while game.turn is not None and game.hand_number == 0:
        for seat in range(3):
            view = game.view(seat)
            sizes = view[0]["public"]["sizes"]
            np.testing.assert_allclose(marginals(view)[0, :BONEYARD].sum(1), sizes, atol=1e-9)
            games = worlds_to_games(view, sample(view, 2, np.random.default_rng(0)))
            for i in range(2):
                observe_at(games, i, seat, seen, 0)
                assert seen == view
        play_randomly(game, random, 1)


# --- What is seen, and what it says


THIRD = 1 / 3
LED: dict[str, Any] = {"lead_tile": "highest_double"}
# By what is seen: the game, how many worlds agree with what seat 0 sees, and with what chance some
# tiles are in the hands of seats 0 and 1 and in the boneyard.
EXAMPLES: dict[str, tuple[Game, int, dict[str, tuple[float, float, float]]]] = {
    "who passes has no tile that fits": (
        push_all(game_of("2-2 2-1", "0-0 1-0", max_pip=2, reserve=2), "2-2"),
        3,  # two of 0-0, 1-0, 1-1
        {"0-0": (0, 1 - THIRD, THIRD), "2-0": (0, 0, 1)},
    ),
    "who is to move has a tile that fits": (
        push_all(game_of("2-2 1-1", "2-1 0-0", max_pip=2, reserve=2), "2-2"),
        5,  # two of 0-0, 1-0, 2-0, 2-1, but not the first two
        {"0-0": (0, 0.4, 0.6), "2-0": (0, 0.6, 0.4)},
    ),
    "only the last draw fits": (
        push_all(game_of("2-2 1-1", "0-0 1-0", top="2-1", max_pip=2), "2-2"),
        2,
        {"0-0": (0, 1, 0), "2-1": (0, 0.5, 0.5)},
    ),
    "a tile that was drawn later is not bound by what was lacked before": (
        push_all(game_of("2-2 2-1", "0-0 1-0", top="1-1 2-0", max_pip=2), "2-2 2-0@2x"),
        3,  # the first draw and the hand are any of 0-0, 1-0, 1-1
        {},
    ),
    "an optional draw says nothing": (
        push_all(game_of("2-2 1-1", "0-0 1-0", top="2-1", max_pip=2, draw="optional"), "2-2 draw"),
        12,
        {"0-0": (0, 0.75, 0.25), "2-1": (0, 0.75, 0.25)},
    ),
    "before a forced lead everybody knows who was dealt the tile": (
        game_of("2-1 1-0", "1-1 2-0", max_pip=2, **LED),
        2,  # seat 1 has 1-1 with 0-0 or 2-0, but not the higher 2-2
        {"1-1": (0, 1, 0), "2-2": (0, 0, 1), "0-0": (0, 0.5, 0.5)},
    ),
    "after a forced lead a higher double may have been drawn but not dealt": (
        push_all(game_of("1-1 0-0", "2-0 3-0", top="3-3 1-0", max_pip=3, **LED), "1-1 1-0@1x"),
        9,  # dealt two of 2-0, 3-0, 3-2, drawn one of the rest, 2-2, 3-3
        {"2-2": (0, THIRD, 1 - THIRD), "3-2": (0, 7 / 9, 2 / 9)},
    ),
    "where no double is led nobody was dealt one nor a heavier tile": (
        game_of("2-0 1-0", "2-1 3-0", max_pip=3, **LED),
        1,  # 3-0 has as many pips as 2-1, and the higher half
        {"3-0": (0, 1, 0), "2-1": (0, 1, 0), "3-1": (0, 0, 1)},
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_seen_says_where_tiles_may_be(name: str) -> None:
    game, worlds, shares = EXAMPLES[name]
    assert count(game.view(0)) == worlds
    for tile, expected in shares.items():
        column = marginals(game.view(0))[0, :, Tile.parse(tile).id]
        assert column[[0, 1, BONEYARD]] == pytest.approx(expected)


def test_a_hand_led_by_who_dominoed_says_nothing_about_doubles() -> None:
    deals = [deal(*hands, max_pip=2) for hands in (("1-1 1-0", "2-1 2-0"), ("1-0 2-1", "1-1 0-0"))]
    game = Game(
        "five_up", 2, max_pip=2, hand_size=2, lead_tile="highest_double", deals=deals, seed=0
    )
    push_all(game, "1-1 2-1@1x 1-0@1x")
    assert game.hand_number == 1
    assert game.turn == 0
    assert count(game.view(1)) == 6  # two of 1-0, 2-0, 2-1, 2-2


# --- Sampling


@pytest.mark.compiled
def test_the_rest_of_the_boneyard_comes_in_any_order() -> None:
    view = Game("five_up", players=5, seed=1).view(0)
    tally: Counter[tuple[int, ...]] = Counter()
    worlds = sample(view, 60_000, np.random.default_rng(1))
    for order in worlds["order"][:, :3].tolist():
        tally[tuple(sorted(order).index(tile) for tile in order)] += 1
    assert even(tally, 6)
    assert even(Counter(worlds["order"][:, 2].tolist()), 23)


def test_a_key_names_the_same_worlds_however_many() -> None:
    view = play_randomly(Game("five_up", players=3, seed=6), Random(6), 9).view()
    scratch, key = np.zeros(1, BELIEF), np.uint64(7)
    worlds, few = np.zeros(50, WORLD), np.zeros(9, WORLD)
    assert fill_worlds(view, scratch, key, worlds)
    assert fill_worlds(view, scratch, key, few)
    assert worlds[:9].tobytes() == few.tobytes()


def test_numbers_below_any_bound_are_equally_likely() -> None:
    bound = np.uint64(3 * 2**62)  # a quarter of all words lie above it
    tally = Counter(
        int(_number_below(np.uint64(key), bound) >> np.uint64(62)) for key in range(3_000)
    )
    assert even(tally, 3)


def test_marginals_of_many_views_are_those_of_each_and_none_where_a_hand_is_over() -> None:
    games = [play_randomly(Game(players=2 + k % 4, seed=k), Random(k), 3 * k) for k in range(9)]
    over = push_all(game_of("6-4", "6-6", target=2), "6-4").view(0)
    views = np.concatenate([over, *(game.view() for game in games), over])
    shares = marginals(views)
    assert shares.shape == (11, BONEYARD + 1, TILE_COUNT)
    assert not shares[[0, -1]].any()
    for k, game in enumerate(games):
        assert (shares[1 + k] == marginals(game.view())[0]).all()
    assert marginals(views[:0]).shape == (0, BONEYARD + 1, TILE_COUNT)


# --- Bad input


def test_views_that_no_game_leads_to_or_whose_hand_is_over_are_refused() -> None:
    for ask in (count, marginals, lambda view: sample(view, 1, np.random.default_rng(1))):
        with pytest.raises(BeliefError, match="no deal is consistent with this view"):
            ask(impossible_view())
    with pytest.raises(BeliefError, match="the hand is over"):
        count(push_all(game_of("6-4", "6-6", target=2), "6-4").view(0))
