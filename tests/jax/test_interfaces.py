"""The interfaces of JaxMARL and gymnax; each is tested where its package is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import AgentError, OptionError, SeatError
from fiveup_env.jax import FiveUp
from fiveup_env.rules.actions import PASS

SEED = 11


def lowest(game_or_mask: Any) -> Any:
    """The legal action with the lowest number."""
    return jnp.argmax(game_or_mask, -1)


def test_in_jaxmarl_the_action_of_the_seat_to_move_counts() -> None:
    pytest.importorskip("jaxmarl", reason="the interface of JaxMARL (no JaxMARL)")
    from fiveup_env.jax.jaxmarl import FiveUp as FiveUpMARL

    env = FiveUpMARL(players=3, episode="hand", reward="margin")
    ours = FiveUp(players=3, episode="hand", reward="margin", restart=True)
    key = jax.random.key(SEED)
    rows, state = env.reset(key)
    expected = ours.init(key)
    step, our_step, key = jax.jit(env.step), jax.jit(ours.step), jax.random.key(0)
    our_row, ends = jax.jit(ours.observe), 0
    for _ in range(60):
        masks = env.get_avail_actions(state)
        mover = f"agent_{state.current_player}"
        assert all(masks[a].sum() == masks[a][PASS] == 1 for a in env.agents if a != mover)
        actions = {agent: lowest(mask) for agent, mask in masks.items()}
        rows, state, rewards, dones, infos = step(key, state, actions)
        expected = our_step(expected, lowest(expected.legal_action_mask))
        assert jnp.array([*rewards.values()]).tolist() == expected.rewards.tolist()
        assert dones["__all__"] == expected.terminated
        assert not infos["truncated"]
        for seat, agent in enumerate(env.agents):
            assert (rows[agent] == our_row(expected, seat)).all()
            assert env.observation_space(agent).shape == rows[agent].shape
        ends += int(dones["__all__"])
    assert ends > 1


def test_in_jaxmarl_a_state_to_reset_to_follows_an_end() -> None:
    pytest.importorskip("jaxmarl", reason="the interface of JaxMARL (no JaxMARL)")
    from fiveup_env.jax.jaxmarl import FiveUp as FiveUpMARL

    env = FiveUpMARL(players=2, episode="hand")
    _, first = env.reset(jax.random.key(SEED))
    state, key = first, jax.random.key(0)
    step = jax.jit(env.step)
    while True:
        actions = {a: lowest(mask) for a, mask in env.get_avail_actions(state).items()}
        _, state, _, dones, _ = step(key, state, actions, first)
        if dones["__all__"]:
            break
    assert (state.observation == first.observation).all()


@pytest.mark.parametrize("hand_size", [1, 5])
def test_gymnax_steps_as_our_vector_environment_does(
    hand_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gymnax", reason="the interface of gymnax (no gymnax)")
    from fiveup_env.jax.gymnax import FiveUp as FiveUpGymnax

    options: Any = {"players": 4, "episode": "hand", "reward": "margin", "hand_size": hand_size}

    def lowest_of_views(views: np.ndarray, _: object) -> np.ndarray:
        from fiveup_env import legal_masks

        return legal_masks(views).argmax(1)

    def lowest_of_game(game: Any, _: Any) -> Any:
        from fiveup_env.jax import legal

        return lowest(legal(env._env._values, game))

    env = FiveUpGymnax(seat=0, opponent=lowest_of_game, **options)
    ours = FiveUpVectorEnv(
        1, opponents=lowest_of_views, seat=0, autoreset_mode="SameStep", **options
    )
    expected, known = ours.reset(seed=SEED)
    monkeypatch.setattr(env._env, "init", env._env.init_stream)  # as a batch begins
    row, state = env.reset(jax.random.key(SEED))
    key, ends = jax.random.key(0), 0
    for _ in range(60):
        assert (row == expected[0]).all()
        action = int(known["action_mask"][0].argmax())
        row, state, reward, terminated, truncated, info = env.step(key, state, action)
        expected, rewards, ended, cut_off, known = ours.step(np.array([action]))
        assert (reward, terminated, truncated) == (rewards[0], ended[0], cut_off[0])
        assert info["terminated"] == terminated
        assert (info["legal_action_mask"] == (known["action_mask"][0] > 0)).all()
        ends += int(terminated)
        if terminated:
            assert (info["final_observation"] == known["final_obs"][0]).all()
    assert ends > 5


def test_what_gymnax_cannot_play_is_refused() -> None:
    pytest.importorskip("gymnax", reason="the interface of gymnax (no gymnax)")
    from fiveup_env.jax.gymnax import FiveUp as FiveUpGymnax

    with pytest.raises(SeatError, match="from 0 to 3, not 4"):
        FiveUpGymnax(players=4, seat=4)
    with pytest.raises(AgentError, match="rung"):
        FiveUpGymnax(opponent="best")
    wrong: Any = {"handsize": 5}
    with pytest.raises((OptionError, TypeError), match="handsize"):
        FiveUpGymnax(**wrong)
