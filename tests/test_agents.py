"""Agents: specs, and what each heuristic adds to the one before."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pytest

from agents import registry
from agents.play.heuristics import Greedy, expected_reply
from agents.registry import AgentError, known_agents, listing, make_agent, register
from fiveup_env import Batch, Game, Move
from fiveup_env.compiled import Array, compiled
from fiveup_env.engine import LAYOUT
from fiveup_env.single import FiveUpEnv
from tests.support import game_of, play_randomly, push_all


def chosen(spec: str, game: Game, seed: int = 0) -> str:
    mask = game.action_mask()[None]
    action = make_agent(spec)(game.view(), mask, np.random.default_rng(seed))[0]
    return str(Move(int(action)))


@pytest.mark.parametrize("spec", sorted(known_agents()))
def test_every_agent_plays_every_game_by_its_rules(spec: str) -> None:
    agent = make_agent(spec)
    batch = Batch(60, ["five_up", "all_fives", "muggins"], [2, 3, 4, 5], draw="optional", seed=1)
    batch.reset()
    random = np.random.default_rng(0)
    for _ in range(150):
        batch.step(agent(batch.views(), batch.mask, random))


@pytest.mark.parametrize("spec", sorted(known_agents()))
def test_a_decision_alone_and_the_same_seed_give_the_same_action(spec: str) -> None:
    game = play_randomly(Game(seed=3), Random(3), 7)
    assert chosen(spec, game, seed=5) == chosen(spec, game, seed=5)


def choices(spec: str, game: Game) -> set[str]:
    return {chosen(spec, game, seed) for seed in range(20)}


def test_greedy_takes_the_most_points_now_and_any_of_equals() -> None:
    game = push_all(game_of("6-4 1-0 2-2", "6-6 5-4 3-2"), "6-4")
    # 6-6 makes 4 + 12 = 16, 5-4 makes 6 + 5 = 11: nothing either way.
    assert choices("greedy", game) == {"6-6@6", "5-4@4"}
    game = push_all(game_of("6-3 1-0 2-2", "6-2 3-1 5-4"), "6-3")
    # 6-2 makes 3 + 2 = 5, 3-1 makes 6 + 1 = 7.
    assert choices("greedy", game) == {"6-2@6"}


def test_defensive_minds_what_the_next_player_may_answer() -> None:
    # Neither lead scores. After 0-0 only 5-0 scores, one point; after 6-6 only 6-3, three.
    game = game_of("0-0 6-6", "4-1 5-2")
    assert choices("greedy", game) == {"0-0", "6-6"}
    assert choices("defensive", game) == {"0-0"}


@compiled
def reply(views: Array, layouts: Array, worth: Array) -> float:
    return expected_reply(views[0], layouts[0], worth)


def test_the_expected_reply_is_the_mean_over_all_hands() -> None:
    game = push_all(game_of("2-1 1-0", "3-1 3-3", max_pip=3), "2-1")
    view = game.view(0)
    layout = np.zeros(1, LAYOUT)
    layout[0] = game.state[0]["table"]["layout"]
    unseen = [t for t in range(10) if t not in {4, 1}]  # all but 2-1 and 1-0
    replies = []
    for hand in itertools.combinations(unseen, 2):
        best = 0
        for move in (Move(action) for action in range(28, 119)):
            if (
                move.tile is not None
                and move.tile.id in hand
                and move.pip in {1, 2}
                and move.end == "plain"
            ):
                shows = move.tile.pips - move.pip
                total = 3 - move.pip + (2 * shows if move.tile.is_double else shows)
                best = max(best, total // 5 if total % 5 == 0 else 0)
        replies.append(best)
    assert reply(view, layout, np.zeros(40, np.int64)) == pytest.approx(np.mean(replies))
    assert np.mean(replies) > 0


# --- Specs


@dataclass(frozen=True)
class Slow:
    """Waits before it moves."""

    seconds: float = field(default=1.5, metadata={"help": "how long"})
    times: int = 2

    def __call__(self, views: Any, masks: np.ndarray, random: Any) -> np.ndarray:
        """Choose the lowest action."""
        del views, random
        return masks.argmax(1)


def test_a_spec_sets_the_options_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_AGENTS", dict(registry._AGENTS))
    register("slow")(Slow)
    assert make_agent("slow") == Slow()
    assert make_agent("slow:times=5,seconds=0.25") == Slow(0.25, 5)
    assert "slow" in listing()
    assert "seconds=1.5  how long" in listing()
    with pytest.raises(AgentError, match="already"):
        register("slow")(Slow)
    with pytest.raises(AgentError, match=r"no option of slow 'second'.*did you mean 'seconds'"):
        make_agent("slow:second=3")
    for spec in ("slow:times", "slow:times=", "slow:times=two"):
        with pytest.raises(AgentError, match="times must be a int"):
            make_agent(spec)


def test_a_spec_names_the_opponents_of_a_learner() -> None:
    env = FiveUpEnv(players=2, opponents="greedy")
    assert env._opponents == Greedy()
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        FiveUpEnv(opponents="greedi")


def test_unknown_agents_list_what_there_is() -> None:
    with pytest.raises(
        AgentError, match=r"no agent 'greedi' \(did you mean 'greedy'\?\); known: .*defensive"
    ):
        make_agent("greedi")
    with pytest.raises(AgentError, match="no option of greedy 'depth'; known: none"):
        make_agent("greedy:depth=3")


def test_agents_of_other_packages_are_found_by_their_entry_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Point:
        name = "elsewhere"

        @staticmethod
        def load() -> type:
            return Slow

    monkeypatch.setattr(
        registry, "entry_points", lambda group: [Point] if group == "fiveup.agents" else []
    )
    assert make_agent("elsewhere:times=3") == Slow(times=3)
