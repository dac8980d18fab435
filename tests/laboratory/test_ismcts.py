"""Tree search: what it visits, and that it finds the best move where that is known."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from agents.search.ismcts import Ismcts
from fiveup_env import Batch, Game, Rules
from fiveup_env.analysis.endings import regrets
from fiveup_env.arena.duels import duel
from fiveup_env.errors import AgentError
from fiveup_env.opponents.registry import make_agent
from tests.support import chosen, game_of, play_randomly, push_all


def pinned_views(rules: Rules, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Views of endings whose best moves are known and differ, and their masks."""
    batch, random = Batch(256, rules), np.random.default_rng(1)
    views: list[np.ndarray] = []
    masks: list[np.ndarray] = []
    batch.reset(1)
    while len(views) < count:
        seen, greedy = batch.views(), make_agent("greedy")
        lowest, highest = (
            batch.mask.argmax(1),
            batch.mask.shape[1] - 1 - batch.mask[:, ::-1].argmax(1),
        )
        short = seen["public"]["sizes"].sum(1) <= 6
        apart = np.full(len(seen), fill_value=False)
        losses = [regrets(seen[short], actions[short]) for actions in (lowest, highest)]
        apart[short] = np.abs(losses[0] - losses[1]) > 0
        views += list(seen[apart])
        masks += list(batch.mask[apart].copy())
        batch.step(greedy(seen, batch.mask, random))
    return np.array(views), np.array(masks)


@pytest.mark.parametrize("players", [2, 4])
def test_in_endings_that_are_known_it_comes_to_the_best_moves(players: int) -> None:
    views, masks = pinned_views(Rules.preset(players=players), 40)

    def mean_regret(spec: str) -> float:
        return float(
            regrets(views, make_agent(spec)(views, masks, np.random.default_rng(0))).mean()
        )

    thorough = mean_regret("ismcts:worlds=2000,aim=hand")
    assert thorough < 0.15
    assert thorough <= mean_regret("random") / 4


def test_a_single_move_needs_no_tree() -> None:
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    assert chosen("ismcts", game) == "5-4@5"


def test_a_single_move_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    monkeypatch.setattr(Ismcts, "rounds", lambda _search: pytest.fail("searched"))
    assert chosen("ismcts:ms=1000", game) == "5-4@5"


def test_a_decision_is_the_same_alone_and_first_among_others() -> None:
    games = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(4)]
    views = np.concatenate([game.view() for game in games])
    masks = np.stack([game.action_mask() for game in games])
    together = Ismcts()(views, masks, np.random.default_rng(0))
    assert together[0] == Ismcts()(views[:1], masks[:1], np.random.default_rng(0))[0]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_tree_beats_the_heuristic_that_plays_its_hands_out(players: int) -> None:
    rules = Rules.preset(players=players)
    played = duel(
        [make_agent("ismcts:worlds=100,aim=hand"), make_agent("greedy")],
        rules,
        np.arange(120),
        "hand",
    )
    assert played.interval(played.margins)[0] > 0


def test_a_budget_of_time_gives_an_allowed_move() -> None:
    game = play_randomly(Game(seed=8), Random(8), 3)
    assert chosen("ismcts:ms=1", game) in {str(move) for move in game.legal_moves}


def test_a_tree_must_explore() -> None:
    with pytest.raises(AgentError, match="explore= above 0"):
        make_agent("ismcts:explore=0")
