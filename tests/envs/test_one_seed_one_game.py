"""The same seed and actions give the same game through every interface, bit for bit."""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium
import numpy as np
import pytest

import fiveup_env
from fiveup_env import MOVES, Batch, Game, Rules, legal_masks
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.rules.actions import ACTION_COUNT
from tests.support import EVERY_PRESET, label

STEPS = 150
# What STEPS moves from seed 42 looked like when the rules, the encoders and the rewards were read
# and found correct. A change here is a change of behaviour: it needs a new version of the
# environment's id or of the encoder.
GOLDEN = {
    "five_up-2 flat": "e17bae823893de76",
    "five_up-3 flat": "79c8e754aed2ffed",
    "five_up-4-partners flat": "ba590da7274f54e7",
    "five_up-4 flat": "b7e858214c7b58aa",
    "five_up-5 flat": "976d7a6b3cee71cc",
    "five_up_armanino-2 flat": "182bb29e4d0346a6",
    "five_up_armanino-3 flat": "8fad7d74338254cd",
    "five_up_armanino-4-partners flat": "882c8ebd85b5c218",
    "five_up_armanino-4 flat": "6f1390094153d006",
    "five_up_armanino-5 flat": "0d813591252d81a9",
    "five_up_fosdick-2 flat": "3737623e5f637d34",
    "five_up_fosdick-3 flat": "069fc363db62df24",
    "five_up_fosdick-4-partners flat": "7a035d1c4d4f78ba",
    "five_up_fosdick-4 flat": "d78445378a590301",
    "five_up_fosdick-5 flat": "08a5575fff7dcf0f",
    "five_up_first_to_61-2 flat": "b25502cef4a1982c",
    "five_up_first_to_61-3 flat": "ee23cd842ab9bcdc",
    "five_up_first_to_61-4-partners flat": "8bc5b78e744639c5",
    "five_up_first_to_61-4 flat": "24174b9d20795781",
    "five_up_first_to_61-5 flat": "07478c6b09349296",
    "all_fives-2 flat": "ea0479e28bae4c0e",
    "all_fives-3 flat": "32a6ab5f59d28cf8",
    "all_fives-4-partners flat": "9648830521462669",
    "all_fives-4 flat": "fbcac39e4a3b0da3",
    "all_fives-5 flat": "d78f4d135f1786e6",
    "all_fives_cribbage-2 flat": "0d64d30ad9ce4e1b",
    "all_fives_cribbage-3 flat": "6dd5a46e6f89af7b",
    "all_fives_cribbage-4-partners flat": "9d30ce81ccd8a58a",
    "all_fives_cribbage-4 flat": "257ccd7d2a875212",
    "all_fives_cribbage-5 flat": "ffd3c3f580eeade6",
    "muggins-2 flat": "fc5e555a9cce9f60",
    "muggins-3 flat": "5d20ad570bc318a6",
    "muggins-4-partners flat": "1a3ac4174ebb55b0",
    "muggins-4 flat": "22fc862fab0746d3",
    "muggins-5 flat": "368fdd8034eaaa90",
    "five_up-2 tokens": "95173f27505609c2",
    "five_up-3 tokens": "37287209136261b5",
    "five_up-4-partners tokens": "ee08fbe067cc63f7",
    "five_up-4 tokens": "638eed1fa1b4a011",
    "five_up-5 tokens": "07d877dc4a0748f2",
    "five_up_armanino-2 tokens": "cb4731b7a36b10f9",
    "five_up_armanino-3 tokens": "297df245ebe73f81",
    "five_up_armanino-4-partners tokens": "39242ce4b01d394e",
    "five_up_armanino-4 tokens": "5ec61a612614782b",
    "five_up_armanino-5 tokens": "b910c3f7585cf4ec",
    "five_up_fosdick-2 tokens": "3e5ee2c3a2bace62",
    "five_up_fosdick-3 tokens": "e1bc091a575db985",
    "five_up_fosdick-4-partners tokens": "a3265fbac61e1ed1",
    "five_up_fosdick-4 tokens": "6a0aaebf89a5ab85",
    "five_up_fosdick-5 tokens": "103a8ebe59e15445",
    "five_up_first_to_61-2 tokens": "c5c1396ea4bb308e",
    "five_up_first_to_61-3 tokens": "36a41a2d693b0bd0",
    "five_up_first_to_61-4-partners tokens": "6f07a22695c4eb07",
    "five_up_first_to_61-4 tokens": "a6c5080a09f1f777",
    "five_up_first_to_61-5 tokens": "f6d864401c0c2d1c",
    "all_fives-2 tokens": "0917e068a34b42ff",
    "all_fives-3 tokens": "a3ba32ad36c7be16",
    "all_fives-4-partners tokens": "bf21586bc76b3285",
    "all_fives-4 tokens": "7c0a5fe440d766c1",
    "all_fives-5 tokens": "792784b8e99b9c98",
    "all_fives_cribbage-2 tokens": "36dee69e54221a0b",
    "all_fives_cribbage-3 tokens": "c41f4272abe35b43",
    "all_fives_cribbage-4-partners tokens": "b066eff6deaa2e58",
    "all_fives_cribbage-4 tokens": "c805b3e7a36353b2",
    "all_fives_cribbage-5 tokens": "f9d55106fa616351",
    "muggins-2 tokens": "eba9f265a0095a9e",
    "muggins-3 tokens": "d07ed36a25b45cd0",
    "muggins-4-partners tokens": "ff3b9887dba7adca",
    "muggins-4 tokens": "3ee876643f22e306",
    "muggins-5 tokens": "63e8567ab3fc38d9",
}


def lowest_or_highest(views: np.ndarray, rng: Any) -> np.ndarray:
    """Return low or high actions by the number of plays, so that they depend on the view alone."""
    masks = legal_masks(views)
    del rng
    odd = views["public"]["plies"] % 2 == 1
    return np.where(odd, ACTION_COUNT - 1 - masks[:, ::-1].argmax(1), masks.argmax(1))


def through_game(rules: Rules, seed: int, encoder: Any) -> list[bytes]:
    """Return what the seats to move see through `Game`, and what each step brings the sides."""
    game, seen = Game(rules, seed=seed), []
    row = np.zeros((1, row_size(encoder)), np.int8)
    for _ in range(STEPS):
        if game.outcome():
            break
        encoder.encode(game.view(), row)
        mask = game.action_mask()
        action = int(lowest_or_highest(game.view(), None)[0])
        before = game.scores
        seen.append(bytes([game.turn or 0]) + row.tobytes() + mask.tobytes())
        game.push(MOVES[action])
        points = [b - a for a, b in zip(before, game.scores, strict=True)]
        seen.append(
            np.array([points[rules.side_of(s)] for s in range(rules.players)], "f4").tobytes()
        )
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
        action = int(lowest_or_highest(env.view(agent), None)[0])
        turn = bytes([env.possible_agents.index(agent)])
        seen.append(turn + observed["observation"].tobytes() + mask.tobytes())
        env.step(action)
        seen.append(np.array([env.rewards[a] for a in env.possible_agents], "f4").tobytes())
    return seen


def through_batch(rules: Rules, seed: int, encoder: Any, threads: int = 1) -> list[bytes]:
    batch = Batch(300, rules, encoder=encoder, reward="points", threads=threads, seed=0)
    batch.reset(np.arange(seed - 299, seed + 1))
    seen: list[bytes] = []
    for _ in range(STEPS):
        turn = bytes([batch.turn[299]])
        seen.append(turn + batch.observation[299].tobytes() + batch.action_mask[299].tobytes())
        batch.step(lowest_or_highest(batch.views(), None))
        seen.append(batch.reward[299].tobytes())
        if batch.terminated[299]:
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
    many = FiveUpVecEnv(3, **options, seed=0)
    many.set_options([{"deal": deal} for deal in (7, 8, 9)])
    rows = np.asarray(many.reset())
    row, info = single.reset(options={"deal": 8})
    for _ in range(60):
        assert (rows[1] == row).all()
        masks = many.action_masks()
        assert (masks[1] == info["action_mask"]).all()
        actions = masks.argmax(1)
        many.step_async(actions)
        seen, rewards, over, infos = many.step_wait()
        rows = np.asarray(seen)
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
