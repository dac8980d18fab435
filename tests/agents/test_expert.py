"""Expert iteration: labels from true deals, what is learnt from them, and the gate."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from agents.fitting.teachers import label_by, make_teacher
from agents.learn import expert
from agents.learn.averaged import Examples, value_loss
from agents.learn.expert import Expert, compiled_weights
from agents.policies.networks import PolicyNetwork, Shape
from agents.runs.config import Config
from fiveup_env import Game, Rules
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.learning.labels import Judge
from fiveup_env.learning.learner import LossError
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.networks.compiled import Weights
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.outlook import outlook_of
from fiveup_env.opponents.search.units import HANDS_IN_A_CHANCE, POINTS_IN_ONE, Units
from fiveup_env.rules.actions import ACTION_COUNT
from tests.agents import learning
from tests.agents.learning import check_continues, difference_loss, noisy

LOOKAHEAD = get_encoder("lookahead")
SMALL = learning.SMALL | {"learner": "expert", "student": 8, "gate_every": 2, "gate_deals": 10}
pytestmark = pytest.mark.usefixtures("briefly")


def lively(width: int = 8, depth: int = 1) -> PolicyNetwork:
    return noisy(Shape("guided", width, depth, shared=True))


def labels_of(judge: Judge, game: Game, reward: str = "margin") -> np.ndarray:
    """The labels of the actions that the seat to move has in a game."""
    rng, indices = np.random.default_rng(0), np.zeros(1, np.int64)
    return judge.label(game.state(), indices, Units(game.view(), reward), rng)[0]


# --- Labels


@pytest.mark.parametrize("players", [3, 4])
def test_a_label_is_what_the_action_brings_when_the_judge_plays_on_in_the_true_deal(
    players: int,
) -> None:
    judge, rng = Judge(compiled_weights(lively())), np.random.default_rng(0)
    game = Game(players=players, seed=4)
    for _ in range(5):
        game.push(game.ask(judge, rng))
    labels, side = labels_of(judge, game), game.rules.side_of(int(game.turn or 0))
    assert np.array_equal(~np.isnan(labels), game.action_mask() > 0)
    for move in game.legal_moves:
        after = game.copy()
        after.push(move)
        while after.hand_number == game.hand_number and not after.outcome():
            after.push(after.ask(judge, rng))
        gained = np.array(after.scores) - game.scores
        margin = gained[side] - np.delete(gained, side).mean()
        assert labels[move.action] * POINTS_IN_ONE == pytest.approx(margin, abs=1e-4)


def test_a_label_by_a_teacher_is_its_value_in_the_units_of_rewards() -> None:
    game = Game(players=4, seed=4)
    for _ in range(9):
        game.push(next(iter(game.legal_moves)))
    views, mask = game.view(), game.action_mask()
    units = Units(views, "outlook")
    pimc, rng = make_teacher("pimc:worlds=64,weighed=4"), np.random.default_rng(0)
    labels = label_by(pimc, views, units, rng)
    assert np.array_equal(~np.isnan(labels[0]), mask > 0)
    values = pimc.values(views, np.random.default_rng(0))
    assert units.values(labels)[0, mask > 0] == pytest.approx(values[0, mask > 0], abs=1e-6)


def test_a_choice_that_a_teacher_ruled_out_says_nothing_about_the_value() -> None:
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    some, none = torch.tensor([2.0, torch.nan, 1.0]), torch.full((3,), torch.nan)
    assert value_loss(values, some).item() == pytest.approx((1 + 4) / 2)
    loss = value_loss(values, none)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert values.grad is not None
    assert (values.grad == 0).all()


# --- Stakes


def stakes_at(reward: str, *scores: int) -> float:
    """What POINTS_IN_ONE points are worth at some scores, to the side of the first."""
    view = Game(players=4, seed=1).view(0)
    view["public"]["scores"][:, : len(scores)] = scores
    units = Units(view, reward)
    assert units.part(np.zeros(1, np.int64)).stakes == units.stakes
    return float(units.stakes[0])


def test_stakes_are_the_slope_of_the_outlook_high_where_the_game_is_close() -> None:
    assert stakes_at("margin", 0, 0) == stakes_at("margin", 55, 60) == 1
    chances, lead = outlook_of(Rules.preset(players=4).to_struct()), Game(players=4, seed=1).lead
    own, rival = 61 - 20, 61 - 30
    grid = chances if lead % 2 == 0 else 1 - chances.T
    rise = grid[own - 10, rival] - grid[own + 10, rival]
    assert stakes_at("outlook", 20, 30) == pytest.approx(HANDS_IN_A_CHANCE * rise * 5 / 20)
    close, begun, decided = (stakes_at("outlook", *s) for s in ((50, 50), (0, 0), (5, 60)))
    assert close > 1.5 * begun > 1.5 * decided >= 1.5 * 0.1


# --- Learning


def test_only_differences_between_legal_actions_are_learnt() -> None:
    labels = torch.tensor([[1.0, 3.0, torch.nan], [torch.nan, 2.0, 0.0]])
    logits = torch.tensor([[5.0, 7.0, 99.0], [9.0, 1.0, 0.0]], requires_grad=True)
    loss = difference_loss(logits, labels)
    # The first row's difference is right, the second row's is 1 instead of 2: two errors of 1/2.
    assert loss.item() == pytest.approx(2 * 0.25 / 4)
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert torch.equal(logits.grad != 0, torch.tensor([[False] * 3, [False, True, True]]))


def test_an_update_learns_and_tells_how_well(tmp_path: Path) -> None:
    learner = Expert(Config(**SMALL), tmp_path)
    before = [weight.clone() for weight in learner.student.parameters()]
    figures = learner.update(0.0)
    assert figures.keys() == {
        "policy_loss", "value_loss", "student_loss", "student_value_loss", "learning_rate", "accepted",
    }  # fmt: skip
    assert all(
        not torch.equal(old, new)
        for old, new in zip(before, learner.student.parameters(), strict=True)
    )
    assert 0 < learner.decisions < 64 * 8
    assert "gate" in learner.update(0.5)
    with torch.no_grad():
        learner._averaged.learning["network"].value_head.bias.fill_(torch.nan)
    with pytest.raises(LossError, match="the loss is nan"):
        learner.update(1.0)
    learner.close()


def test_what_plays_is_the_running_mean_of_what_is_learnt(tmp_path: Path) -> None:
    learner = Expert(Config(**SMALL | {"averaging": 0.5}), tmp_path)
    bias, rng = learner._averaged.learning["student"].policy_head.bias, np.random.default_rng(0)
    learner._averaged.learn(two_rows(), 0.0, rng)
    wanted = bias.detach().clone()
    for _ in range(3):
        learner._averaged.learn(two_rows(), 0.0, rng)
        wanted = (wanted + bias.detach()) / 2
        assert torch.allclose(learner.student.policy_head.bias, wanted)
    assert not torch.equal(bias, wanted)
    learner = Expert(Config(**SMALL | {"averaging": 0}), tmp_path)
    learner.update(0.0)
    for mean, weight in zip(
        learner.network.parameters(),
        learner._averaged.learning["network"].parameters(),
        strict=True,
    ):
        assert torch.equal(mean, weight)


def two_rows() -> Examples:
    """Two decisions with labels."""
    views = np.concatenate([Game(seed=seed).view() for seed in range(2)])
    rows = np.zeros((2, row_size(LOOKAHEAD)), np.int8)
    LOOKAHEAD.encode(views, rows)
    labels = np.full((2, ACTION_COUNT), np.nan, np.float32)
    for k in range(2):
        legal = np.flatnonzero(Game(seed=k).action_mask())
        labels[k, legal] = np.linspace(0, 1, len(legal))
    return Examples(rows, labels, np.array([1.0, 0.5], np.float32))


@pytest.mark.parametrize("wins", [False, True])
def test_a_run_continues_bit_for_bit_whether_students_win_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, wins: bool
) -> None:
    result = SimpleNamespace(margins=np.array([1.0 if wins else -1.0]))
    monkeypatch.setattr(expert, "duel", lambda *_: result)
    config = Config(**SMALL | {"gate_every": 1})
    check_continues(lambda: Expert(config, tmp_path), 4)


def play_like(network: PolicyNetwork, heuristic: str) -> None:
    """Give a network the weights of a heuristic, and no others."""
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        assert network.guide is not None
        network.guide.bias.copy_(torch.tensor(weights_of(heuristic)))


@pytest.mark.parametrize(("student", "accepted"), [("greedy", 0), ("partner", 1)])
def test_a_student_judges_only_if_it_wins_the_gate(
    tmp_path: Path, student: str, accepted: int
) -> None:
    learner = Expert(Config(**SMALL | {"gate_deals": 200}), tmp_path)
    assert isinstance(learner._judge.player, np.ndarray)  # the heuristic `partner` is the first
    play_like(learner.student, student)
    play_like(learner._accepted, "defensive")
    learner._judge = learner._player = before = Judge(compiled_weights(learner._accepted))
    margin = learner._gate()
    assert (margin > 0) == bool(accepted)
    assert learner.accepted == accepted
    assert (learner._judge is before) == (learner._player is before) == (not accepted)
    expected = weights_of("partner" if accepted else "defensive")
    assert learner._accepted.guide is not None
    assert np.allclose(learner._accepted.guide.bias.detach().numpy(), expected)
    if accepted:
        agent, views = make_agent(f"student:{tmp_path / 'student'}"), Game(seed=1).view()
        same = learner._judge(views, np.random.default_rng(0))
        assert agent(views, np.random.default_rng(0)) == same
    else:
        assert not (tmp_path / "student").exists()


def test_a_student_that_is_accepted_plays_and_partner_may_go_on_judging(tmp_path: Path) -> None:
    learner = Expert(Config(**SMALL | {"gate_deals": 200, "judge": "partner"}), tmp_path)
    play_like(learner.student, "partner")
    play_like(learner._accepted, "defensive")
    partner, learner._player = learner._judge, Judge(compiled_weights(learner._accepted))
    assert learner._gate() > 0
    assert learner._judge is partner
    assert learner._player not in {partner, None}
    states = learner.state()
    again = Expert(learner.config, tmp_path)
    again.restore(*states)
    assert isinstance(again._judge.player, np.ndarray)
    assert isinstance(again._player.player, Weights)
