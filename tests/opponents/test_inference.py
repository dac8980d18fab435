"""What the others' moves tell: likelihoods of worlds, and that nothing hidden leaks into them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from fiveup_env import Game, Move, Rules
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.legality import mark_legal_at
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    SCRATCH,
    look_around,
    write_features,
)
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.inference import log_weights, shipped_model
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from tests.support import label, play_randomly

VARIANTS = (
    Rules.preset(),
    Rules.preset("all_fives", 2),
    Rules.preset("muggins", 5),
    Rules.preset(players=3, draw="optional"),
    Rules.preset(players=2, lead_tile="highest_double"),
    Rules.preset(players=4, game_end="immediate", target=20),
)


def model(power: float = 1.0) -> np.ndarray:
    made = shipped_model().copy()
    made["power"] = power
    return made


def logs_of_others(game: Game) -> Iterator[float]:
    """The logarithm of the chance of every choice that others made in the present hand."""
    for step in game.steps():
        public = step.before[0]["public"]
        if public["hand_number"] == game.hand_number and public["turn"] != game.turn:
            actions = plays_in(step.before)
            if len(actions) > 1 and step.move.action < DRAW:
                yield log_chance(step.before, actions, step.move.action)


def plays_in(state: np.ndarray) -> list[int]:
    """The tiles that may be set, if the seat to move holds more than one tile."""
    masks = np.zeros((1, 121), np.int8)
    mark_legal_at(state, 0, masks)
    held = int(state["hands"][0, state["public"]["turn"][0]]).bit_count()
    return [int(action) for action in np.flatnonzero(masks[0]) if action < DRAW and held > 1]


def log_chance(state: np.ndarray, actions: list[int], made: int) -> float:
    """The model in plain Python: a softmax of weighted features, and some moves at random."""
    (chosen,), worths = model(), []
    public = state[0]["public"]
    on_the_table = {int(ACTION_TILE[a]) for a in public["play_action"][: public["plies"]]}
    count = (int(public["rules"]["max_pip"]) + 1) * (int(public["rules"]["max_pip"]) + 2) // 2
    for action in actions:
        outside = set(range(count)) - on_the_table - {int(ACTION_TILE[action])}
        features = features_of(state, sum(1 << tile for tile in outside), action)
        worths.append(float(chosen["weights"] @ features))
    shares = np.exp(np.array(worths) - max(worths))
    share = (shares / shares.sum())[actions.index(made)]
    return float(np.log((1 - chosen["lapse"]) * share + chosen["lapse"] / len(actions)))


def features_of(state: np.ndarray, unseen: int, action: int) -> np.ndarray:
    scratch = np.zeros(1, SCRATCH)
    public, hand = state[0]["public"], state["hands"][0, state["public"]["turn"][0]]
    look_around(public, hand, EVERY_FEATURE, scratch[0])
    write_features(public, hand, np.uint32(unseen), action, EVERY_FEATURE, scratch[0])
    features: np.ndarray = scratch["features"][0]
    return features


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_likelihoods_are_those_of_every_tile_that_others_chose(rules: Rules) -> None:
    total = 0.0
    for seed in range(8):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 30 if seed else 5)
        if game.turn is not None:
            expected = sum(logs_of_others(game))
            for power in (1.0, 0.5):
                (weight,) = log_weights(game.view(), game.state(), model(power))
                assert weight == pytest.approx(power * expected)
            total += expected
    assert total < -4


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_what_is_read_from_one_world_serves_for_all(rules: Rules) -> None:
    for seed in range(4):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 12)
        if game.turn is None:
            continue
        view = game.view()
        worlds = worlds_to_games(view, sample(view, 20, np.random.default_rng(seed)))
        logs = log_weights(view, worlds, model())
        assert np.isfinite(logs).all()
        assert (logs <= 0).all()
        for first in range(1, 20, 6):  # the first of them is the one that is read
            turned = log_weights(view, np.roll(worlds, -first), model())
            assert turned == pytest.approx(np.roll(logs, -first))


def test_before_anybody_has_chosen_all_worlds_count_alike() -> None:
    game = Game(seed=3)
    view = game.view()
    worlds = worlds_to_games(view, sample(view, 10, np.random.default_rng(0)))
    assert (log_weights(view, worlds, model()) == 0).all()
    plain, weighed = (make_agent(f"pimc:worlds=40,weighed={weighed}") for weighed in (1, 8))
    values = [
        agent.values(view, np.random.default_rng(0))  # type: ignore[attr-defined]
        for agent in (plain, weighed)
    ]
    assert np.array_equal(*values)


def test_the_true_deal_counts_for_more_than_others_where_players_are_strong() -> None:
    student, gains = make_agent("student"), []
    for seed in range(60):
        game, rng = Game(seed=seed), np.random.default_rng(seed)
        for _ in range(10):
            if game.turn is not None:
                (action,) = student(game.view(), rng)
                game.push(Move(int(action)))
        if game.turn is not None:
            view = game.view()
            worlds = worlds_to_games(view, sample(view, 200, rng))
            logs = log_weights(view, worlds, shipped_model())
            true = log_weights(view, game.state(), shipped_model())[0]
            gains.append(true - np.log(np.exp(logs).mean()))
    assert np.mean(gains) > 0.3
