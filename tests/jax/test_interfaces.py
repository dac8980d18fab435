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
from fiveup_env.jax import FiveUp, legal
from fiveup_env.rules.actions import PASS
from tests.support import lowest

SEED = 11


def test_in_jaxmarl_the_action_of_the_seat_to_move_counts_and_an_end_may_lead_to_a_given_state() -> (
    None
):
    pytest.importorskip("jaxmarl", reason="the interface of JaxMARL (no JaxMARL)")
    from fiveup_env.jax.jaxmarl import FiveUpMARL

    env = FiveUpMARL(players=3, episode="hand", reward="margin")
    ours = FiveUp(players=3, episode="hand", reward="margin", restart=True)
    key, seats = jax.random.key(SEED), jnp.arange(3)
    rows, first = env.reset(key)

    def compared(state: Any, actions: Any, expected: Any) -> Any:
        after = env.step(key, state, actions)
        _, reset, *_ = env.step(key, state, actions, first)
        expected = ours.step(expected, jnp.argmax(expected.legal_action_mask))
        return after, reset, expected, jax.vmap(ours.observe, (None, 0))(expected, seats)

    step, state, expected, ends = jax.jit(compared), first, ours.init(key), 0
    for _ in range(60):
        masks = env.get_avail_actions(state)
        mover = f"agent_{state.current_player}"
        assert all(masks[a].sum() == masks[a][PASS] == 1 for a in env.agents if a != mover)
        actions = {agent: jnp.argmax(mask) for agent, mask in masks.items()}
        (rows, state, rewards, dones, infos), reset, expected, expected_rows = step(
            state, actions, expected
        )
        assert jnp.array([*rewards.values()]).tolist() == expected.rewards.tolist()
        assert dones["__all__"] == expected.terminated
        assert not infos["truncated"]
        for agent, row in zip(env.agents, expected_rows, strict=True):
            assert (rows[agent] == row).all()
            assert env.observation_space(agent).shape == rows[agent].shape
        follows = first if dones["__all__"] else state
        assert (reset.observation == follows.observation).all()
        ends += int(dones["__all__"])
    assert ends > 1


@pytest.mark.parametrize("hand_size", [pytest.param(1, marks=pytest.mark.slow), 5])
def test_gymnax_steps_as_our_vector_environment_does(
    hand_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gymnax", reason="the interface of gymnax (no gymnax)")
    from fiveup_env.jax.gymnax import FiveUpGymnax

    options: Any = {"players": 4, "episode": "hand", "reward": "margin", "hand_size": hand_size}

    def lowest_of_game(game: Any, _: Any) -> Any:
        return jnp.argmax(legal(env._env._values, game))

    env = FiveUpGymnax(seat=0, opponent=lowest_of_game, **options)
    ours = FiveUpVectorEnv(1, opponents=lowest, seat=0, autoreset_mode="SameStep", **options)
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
    from fiveup_env.jax.gymnax import FiveUpGymnax

    with pytest.raises(SeatError, match="from 0 to 3, not 4"):
        FiveUpGymnax(players=4, seat=4)
    with pytest.raises(AgentError, match="rung"):
        FiveUpGymnax(opponent="best")
    wrong: Any = {"handsize": 5}
    with pytest.raises((OptionError, TypeError), match="handsize"):
        FiveUpGymnax(**wrong)
