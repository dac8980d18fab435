"""The outlook: chances to win by the scores, compared with whole games that were played."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env import Batch, Game, Rules
from fiveup_env.native import Array, compiled
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search import outlook
from fiveup_env.opponents.search.outlook import (
    FARTHEST,
    SEED,
    chance_from,
    leads_next,
    make_outlook,
    outlook_of,
)

BY_LOT, BEHIND, AHEAD = -1, 0, 1


@compiled
def leads(games: Array, side: int) -> int:
    return leads_next(games[0].public, side)


@compiled
def chance(chances: Array, own: int, rival: int, leads: int) -> float:
    return chance_from(chances, own, rival, leads)


def test_the_chances_of_two_sides_add_up_to_one_and_far_away_the_lead_decides() -> None:
    chances = outlook_of(Rules.preset().to_struct())
    for own, rival in ((1, 1), (5, 30), (61, 61), (90, 3), (200, 230)):
        both = chance(chances, own, rival, BY_LOT) + chance(chances, rival, own, BY_LOT)
        assert both == pytest.approx(1)
        led = chance(chances, own, rival, AHEAD) + chance(chances, rival, own, BEHIND)
        assert led == pytest.approx(1)
    far = chance(outlook_of(Rules.preset(target=1000).to_struct()), 900, 910, BY_LOT)
    assert far == chance(chances, FARTHEST - 10, FARTHEST, BY_LOT)


@pytest.mark.parametrize("players", [2, 4])
def test_fewer_points_to_go_are_a_better_chance(players: int) -> None:
    chances = outlook_of(Rules.preset(players=players).to_struct())[1:, 1:]
    assert (np.diff(chances, axis=0) < 1e-3).all()
    assert (np.diff(chances, axis=1) > -1e-3).all()
    assert chances.min() >= 0
    assert chances.max() <= 1


def wins_of(player: str, to_go: tuple[int, int], games: int) -> float:
    """Return how often the side that leads the first hand wins, from these points to go."""
    rules = Rules.preset()
    batch = Batch(games, rules, episode="game", seed=0)
    batch.reset(5)
    leads = batch.states["public"]["lead"] % 2
    rows = np.arange(games)
    for side, points in zip((leads, 1 - leads), to_go, strict=True):
        batch.states["public"]["scores"][rows, side] = rules.target - points
    agent, rng = make_agent(player), np.random.default_rng(3)
    going = rows
    while len(going):
        batch.advance(agent(batch.views(going), rng), going)
        going = going[~batch.terminated[going]]
    return float((batch.states["public"]["winner"] == leads).mean())


# From 8 to 6, hands of greedy say 46.1 %: they miss what good players make of the lead.
@pytest.mark.parametrize("to_go", [(8, 6), (10, 20), (4, 4)])
def test_the_chances_are_those_of_games_between_the_best_of_the_ladder(
    to_go: tuple[int, int],
) -> None:
    expected = outlook_of(Rules.preset().to_struct())[to_go]
    assert wins_of("partner", to_go, 4000) == pytest.approx(expected, abs=0.025)


def test_the_chances_have_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = Rules.preset(players=2).to_struct().item()  # they take the most sweeps
    chances = make_outlook(fields, 1000, SEED)
    monkeypatch.setattr(outlook, "SETTLED", 1e-7)
    longer = make_outlook(fields, 1000, SEED)
    assert np.abs(chances - longer).max() < 0.004
    assert np.abs(chances - longer)[:62, :62].max() < 0.002


def test_the_lead_that_rotates_is_never_the_same_sides_twice() -> None:
    game = Game("five_up", 3, leader="rotate", seed=1)
    while not game.hand_over:
        game.push(next(iter(game.legal_moves)))
    state = game.hand_states()[0]
    led = [leads(state, side) for side in range(3)]
    assert led == [side == (int(state["public"]["lead"][0]) + 1) % 3 for side in range(3)]
