"""Where hidden tiles are by what the others' plays tell, against worlds that are all tried."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from fiveup_env import Batch, Game, Rules, belief
from fiveup_env.native import Array, compiled
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    SCRATCH,
    look_around,
    unseen_by,
    write_features,
)
from fiveup_env.opponents.heuristics.hidden import (
    BONEYARD,
    HIDDEN,
    LAPSE,
    WEIGHTS,
    expect_features,
    fill_chances,
    write_chances,
)
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_TILE
from fiveup_env.rules.tiles import TILE_COUNT
from tests.belief.test_belief import Deals, shares_of
from tests.opponents.test_inference import VARIANTS, features_of, plays_in
from tests.support import hidden_otherwise, impossible_view, label, play_randomly

UNREAD = 1.0  # the share of plays at random at which none tells anything


def chances_of(views: np.ndarray, lapse: float = LAPSE) -> np.ndarray:
    chances = np.full((len(views), BONEYARD + 1, TILE_COUNT), 9.0)
    fill_chances(views, WEIGHTS, lapse, np.zeros(1, HIDDEN), chances)
    return chances


def others_of(views: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The same shares without those of the viewers."""
    shares = shares.copy()
    shares[np.arange(len(views)), views["seat"]] = 0
    return shares


def views_of(batch: Batch) -> np.ndarray:
    """Views of every hand that is in play, halfway through."""
    batch.reset()
    rng, views = np.random.default_rng(0), []
    for _ in range(25):
        views.append(batch.views().copy())
        batch.step(batch.random_actions(rng))
    return np.concatenate(views)


def test_chances_of_a_tile_add_up_to_one_and_those_of_a_hand_to_its_size() -> None:
    views = views_of(Batch(40, ["five_up", "muggins"], [2, 3, 4, 5], seed=1))
    chances, exact = chances_of(views), others_of(views, belief.marginals(views))
    assert chances.sum(1) == pytest.approx(exact.sum(1))
    errors = np.abs(chances.sum(2) - exact.sum(2))
    assert errors.mean() < 0.02
    assert errors.max() < 1


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_where_plays_tell_nothing_chances_are_nearly_the_exact_beliefs(rules: Rules) -> None:
    views = views_of(Batch(20, rules, rules.players, seed=2))
    chances, exact = chances_of(views, UNREAD), others_of(views, belief.marginals(views))
    assert np.abs(chances - exact).mean() < 0.004
    assert np.abs(chances - exact)[exact > 0].mean() < 0.02


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_seats_that_are_not_to_move_know_as_much(rules: Rules) -> None:
    """Also of a seat that has just drawn a tile which it has to set."""
    views = []
    for seed in range(12):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 4 + seed)
        views += [game.view(seat) for seat in range(rules.players) if game.turn is not None]
    joined = np.concatenate(views)
    chances, exact = chances_of(joined, UNREAD), others_of(joined, belief.marginals(joined))
    assert chances.sum(1) == pytest.approx(exact.sum(1))
    assert np.abs(chances - exact)[exact > 0].mean() < 0.03


def test_a_view_that_no_deal_leads_to_has_chances_all_the_same() -> None:
    chances = chances_of(impossible_view())
    assert (chances >= 0).all()
    assert (chances.sum(1) < 1 + 1e-9).all()


def odds_of(game: Game, seat: int) -> np.ndarray:
    """What each tile loses by what other seats played, in plain Python, where nobody draws."""
    odds = np.ones((BONEYARD + 1, TILE_COUNT))
    for step in game.steps():
        state, public, made = step.before.copy(), step.before[0]["public"], step.move.action
        other, own = int(public["turn"]), int(ACTION_TILE[made])
        if other == seat or public["sizes"][other] == 1:
            continue
        on_the_table = {int(ACTION_TILE[a]) for a in public["play_action"][: public["plies"]]}
        outside = {*range(game.rules.tile_count)} - on_the_table
        state["hands"][0, other] = sum(1 << tile for tile in outside)
        worths = np.zeros(TILE_COUNT)
        for action in plays_in(state):
            tile = int(ACTION_TILE[action])
            if tile != own or action == made:
                features = features_of(state, sum(1 << t for t in outside - {tile}), action)
                worths[tile] += np.exp(WEIGHTS @ features)
        share = worths[own] / (worths[own] + worths)
        odds[other] *= LAPSE + (1 - LAPSE) * share
    return odds


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
@pytest.mark.parametrize("is_shared", [False, True], ids=["one seat", "all seats"])
def test_reading_a_hand_on_gives_the_bytes_of_reading_it_anew(
    rules: Rules, is_shared: bool
) -> None:
    views = []
    for seed in range(3):
        game, rng = Game(rules, seed=seed), Random(seed)
        for _ in range(40):
            views += [game.view(seat) for seat in range(rules.players)] if is_shared else []
            views.append(game.view(0))
            play_randomly(game, rng, 1)
    along = np.concatenate(views)
    expected, memory = chances_of(along), np.zeros(1, HIDDEN)
    memory["notes"]["is_shared"] = is_shared
    for i in range(len(along)):
        write_one(along[i : i + 1], memory)
        assert memory["chances"][0].tobytes() == expected[i].tobytes()


def test_what_was_read_of_another_hand_tells_nothing_of_this_one() -> None:
    memory, rules = np.zeros(1, HIDDEN), [Rules.preset("five_up", 4, multiple=m) for m in (5, 3)]
    for seed in range(20):
        for moves in (0, 4):  # the first view is of a hand that might have begun alike
            game = play_randomly(Game(rules[moves > 0], seed=seed), Random(seed), moves)
            if game.turn is not None:
                write_one(game.view(0), memory)
                expected = chances_of(game.view(0))[0].tobytes()
                assert memory["chances"][0].tobytes() == expected


@compiled
def write_one(views: Array, memory: Array) -> None:
    write_chances(views[0], WEIGHTS, LAPSE, memory[0])


NOBODY_DRAWS = (
    Rules.preset("five_up", 4, hand_size=7),
    Rules.preset("muggins", 3, hand_size=7, max_pip=5),
)


@pytest.mark.parametrize("rules", NOBODY_DRAWS, ids=label)
def test_odds_are_those_of_every_tile_that_might_have_been_set_instead(rules: Rules) -> None:
    unlikely = 0
    for seed in range(8):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 12)
        if game.hand_number or game.turn is None:
            continue
        memory, view = np.zeros(1, HIDDEN), game.view()
        fill_chances(view, WEIGHTS, LAPSE, memory, np.zeros((1, BONEYARD + 1, TILE_COUNT)))
        possible = memory["prior"][0] > 0
        expected = odds_of(game, int(view["seat"][0]))
        assert memory["now"]["odds"][0][possible] == pytest.approx(expected[possible])
        unlikely += (expected[possible] < 0.5).sum()
    assert unlikely > 40


MINI = (
    Rules.preset("five_up", 3, max_pip=3, hand_size=2),
    Rules.preset("five_up", 3, max_pip=3, hand_size=3),
    Rules.preset("five_up", 3, max_pip=3, hand_size=2, draw="optional"),
)


@pytest.mark.parametrize("rules", MINI, ids=label)
def test_chances_are_nearly_those_of_all_worlds_weighed_by_the_odds(rules: Rules) -> None:
    errors, prior_errors = [], []
    for seed in range(40):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 3)
        if game.turn is None or game.hand_number:
            continue
        view, memory = game.view(), np.zeros(1, HIDDEN)
        chances = np.zeros((1, BONEYARD + 1, TILE_COUNT))
        fill_chances(view, WEIGHTS, LAPSE, memory, chances)
        worlds = Deals(game, int(game.turn)).agreeing()
        held = np.stack([shares_of([world]) for world in worlds])
        held[:, int(game.turn)] = 0
        odds = np.where(held > 0, memory["now"]["odds"], 1).prod((1, 2))
        posterior = (odds[:, None, None] * held).sum(0) / odds.sum()
        unknown = (held.mean(0) > 0) & (held.mean(0) < 1)
        errors += [*np.abs(chances[0] - posterior)[unknown]]
        prior_errors += [*np.abs(held.mean(0) - posterior)[unknown]]
    assert len(errors) > 60
    assert np.mean(errors) < 0.05
    assert np.mean(errors) < np.mean(prior_errors) / 2


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_hidden_tiles_change_no_chance(rules: Rules) -> None:
    for seed in range(6):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 12)
        if game.turn is not None:
            other = hidden_otherwise(game, Random(seed), int(game.turn))
            assert np.array_equal(chances_of(game.view()), chances_of(other.view()))


def test_the_true_places_are_likelier_where_players_are_strong() -> None:
    """Against the exact belief, which plays tell nothing."""
    batch, partner, rng = Batch(200, seed=5), make_agent("partner"), np.random.default_rng(0)
    batch.reset()
    gains = []
    for _ in range(40):
        views = batch.views().copy()
        held = batch.states["hands"][:, :, None] >> np.arange(TILE_COUNT, dtype=np.uint32) & 1 == 1
        chances, exact = chances_of(views), others_of(views, belief.marginals(views))
        true = held & (chances[:, :BONEYARD] > 0)
        gains += [*np.log(chances[:, :BONEYARD][true] / exact[:, :BONEYARD][true])]
        batch.step(partner(views, rng))
    assert np.mean(gains) > 0.02


# --- What is expected by them


@compiled
def write_both(views: Array, memory: Array, scratch: Array, features: Array) -> None:
    """Write the features of the first legal action, by the chances and by counting hands."""
    for i in range(len(views)):
        public, hand = views[i].public, views[i].hand
        write_chances(views[i], WEIGHTS, LAPSE, memory[0])
        unseen = look_around(public, hand, EVERY_FEATURE, memory[0].features)
        look_around(public, hand, EVERY_FEATURE, scratch[0])
        action = 0
        while not hand >> np.uint32(action) & np.uint32(1):
            action += 1
        expect_features(public, hand, unseen, action, memory[0])
        write_features(public, hand, unseen_by(public, hand), action, EVERY_FEATURE, scratch[0])
        features[i, 0] = memory[0].features.features
        features[i, 1] = scratch[0].features


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_expectations_count_hands_where_all_tiles_are_alike(players: int) -> None:
    views = np.concatenate([Game(players=players, seed=seed).view() for seed in range(20)])
    features = np.zeros((len(views), 2, len(FEATURE_NAMES)))
    write_both(views, np.zeros(1, HIDDEN), np.zeros(1, SCRATCH), features)
    assert features[:, 0] == pytest.approx(features[:, 1], abs=1e-6)
    assert features[:, 0].any(0).sum() > 6
