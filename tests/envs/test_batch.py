"""`Batch`: shapes, mixed games, its state, its errors, and its rewards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from time import sleep
from typing import Any

import numpy as np
import pytest
import torch

from fiveup_env import Batch, Game
from fiveup_env.encoders import NoRows, bounds
from fiveup_env.encoders.truth import TRUTH_SIZE
from fiveup_env.envs import batch as batches
from fiveup_env.envs.episodes import first_illegal
from fiveup_env.envs.streams import Stream
from fiveup_env.errors import FiveUpError, IllegalMoveError, OptionError, WrongMomentError
from fiveup_env.sealed import SealError
from tests.support import EVERY_PRESET


def played(batch: Batch, steps: int, seed: int = 0) -> list[bytes]:
    """Play at random; return everything that was observed."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        batch.step(batch.random_actions(rng))
        arrays = (
            batch.observation,
            batch.action_mask,
            batch.turn,
            batch.reward,
            batch.terminated,
            batch.truncated,
        )
        seen.append(b"".join(array.tobytes() for array in arrays))
    return seen


def test_the_arrays_are_made_once_and_shared_with_torch_without_a_copy() -> None:
    batch = Batch(100, threads=2, seed=0)
    batch.reset()
    names = ("observation", "action_mask", "reward", "turn")
    tensors = {name: torch.from_numpy(getattr(batch, name)) for name in names}
    before = tensors["observation"].clone()
    played(batch, 5)
    assert (tensors["observation"] != before).any()
    for name, tensor in tensors.items():
        assert tensor.data_ptr() == getattr(batch, name).ctypes.data


@pytest.mark.parametrize("scaled", [False, True])
def test_games_without_rows_are_the_same_games(scaled: bool) -> None:
    batch, other = Batch(8, encoder=NoRows(), scaled=scaled, seed=5), Batch(8, seed=5)
    for games in (batch, other):
        games.reset()
        for _ in range(30):
            games.step(games.action_mask.argmax(1))
    assert batch.observation.shape == batch.observation_space(8).shape == (8, 0)
    assert batch.views().tobytes() == other.views().tobytes()
    assert batch.save() == other.save()


def test_one_batch_may_mix_presets_and_players() -> None:
    batch = Batch(13, ["five_up", "all_fives"], [2, 3], seed=0)
    batch.reset(np.arange(9, 22))
    assert batch.reward.shape == (13, 3)
    names = [(rules.name, rules.players) for rules in batch.rules]
    assert names == [("five_up", 2), ("five_up", 3), ("all_fives", 2), ("all_fives", 3)]
    for i in range(13):
        name, players = names[i % 4]
        game = Game(name or "", players=players, seed=9 + i)
        assert batch.states[i]["hands"].tolist() == game.state()["hands"][0].tolist()
        assert batch.turn[i] == game.turn


def test_an_ended_episode_is_followed_by_the_next_one_of_its_stream() -> None:
    batch = Batch(50, episode="hand", seed=100)
    batch.reset()
    stream, rng = Stream(100, 7), np.random.default_rng(0)
    assert batch.states["seed"][7] == stream.next()
    while not batch.terminated[7]:
        batch.step(batch.random_actions(rng))
    seed = stream.next()
    assert batch.states["seed"][7] == seed
    assert batch.states[7]["hands"].tolist() == Game(seed=seed).state()["hands"][0].tolist()
    assert not batch.states[7]["public"]["scores"].any()


def test_a_saved_state_goes_on_bit_for_bit() -> None:
    first = Batch(64, ["five_up", "muggins"], [3, 4], reward="margin", seed=5)
    first.reset()
    played(first, 30)
    state = first.save()
    expected = played(first, 100, seed=3)
    second = Batch(64, ["five_up", "muggins"], [3, 4], reward="margin", seed=0)
    second.load(state)
    assert second.reward.any()
    assert played(second, 100, seed=3) == expected


def test_a_state_is_refused_by_a_batch_of_another_kind() -> None:
    state = Batch(8, seed=0).save()
    for other in (Batch(9, seed=0), Batch(8, "muggins", seed=0), Batch(8, reward="points", seed=0)):
        with pytest.raises(OptionError, match="the saved batch has"):
            other.load(state)
    with pytest.raises(SealError, match="not a saved batch, or a damaged one"):
        Batch(8, seed=0).load(b"nonsense")


def step_and_save(batch: Batch) -> bytes:
    batch.step(np.zeros(9, np.int64))
    return batch.save()


@pytest.mark.parametrize(
    "state_of",
    [
        Batch.save,
        step_and_save,
        lambda batch: copy.copy(batch).save(),
        lambda batch: copy.deepcopy(batch).save(),
    ],
    ids=["save", "step", "copy", "deepcopy"],
)
def test_another_thread_waits_for_the_end_of_a_step(state_of: Callable[[Batch], bytes]) -> None:
    asked: list[Future[bytes]] = []
    made: list[Batch] = []

    def reward(_before: np.ndarray, actions: np.ndarray, after: np.ndarray) -> np.ndarray:
        if len(made) == 2 and not asked:  # in the middle of a step, another thread asks
            asked.append(pool.submit(state_of, made[1]))
            wait(asked, timeout=0.2)
        return np.tile(actions[:, None], after["public"]["rules"]["players"][0])

    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            made.append(Batch(9, reward=reward, illegal="terminate", seed=1))
            made[-1].reset()
            made[-1].step(made[-1].action_mask.argmax(1))
        assert asked[0].result() == state_of(made[0])
    assert made[1].save() == made[0].save()


class Failing(NoRows):
    """An encoder that fails in the first games, and takes its time in the others."""

    name = "failing"

    def __init__(self) -> None:
        self.finished: list[int] = []

    def encode(self, views: np.ndarray, _rows: np.ndarray) -> None:
        """Write nothing."""
        if len(views) == 2:
            raise ZeroDivisionError
        sleep(0.2)
        self.finished.append(len(views))


def test_no_thread_works_on_once_one_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SLICE", 2)
    encoder = Failing()
    with pytest.raises(ZeroDivisionError):
        Batch(3, encoder=encoder, threads=2, seed=1).reset()
    assert encoder.finished == [1]


def test_the_actions_that_were_checked_are_those_that_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch, twin = Batch(9, seed=1), Batch(9, seed=1)
    for games in (batch, twin):
        games.reset()
    actions = batch.action_mask.argmax(1)

    def check(*given: np.ndarray) -> int:
        illegal: int = first_illegal(*given)
        actions[:] = 10**9  # another thread shares the array
        return illegal

    twin.step(actions)
    monkeypatch.setattr(batches, "first_illegal", check)
    batch.step(actions)
    assert batch.save() == twin.save()


def test_what_is_hidden_comes_only_when_asked_for() -> None:
    assert Batch(5, seed=0).oracle.size == 0
    batch = Batch(5, oracle=True, players=3, seed=0)
    batch.reset()
    assert batch.oracle.shape == (5, TRUTH_SIZE)
    for i in range(5):
        hand = batch.states["hands"][i, batch.turn[i]]
        assert np.flatnonzero(batch.oracle[i, :28]).tolist() == [
            t for t in range(28) if hand >> t & 1
        ]


def test_max_hands_cuts_an_episode_off() -> None:
    batch = Batch(20, max_hands=2, seed=1)
    batch.reset()
    rng, cut = np.random.default_rng(0), 0
    for _ in range(120):
        hands = batch.states["public"]["hand_number"].copy()
        batch.step(batch.random_actions(rng))
        cut += int(batch.truncated.sum())
        assert not batch.terminated.any()
        assert (hands[batch.truncated] == 1).all()
    assert cut > 20


@pytest.mark.parametrize("reward", ["points", "margin", "win"])
@pytest.mark.parametrize("players", [3, 4])
def test_the_rewards_of_an_episode_add_up_to_what_was_won(players: int, reward: Any) -> None:
    batch = Batch(40, players=players, reward=reward, seed=3, target=15)
    batch.reset()
    rng, totals, ended = np.random.default_rng(0), np.zeros((40, players)), 0
    sides = batch.rules[0].sides
    for _ in range(400):
        batch.step(batch.random_actions(rng))
        totals += batch.reward
        if reward != "points":
            np.testing.assert_allclose(batch.reward[:, :sides].sum(1), 0, atol=1e-5)
        if players == 4:
            assert (batch.reward[:, :2] == batch.reward[:, 2:]).all()
        for i in np.flatnonzero(batch.terminated):
            if reward == "win":
                best = totals[i].max()
                assert best == 1
                losers = totals[i][totals[i] < 1]
                np.testing.assert_allclose(losers, -1 / (sides - 1))
            if reward == "points":
                assert totals[i].max() >= 15
            totals[i] = 0
            ended += 1
    assert ended > 20


def test_a_step_before_reset_is_refused() -> None:
    with pytest.raises(WrongMomentError, match="call reset"):
        Batch(3, seed=0).step(np.zeros(3, np.int64))


@pytest.mark.parametrize(
    ("match", "actions"),
    [
        ("actions must be 4 integers.*shape \\(3,\\)", np.zeros(3, np.int64)),
        ("not an array of float64", np.zeros(4)),
        ("not an array of int64 of shape \\(4, 1\\)", np.zeros((4, 1), np.int64)),
        ("not an array of bool", np.zeros(4, np.bool_)),
    ],
)
def test_actions_of_another_shape_or_kind_are_refused(match: str, actions: np.ndarray) -> None:
    batch = Batch(4, seed=0)
    batch.reset()
    with pytest.raises(OptionError, match=match):
        batch.step(actions)


@pytest.mark.parametrize("wrong", [120, 119, 500, -1])
def test_an_illegal_action_names_the_game_and_changes_nothing(wrong: int) -> None:
    batch = Batch(600, seed=1)
    batch.reset()
    before = batch.save()
    actions = batch.random_actions(np.random.default_rng(0))
    actions[577] = wrong
    with pytest.raises(
        IllegalMoveError, match=f"game 577, seat {batch.turn[577]}: action {wrong}.*allowed: "
    ):
        batch.step(actions)
    assert batch.save() == before


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("needs 1 to 16,777,216 games, not 0", {"num_envs": 0}),
        ("needs 1 to 1,024 threads, not 0", {"threads": 0}),
        ("no preset", {"rules": ["five_up", "six_up"]}),
        ("there must be 2 to 5 players", {"players": [4, 6]}),
        ("no episode", {"episode": "day"}),
        ("no reward", {"reward": "gold"}),
        ("no encoder", {"encoder": "flit"}),
        ("scaled must be True or False, not 1", {"scaled": 1}),
        ("unexpected keyword argument 'handsize'.*did you mean 'hand_size'", {"handsize": 4}),
        ("a seed is", {"seed": -3}),
    ],
)
def test_bad_options_are_refused(match: str, options: dict[str, Any]) -> None:
    with pytest.raises(FiveUpError, match=match):
        Batch(**options)


def test_a_thousand_games_of_every_preset_run_without_a_warning() -> None:
    batch = Batch(1_050, EVERY_PRESET, max_hands=30, threads=2, seed=1)
    batch.reset()
    rng, ended = np.random.default_rng(0), np.zeros(len(EVERY_PRESET), np.int64)
    low, high = bounds(batch.encoder)
    steps = 0
    while ended.sum() < 1_000 or not ended.all():
        batch.step(batch.random_actions(rng))
        over = np.flatnonzero(batch.terminated | batch.truncated)
        np.add.at(ended, over % len(EVERY_PRESET), 1)
        if steps % 50 == 0:
            assert batch.action_mask.any(1).all()
            assert ((batch.observation >= low) & (batch.observation <= high)).all()
        steps += 1
