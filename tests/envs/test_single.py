"""The Gymnasium environment: a step returns all rewards up to the learner's next turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from fiveup_env.encoders.flat import Flat
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import AgentError, IllegalMoveError, OptionError, SeatError, WrongMomentError
from fiveup_env.rules.actions import PASS
from tests.support import EVERY_PRESET, label

if TYPE_CHECKING:
    from fiveup_env import Rules

SMALL: dict[str, Any] = {"players": 2, "max_pip": 3, "hand_size": 3, "episode": "hand"}


def make(**options: Any) -> FiveUpEnv:
    env = gymnasium.make("fiveup/FiveUp-v0", **options).unwrapped
    assert isinstance(env, FiveUpEnv)
    return env


@pytest.mark.parametrize("rules", EVERY_PRESET[::4], ids=label)
def test_gymnasiums_and_stable_baselines_checkers(rules: Rules) -> None:
    env = FiveUpEnv(rules, illegal="terminate")
    check_env(env, skip_render_check=True)
    check_env_for_sb3(env, skip_render_check=True)


def test_sb3_contribs_evaluation_runs_without_a_warning() -> None:
    env = Monitor(FiveUpEnv(players=3, episode="hand"))
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu", seed=1)
    many = VecMonitor(FiveUpVecEnv(4, players=3, episode="hand", seed=0))
    for games in (env, many):
        won, lengths = evaluate_policy(model, games, 8, return_episode_rewards=True)
        assert isinstance(won, list)
        assert isinstance(lengths, list)
        assert len(won) == len(lengths) == 8


@pytest.mark.parametrize(("players", "seat"), [(2, 1), (4, None)])
def test_the_rewards_of_an_episode_are_all_that_the_learner_won(players: int, seat: Any) -> None:
    env, rng = make(players=players, seat=seat, reward="points"), np.random.default_rng(0)
    for seed in range(2):
        _, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, over, _, info = env.step(action)
            total += reward
        assert total == env.game.scores[env.rules.side_of(env.seat)]


def test_the_side_that_loses_receives_its_loss_in_its_last_step() -> None:
    env, rng = make(players=2, seat=0, target=20), np.random.default_rng(0)
    results = []
    for seed in range(12):
        _, info = env.reset(seed=seed)
        over, reward = False, 0.0
        while not over:
            assert reward == 0
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            _, reward, over, _, info = env.step(action)
        outcome = env.game.outcome()
        assert outcome is not None
        results.append((outcome.winner, reward))
    assert set(results) == {(0, 1.0), (1, -1.0)}


def test_the_seat_is_drawn_for_each_episode_unless_it_is_fixed() -> None:
    env = make(players=4)
    seats = set()
    for seed in range(40):
        env.reset(seed=seed)
        seats.add(env.seat)
    assert seats == {0, 1, 2, 3}
    env = make(players=4, seat=2)
    env.reset(seed=0)
    assert env.seat == 2


def test_a_seed_fixes_the_deal_the_seat_and_the_opponents() -> None:
    played = []
    for _ in range(2):
        env = make(players=3)
        observation, info = env.reset(seed=9)
        seen = [observation.tobytes(), env.seat]
        for _ in range(30):
            observation, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
            seen += [observation.tobytes(), reward]
            if over:
                break
        played.append(seen)
    assert played[0] == played[1]


def test_an_opponent_that_chooses_wrongly_is_named_and_the_game_has_to_be_reset() -> None:
    misbehaves = False

    def opponent(views: np.ndarray, rng: Any) -> np.ndarray:
        del rng
        return np.array([120]) if misbehaves else legal_masks(views).argmax(1)

    env = FiveUpEnv(players=2, opponents=opponent, illegal="terminate", seat=0)
    _, info = env.reset(seed=1)
    misbehaves = True
    with pytest.raises(
        IllegalMoveError, match=r"opponent player_1: action 120 \(pass\) .* allowed: \d"
    ):
        env.step(int(info["action_mask"].argmax()))
    with pytest.raises(WrongMomentError, match="reset"):
        env.step(120)
    misbehaves = False
    _, info = env.reset(seed=1)
    env.step(int(info["action_mask"].argmax()))


@pytest.mark.parametrize("kind", [FiveUpEnv, FiveUpVectorEnv])
def test_only_what_a_learner_observes_is_encoded(kind: Any) -> None:
    rows = 0

    class Counting(Flat):
        """Counts the rows that it writes."""

        name = "counting"

        def encode(self, views: np.ndarray, rows_out: np.ndarray) -> None:
            """Write a row for each view."""
            nonlocal rows
            rows += len(views)
            super().encode(views, rows_out)

    many: dict[str, Any] = {"num_envs": 3} if kind is FiveUpVectorEnv else {}
    env = kind(encoder=Counting(), opponents="greedy", players=4, **many)
    env.reset(seed=1)
    for _ in range(4):
        rows = 0
        env.step(env.action_masks().argmax(-1))
        assert rows == many.get("num_envs", 1)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_masks_in_observations_are_those_of_the_infos(mode: Any) -> None:
    options: dict[str, Any] = {"autoreset_mode": mode, "seed": 1, **SMALL}
    envs, masked = (
        FiveUpVectorEnv(20, **options),
        FiveUpVectorEnv(20, mask="observation", **options),
    )
    rows, infos = envs.reset()
    observations, others = masked.reset()
    ended = 0
    for _ in range(20):
        assert set(infos) - set(others) == {"action_mask", "_action_mask"}
        assert masked.observation_space.contains(observations)
        assert (observations["observation"] == rows).all()
        assert (observations["action_mask"] == infos["action_mask"]).all()
        rows, _, terminated, _, infos = envs.step(envs.action_masks().argmax(1))
        observations, _, _, _, others = masked.step(observations["action_mask"].argmax(1))
        for game in np.flatnonzero(terminated):
            ended += 1
            if mode == "SameStep":
                assert masked.single_observation_space.contains(final := others["final_obs"][game])
                assert (final["observation"] == infos["final_obs"][game]).all()
                assert np.flatnonzero(final["action_mask"]).tolist() == [PASS]
        if mode == "Disabled" and terminated.any():
            rows, infos = envs.reset(options={"reset_mask": terminated})
            observations, others = masked.reset(options={"reset_mask": terminated})
    assert ended > 20


def test_checkers_and_masks_of_one_game_with_masks_in_observations() -> None:
    check_env(FiveUpEnv(mask="observation", illegal="terminate"), skip_render_check=True)
    env, masked = (make(mask=place, **SMALL) for place in ("info", "observation"))
    row, info = env.reset(seed=3)
    observation, _ = masked.reset(seed=3)
    over, end = False, dict[str, Any]()
    while not over:
        assert (observation["observation"] == row).all()
        assert (observation["action_mask"] == info["action_mask"]).all()
        action = int(info["action_mask"].argmax())
        row, _, over, _, info = env.step(action)
        observation, _, _, _, end = masked.step(action)
    assert np.flatnonzero(observation["action_mask"]).tolist() == [PASS]
    assert set(end) == {"winner", "scores", "ended"}


def test_bad_input() -> None:
    with pytest.raises(SeatError, match="seat must be from 0 to 2, not 3"):
        make(players=3, seat=3)
    with pytest.raises(AgentError, match=r"no agent 'randon'.*did you mean 'random'"):
        make(opponents="randon")
    with pytest.raises(OptionError, match=r"no value of mask 'info_'.*did you mean 'info'"):
        make(mask="info_")
    with pytest.raises(OptionError, match="no option 'mask': MaskablePPO asks"):
        FiveUpVecEnv(2, mask="observation")  # type: ignore[call-arg]
    env = make(players=2, episode="hand")
    with pytest.raises(WrongMomentError, match="call reset"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError, match=r"allowed: \d+ \("):
        env.step(120)
