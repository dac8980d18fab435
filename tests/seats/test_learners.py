"""What stock learners are given: the decisions of every seat, each with its own advantage."""

from __future__ import annotations

import runpy
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from pettingzoo.utils.wrappers import BaseWrapper

import fiveup_env
from fiveup_env import Game, make_agent
from fiveup_env.envs.batch import Batch
from fiveup_env.errors import IllegalMoveError, OptionError, WrongMomentError
from fiveup_env.seats import NOBODY
from tests.seats.games import PLAYERS, Course, advantages_of, course_of
from tests.support import ROOT

torch = pytest.importorskip("torch", reason="learners of all seats (no PyTorch)")
TICKS, CUT, GAMES = 60, 30, 3
GAMMA, LAMBDA = 0.9, 0.8


def batch(**changes: Any) -> Batch:
    options: Any = {"players": 3, "episode": "hand", "reward": "margin", "seed": 1}
    return Batch(8, **options | changes)


def names() -> np.ndarray:
    """Return a number for every tick and game."""
    return np.arange(TICKS * GAMES).reshape(TICKS, GAMES)


def masks_of(course: Course) -> np.ndarray:
    """Return masks that allow one action where nobody decides, and elsewhere two."""
    return np.stack([course.seats != NOBODY, np.ones((TICKS, GAMES), bool)], -1)


def movers_of(course: Course) -> np.ndarray:
    """Return who moved, also where nothing was decided."""
    return np.where(course.seats == NOBODY, 1, course.seats)


def is_as_seat_by_seat(course: Course, found: list[tuple[Any, Any]]) -> bool:
    """Whether two windows gave every decision once, by its name, with its advantage."""
    keys = [divmod(int(name), GAMES) for name, _ in found]
    wanted = advantages_of(course, GAMMA, LAMBDA, CUT)
    assert len(keys) == len(set(keys))
    gains = dict(zip(keys, (float(gain) for _, gain in found), strict=True))
    return gains.keys() == wanted.keys() and all(
        gains[key] == pytest.approx(wanted[key], rel=1e-5, abs=1e-4) for key in wanted
    )


# --- Stable-Baselines3


def sb3() -> Any:
    pytest.importorskip("sb3_contrib", reason="all seats in Stable-Baselines3 (no sb3-contrib)")
    from fiveup_env.seats import sb3

    return sb3


def step_of(course: Course, tick: int) -> Any:
    """Return the rewards of a step as games of all seats give them."""
    movers = movers_of(course)[tick]
    rewards = course.rewards[tick, range(GAMES), movers].view(sb3().MoversRewards)
    rewards.moved = sb3().Moved(movers, course.rewards[tick], course.ends[tick], course.cuts[tick])
    return rewards


def add(buffer: Any, course: Course, ticks: range, *, fresh: bool = False) -> None:
    """Begin a rollout and add steps, as MaskablePPO does."""
    buffer.reset()
    over = course.ends | course.cuts
    for tick in ticks:
        buffer.add(
            names()[tick].astype(np.float32)[:, None],
            np.zeros(GAMES),
            step_of(course, tick),
            np.full(GAMES, True) if fresh and tick == ticks[0] else over[tick - 1],
            torch.from_numpy(course.values[tick])[:, None],
            torch.zeros(GAMES),
            action_masks=masks_of(course)[tick],
        )


def fill(buffer: Any, course: Course, ticks: range, *, fresh: bool = False) -> list[Any]:
    """Fill a buffer; return the names and the advantages of what it yields."""
    add(buffer, course, ticks, fresh=fresh)
    buffer.compute_returns_and_advantage(last_values=None, dones=None)
    parts = list(buffer.get(16))
    assert all(len(part.observations) >= 8 for part in parts)
    gains = torch.cat([part.advantages for part in parts])
    targets = torch.cat([part.returns - part.old_values for part in parts])
    assert torch.allclose(gains, targets, atol=1e-4)
    return list(zip(torch.cat([part.observations for part in parts])[:, 0], gains, strict=True))


def buffer_of() -> Any:
    space = Box(0, 1e6, (1,)), Discrete(2)
    return sb3().SeatsRolloutBuffer(CUT, *space, "cpu", LAMBDA, GAMMA, GAMES)


@pytest.mark.parametrize("seed", range(5))
def test_the_buffer_gives_every_decision_once_with_the_advantage_of_its_seat(seed: int) -> None:
    course = course_of(np.random.default_rng(seed), TICKS, GAMES)
    buffer = buffer_of()
    found = fill(buffer, course, range(CUT)) + fill(buffer, course, range(CUT, TICKS))
    assert is_as_seat_by_seat(course, found)


def test_games_that_begin_anew_have_nothing_to_do_with_what_waits() -> None:
    course = course_of(np.random.default_rng(1), TICKS, GAMES)
    course.ends[CUT - 1], course.cuts[CUT - 1] = False, False
    buffer = buffer_of()
    found = fill(buffer, course, range(CUT))
    found += fill(buffer, course, range(CUT, TICKS), fresh=True)
    course.cuts[CUT - 1] = True
    assert is_as_seat_by_seat(course, found)


def test_a_rollout_that_was_stopped_leaves_nothing() -> None:
    course = course_of(np.random.default_rng(1), TICKS, GAMES)
    buffer = buffer_of()
    add(buffer, course, range(5, 15))
    found = fill(buffer, course, range(CUT)) + fill(buffer, course, range(CUT, TICKS))
    assert is_as_seat_by_seat(course, found)


def test_maskable_ppo_learns_all_seats_and_is_saved_loaded_and_played(tmp_path: Any) -> None:
    door = sb3()
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

    from fiveup_env.envs.sb3 import FiveUpVecEnv

    given: Any = {"rollout_buffer_class": door.SeatsRolloutBuffer, "n_steps": 24, "batch_size": 50}
    games = VecMonitor(door.SelfPlayVecEnv(batch(scaled=True)))
    model = MaskablePPO("MlpPolicy", games, policy_kwargs={"net_arch": [8]}, **given)
    model.learn(3 * 24 * 8)
    assert model.ep_info_buffer
    buffer = model.rollout_buffer
    assert 0.3 < len(buffer.actions) / (24 * 8) < 1
    assert (buffer.action_masks.sum(1) > 1).all()
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", env=door.SelfPlayVecEnv(batch(scaled=True)))
    again.learn(24 * 8)
    assert isinstance(again.rollout_buffer, door.SeatsRolloutBuffer)
    assert Game(players=3, seed=1).ask(make_agent(str(tmp_path / "model.zip")))
    for env in (VecNormalize(games), FiveUpVecEnv(8, players=2, scaled=True)):
        with pytest.raises(OptionError, match="those of SelfPlayVecEnv, in no wrapper that"):
            MaskablePPO("MlpPolicy", env, **given).learn(8)
    with pytest.raises(OptionError, match="n_steps=1 moves complete no two decisions"):
        MaskablePPO("MlpPolicy", games, **given | {"n_steps": 1}).learn(8)


def test_the_games_of_stable_baselines_are_those_of_the_batch() -> None:
    games, other = sb3().SelfPlayVecEnv(batch()), batch()
    games.seed(5)
    assert (games.reset() == (other.reset(5), other.observation)[1]).all()
    ended = 0
    for _ in range(60):
        actions, turn = other.action_mask.argmax(1), other.turn.copy()
        assert (games.action_masks() == other.action_mask).all()
        seen, rewards, over, infos = games.step(actions)
        other.step(actions)
        assert (seen == other.observation).all()
        assert (rewards == other.reward[range(8), turn]).all()
        for kept, now in zip(rewards.moved, (turn, other.reward, over, over & False), strict=True):
            assert (kept == now).all()
        assert (over == other.terminated).all()
        assert ["winner" in info for info in infos] == over.tolist()
        ended += over.sum()
    assert ended
    with pytest.raises(IllegalMoveError):
        games.step(games.action_masks().argmin(1))


# --- TorchRL


def torchrl() -> Any:
    pytest.importorskip("torchrl", reason="all seats in TorchRL (no TorchRL)")
    from fiveup_env.seats import torchrl

    return torchrl


def rollout_of(course: Course, ticks: slice, *, grouped: bool) -> Any:
    """Return ticks as a collector does: games, then time; rows are in the group, or are not."""
    from tensordict import TensorDict

    def tensor(array: np.ndarray) -> Any:
        return torch.from_numpy(array[ticks]).transpose(0, 1)

    shape, movers = tensor(course.seats).shape, movers_of(course)
    mask = torch.nn.functional.one_hot(tensor(movers), PLAYERS).bool()
    rows = {"name": tensor(names()), "state_value": tensor(course.values)[..., None]}
    rows["action_mask"] = tensor(masks_of(course))
    group = {"mask": mask}
    if grouped:  # what stands at other seats is nonsense
        for name in ("name", "action_mask"):
            row = rows.pop(name).unsqueeze(2)
            own = mask.reshape(*mask.shape, *[1] * (row.ndim - 3))
            group[name] = torch.where(own, row, torch.zeros_like(row))
    after = {"reward": tensor(course.rewards)[..., None]}
    ends = {"terminated": course.ends, "truncated": course.cuts}
    following = {name: tensor(array)[..., None] for name, array in ends.items()}
    following["seats"] = TensorDict(after, (*shape, PLAYERS))
    rows |= {"seats": TensorDict(group, (*shape, PLAYERS)), "next": TensorDict(following, shape)}
    return TensorDict(rows, shape, names=[None, "time"])


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_torchrls_decisions_are_all_there_once_with_their_seats_advantage(
    seed: int, grouped: bool
) -> None:
    course = course_of(np.random.default_rng(seed), TICKS, GAMES)
    course.ends[:] &= ~course.cuts
    advantages = torchrl().SeatsGAE(gamma=GAMMA, lmbda=LAMBDA, value_network=lambda given: given)
    found = []
    for ticks in (slice(0, CUT), slice(CUT, TICKS)):
        decisions = advantages(rollout_of(course, ticks, grouped=grouped))
        name = ("seats", "name") if grouped else "name"
        found += list(zip(decisions[name], decisions["advantage"][:, 0], strict=True))
        target = decisions["value_target"] - decisions["state_value"]
        assert torch.allclose(target, decisions["advantage"], atol=1e-4)
    assert is_as_seat_by_seat(course, found)
    with pytest.raises(OptionError, match="rollouts are of 3 games, not of 2"):
        advantages(rollout_of(course, slice(0, CUT), grouped=grouped)[:2])
    with pytest.raises(OptionError, match=r"a rollout of seats has \('seats', 'mask'\)"):
        advantages(rollout_of(course, slice(0, CUT), grouped=grouped).exclude("seats"))


def test_torchrls_games_are_those_of_the_batch() -> None:
    from tensordict.nn import TensorDictModule
    from torchrl.envs import ActionMask, Compose, StepCounter, TransformedEnv, check_env_specs

    door, other = torchrl(), batch()
    check_env_specs(TransformedEnv(door.SelfPlayEnv(batch()), ActionMask()))
    env = door.SelfPlayEnv(batch())
    env.set_seed(5)
    other.reset(5)
    first = TensorDictModule(lambda mask: mask.int().argmax(-1), ["action_mask"], ["action"])
    played = env.rollout(60, first, break_when_any_done=False)
    for tick in range(60):
        now = played[:, tick]
        assert (now["observation"].numpy() == other.observation).all()
        assert (now["seats", "mask"].int().argmax(-1).numpy() == other.turn).all()
        other.step(now["action"].numpy())
        assert (now["next", "seats", "reward"][..., 0].numpy() == other.reward).all()
        assert (now["next", "terminated"][:, 0].numpy() == other.terminated).all()
    assert played["next", "done"].any()
    counted = TransformedEnv(door.SelfPlayEnv(batch()), Compose(StepCounter(3), ActionMask()))
    with pytest.raises(WrongMomentError, match="cannot be reset alone"):
        counted.rollout(9, break_when_any_done=False)


# --- Tianshou and RLlib, by the examples


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def test_tianshous_ppo_is_given_the_advantages_of_every_seat() -> None:
    pytest.importorskip("tianshou", reason="all seats in Tianshou (no tianshou)")
    from tianshou.data import Batch as Columns

    compute = example("seats_tianshou")["SeatsPPO"]._add_returns_and_advantages
    compute.__globals__["GAMES"] = GAMES
    course = course_of(np.random.default_rng(1), TICKS, GAMES)
    course.cuts[:] = False

    def by_games(array: np.ndarray) -> np.ndarray:
        return array.swapaxes(0, 1).reshape(TICKS * GAMES, *array.shape[2:])

    agents = np.array([f"player_{seat}" for seat in by_games(movers_of(course))])
    batch = Columns(
        obs=Columns(agent_id=agents, mask=by_games(masks_of(course)), name=by_games(names())),
        rew=by_games(course.rewards),
        terminated=by_games(course.ends),
    )
    values = torch.from_numpy(by_games(course.values).copy())
    ppo = SimpleNamespace(critic=lambda _obs: values, gamma=GAMMA, gae_lambda=LAMBDA)
    found = compute(ppo, batch, None, None)
    wanted = advantages_of(course, GAMMA, LAMBDA)
    gains = zip(found.obs.name.tolist(), found.adv.tolist(), strict=True)
    given = {divmod(name, GAMES): gain for name, gain in gains}
    assert given == {key: pytest.approx(gain, abs=1e-3) for key, gain in wanted.items()}


class Noted(BaseWrapper):  # type: ignore[misc]
    """An environment that notes what agents receive after each of their moves, hand by hand."""

    received: ClassVar[list[dict[str, list[float]]]] = [{}]

    def step(self, action: Any) -> None:
        """Make a move."""
        mover, hand = self.agent_selection, self.received[-1]
        super().step(action)
        if action is not None:
            hand.setdefault(mover, []).append(0.0)
            for agent, moves in hand.items():
                moves[-1] += self.rewards[agent]
            if all(self.terminations.values()):
                self.received.append({})


def test_rllibs_episodes_hold_what_each_seat_received_wherever_they_are_cut() -> None:
    ray = pytest.importorskip("ray", reason="all seats in RLlib (no ray)")
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )
    from ray.tune.registry import register_env

    program = example("seats_rllib")

    def make(options: dict[str, Any]) -> Any:
        env = fiveup_env.env(scaled=True, **options)
        return program["PettingZooEnv"](Noted(program["Named"](env)))

    ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
    try:
        register_env("noted", make)
        options = {"players": 3, "episode": "hand", "reward": "margin"}
        runner: Any = MultiAgentEnvRunner(
            config=PPOConfig()
            .environment("noted", env_config=options, disable_env_checking=True)
            .env_runners(num_env_runners=0)
            .multi_agent(policies={"all"}, policy_mapping_fn=lambda *_, **__: "all")
            .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        )
        found: dict[str, dict[str, list[float]]] = {}
        for episode in (one for _ in range(12) for one in runner.sample(num_timesteps=7)):
            for agent, part in episode.agent_episodes.items():
                kept = found.setdefault(episode.id_, {}).setdefault(agent, [])
                kept.extend(map(float, part.rewards))
    finally:
        ray.shutdown()
    assert list(found.values())[:-1] == Noted.received[: len(found) - 1]
    assert len(found) > 3
