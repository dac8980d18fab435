"""What moves tell by a mixture of kinds of player: the same in plain Python."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.telling import LAPSES, RUNGS, SHARES, SHARP, UNITS, kinds_by, log_of_kinds
from fiveup_env import Game, Rules
from fiveup_env.engine.view import VIEW, observe_seats
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.search.inference import shipped_model
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from tests.opponents.test_inference import VARIANTS, features_of
from tests.support import label, play_randomly

if TYPE_CHECKING:
    from fiveup_env.game.values import Step

STUDENT = PolicyAgent("student")
KINDS = kinds_by(STUDENT.weights)


def log_of(world: np.ndarray, seat: int) -> float:
    return log_of_kinds(world[0], seat, KINDS)


def log_in_plain_python(game: Game) -> float:
    """The logarithm of how likely the others' moves of the present hand were."""
    chances = np.tile(np.array(SHARES), (game.rules.sides, 1))
    for step in game.steps():
        public = step.before["public"][0]
        others = public["hand_number"] == game.hand_number and public["turn"] != game.turn
        if others and step.move.action < DRAW and public["sizes"][public["turn"]] > 1:
            chances[game.rules.side_of(int(public["turn"]))] *= chances_of(step)
    return float(np.log(chances.sum(1)).sum())


def chances_of(step: Step) -> np.ndarray:
    """How likely every kind makes a move."""
    public, view = step.before["public"][0], np.zeros(1, VIEW)
    observe_seats(step.before, np.zeros(1, np.int64), public["turn"][None].astype(np.int64), view)
    logits = STUDENT.logits(view)[0]
    actions = [int(action) for action in np.flatnonzero(np.isfinite(logits))]
    if len(actions) == 1:
        return np.ones(len(SHARES))
    weights = [shipped_model()["weights"][0], *(weights_of(name) / SHARP for name in RUNGS)]
    unseen = unseen_in(view)
    plays = [
        features_of(step.before, unseen, action) if action < DRAW else None for action in actions
    ]
    worths = [[-np.inf if f is None else one @ f for f in plays] for one in weights]
    worths += [[logits[action] / unit for action in actions] for unit in UNITS]
    shares = np.exp(np.array(worths) - np.max(worths, 1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    lapses = np.array(LAPSES)
    return (1 - lapses) * shares[:, actions.index(step.move.action)] + lapses / len(actions)


def unseen_in(view: np.ndarray) -> int:
    """The tiles in other hands and the boneyard."""
    public = view["public"][0]
    most = int(public["rules"]["max_pip"])
    unseen = (1 << (most + 1) * (most + 2) // 2) - 1
    for play in public["play_action"][: public["plies"]]:
        unseen &= ~(1 << int(ACTION_TILE[play]))
    return unseen & ~int(view["hand"][0])


@pytest.mark.parametrize("rules", VARIANTS, ids=label)
def test_a_world_counts_by_every_choice_of_the_others_in_it(rules: Rules) -> None:
    total = 0.0
    for seed in range(6):
        game = play_randomly(Game(rules, seed=seed), Random(seed), 24 if seed else 5)
        if game.turn is not None:
            expected = log_in_plain_python(game)
            assert log_of(game.state(), game.turn) == pytest.approx(expected, abs=1e-4)
            total += expected
    assert total < -4
