"""Calibration: values against outcomes, and value heads that are fitted to outcomes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from agents.learn import calibration
from agents.learn.calibration import compare, play, rewards_to_come
from agents.policies.agent import NetworkAgent
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import Shape, build
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.search.units import Units

if TYPE_CHECKING:
    from pathlib import Path

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "GAMES", 48)
    monkeypatch.setattr(calibration, "MOVES", 100)


class Watched(NetworkAgent):
    """Plays at random, and keeps the views whose values are asked for."""

    def __init__(self) -> None:
        super().__init__(build(Shape(width=1, depth=1)))
        self.views: list[np.ndarray] = []

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return random actions."""
        return Random()(views, rng)

    def value_inputs(self, views: np.ndarray) -> np.ndarray:
        """Keep the views."""
        self.views.append(views)
        return np.zeros((len(views), 1), np.float32)


@pytest.mark.parametrize(("reward", "players"), [("outlook", 4), ("margin", 4), ("margin", 3)])
def test_an_outcome_is_what_the_seat_receives_until_its_hand_is_over(
    reward: str, players: int
) -> None:
    agent = Watched()
    found = play(agent, reward, ["five_up"], [players], 1)
    views = np.concatenate(agent.views)
    public, sides = views["public"], int(views["public"]["rules"]["sides"][0])
    assert len(views) == len(found) > 1000
    assert (found.choices > 1).all()
    final = Units(views, reward).values(found.outcomes)  # of the hand, for the seat's side
    scores = public["scores"][:, :sides].astype(float)
    side = views["seat"] % sides
    if reward == "margin":
        own = scores[np.arange(len(scores)), side]
        final += own - (scores.sum(1) - own) / (sides - 1)
    hands = np.stack([found.games, public["hand_number"]], 1)
    for hand in np.unique(hands, axis=0):
        of_hand = (hands == hand).all(1)
        assert public["plies"][of_hand].min() == 0  # it is there from its lead on
        by_side = [final[of_hand & (side == one)] for one in range(sides)]
        assert all(np.ptp(one) < 1e-4 for one in by_side if len(one))
        if all(map(len, by_side)):
            total = sum(one[0] for one in by_side)
            assert total == pytest.approx(0 if reward == "margin" else 1, abs=1e-4)


def test_rewards_are_summed_to_the_end_of_the_hand_and_no_further() -> None:
    received = np.array([1, 2, 4, 8, 16], np.float32).reshape(5, 1, 1)
    ended = np.array([False, True, False, False, True]).reshape(5, 1)
    assert rewards_to_come(received, ended).ravel().tolist() == [3, 2, 28, 24, 16]


def test_a_calibration_has_the_means_by_number_of_choices() -> None:
    values = np.array([1, 2, 3, 4, 5, 6], np.float32)
    choices, games = np.array([2, 2, 3, 6, 9, 3]), np.array([0, 0, 1, 1, 2, 2])
    lines = compare(values, choices, games, np.ones(6, np.float32))
    assert [(line.choices, line.decisions) for line in lines] == [
        ("2", 2),
        ("3", 2),
        ("6 or more", 2),
        ("all", 6),
    ]
    assert [line.value for line in lines] == [1.5, 4.5, 4.5, 3.5]
    assert [line.excess for line in lines] == [0.5, 3.5, 3.5, 2.5]
    assert lines[0].error == 0.5
    assert lines[0].low == lines[0].high == 0.5  # both decisions are of one game
    assert lines[-1].low < 2.5 < lines[-1].high


def test_intervals_are_by_game_however_many_decisions_a_game_has() -> None:
    rng = np.random.default_rng(0)
    games, of_game = np.arange(400), rng.normal(0.1, 1, 400)
    once, often = (
        compare(of_game.repeat(n), np.full(400 * n, 2), games.repeat(n), np.zeros(400 * n))[-1]
        for n in (1, 25)
    )
    assert (once.low, once.high) == pytest.approx((often.low, often.high))
    assert once.high - once.low == pytest.approx(4 / 20, rel=0.1)


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["calibration", *arguments])
    return calibration.main()


def test_a_refitted_policy_chooses_the_same_and_is_calibrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    network, about = build(Shape(width=16, depth=1)), {"reward": "margin", "players": [4]}
    with torch.no_grad():
        network.value_head.bias.fill_(3)
    save_policy(tmp_path / "one", network, about, half=True)
    sizes: tuple[Any, ...] = ("--decisions", "6000", "--fit", "6000")
    spec = f"torch:{tmp_path / 'one'}"
    assert command(monkeypatch, spec, *sizes, "--refit", str(tmp_path / "two"), "--half") == 0
    before, after = capsys.readouterr().out.strip().split("\n\n")
    assert before.startswith(f"{spec}\nchoices")
    assert after.startswith("refitted\nchoices")
    (one, _), (two, told) = (load_policy(tmp_path / name) for name in ("one", "two"))
    for name, weight in one.state_dict().items():
        assert torch.equal(two.state_dict()[name], weight) != name.startswith("value_head")
    assert told.items() > about.items()
    excess = told["refit"]["excess of the value, before and after"]
    assert excess["all"][0] > 2
    assert abs(excess["all"][1]) < 0.05
    assert command(monkeypatch, f"torch:{tmp_path / 'two'}", *sizes) == 0
    assert after.partition("\n")[2] in capsys.readouterr().out


def test_a_cooled_policy_chooses_the_same_and_is_less_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    network = build(Shape(width=16, depth=1))
    save_policy(tmp_path / "one", network, {"reward": "margin", "players": [4]})
    sizes = ("--decisions", "200", "--fit", "200", "--refit", str(tmp_path / "two"))
    assert command(monkeypatch, f"torch:{tmp_path / 'one'}", *sizes, "--cool", "16") == 0
    cooled, _ = load_policy(tmp_path / "two")
    rows = torch.randint(0, 2, (64, network.reader.size), dtype=torch.int8)
    with torch.inference_mode():
        assert torch.equal(cooled.logits(rows) * 16, network.logits(rows))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cool", "0", "--refit", "x"], "--cool must be from 0.001 to 1000, not 0.0"),
        (["--cool", "nan", "--refit", "x"], "--cool must be from 0.001 to 1000, not nan"),
        (["--cool", "1e300", "--refit", "x"], "--cool must be from 0.001 to 1000, not 1e+300"),
        (["--cool", "2"], "--cool goes with --refit FOLDER, where the cooled policy is written"),
    ],
)
def test_what_cannot_be_cooled_is_refused(
    words: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(monkeypatch, "policy:partners", *words) == 2
    assert capsys.readouterr().err == f"calibration: {sentence}\n"


def test_only_policies_are_calibrated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "greedy") == 2
    assert capsys.readouterr().err == (
        "calibration: greedy has no network; give a policy, such as policy:family\n"
    )
