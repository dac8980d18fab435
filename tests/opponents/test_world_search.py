"""The core of searches: its budget, and the worlds that it draws by their weights."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest

from fiveup_env import Game, belief
from fiveup_env.belief.worlds import count_worlds, sample, worlds_to_games
from fiveup_env.engine.state import GAME
from fiveup_env.opponents.search.dealing import BLOCK, deal_block, dealing_of, draw_again, prepare
from fiveup_env.opponents.search.inference import log_weights, shipped_model
from fiveup_env.opponents.search.pimc import Pimc
from fiveup_env.opponents.search.world_search import Search
from tests.support import play_randomly

# --- Budgets


@pytest.mark.parametrize("ms", [0.1, 50])
def test_a_budget_of_time_is_used_and_kept(ms: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 5.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    spent, last = 0.00002, 0
    for first, end in Search(ms=ms).rounds(spent):
        assert first == last
        assert (end - first) % BLOCK == 0
        now, last = now + 1e-6 * (end - first), end  # a world takes a microsecond
    left = 1000 * ms - 20 - last  # microseconds, and worlds
    assert 0 <= left < BLOCK


def test_a_budget_that_is_spent_has_one_block_nevertheless() -> None:
    assert list(Search(ms=0.001).rounds(spent=1)) == [(0, BLOCK)]


# --- Worlds


def holds(games: np.ndarray, tile: int) -> np.ndarray:
    """Whether seat 1 holds a tile in each world."""
    return (games["hands"][..., 1] >> np.uint32(tile) & 1) > 0


def dealt(game: Game, worlds: int, weighed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Worlds of the seat to move, dealt in blocks as a search does, and the weight of each."""
    view, key, dealing = game.view()[0], np.uint64(0), dealing_of(weighed)
    games, logs = np.empty(worlds, GAME), np.empty(worlds)
    ways = count_worlds(view, dealing.belief[0])
    assert prepare(view, key, dealing, ways, games)
    for first in range(0, worlds, BLOCK):
        block = slice(first, first + BLOCK)
        deal_block(view, key, first, dealing, ways, games[block], logs[block])
    return games, np.exp(logs - logs.max())


def test_worlds_count_by_how_likely_the_others_moves_were() -> None:
    game = play_randomly(Game(seed=4), Random(4), 9)
    shares = belief.marginals(game.view())[0, 1]
    tile = int(np.flatnonzero((shares > 0.2) & (shares < 0.6))[0])
    games, weights = dealt(game, 3000)
    assert (weights == 1).all()
    assert holds(games, tile).mean() == pytest.approx(float(shares[tile]), abs=0.04)
    view = game.view()
    worlds = worlds_to_games(view, sample(view, 20_000, np.random.default_rng(0)))
    likely = np.exp(log_weights(view, worlds, shipped_model()))
    expected = (likely * holds(worlds, tile)).sum() / likely.sum()
    assert abs(expected - shares[tile]) > 0.1
    games, weights = dealt(game, 3000, weighed=16)
    assert np.average(holds(games, tile), weights=weights) == pytest.approx(expected, abs=0.04)


def test_worlds_are_drawn_again_as_often_as_their_weights_say() -> None:
    rng = np.random.default_rng(0)
    worlds, logs = np.zeros((50, 64), GAME), rng.normal(0, 2, (50, 64)) - 1e4
    worlds["order"][..., 0] = np.arange(64)
    worlds["seed"] = np.arange(64)
    drawn, levels = np.zeros((50, 16), GAME), np.zeros((50, 16))
    for each in zip(worlds, logs, np.arange(50).astype(np.uint64), drawn, levels, strict=True):
        draw_again(*each)
    weights = np.exp(logs + 1e4)
    expected = 16 * weights / weights.sum(1, keepdims=True)
    times = np.array([np.bincount(row, minlength=64) for row in drawn["order"][..., 0]])
    assert (np.abs(times - expected) < 1).all()
    assert (times - expected).mean(0) == pytest.approx(0, abs=0.35)
    assert (drawn["seed"] == np.arange(16)).all()
    assert levels + 1e4 == pytest.approx(np.log(weights.mean(1, keepdims=True)) + np.zeros(16))


# --- Several views


def test_every_view_has_a_budget_of_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(4)]
    views = np.concatenate([game.view() for game in games])
    masks = np.stack([game.action_mask() for game in games])
    begun = []

    def rounds(_search: Search, spent: float = 0.0) -> list[tuple[int, int]]:
        begun.append(spent)
        return [(0, BLOCK)]

    monkeypatch.setattr(Search, "rounds", rounds)
    Pimc(ms=1)(views, np.random.default_rng(0))
    assert len(begun) == (masks.sum(1) > 1).sum() > 1
