"""The PettingZoo environment behaves as PettingZoo's users expect."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import fiveup_env
from fiveup_env import Game, Move, Rules
from fiveup_env.envs.episodes import EPISODES
from fiveup_env.envs.streams import Stream
from fiveup_env.errors import EncoderError, GameOverError, OptionError
from tests.support import EVERY_PRESET, game_of, label


def play_on(env: Any, rng: np.random.Generator, steps: int = 100_000) -> dict[str, float]:
    """Act at random until all agents are done; return the total that `last()` gave each of them."""
    got = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(steps):
        observation, reward, termination, truncation, _ = env.last()
        got[agent] += reward
        if termination or truncation:
            env.step(None)
        else:
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return got


@pytest.mark.parametrize("rules", EVERY_PRESET[::4], ids=label)
def test_pettingzoos_api_test(rules: Rules) -> None:
    with warnings.catch_warnings():
        # Said of every environment whose observation is a dictionary with a mask.
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        for episode in EPISODES:
            api_test(fiveup_env.env(rules, episode=episode), num_cycles=30)


@pytest.mark.parametrize("players", [2, 5])
def test_pettingzoos_seed_test(players: int) -> None:
    seed_test(lambda: fiveup_env.env(players=players), num_cycles=100)


def test_the_environment_is_made_by_its_registered_name() -> None:
    env = pettingzoo.make("aec", "fiveup/FiveUp-v0", players=3, encoder="tokens")
    env.reset(seed=1)
    assert env.agents == ["player_0", "player_1", "player_2"]
    assert str(env) == "fiveup_v0"


@pytest.mark.parametrize("rules", EVERY_PRESET[::3], ids=label)
def test_whole_games_run_without_a_warning_and_rewards_add_up(rules: Rules) -> None:
    env, rng = fiveup_env.env(rules, reward="points", max_hands=40), np.random.default_rng(0)
    env.reset(seed=1)
    got = play_on(env, rng)
    scores = env.unwrapped.game.scores
    assert got == {
        agent: scores[rules.side_of(seat)] for seat, agent in enumerate(env.possible_agents)
    }
    assert env.agents == []


def test_a_pickled_environment_plays_on_alike() -> None:
    env = fiveup_env.env(players=3)
    env.reset(seed=5)
    for _ in range(20):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    twin = pickle.loads(pickle.dumps(env))
    played = [play_on(game, np.random.default_rng(1)) for game in (env, twin)]
    assert played[0] == played[1]


def test_turns_and_masks_are_the_engines_and_all_agents_terminate_with_the_game() -> None:
    env, rng = fiveup_env.raw_env(draw="optional"), np.random.default_rng(3)
    env.reset(seed=3)
    before, twice = "", 0
    while not any(env.terminations.values()):
        assert env.agent_selection == f"player_{env.game.turn}"
        twice += env.agent_selection == before
        before = env.agent_selection
        legal = [move.action for move in env.game.legal_moves]
        for agent in env.agents:
            mask = env.observe(agent)["action_mask"]
            assert np.flatnonzero(mask).tolist() == (legal if agent == env.agent_selection else [])
        env.step(int(rng.choice(legal)))
    assert twice > 0
    assert all(env.terminations.values())
    outcome = env.game.outcome()
    assert outcome is not None
    expected = {f"player_{seat}": 1 if seat in outcome.seats else -1 for seat in range(4)}
    assert env.rewards == expected


def test_max_hands_truncates() -> None:
    env = fiveup_env.raw_env(max_hands=2)
    env.reset(seed=2)
    while not any(env.truncations.values()):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert env.game.hand_number == 2


def test_without_a_seed_the_stream_goes_on() -> None:
    env, stream = fiveup_env.raw_env(), Stream(10)
    for _ in range(2):
        env.reset(seed=10)
        assert env.game.state().tobytes() == Game(seed=10).state().tobytes()
        env.reset()
        assert env.game.state().tobytes() == Game(seed=Stream(10).next()).state().tobytes()
    env.reset()
    assert [stream.next(), stream.next()][1] == env.game.seed


def test_the_state_is_the_whole_truth() -> None:
    env = fiveup_env.raw_env(players=3)
    env.reset(seed=4)
    for _ in range(10):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    state = env.state()
    assert env.state_space.contains(state)
    hands = state[-28 * 6 : -28].reshape(5, 28)
    for seat in range(3):
        assert np.flatnonzero(hands[seat]).tolist() == [t.id for t in env.game.hand_of(seat)]
    order = env.game.state()["order"][0]
    public = env.game.state()["public"][0]
    left = order[public["drawn"] : public["boneyard"]].tolist()
    places = state[-28:]
    assert [int(np.flatnonzero(places == 1 + k)[0]) for k in range(len(left))] == left


def test_a_step_after_the_episode_is_refused() -> None:
    env = fiveup_env.raw_env(players=2, episode="hand")
    env.reset(seed=1)
    play_on(env, np.random.default_rng(0))
    with pytest.raises(GameOverError, match=r"call reset\(\)"):
        env.step(3)


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (EncoderError, "no encoder 'flatt'.*did you mean 'flat'.*tokens", {"encoder": "flatt"}),
        (EncoderError, "hidden tiles are never an observation", {"encoder": "oracle"}),
        (OptionError, "no render mode 'rgb'.*rgb_array", {"render_mode": "rgb"}),
        (OptionError, "error, terminate", {"illegal": "ignore"}),
        (OptionError, "max_hands must be", {"max_hands": -1}),
    ],
)
def test_bad_options_list_what_there_is(error: Any, match: str, options: dict[str, Any]) -> None:
    with pytest.raises(error, match=match):
        fiveup_env.env(**options)


def test_render_without_a_mode_says_which_there_are() -> None:
    env = fiveup_env.env()
    env.reset(seed=1)
    with pytest.raises(OptionError, match="ansi, human, rgb_array, rgb_array_list, svg"):
        env.render()


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        ("points", [[2, 0, 2, 0], [0, 0, 0, 0], [2, 0, 2, 0], [0, 1, 0, 1]]),
        ("margin", [[2, -2, 2, -2], [0, 0, 0, 0], [2, -2, 2, -2], [-1, 1, -1, 1]]),
        ("win", [[0, 0, 0, 0]] * 4),
    ],
)
def test_the_worked_example_of_the_page_on_rewards(reward: Any, expected: list[list[int]]) -> None:
    env = fiveup_env.raw_env(hand_size=2, reward=reward)
    env.reset(seed=0)
    given = game_of("6-4 1-0", "5-4 1-1", "6-5 2-2", "5-0 2-1")
    env._games[:] = given.state()
    env.agent_selection = "player_0"
    for text, rewards in zip(["6-4", "5-4@4", "6-5@6", "5-0@5"], expected, strict=True):
        env.step(Move.parse(text).action)
        assert list(env.rewards.values()) == rewards
    assert env.agent_selection == "player_0"
    assert env.last()[1] == sum(rewards[0] for rewards in expected)


def test_last_gives_an_agent_the_sum_since_its_own_last_move() -> None:
    env, rng = fiveup_env.raw_env(players=3, reward="points"), np.random.default_rng(1)
    env.reset(seed=1)
    since = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(3_000):
        observation, reward, termination, truncation, _ = env.last()
        assert reward == since[agent]
        if termination or truncation:
            env.step(None)
            continue
        since[agent] = 0
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        for name, brought in env.rewards.items():
            since[name] += brought


def test_pettingzoos_render_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(fiveup_env.raw_env.metadata, "render_fps", 1000)
    is_svg = {"svg": lambda picture: picture.startswith("<svg")}
    render_test(
        partial(fiveup_env.env, players=5, hand_size=2, episode="hand"), custom_tests=is_svg
    )
