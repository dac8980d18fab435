"""Small games enumerated and solved, against plain enumeration with `Game`, and OpenSpiel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env import Deal, Game, Rules, legal_masks
from fiveup_env.errors import IllegalMoveError
from fiveup_env.exact.form import Form, form_of
from fiveup_env.exact.histories import SizeError, deal_count, estimated_size, histories_of
from fiveup_env.exact.profiles import profile_of
from fiveup_env.exact.regret import CfrPlus
from fiveup_env.exact.sampling import ExternalSampling
from fiveup_env.exact.values import exploitability
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules import tiles
from fiveup_env.rules.actions import ACTION_COUNT

# Games of different kinds: draws, reserve, choices to draw and pass, three players, partners.
GAMES = {
    "mini-2": Rules.preset("mini-2", 2),
    "reserve": Rules.preset("mini-2", 2, reserve=1),
    "fives": Rules.preset("mini-2", 2, multiple=5),
    "optional": Rules.preset("mini-2", 2, reserve=1, draw="optional"),
    "winner takes": Rules.preset("mini-2", 2, hand_end="winner_takes", spinners="none"),
    "three players": Rules.preset("mini-2", 3),
    "partners": Rules.preset("mini-2", 4, hand_size=1, draw="optional"),
}
every_game = pytest.mark.parametrize("name", GAMES)


@cache
def form(name: str) -> Form:
    return form_of(GAMES[name])


def every_deal(rules: Rules) -> Iterator[Deal]:
    """Yield every deal with every order of the boneyard; all are equally likely."""
    size = rules.hand_size
    dealt = size * rules.players
    for order in itertools.permutations(tiles.TILES[: rules.tile_count]):
        hands = [order[k : k + size] for k in range(0, dealt, size)]
        if all(list(hand) == sorted(hand) for hand in hands):
            yield Deal(hands, order[dealt:])


def played_out(game: Game, seen: set[tuple[int, bytes]]) -> tuple[np.ndarray, int]:
    """Return the mean margins of the rest of a hand under uniform play, and its number of ends."""
    moves = list(game.legal_moves)
    if len(moves) > 1:
        seen.add((int(game.turn or 0), game.view().tobytes()))
    total, ends = np.zeros(game.rules.players), 0
    for move in moves:
        game.push(move)
        if end := game.last_hand():
            scores = np.array(end.scores, float)
            margins = scores - (scores.sum() - scores) / (len(scores) - 1)
            more = margins, 1
        else:
            more = played_out(game, seen)
        game.pop()
        total, ends = total + more[0] / len(moves), ends + more[1]
    return total, ends


@pytest.mark.parametrize("name", ["mini-2", "three players"])
def test_the_same_is_found_by_playing_every_deal_with_every_boneyard(name: str) -> None:
    rules, seen = GAMES[name], set[tuple[int, bytes]]()
    results = [played_out(Game(rules, deals=[deal], seed=0), seen) for deal in every_deal(rules)]
    values = np.mean([margins for margins, _ in results], axis=0)
    game = form(name)
    assert len(game.seats) == len(seen)
    assert np.bincount(game.seats).tolist() == np.bincount([seat for seat, _ in seen]).tolist()
    assert exploitability(game, game.uniform()).values == pytest.approx(values)


def test_draws_that_begin_alike_are_one_history() -> None:
    nodes = histories_of(GAMES["mini-2"]).nodes
    assert len(np.unique(nodes[nodes["parent"] < 0]["chance"])) == 1
    after = nodes[nodes["parent"] >= 0]
    drawn = after["chance"] / nodes["chance"][after["parent"]]
    assert set(np.round(1 / drawn).astype(int)) == {1, 2}  # of a boneyard of two


@every_game
def test_chances_sum_to_one_and_views_of_a_state_are_those_of_the_seat_to_move(name: str) -> None:
    nodes, widths, views = form(name).histories.nodes, form(name).widths, form(name).views
    chance = np.ones(len(nodes))
    for i, parent in enumerate(nodes["parent"]):
        if parent >= 0:
            chance[i] = chance[parent] / widths[form(name).state_of[parent]]
    assert (chance * nodes["chance"])[nodes["seat"] < 0].sum() == pytest.approx(1)
    assert (views["seat"] == form(name).seats).all()
    assert (views["public"]["turn"] == form(name).seats).all()
    assert len({view.tobytes() for view in views}) == len(views)


def test_estimates_of_the_size_come_close() -> None:
    for rules in (GAMES["mini-2"], GAMES["optional"], GAMES["three players"]):
        exact = len(histories_of(rules).nodes)
        assert estimated_size(rules) == pytest.approx(exact, rel=0.1)
    assert deal_count(GAMES["mini-2"]) == 15 * 6
    assert deal_count(Rules.preset("mini-3", 2)) == 120 * 35


def test_games_too_large_are_refused_with_their_size() -> None:
    with pytest.raises(SizeError, match=r"allow about \de\+\d\d histories.*mini games"):
        form_of(Rules.preset("five_up", 2))


@pytest.mark.parametrize("name", ["mini-2", "optional", "winner takes", "three players"])
def test_cfr_comes_to_an_equilibrium(name: str) -> None:
    cfr = CfrPlus(form(name))
    for _ in range(2):  # in parts as in one
        cfr.run(1000)
    exact = exploitability(form(name), cfr.average)
    assert exact.nash_conv < 1e-4
    if name == "mini-2":
        assert exact.values == pytest.approx([7 / 6, -7 / 6], abs=1e-4)


def test_partners_share_their_value() -> None:
    values = exploitability(form("partners"), form("partners").uniform()).values
    assert values[0] > 0.1
    assert values == pytest.approx(values[0] * np.array([1, -1, 1, -1]))


def test_sampling_comes_to_the_same_value_by_fewer_histories() -> None:
    walks = ExternalSampling(form("mini-2"), seed=1)
    walks.run(20)
    early = exploitability(form("mini-2"), walks.average).nash_conv
    walks.run(20_000)
    late = exploitability(form("mini-2"), walks.average)
    assert late.nash_conv < 0.03 < early
    assert late.values == pytest.approx([7 / 6, -7 / 6], abs=0.02)
    assert walks.visited < 20_020 * 2 * 10


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(GAMES)))
def test_no_strategy_does_better_than_the_best_reply(seed: int, name: str) -> None:
    game, rng = form(name), np.random.default_rng(seed)
    players = game.rules.players
    weights = rng.random(len(game.actions)) ** 8
    profile, other = game.normalised(weights), game.normalised(rng.permutation(weights))
    exact = exploitability(game, profile)
    assert exact.values.sum() == pytest.approx(0, abs=1e-12)
    for seat in range(players):
        mine = np.r_[np.arange(players) == seat, np.repeat(game.seats == seat, game.widths)]
        deviation = exploitability(game, np.where(mine, other, profile))
        assert deviation.values[seat] <= exact.best[seat] + 1e-12
        assert deviation.best[seat] == pytest.approx(exact.best[seat])


def test_an_agent_that_is_always_best_cannot_be_told_from_its_best_reply() -> None:
    greedy = profile_of(form("mini-2"), make_agent("greedy"), times=5)
    assert exploitability(form("mini-2"), greedy).nash_conv > 0.1
    assert set(np.unique(greedy)) <= {0, 0.2, 0.4, 0.6, 0.8, 1}
    random = profile_of(form("mini-2"), make_agent("random"))  # which has probabilities
    assert random == pytest.approx(form("mini-2").uniform())


def test_agents_that_tell_probabilities_are_taken_at_their_word() -> None:
    class First:
        def probabilities(self, views: np.ndarray) -> np.ndarray:
            return np.eye(ACTION_COUNT)[legal_masks(views).argmax(1)]

    profile = profile_of(form("mini-2"), First())
    states = np.add.reduceat(profile, form("mini-2").firsts[:-1])
    assert set(np.unique(profile)) == {0, 1}
    assert (states == 1).all()


def test_an_agent_that_writes_into_its_views_changes_no_game() -> None:
    def spoiling(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        actions = legal_masks(views).argmax(1)
        views["hand"] = 0
        return actions

    profiles = [profile_of(form("mini-2"), spoiling, times=2) for _ in range(2)]
    assert (profiles[0] == profiles[1]).all()


def test_agents_that_break_the_rules_are_refused() -> None:
    def lead_always(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        return np.zeros(len(views), np.int64)

    with pytest.raises(IllegalMoveError, match="chose 0-0, which is not allowed"):
        profile_of(form("mini-2"), lead_always)


def test_openspiel_finds_the_same_exploitability() -> None:
    pytest.importorskip("pyspiel", reason="exploitability next to OpenSpiel's (no OpenSpiel)")
    from open_spiel.python.algorithms.exploitability import nash_conv
    from open_spiel.python.policy import UniformRandomPolicy

    from fiveup_env.doors import openspiel

    game = openspiel.load("mini-2", players=2)  # the lot says who leads: either role, on average
    uniform = exploitability(form("mini-2"), form("mini-2").uniform())
    assert nash_conv(game, UniformRandomPolicy(game)) == pytest.approx(uniform.nash_conv)
