"""The core of searches: its budget, its hook, and the worlds that it draws by their weights."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest

from fiveup_env import Game, belief
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.engine.state import GAME
from fiveup_env.opponents.dealing import BLOCK, draw_again
from fiveup_env.opponents.inference import log_weights, shipped_model
from fiveup_env.opponents.outlook import outlooks_of
from fiveup_env.opponents.pimc import Pimc
from fiveup_env.opponents.world_search import Search, WorldSearch
from fiveup_env.opponents.world_statistics import WorldStatistics
from tests.support import play_randomly

# --- Budgets


def test_a_budget_of_worlds_is_one_range() -> None:
    assert list(Search(worlds=200).rounds()) == [(0, 200)]


@pytest.mark.parametrize("ms", [0.1, 3, 50])
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


def searched(game: Game, search: WorldSearch, seed: int = 0) -> np.ndarray:
    prior = np.where(game.action_mask()[None] > 0, 0.0, -np.inf)
    views, began = game.view(), time.perf_counter()
    statistics = WorldStatistics(prior)
    search(views, statistics, outlooks_of(views, "hand"), np.uint64(seed), began)
    return statistics.means[0, game.action_mask() > 0]


def test_worlds_count_by_how_likely_the_others_moves_were() -> None:
    game = play_randomly(Game(seed=4), Random(4), 9)
    shares = belief.marginals(game.view())[1]
    tile = int(np.flatnonzero((shares > 0.2) & (shares < 0.6))[0])

    def play_on(_which: np.ndarray, games: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        values = np.repeat(holds(games, tile)[..., None], candidates.shape[1], 2)
        return values.astype(float)

    plain = searched(game, WorldSearch(Search(3000), play_on))
    assert plain == pytest.approx(float(shares[tile]), abs=0.04)
    view = game.view()
    worlds = worlds_to_games(view, sample(view, 20_000, np.random.default_rng(0)))
    weights = np.exp(log_weights(view, worlds, shipped_model()))
    expected = (weights * holds(worlds, tile)).sum() / weights.sum()
    assert abs(expected - shares[tile]) > 0.1
    found = searched(game, WorldSearch(Search(3000), play_on, weighed=16))
    assert found == pytest.approx(expected, abs=0.04)


def test_playouts_by_hook_see_the_worlds_of_the_compiled_loop() -> None:
    game, seen = play_randomly(Game(seed=4), Random(4), 9), []

    def play_on(_which: np.ndarray, games: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        seen.append(games.copy())
        return np.zeros((*games.shape, candidates.shape[1]))

    for weighed in (1, 8):
        searched(game, WorldSearch(Search(70), play_on, weighed))
    plain, drawn = np.concatenate(seen[:3], 1), np.concatenate(seen[3:], 1)
    assert plain.shape == drawn.shape == (1, 70)
    assert (plain["hands"] != drawn["hands"]).any()
    for games in (plain, drawn):
        assert (games["public"] == game.state["public"]).all()
        assert (games["hands"][:, :, game.turn or 0] == game.view()["hand"]).all()


def test_worlds_are_drawn_again_as_often_as_their_weights_say() -> None:
    random = np.random.default_rng(0)
    worlds, logs = np.zeros((50, 64), GAME), random.normal(0, 2, (50, 64)) - 1e4
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
    Pimc(ms=1)(views, masks, np.random.default_rng(0))
    assert len(begun) == (masks.sum(1) > 1).sum() > 1
