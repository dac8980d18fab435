"""What every interface says of the end of an episode, safe masks there, and rewards of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from torch.distributions import Categorical

import fiveup_env
from fiveup_env import Batch, Game, Move
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import FiveUpError, IllegalMoveError, OptionError
from fiveup_env.rules.actions import PASS

HAND: dict[str, Any] = {"players": 2, "episode": "hand"}


def play_aec(env: Any) -> None:
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


# --- How episodes end


def test_every_agent_is_told_who_won_the_game() -> None:
    env = fiveup_env.raw_env(players=3)
    env.reset(seed=2)
    assert env.infos == {name: {} for name in env.possible_agents}
    play_aec(env)
    outcome = env.game.outcome()
    assert outcome is not None
    for info in env.infos.values():
        assert info["winner"] == outcome.winner
        assert tuple(info["scores"]) == outcome.scores
        assert info["ended"] == outcome.ended


def test_a_hand_is_won_by_the_side_with_more_points() -> None:
    winners = set()
    for seed in range(40):
        env = fiveup_env.raw_env(**HAND)
        env.reset(seed=seed)
        play_aec(env)
        info, end = env.infos["player_0"], env.game.last_hand()
        assert end is not None
        assert tuple(info["scores"]) == end.scores
        assert info["ended"] == end.ended
        first, second = end.scores
        assert info["winner"] == (-1 if first == second else int(second > first))
        winners.add(info["winner"])
    assert {0, 1} <= winners


def test_nobody_wins_what_is_cut_off_or_forfeited() -> None:
    env = fiveup_env.raw_env(players=2, max_hands=1)
    env.reset(seed=1)
    play_aec(env)
    assert env.infos["player_1"]["winner"] == -1
    assert env.infos["player_1"]["ended"] in {"domino", "blocked"}
    env = fiveup_env.raw_env(players=2, illegal="terminate")
    env.reset(seed=1)
    env.step(PASS)
    assert env.infos["player_0"]["winner"] == -1
    assert env.infos["player_0"]["ended"] == "illegal"


def test_one_learner_is_told_the_same() -> None:
    env = FiveUpEnv(seat=0, opponents="greedy", **HAND)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            assert "winner" not in info
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        end = env.game.last_hand()
        assert end is not None
        assert (tuple(info["scores"]), info["ended"]) == (end.scores, end.ended)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_the_vector_environment_says_what_gymnasiums_own_does(mode: Any) -> None:
    def lowest(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        del rng
        return first_legal(views)

    options: dict[str, Any] = {"opponents": lowest, "seat": 0, **HAND}
    many = FiveUpVectorEnv(3, autoreset_mode=mode, **options)
    one = [FiveUpEnv(**options) for _ in range(3)]
    _, infos = many.reset(options={"deals": [4, 5, 6]})
    told = [env.reset(options={"deal": deal})[1] for env, deal in zip(one, (4, 5, 6), strict=True)]
    over = np.zeros(3, np.bool_)
    while not over.all():
        masks = infos["action_mask"]
        for k in np.flatnonzero(~over):
            assert (masks[k] == told[k]["action_mask"]).all()
        actions = masks.argmax(1)
        _, _, terminated, _, infos = many.step(actions)
        final = infos.get("final_info", infos) if mode == "SameStep" else infos
        for k in np.flatnonzero(~over):
            _, _, ended, _, told[k] = one[k].step(int(actions[k]))
            assert terminated[k] == ended
            if ended:
                assert final["_winner"][k]
                assert final["winner"][k] == told[k]["winner"]
                assert (final["scores"][k] == told[k]["scores"]).all()
                assert final["ended"][k] == told[k]["ended"]
        over |= terminated
        if mode == "Disabled" and terminated.any() and not over.all():
            _, infos = many.reset(options={"reset_mask": terminated})


def first_legal(views: np.ndarray) -> np.ndarray:
    """Return the lowest legal action of each view."""
    from fiveup_env.engine.view import mark_legal_in

    masks = np.zeros((len(views), 121), np.int8)
    mark_legal_in(views, masks)
    return masks.argmax(1)


def test_stable_baselines_infos_say_who_won() -> None:
    env, seen = FiveUpVecEnv(8, seed=1, **HAND), 0
    env.reset()
    for _ in range(12):
        _, _, over, infos = env.step(env.action_masks().argmax(1))
        for game in np.flatnonzero(over):
            info = infos[game]
            first, second = info["scores"]
            assert info["winner"] == (-1 if first == second else int(second > first))
            assert info["ended"] in {"domino", "blocked", "target"}
            seen += 1
    assert seen > 5


def test_a_batch_says_who_won_the_last_episodes() -> None:
    batch = Batch(64, seed=1, **HAND)
    batch.reset()
    while not batch.terminated.any():
        batch.step(batch.action_mask.argmax(1))
    over = np.flatnonzero(batch.terminated)
    results = batch.final_results_of(over)
    assert results.scores.shape == (len(over), 2)
    expected = np.sign(results.scores[:, 1] - results.scores[:, 0])
    assert (results.winner == np.where(expected == 0, -1, expected > 0)).all()


# --- Masks where an episode is over


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_the_mask_of_a_finished_game_allows_the_pass_alone(mode: Any) -> None:
    envs = FiveUpVectorEnv(16, autoreset_mode=mode, seed=1, **HAND)
    _, infos = envs.reset()
    over = np.zeros(16, np.bool_)
    while not over.any():
        _, _, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(1))
        over = terminated | truncated
    masks = infos["action_mask"]
    assert all(np.flatnonzero(mask).tolist() == [PASS] for mask in masks[over])
    assert (envs.action_masks() == masks.astype(np.bool_)).all()
    logits = torch.zeros(16, 121).masked_fill(torch.from_numpy(masks) == 0, -torch.inf)
    policy = Categorical(logits=logits)
    assert (policy.sample().numpy()[over] == PASS).all()
    assert (policy.entropy().numpy()[over] == 0).all()


def test_so_does_that_of_one_environment_and_of_many_side_by_side() -> None:
    envs = SyncVectorEnv([lambda: FiveUpEnv(**HAND) for _ in range(4)])
    _, infos = envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        masks = infos["action_mask"]
        infos = envs.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))[-1]


# --- Illegal actions


@pytest.mark.parametrize("kind", ["aec", "single", "vector", "batch"])
def test_the_error_of_an_illegal_action_names_what_would_terminate(kind: str) -> None:
    wanted = r'allowed: .*; with illegal="terminate" it would end the episode instead'
    if kind == "batch":
        batch = Batch(2, seed=1)
        batch.reset()
        with pytest.raises(IllegalMoveError, match=wanted):
            batch.step(np.full(2, PASS))
        return
    makers: dict[str, Any] = {"aec": fiveup_env.env, "single": FiveUpEnv, "vector": FiveUpVectorEnv}
    env = makers[kind]()
    env.reset(seed=1)
    with pytest.raises(IllegalMoveError, match=wanted):
        env.step(np.full(256, PASS) if kind == "vector" else PASS)


# --- Rewards of one's own


def tiles_played(before: Game, move: Move, after: Game) -> list[float]:
    """Return what a play changed in the number of tiles of every hand."""
    assert after.peek() == move
    assert len(after.moves) == len(before.moves) + 1
    assert after.is_game_over() or before.turn is not None
    return [float(before.turn == seat) for seat in range(before.rules.players)]


def test_a_reward_function_is_called_for_every_move_and_rewards_every_seat() -> None:
    env = fiveup_env.raw_env(reward=tiles_played, **HAND)
    env.reset(seed=5)
    moves = 0
    total = dict.fromkeys(env.possible_agents, 0.0)
    while not any(env.terminations.values()):
        mover = env.agent_selection
        env.step(int(env.observe(mover)["action_mask"].argmax()))
        assert env.rewards == {name: float(name == mover) for name in env.possible_agents}
        moves += 1
        for name, reward in env.rewards.items():
            total[name] += reward
    assert sum(total.values()) == moves


def test_a_learner_gets_what_all_moves_bring_its_seat() -> None:
    def moves_of_all(before: Game, move: Move, after: Game) -> np.ndarray:
        del before, move, after
        return np.ones(4)

    env = FiveUpEnv(reward=moves_of_all, episode="hand")
    _, info = env.reset(seed=5)
    total, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"].argmax()))
        total += reward
    assert total == len(env.game.moves)


def test_a_reward_function_cannot_change_the_game() -> None:
    def spoil(before: Game, move: Move, after: Game) -> list[float]:
        del move
        for game in (before, after):
            while game.moves:
                game.pop()
        return [0.0, 0.0]

    env = fiveup_env.raw_env(reward=spoil, **HAND)
    env.reset(seed=5)
    play_aec(env)
    assert env.game.moves


class Answers:
    """A reward function that returns what it is told to."""

    def __init__(self) -> None:
        self.rewards: Any = [0.0, 0.0]

    def __call__(self, *_move: object) -> Any:
        """Return the rewards."""
        return self.rewards


@pytest.mark.parametrize("wrong", [1.0, [1.0], [1.0, np.nan], [1e300, 0.0], ["a", "b"], None])
def test_a_reward_that_is_refused_leaves_everything_as_it_was(wrong: Any) -> None:
    env, twin = (fiveup_env.raw_env(reward=answers, **HAND) for answers in (Answers(), Answers()))
    for one in (env, twin):
        one.reset(seed=5)
    while not any(twin.terminations.values()):
        state, env._reward.rewards = env.state(), wrong  # type: ignore[union-attr]
        action = int(env.observe(env.agent_selection)["action_mask"].argmax())
        with pytest.raises(OptionError, match="must be 2 numbers that float32 holds, one for each"):
            env.step(action)
        assert (env.state() == state).all()
        env._reward.rewards = [1.0, 2.0]  # type: ignore[union-attr]
        for one in (env, twin):
            one.step(action)
        assert env.game == twin.game
        assert env.agent_selection == twin.agent_selection
        assert env.rewards == {"player_0": 1, "player_1": 2}


@pytest.mark.parametrize("kind", [FiveUpEnv, FiveUpVectorEnv])
def test_a_reset_that_is_refused_changes_nothing(kind: Any) -> None:
    many: dict[str, Any] = {"num_envs": 4} if kind is FiveUpVectorEnv else {}
    env, twin = kind(players=3, **many), kind(players=3, **many)
    for one in (env, twin):
        one.reset(seed=4)
    for name, wrong in {"deal": -1, "deals": [-1] * 4}.items():
        with pytest.raises(FiveUpError):
            env.reset(seed=9, options={name: wrong})
    for _ in range(3):
        actions = twin.action_masks().argmax(-1)
        assert (env.step(actions)[0] == twin.step(actions)[0]).all()


@pytest.mark.parametrize("kind", ["batch", "vector", "vec_env", "openspiel"])
def test_other_interfaces_refuse_a_reward_function(kind: str) -> None:
    makers: dict[str, Any] = {
        "batch": Batch,
        "vector": FiveUpVectorEnv,
        "vec_env": FiveUpVecEnv,
    }
    if kind == "openspiel":
        pytest.importorskip("pyspiel", reason="rewards in OpenSpiel (no OpenSpiel)")
        from fiveup_env.doors.openspiel import load

        makers["openspiel"] = load
    make = makers[kind]
    with pytest.raises(OptionError, match="a function is taken by env, raw_env and FiveUpEnv"):
        make(reward=tiles_played)


# --- Seeds


@pytest.mark.parametrize("kind", ["batch", "vector", "vec_env", "aec", "single"])
def test_none_is_a_random_seed_in_every_interface(kind: str) -> None:
    def deals() -> list[int]:
        if kind in {"batch", "vector", "vec_env"}:
            made: Any = {"batch": Batch, "vector": FiveUpVectorEnv, "vec_env": FiveUpVecEnv}[kind]
            envs = made(4)
            envs.reset()
            batch = envs if kind == "batch" else envs.batch
            return list(batch.states["seed"].tolist())
        env: Any = fiveup_env.raw_env() if kind == "aec" else FiveUpEnv()
        env.reset()
        return [env.game.seed]

    assert not set(deals()) & set(deals())
