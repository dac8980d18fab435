"""The encoder of the heuristics' features, and the network that weighs them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch

from agents.policies.agent import NetworkAgent
from agents.policies.lookahead import FEATURE_COUNT, STEPS, Lookahead
from agents.policies.networks import Shape, build
from fiveup_env import Batch, Game, Rules
from fiveup_env.encoders import bounds, get_encoder, piece_of, row_size
from fiveup_env.opponents.ladder import Partner, weights_of
from tests.support import EVERY_PRESET, game_of, label, play_randomly, push_all, shuffled_hidden

ENCODER = Lookahead()


def rows_of(views: np.ndarray) -> np.ndarray:
    rows = np.full((len(views), row_size(ENCODER)), 99, np.int8)
    ENCODER.encode(views, rows)
    return rows


def test_looks_are_those_of_the_heuristics() -> None:
    game = push_all(game_of("2-1 1-0", "3-1 3-3", max_pip=3), "2-1")
    features = piece_of(ENCODER, "features", rows_of(game.view()))[0]
    (action,) = (move.action for move in game.legal_moves)
    # 3-1 on the 1 makes 5: a point, 4 pips, no double; 3-3 is kept and fits, as do four unseen tiles.
    points, _, pips, double, follow, control, *_ = features[action] / STEPS
    assert (points, double, follow) == (1, 0, 0)
    assert pips == pytest.approx(4 / 5, abs=0.5 / STEPS)
    assert control == pytest.approx(1 / 5, abs=0.5 / STEPS)
    assert (np.delete(features, action, 0) == 0).all()


@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_rows_keep_their_bounds_and_end_with_flat(rules: Rules) -> None:
    batch, random = Batch(32, rules, seed=3), np.random.default_rng(0)
    batch.reset()
    low, high = bounds(ENCODER)
    for _ in range(40):
        rows = rows_of(batch.views())
        assert (low <= rows).all()
        assert (rows <= high).all()
        assert np.array_equal(rows[:, -batch.observation.shape[1] :], batch.observation)
        assert not piece_of(ENCODER, "features", rows)[batch.mask == 0].any()
        batch.step(batch.random_actions(random))


def test_nothing_hidden_is_told() -> None:
    for seed in range(20):
        game = play_randomly(Game(seed=seed), Random(seed), 6)
        seat = int(game.turn or 0)
        hidden = shuffled_hidden(game, seat, Random(seed))
        assert np.array_equal(rows_of(game.view()), rows_of(hidden.view(seat)))


def test_a_seat_out_of_turn_looks_at_nothing() -> None:
    game = Game(seed=1)
    other = (int(game.turn or 0) + 1) % 4
    assert not piece_of(ENCODER, "features", rows_of(game.view(other))).any()


def test_a_network_that_weighs_as_a_heuristic_does_plays_like_it() -> None:
    network = build(Shape("guided", 32, 1, "lookahead"))
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        assert network.guide is not None
        network.guide.bias.copy_(torch.from_numpy(weights_of("partner")))
    agent, heuristic = NetworkAgent(network), Partner()
    batch, random, same, choices = Batch(64, seed=5), np.random.default_rng(0), 0, 0
    batch.reset()
    for _ in range(60):
        views = batch.views()
        choice = batch.mask.sum(1) > 1
        actions = heuristic(views, batch.mask, random)
        same += (actions == agent(views, batch.mask, random))[choice].sum()
        choices += choice.sum()
        batch.step(actions)
    assert same > 0.93 * choices


def test_the_encoder_is_known_by_its_name() -> None:
    assert get_encoder("lookahead").pieces[0].shape == (121, FEATURE_COUNT)
