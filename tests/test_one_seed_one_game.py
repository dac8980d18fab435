"""The same seed and actions give the same game through every interface, bit for bit."""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium
import numpy as np
import pytest

import fiveup_env
from fiveup_env import MOVES, Batch, Game, Rules
from fiveup_env.actions import ACTION_COUNT
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.sb3 import FiveUpVecEnv
from tests.support import EVERY_PRESET, label

STEPS = 150
# What STEPS moves from seed 42 looked like when the rules, the encoders and the rewards were read
# and found right. A change here is a change of behaviour: it needs a new version of the
# environment's id or of the encoder.
GOLDEN: dict[str, str] = {}


def lowest_or_highest(views: np.ndarray, masks: np.ndarray, random: Any) -> np.ndarray:
    """A policy that depends on its view alone: low or high actions by the number of plays."""
    del random
    odd = views["table"]["plies"] % 2 == 1
    return np.where(odd, ACTION_COUNT - 1 - masks[:, ::-1].argmax(1), masks.argmax(1))


def through_game(rules: Rules, seed: int, encoder: Any) -> list[bytes]:
    """What the seats to move see through `Game`, and what each step brings the sides."""
    game, seen = Game(rules, seed=seed), []
    row = np.zeros((1, row_size(encoder)), np.int8)
    for _ in range(STEPS):
        if game.outcome():
            break
        encoder.encode(game.view(), row)
        mask = game.action_mask()
        action = int(lowest_or_highest(game.view(), mask[None], None)[0])
        before = game.scores
        seen.append(bytes([game.turn or 0]) + row.tobytes() + mask.tobytes())
        game.push(MOVES[action])
        points = [b - a for a, b in zip(before, game.scores, strict=True)]
        seen.append(np.array([points[rules.side_of(s)] for s in range(rules.players)], "f4").tobytes())
    return seen


def through_aec(rules: Rules, seed: int, encoder: Any) -> list[bytes]:
    env, seen = fiveup_env.raw_env(rules, encoder=encoder, reward="points"), []
    env.reset(seed=seed)
    for _ in range(STEPS):
        if any(env.terminations.values()):
            break
        agent = env.agent_selection
        observed = env.observe(agent)
        mask = observed["action_mask"]
        action = int(lowest_or_highest(env.view(agent), mask[None], None)[0])
        turn = bytes([env.possible_agents.index(agent)])
        seen.append(turn + observed["observation"].tobytes() + mask.tobytes())
        env.step(action)
        seen.append(np.array([env.rewards[a] for a in env.possible_agents], "f4").tobytes())
    return seen


def through_batch(rules: Rules, seed: int, encoder: Any, threads: int = 1) -> list[bytes]:
    batch = Batch(300, rules, encoder=encoder, reward="points", seed=seed - 299, threads=threads)
    batch.reset()
    seen: list[bytes] = []
    for _ in range(STEPS):
        turn = bytes([batch.turn[299]])
        seen.append(turn + batch.observation[299].tobytes() + batch.mask[299].tobytes())
        batch.step(lowest_or_highest(batch.views(), batch.mask, None))
        seen.append(batch.reward[299].tobytes())
        if batch.done[299]:
            break
    return seen


@pytest.mark.parametrize("name", ["flat", "tokens"])
@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_game_aec_and_batch_agree(rules: Rules, name: str) -> None:
    encoder = get_encoder(name)
    seen = through_game(rules, 1_000, encoder)
    assert through_aec(rules, 1_000, encoder) == seen
    assert through_batch(rules, 1_000, encoder) == seen


@pytest.mark.parametrize("name", ["flat", "tokens"])
@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_nothing_has_changed_since_it_was_read(rules: Rules, name: str) -> None:
    seen = b"".join(through_game(rules, 42, get_encoder(name)))
    assert hashlib.sha256(seen).hexdigest()[:16] == GOLDEN[f"{label(rules)} {name}"]


@pytest.mark.parametrize("seat", [0, 2])
def test_gymnasium_and_the_vec_env_agree_for_a_learner_of_one_seat(seat: int) -> None:
    options: dict[str, Any] = {"opponents": lowest_or_highest, "seat": seat, "reward": "margin"}
    single = gymnasium.make("fiveup/FiveUp-v0", **options)
    many = FiveUpVecEnv(3, seed=7, **options)
    rows = many.reset()
    row, info = single.reset(seed=8)
    for _ in range(60):
        assert (rows[1] == row).all()
        masks = many.action_masks()
        assert (masks[1] == info["action_mask"]).all()
        actions = masks.argmax(1)
        many.step_async(actions)
        rows, rewards, over, infos = many.step_wait()
        row, reward, terminated, _, info = single.step(int(actions[1]))
        assert rewards[1] == np.float32(reward)
        assert over[1] == terminated
        if terminated:
            assert (infos[1]["terminal_observation"] == row).all()
            row, info = single.reset(seed=8 + 3)


def test_threads_change_nothing() -> None:
    rules, encoder = Rules.preset(), get_encoder("flat")
    alone = through_batch(rules, 1_000, encoder)
    assert through_batch(rules, 1_000, encoder, threads=3) == alone
