"""Imitation: what is gathered from a teacher, and that a network learns it."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from agents.fitting.teachers import TeachingError
from agents.learn.imitation import (
    PARTS,
    Gathering,
    Lessons,
    Positions,
    examine,
    gather,
    gather_on_cores,
    imitate,
    main,
)
from agents.learn.rollouts import burn_in
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import PolicyNetwork, Shape, build
from fiveup_env import Batch, get_encoder, legal_masks
from fiveup_env.encoders import piece_of, row_size
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.outlook import outlook_of
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fiveup_env.opponents.agent import Agent

torch.set_num_threads(1)

TEMPERATURE = 0.3
LESSONS = Lessons(
    epochs=8, batch_size=128, learning_rate=2e-3, temperature=TEMPERATURE, held_out=0.1
)


class PointsAndPips:
    """A teacher for tests: the points of a play, plus a fraction by the action's number."""

    aim = "hand"

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return values computed from the row that the network sees, so that they can be learnt."""
        del rng
        encoder = get_encoder("flat")
        rows = np.empty((len(views), row_size(encoder)), np.int8)
        encoder.encode(views, rows)
        points = piece_of(encoder, "plays", rows) - 1.0
        return np.where(legal_masks(views) > 0, points + np.arange(121) % 4 / 4, np.nan)


def examples_of(
    positions: int = 6000, *, share: float = 0.1, explorer: Agent | None = None
) -> Positions:
    plan = Gathering("five_up", 4, positions, 1, games=50, share=share)
    return gather(PointsAndPips(), plan, explorer or Random())


def burnt_in(games: int, *args: Any, seed: int, **options: Any) -> Batch:
    """Return games that are burnt in as `gather` does it with the same seed."""
    batch = Batch(games, *args, seed=seed, **options)
    batch.reset()
    burn_in(batch, keyed_rng("imitation", seed))
    return batch


def network_of(seed: int = 0) -> PolicyNetwork:
    torch.manual_seed(seed)
    return build(Shape(width=64, depth=1))


# --- Gathering


def test_every_example_says_what_was_allowed_and_what_the_teacher_thinks() -> None:
    examples = examples_of(2000)
    assert 800 < len(examples) < 2000
    assert (examples.masks.sum(1) > 1).all()
    plays = piece_of(get_encoder("flat"), "plays", examples.rows)
    assert ((plays > 0) == examples.masks).all()
    assert (np.isfinite(examples.values) == examples.masks).all()
    assert np.isfinite(examples.returns).all()
    assert len(np.unique(examples.games)) == 50


def test_gathering_is_decided_by_the_seed() -> None:
    one, same, other = (
        gather(
            PointsAndPips(),
            Gathering(["five_up", "all_fives"], [2, 3], 800, seed, games=20),
            Random(),
        )
        for seed in (1, 1, 2)
    )
    for field in dataclasses.fields(Positions):
        assert np.array_equal(getattr(one, field.name), getattr(same, field.name))
    assert not np.array_equal(one.rows[:20], other.rows[:20])


def last(views: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
    """Return the allowed action with the largest number."""
    return 120 - legal_masks(views)[:, ::-1].argmax(1)


def best(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the actions that the teacher plays."""
    return np.nan_to_num(PointsAndPips().values(views, rng), nan=-np.inf).argmax(1)


@pytest.mark.parametrize(("share", "player"), [(0.0, best), (1.0, last)])
def test_the_teacher_plays_but_for_the_explorers_share(share: float, player: Agent) -> None:
    rows = examples_of(explorer=last, share=share).rows
    batch = burnt_in(50, seed=1)
    first = 0
    for _ in range(4):
        expected = batch.observation[batch.action_mask.sum(1) > 1]
        assert np.array_equal(rows[first : first + len(expected)], expected)
        first += len(expected)
        batch.step(player(batch.views(), np.random.default_rng(0)))


@pytest.mark.slow
def test_the_cores_that_gather_change_nothing() -> None:
    one, two = (
        gather_on_cores(
            "pimc:worlds=1,aim=hand", "greedy", Gathering(["five_up"], [2], 1600, 3, games=4), cores
        )
        for cores in (1, 2)
    )
    for field in dataclasses.fields(Positions):
        assert np.array_equal(getattr(one, field.name), getattr(two, field.name))
    assert len(np.unique(one.games)) == 4 * PARTS


@pytest.mark.parametrize("share", [-0.1, 2])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(TeachingError, match=f"share must be from 0 to 1, not {share}"):
        examples_of(share=share)


def test_what_is_still_to_come_is_the_best_value_as_the_learner_counts() -> None:
    examples = gather(PointsAndPips(), Gathering("all_fives", 2, 2000, 1, games=50), Random())
    assert np.allclose(examples.returns * 5, examples.values.max(1))


def test_chances_to_win_are_told_from_the_beginning_of_the_hand() -> None:
    class Sure(PointsAndPips):
        aim = "game"

        def values(self, *seen: Any) -> np.ndarray:
            """Return 1 for every allowed action: every game is won."""
            return np.minimum(super().values(*seen), 0) * 0 + 1

    examples = gather(
        Sure(), Gathering("five_up", 2, 2000, 1, games=50, reward="outlook"), Random()
    )
    batch = burnt_in(50, players=2, seed=1)
    public, choice = batch.states["public"], batch.action_mask.sum(1) > 1
    leads = choice & (public["plies"] == 0)
    own, rival = (
        61 - public["scores"][np.arange(50), seats]
        for seats in (public["turn"], 1 - public["turn"])
    )
    chances = outlook_of(public["rules"][0])[own[leads], rival[leads]]
    assert leads.sum() > 3
    assert np.allclose(examples.returns[: choice.sum()][leads[choice]], 8 * (1 - chances))
    assert examples.returns.std() > 0


class Noisy(PointsAndPips):
    """A teacher to whom all actions are equal, but for the noise of its searches."""

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return noise around 0 for every allowed action."""
        masks = legal_masks(views)
        return np.where(masks > 0, rng.normal(size=masks.shape), -np.inf)


def test_the_best_of_many_noisy_values_is_not_taken_for_the_best_action() -> None:
    examples = gather(Noisy(), Gathering("five_up", 4, 20_000, 1, games=200), Random())
    choices = examples.masks.sum(1)
    for few, many in ((2, 2), (3, 3), (4, 5), (6, 20)):
        these = examples.returns[(choices >= few) & (choices <= many)] * 5
        assert abs(these.mean()) < 4 * these.std() / np.sqrt(len(these)) < 0.2
    assert (examples.values.max(1) > 0.4).mean() > 0.5


class Pruning(PointsAndPips):
    """A teacher whose searches in turn rule out all actions but the first, and but the last."""

    def __init__(self, *, alone: bool) -> None:
        self._alone, self._searches = alone, 0

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the number of the search for the actions that are not ruled out."""
        masks = legal_masks(views)
        del rng
        first, last = masks.argmax(1), 120 - masks[:, ::-1].argmax(1)
        kept, self._searches = (first, last)[self._searches % 2], self._searches + 1
        found = np.full(masks.shape, -np.inf)
        found[np.arange(len(masks)), kept] = self._searches
        if not self._alone:
            found[np.arange(len(masks)), first] = self._searches
        return found


@pytest.mark.parametrize("alone", [False, True])
def test_an_action_that_one_search_rules_out_is_not_taught_unless_none_is_left(alone: bool) -> None:
    examples = gather(Pruning(alone=alone), Gathering("five_up", 4, 50, 1, games=50), Random())
    first = examples.masks.argmax(1)
    assert np.array_equal(examples.values.argmax(1), first)
    assert (np.isfinite(examples.values).sum(1) == 1).all()
    assert (examples.returns * 5 == (1.0 if alone else 1.5)).all()


@pytest.mark.parametrize(("players", "steady"), [(4, 0.209), (2, 0.184)])
def test_positions_near_the_end_of_a_game_are_as_frequent_as_in_a_long_run(
    players: int, steady: float
) -> None:
    examples = gather(
        PointsAndPips(), Gathering("five_up", players, 10_000, 1, games=500), Random()
    )
    to_go = piece_of(get_encoder("flat"), "to_go", examples.rows) @ np.array([1 << 14, 1 << 7, 1])
    assert abs((to_go[:, :2] <= 10).any(1).mean() - steady) < 0.04


def test_games_of_every_preset_are_burnt_in() -> None:
    batch = burnt_in(21 * 8, list(PRESETS), [2, 3, 4], seed=1)
    public = batch.states["public"]
    assert (public["scores"].reshape(8, 21, -1).max((0, 2)) > 0).all()
    batch.step(batch.random_actions(np.random.default_rng(0)))


def test_a_teacher_that_aims_at_something_else_is_refused() -> None:
    with pytest.raises(TeachingError, match="reward outlook needs a teacher with aim=game"):
        gather(PointsAndPips(), Gathering("five_up", 4, 100, 1, reward="outlook"), Random())


def test_a_teacher_without_values_is_refused() -> None:
    class Silent:
        aim = "hand"

        def values(self, views: np.ndarray, rng: Any) -> np.ndarray:
            """Return no value at all."""
            del rng
            return np.full(legal_masks(views).shape, np.nan)

    with pytest.raises(TeachingError, match="a finite value for an allowed action"):
        gather(Silent(), Gathering("five_up", 4, 10, 0, games=2), Random())


# --- Learning


def test_the_teacher_is_learnt() -> None:
    examples = examples_of(10_000, share=0.3)
    network = network_of()
    before = examine(network, examples, TEMPERATURE)
    history = imitate(network, [examples], LESSONS)
    assert [figures["epoch"] for figures in history] == list(range(1, 9))
    after = history[-1]
    assert before["agreement"] < 0.6
    assert after["agreement"] > 0.85
    assert after["regret"] < 0.15 * before["regret"]
    assert after["cross_entropy"] < 0.8 * before["cross_entropy"]
    assert after["value_error"] < before["value_error"]
    assert history[0]["loss"] > after["loss"]


def test_from_scrambled_values_nothing_is_learnt() -> None:
    examples = examples_of(share=0.3)
    rng = np.random.default_rng(0)
    scrambled = examples.values.copy()
    for row, mask in zip(scrambled, examples.masks, strict=True):
        row[mask > 0] = rng.permutation(row[mask > 0])
    wrong = dataclasses.replace(examples, values=scrambled)
    network = network_of()
    imitate(network, [wrong], LESSONS)
    assert examine(network, examples, TEMPERATURE)["agreement"] < 0.7


def test_learning_is_decided_by_the_seed() -> None:
    examples = examples_of(1500)
    ends = []
    for seed in (1, 1, 2):
        network = network_of()
        history = imitate(network, [examples], Lessons(epochs=2, seed=seed))
        ends.append((history, network.policy_head.weight.detach().clone()))
    assert ends[0][0] == ends[1][0]
    assert torch.equal(ends[0][1], ends[1][1])
    assert not torch.equal(ends[0][1], ends[2][1])


def test_rounds_go_on_where_the_last_one_ended_by_one_schedule() -> None:
    first, second = (examples_of(1500, share=share) for share in (0.0, 0.5))
    network, halfway = network_of(), network_of()
    history = imitate(network, [first, second], Lessons(count=2, epochs=2))
    assert [figures["epoch"] for figures in history] == [1, 2, 3, 4]
    alone = imitate(halfway, [first], Lessons(count=2, epochs=2))
    assert alone == history[:2]
    assert imitate(network_of(), [first], Lessons(epochs=2)) != alone


def test_the_value_learns_the_returns() -> None:
    examples = examples_of(6000)
    told = dataclasses.replace(examples, returns=examples.rows[:, 224] / np.float32(10))
    history = imitate(network_of(), [told], Lessons(epochs=8, batch_size=128, value_weight=1.0))
    assert history[-1]["value_error"] < 0.15 * told.returns.var()


def test_held_out_games_are_not_learnt_from() -> None:
    examples = examples_of(1500)
    network, blind = network_of(), network_of()
    history = imitate(network, [examples], Lessons(epochs=1, held_out=0.2, seed=4))
    numbers = np.unique(examples.games)
    held_out = np.random.default_rng(4).permutation(numbers)[: len(numbers) // 5]
    tested = np.isin(examples.games, held_out)
    returns = np.where(tested, np.float32(1e4), examples.returns)
    wrong = dataclasses.replace(examples, returns=returns)
    spoilt = imitate(blind, [wrong], Lessons(epochs=1, held_out=0.2, seed=4))
    assert torch.equal(network.value_head.weight, blind.value_head.weight)
    assert spoilt[0]["value_error"] > 1e6 > history[0]["value_error"]


def test_what_cannot_be_learnt_is_refused() -> None:
    examples = examples_of(1500)
    for share in (0.0, 1.0):
        with pytest.raises(TeachingError, match="leaves none to learn from or to test on"):
            imitate(network_of(), [examples], Lessons(held_out=share))
    endless = dataclasses.replace(examples, returns=examples.returns + np.float32(np.inf))
    with pytest.raises(TeachingError, match="the loss is inf: try a smaller learning rate"):
        imitate(network_of(), [endless], Lessons())


# --- The command


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command in this process."""

    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["imitation", *words, "--cores", "1"])
        return main()

    return run


QUICKLY = ("--teacher", "pimc:worlds=2,aim=hand", "--positions", "3200", "--epochs", "1")


def test_the_command_teaches_by_search_and_saves_a_policy(
    tmp_path: Path, taught: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "policy"
    shape = ("--width", "16", "--players", "4,2")
    assert taught(*QUICKLY, *shape, "--rounds", "1", "--out", str(out)) == 0
    assert f"Play with torch:{out}" in capsys.readouterr().out
    network, about = load_policy(out)
    assert network.shape.width == 16
    assert about["players"] == [4, 2]
    assert about["command"].startswith("python -m agents.learn.imitation --teacher pimc")


def test_what_the_command_cannot_do_is_refused_before_anything_is_played(
    tmp_path: Path, taught: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    narrow, out = tmp_path / "narrow", str(tmp_path / "out")
    save_policy(narrow, build(Shape(width=16)), {})
    assert taught("--start", str(narrow), "--width", "32", "--out", out) == 2
    assert "width=16" in capsys.readouterr().err.partition("this run")[0]
    assert taught("--teacher", "greedy", "--out", out) == 2
    assert capsys.readouterr().err == (
        "imitation: greedy has no values for actions, so it cannot teach; pimc can\n"
    )
