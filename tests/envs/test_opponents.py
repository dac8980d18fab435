"""Opponents by seat: one agent, a list in order of play, or a dict by seat, in every interface."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import AgentError, OptionError, SeatError
from fiveup_env.opponents.agent import Random

if TYPE_CHECKING:
    import numpy as np


class Recorder:
    """Plays at random, and keeps at which seats it was asked."""

    def __init__(self) -> None:
        self.seats: list[int] = []

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        self.seats += views["seat"].tolist()
        return Random()(views, rng)


def play(kind: str, opponents: Any, seat: int | None) -> set[int]:
    """Play some steps; return the seats at which the learner was."""
    seats: set[int] = set()
    if kind == "single":
        env = FiveUpEnv(opponents=opponents, seat=seat, episode="hand")
        for seed in range(6):
            _, info = env.reset(seed=seed)
            seats.add(env.seat)
            for _ in range(3):
                _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
                if over:
                    break
        return seats
    make = FiveUpVectorEnv if kind == "vector" else FiveUpVecEnv
    envs: Any = make(8, opponents=opponents, seat=seat, episode="hand", seed=1)
    envs.reset()
    for _ in range(6):
        envs.step(envs.action_masks().argmax(1))
    return {seat} if seat is not None else set(range(4))


@pytest.mark.parametrize("kind", ["single", "vector", "vec_env"])
def test_a_list_seats_agents_in_order_of_play_and_a_dict_names_seats(kind: str) -> None:
    agents = [Recorder(), Recorder(), Recorder()]
    play(kind, agents, seat=2)
    assert [set(agent.seats) for agent in agents] == [{3}, {0}, {1}]
    named = {seat: Recorder() for seat in (0, 1, 3)}
    play(kind, named, seat=2)
    assert {seat: set(agent.seats) for seat, agent in named.items()} == {0: {0}, 1: {1}, 3: {3}}


@pytest.mark.parametrize("kind", ["single", "vector", "vec_env"])
def test_the_second_of_three_is_the_partner_of_a_learner_that_moves(kind: str) -> None:
    rival, partner = Recorder(), Recorder()
    learners = play(kind, [rival, partner, rival], seat=None)
    assert len(learners) > 1
    assert set(partner.seats) == {(seat + 2) % 4 for seat in learners}


def test_equal_agents_in_all_seats_play_as_one_agent_does() -> None:
    single = FiveUpVectorEnv(16, opponents="random", seed=3)
    many = FiveUpVectorEnv(16, opponents=["random"] * 3, seed=3)
    for envs in (single, many):
        envs.reset()
    for _ in range(20):
        actions = single.action_masks().argmax(1)
        assert (single.step(actions)[0] == many.step(actions)[0]).all()


@pytest.mark.parametrize("make", [FiveUpEnv, lambda **options: FiveUpVectorEnv(4, **options)])
@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (OptionError, "or 3 of them for 4 players.*not 2", {"opponents": ["random", "greedy"]}),
        (OptionError, "or 1 of them for 2 players.*not 0", {"opponents": [], "players": 2}),
        (OptionError, "fixed seat, such as seat=0", {"opponents": {1: "random"}, "players": 2}),
        (
            SeatError,
            r"each seat but the learner's, 1, 2, not for \[1\]",
            {"opponents": {1: "random"}, "players": 3, "seat": 0},
        ),
        (
            SeatError,
            r"each seat but the learner's, 0, not for \[0, 1\]",
            {"opponents": {0: "random", 1: "random"}, "players": 2, "seat": 1},
        ),
        (AgentError, "did you mean 'greedy'", {"opponents": ["greedi"], "players": 2}),
        (OptionError, "an agent or its spec, a list of them, or a dict", {"opponents": 7}),
        (AgentError, "the spec of an agent is text", {"opponents": [7], "players": 2}),
        (AgentError, "is called with views and rng, which .* does not take", {"opponents": id}),
        (AgentError, "is called with views and rng", {"opponents": lambda views: views}),
        (AgentError, "an instance of a class, not the class", {"opponents": Random}),
    ],
)
def test_what_does_not_seat_everybody_is_refused(
    make: Any, error: Any, match: str, options: dict[str, Any]
) -> None:
    with pytest.raises(error, match=match):
        make(**options)


def test_opponents_by_seat_need_one_number_of_players() -> None:
    with pytest.raises(OptionError, match="one number of players, not of 2 and 3"):
        FiveUpVectorEnv(4, players=[2, 3], opponents=["random"])


def test_one_game_meets_new_opponents_from_its_next_episode() -> None:
    first, second = Recorder(), Recorder()
    env = FiveUpEnv(players=2, opponents=first, seat=0, episode="hand")
    _, info = env.reset(seed=1)
    env.set_opponents(second)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert first.seats
    assert not second.seats
    played = len(first.seats)
    _, info = env.reset()
    for _ in range(2):
        env.step(int(env.action_masks().argmax()))
    assert len(first.seats) == played
    assert second.seats


@pytest.mark.parametrize("kind", ["vector", "vec_env"])
def test_each_of_many_games_meets_new_opponents_from_its_next_episode(kind: str) -> None:
    agents = [Recorder(), Recorder(), Recorder()]
    make = FiveUpVectorEnv if kind == "vector" else FiveUpVecEnv
    envs: Any = make(12, players=2, opponents=agents[0], episode="hand", seed=1)
    envs.reset()
    vector = envs if kind == "vector" else envs._envs
    begun = vector.batch._episodes_played
    for agent, following in pairwise(agents):
        switched = begun.copy()
        envs.set_opponents(following)
        while (begun == switched).any():
            of_old, of_new = len(agent.seats), len(following.seats)
            waits = vector._lineup < len(vector._lineups) - 1
            envs.step(envs.action_masks().argmax(1))
            if not waits.any():
                assert len(agent.seats) == of_old
            if (begun == switched).all():
                assert len(following.seats) == of_new
        envs.step(envs.action_masks().argmax(1))
        assert following.seats
    assert len(vector._lineups) == 2
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        envs.set_opponents("greedi")


def test_a_saved_state_holds_no_opponents_and_a_copy_does() -> None:
    envs = FiveUpVectorEnv(12, players=2, opponents="greedy", episode="hand", seed=1)
    envs.reset()
    envs.step(envs.action_masks().argmax(1))
    envs.set_opponents("partner")
    twin = copy.deepcopy(envs)
    loaded = FiveUpVectorEnv(12, players=2, opponents="greedy", episode="hand", seed=1)
    loaded.set_opponents("partner")
    loaded.load(envs.save())
    assert set(loaded._lineup.tolist()) == {1}
    for _ in range(20):
        actions = envs.action_masks().argmax(1)
        assert (envs.step(actions)[0] == twin.step(actions)[0]).all()
    loaded.step(loaded.action_masks().argmax(1))
