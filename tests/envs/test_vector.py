"""The Gymnasium vector environment: modes of resetting, final observations, rewards, illegal moves."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from fiveup_env.encoders import piece_of
from fiveup_env.engine.view import legal_masks
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import IllegalMoveError, OptionError, SeatError, WrongMomentError
from fiveup_env.rules.actions import PASS

SMALL: dict[str, Any] = {"players": 2, "max_pip": 3, "hand_size": 3, "episode": "hand"}
MODES = ["NextStep", "SameStep", "Disabled"]


def legal(infos: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Return a random legal action for every game, 0 where none is."""
    masks = infos["action_mask"]
    return (rng.random(masks.shape) * masks).argmax(1)


def test_gymnasium_makes_it() -> None:
    envs = gymnasium.make_vec("fiveup/FiveUp-v0", num_envs=5, opponents="greedy", players=3)
    assert isinstance(envs.unwrapped, FiveUpVectorEnv)
    assert envs.num_envs == 5
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    observations, infos = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert infos["action_mask"].shape == (5, 121)
    assert (envs.unwrapped.action_masks() == infos["action_mask"].astype(bool)).all()
    entry_point = gymnasium.make_vec(
        "fiveup/FiveUp-v0", num_envs=2, vectorization_mode="vector_entry_point"
    )
    assert isinstance(entry_point.unwrapped, FiveUpVectorEnv)
    side_by_side = gymnasium.make_vec("fiveup/FiveUp-v0", num_envs=2, vectorization_mode="sync")
    assert not isinstance(side_by_side.unwrapped, FiveUpVectorEnv)


@pytest.mark.parametrize("mode", MODES)
def test_every_step_keeps_gymnasiums_contract(mode: Any) -> None:
    envs = FiveUpVectorEnv(40, opponents="greedy", autoreset_mode=mode, seed=1, **SMALL)
    rng, ended = np.random.default_rng(0), 0
    observations, infos = envs.reset()
    over = np.zeros(40, np.bool_)
    for _ in range(60):
        before = over
        observations, rewards, terminated, truncated, infos = envs.step(legal(infos, rng))
        assert envs.observation_space.contains(observations)
        assert rewards.shape == terminated.shape == truncated.shape == (40,)
        over = terminated | truncated
        ended += int(over.sum())
        turn = piece_of(envs.batch.encoder, "turn", observations)
        waits = over if mode != "SameStep" else np.zeros(40, np.bool_)
        assert (turn[~waits, 0] == 1).all()
        assert not turn[waits].any()
        assert (infos["action_mask"][waits].argmax(1) == PASS).all()
        assert (infos["action_mask"].sum(1) > 0).all()
        if mode == "NextStep":
            assert not over[before].any()
            assert not rewards[before].any()
        if mode == "SameStep" and over.any():
            assert (infos["_final_obs"] == over).all()
            assert all((infos["final_obs"][i] is not None) == over[i] for i in range(40))
        if mode == "Disabled" and over.any():
            with pytest.raises(WrongMomentError, match="reset_mask"):
                envs.step(np.zeros(40, np.int64))
            observations, infos = envs.reset(options={"reset_mask": over})
            over = np.zeros(40, np.bool_)
    assert ended > 100


def test_the_rewards_of_episodes_add_up_by_gymnasiums_own_statistics() -> None:
    envs: VectorEnv = RecordEpisodeStatistics(
        FiveUpVectorEnv(
            30, opponents="greedy", reward="win", autoreset_mode="SameStep", **SMALL, seed=0
        )
    )
    rng, returns = np.random.default_rng(0), list[float]()
    _, infos = envs.reset(seed=2)
    for _ in range(40):
        _, _, terminated, _, infos = envs.step(legal(infos, rng))
        if terminated.any():
            returns += infos["episode"]["r"][terminated].tolist()
    assert set(returns) == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("action", [119, 121, -1, 10**12])
def test_an_illegal_action_ends_its_own_game_alone_where_it_terminates(action: int) -> None:
    envs = FiveUpVectorEnv(
        6, players=2, illegal="terminate", illegal_reward=-3, autoreset_mode="SameStep", seed=1
    )
    _, infos = envs.reset()
    actions = infos["action_mask"].argmax(1)
    actions[2] = action
    _, rewards, terminated, _, infos = envs.step(actions)
    assert terminated.tolist() == [False, False, True, False, False, False]
    assert rewards.tolist() == [0, 0, -3, 0, 0, 0]
    assert infos["action_mask"].any(1).all()


def test_an_illegal_action_is_refused_and_nothing_is_lost() -> None:
    envs = FiveUpVectorEnv(6, players=3, seat=2, reward="margin", seed=1)
    _, infos = envs.reset()
    before = envs.save()
    actions = infos["action_mask"].argmax(1)
    wrong = actions.copy()
    wrong[3] = 120
    with pytest.raises(IllegalMoveError, match="game 3, seat 2: action 120"):
        envs.step(wrong)
    assert envs.save() == before
    twin = pickle.loads(pickle.dumps(envs))
    assert (envs.step(actions)[1] == twin.step(actions)[1]).all()


@pytest.mark.parametrize("illegal", ["error", "terminate"])
@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        (120, "an opponent chose wrongly: game 0, seat 1: action 120"),
        (2.0, "an opponent chose wrongly: actions must be 4 integers"),
    ],
)
def test_an_opponent_that_chooses_wrongly_is_named_and_the_games_have_to_be_reset(
    chosen: Any, match: str, illegal: Any
) -> None:
    misbehaves = False

    def opponent(views: np.ndarray, rng: Any) -> np.ndarray:
        del rng
        return np.array([chosen] * len(views)) if misbehaves else legal_masks(views).argmax(1)

    envs = FiveUpVectorEnv(4, players=2, opponents=opponent, illegal=illegal, seed=1, seat=0)
    _, infos = envs.reset()
    misbehaves = True
    with pytest.raises(IllegalMoveError, match=match):
        envs.step(infos["action_mask"].argmax(1))
    with pytest.raises(WrongMomentError, match="reset"):
        envs.step(infos["action_mask"].argmax(1))
    misbehaves = False
    _, infos = envs.reset()
    envs.step(infos["action_mask"].argmax(1))


def test_copies_and_saved_states_play_on_alike() -> None:
    envs, rng = FiveUpVectorEnv(12, players=3, opponents="random", seed=0), np.random.default_rng(0)
    _, infos = envs.reset(seed=3)
    for _ in range(10):
        infos = envs.step(legal(infos, rng))[4]
    loaded = FiveUpVectorEnv(12, players=3, opponents="random", seed=0)
    loaded.load(envs.save())
    twins = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs)), loaded]
    for _ in range(30):
        actions = legal(infos, rng)
        wanted = envs.step(actions)
        infos = wanted[4]
        for twin in twins:
            for left, right in zip(twin.step(actions)[:4], wanted[:4], strict=True):
                assert (left == right).all()


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (OptionError, "did you mean 'opponents'", {"opponent": "greedy"}),
        (OptionError, "no autoreset_mode 'nextstep'.*NextStep", {"autoreset_mode": "nextstep"}),
        (OptionError, "needs 1 to 16,777,216 games, not 0", {"num_envs": 0}),
        (OptionError, "cannot be rendered", {"render_mode": "ansi"}),
        (SeatError, "seat must be from 0 to 1 to exist", {"players": [2, 4], "seat": 2}),
        (OptionError, "no value of illegal 'pass'.*error, terminate", {"illegal": "pass"}),
    ],
)
def test_bad_options_are_refused(error: Any, match: str, options: dict[str, Any]) -> None:
    with pytest.raises(error, match=match):
        FiveUpVectorEnv(**{"num_envs": 2, **options})


def test_calls_at_the_wrong_moment_and_wrong_options_of_reset_are_refused() -> None:
    envs = FiveUpVectorEnv(3, seed=0)
    with pytest.raises(WrongMomentError, match="reset"):
        envs.step(np.zeros(3, np.int64))
    with pytest.raises(WrongMomentError, match="reset"):
        envs.reset(options={"reset_mask": np.ones(3, np.bool_)})
    envs.reset()
    for options, match in (
        ({"deal": 3}, "did you mean 'deals'"),
        ({"deals": [1, 2]}, "seeds must be 3 integers"),
        ({"reset_mask": np.zeros(3, np.bool_)}, "3 bool"),
        ({"reset_mask": [1, 0, 1]}, "3 bool"),
    ):
        with pytest.raises(OptionError, match=match):
            envs.reset(options=options)
    with pytest.raises(OptionError, match="3 integers"):
        envs.step(np.zeros(2, np.int64))
    with pytest.raises(OptionError, match="3 integers"):
        envs.step(np.zeros(3))
