"""The same seed and actions give the same game through every interface, bit for bit."""

from __future__ import annotations

import hashlib
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest

import fiveup_env
from fiveup_env import MOVES, Batch, Game, Rules, legal_masks
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import OptionError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.presets import FAMILY
from tests.support import EVERY_PRESET, SEATINGS, deal, label

STEPS = 150
# What STEPS moves from seed 42 by every seating and both encoders looked like when the rules, the
# encoders and the rewards were read and found correct. A change here is a change of behaviour: it
# needs a new version of the environment's id or of the encoder.
GOLDEN = {
    "five_up": "a916859455069d81",
    "five_up_armanino": "a8637bebe1d04eed",
    "five_up_fosdick": "0441a02e08d12f53",
    "five_up_first_to_61": "c24c539d16706c70",
    "all_fives": "fe58edb80549c883",
    "all_fives_cribbage": "baa7d6d4be4a7e31",
    "muggins": "43e8d78dec70a202",
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


@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_game_aec_and_batch_agree(rules: Rules) -> None:
    encoder = get_encoder("flat" if rules.players % 2 else "tokens")
    seen = through_game(rules, 1_000, encoder)
    assert through_aec(rules, 1_000, encoder) == seen
    assert through_batch(rules, 1_000, encoder) == seen


@pytest.mark.parametrize("name", FAMILY)
def test_nothing_has_changed_since_it_was_read(name: str) -> None:
    digest = hashlib.sha256()
    for encoder in ("flat", "tokens"):
        for players, teams in SEATINGS:
            rules = Rules.preset(name, players, teams=teams)
            digest.update(b"".join(through_game(rules, 42, get_encoder(encoder))))
    assert digest.hexdigest()[:16] == GOLDEN[name]


def begun(seed: int) -> Game:
    """Return a game that is in its second hand or a later one."""
    game, random = Game(seed=seed), Random(seed)
    while game.hand_number == 0 or len(game.plays) < 3:
        game.push(random.choice(list(game.legal_moves)))
    return game


def test_every_interface_continues_a_game_from_any_position() -> None:
    batch, env = Batch(2, seed=1), fiveup_env.raw_env(render_mode="ansi")
    batch.reset()
    games = [begun(7), begun(8)]
    batch.adopt(games)
    batch.adopt(games[:1], np.array([1]))
    env.reset(options={"game": games[0]})
    game = games[0].copy()
    while not game.is_game_over():
        action = int(game.action_mask().argmax())
        assert (batch.states["public"] == game.state()["public"]).all()
        assert (env.observe(env.agent_selection)["observation"] == batch.observation).all()
        assert env.game == game
        game.push(MOVES[action])
        env.step(action)
        batch.step(np.full(2, action))
    assert batch.terminated.all()
    assert all(env.terminations.values())
    assert env.game == game
    env.reset(seed=3)
    assert env.game == Game(seed=3)


def test_games_that_no_episode_can_continue_are_refused_and_change_nothing() -> None:
    over = Game(seed=1, target=1)
    while not over.is_game_over():
        over.push(MOVES[int(over.action_mask().argmax())])
    dealt = Game(players=2, hand_size=1, deals=2 * [deal("0-0", "1-1")])
    cases: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (over, {"target": 1}, "a game that is over"),
        (begun(1), {"players": 3}, "players"),
        (begun(1), {"max_hands": 1}, "cannot start in hand"),
        (dealt, {"players": 2, "hand_size": 1}, "deals for later hands"),
        (7, {}, "a Game, not 7"),
    )
    for game, options, match in cases:
        envs = FiveUpVectorEnv(1, **options)
        single = gymnasium.make("fiveup/FiveUp-v0", **options)
        rows, _ = envs.reset(seed=1)
        single.reset(seed=1)
        learner: Any = single.unwrapped
        before = learner.game
        with pytest.raises(OptionError, match=match):
            envs.reset(options={"games": [game]})
        with pytest.raises(OptionError, match=match):
            single.reset(options={"game": game})
        assert (envs.batch.observation == rows).all()
        assert learner.game == before


@pytest.mark.parametrize("start", ["deal", "game"])
@pytest.mark.parametrize("seat", [0, 2])
def test_gymnasium_and_the_vec_env_agree_for_a_learner_of_one_seat(seat: int, start: str) -> None:
    options: dict[str, Any] = {"opponents": lowest_or_highest, "seat": seat, "reward": "margin"}
    single = gymnasium.make("fiveup/FiveUp-v0", **options, oracle=True)
    many = FiveUpVecEnv(3, **options, oracle=True, seed=0)
    starts = [{start: seed if start == "deal" else begun(seed)} for seed in (7, 8, 9)]
    many.set_options(starts)
    rows = np.asarray(many.reset())
    row, info = single.reset(options=starts[1])
    for _ in range(60):
        assert (rows[1] == row).all()
        assert (many.batch.oracle[1] == info["oracle"]).all()
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
