"""Our agents in OpenSpiel, OpenSpiel's bots in our arena, and OpenSpiel's algorithms on our game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Game, Rules
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.errors import AgentError
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.registry import known_agents, make_agent

pyspiel = pytest.importorskip("pyspiel", reason="the agents of OpenSpiel (no OpenSpiel)")

from open_spiel.python import policy  # noqa: E402
from open_spiel.python.algorithms import exploitability  # noqa: E402
from open_spiel.python.algorithms.cfr import CFRPlusSolver  # noqa: E402

from agents.openspiel.bots import BotAgent  # noqa: E402
from agents.openspiel.policies import AgentBot, AgentPolicy  # noqa: E402
from fiveup_env.doors.openspiel import load  # noqa: E402
from tests.support import python  # noqa: E402

if TYPE_CHECKING:
    from fiveup_env.doors.openspiel import FiveUpState

# Small enough to be walked through in a second: two tiles each of the double-two set, no draws.
TINY: dict[str, Any] = {"max_pip": 2, "hand_size": 2, "multiple": 3, "reserve": 2}


def first_decision(game: Any, seed: int = 1) -> FiveUpState:
    """The lead of a random deal."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    while state.is_chance_node():
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def test_cfr_approaches_an_equilibrium() -> None:
    game = load(players=2, **TINY)
    solver = CFRPlusSolver(game)
    for _ in range(6):
        solver.evaluate_and_update_policy()
    uniform, solved = policy.UniformRandomPolicy(game), solver.average_policy()
    gap = exploitability.nash_conv(game, solved)
    assert gap < exploitability.nash_conv(game, uniform) / 10


def test_probabilities_are_told_or_the_shares_of_an_agents_answers() -> None:
    game = load(players=2)
    state = first_decision(game)
    drawn = AgentPolicy(game, Random(), samples=4000).action_probabilities(state)
    assert list(drawn) == state.legal_actions()
    assert list(drawn.values()) == pytest.approx([1 / 5] * 5, abs=0.03)
    reported = AgentPolicy(game, "random").action_probabilities(state)
    assert list(reported.values()) == pytest.approx([1 / 5] * 5)
    (best,) = (
        a for a, share in AgentPolicy(game, "greedy").action_probabilities(state).items() if share
    )
    assert best == AgentBot("greedy").step(state)


def test_probabilities_are_those_of_the_information_state() -> None:
    game = load(players=2)
    state = first_decision(game)
    other = state.resample_from_infostate(state.current_player(), np.random.default_rng(1).random)
    assert str(other) != str(state)
    asked = AgentPolicy(game, Random(), samples=7)
    assert asked.action_probabilities(other) == asked.action_probabilities(state)
    with pytest.raises(AgentError, match="called once or more"):
        AgentPolicy(game, "greedy", samples=0).action_probabilities(state)


def test_openspiels_ismcts_plays_in_our_arena() -> None:
    agents = [make_agent("openspiel:simulations=16"), make_agent("random")]
    rules, seeds = Rules.preset("five_up", 2), np.arange(4, dtype=np.uint64)
    played, again = (duel(agents, rules, seeds, "hand") for _ in range(2))
    assert played.margins.mean() > 0
    assert (played.margins == again.margins).all()


def test_a_bot_of_the_arena_is_handed_a_state_that_its_seat_cannot_tell_from_the_truth() -> None:
    game, rng = Game(players=3, seed=5), np.random.default_rng(5)
    handed, guessed = [], 0

    class Watcher:
        """Keeps what it is handed, and plays anything."""

        def step(self, state: FiveUpState) -> int:
            handed.append(state)
            return int(state.legal_actions()[-1])

    watcher = BotAgent(lambda game, seat, chance: Watcher())  # noqa: ARG005 - makers take three
    for _ in range(12):
        view, mask = game.view(), game.action_mask()
        action = int(watcher(view, rng)[0])
        if mask.sum() > 1:
            state = handed[-1]
            assert state.current_player() == game.turn
            seen = state.playthrough.view(state.current_player())
            seen["public"]["hand_number"] = game.hand_number  # there it is the first
            assert seen.tobytes() == view.tobytes()
            truth = game.state()["hands"][0].tolist()
            guessed += state.playthrough.games["hands"][0].tolist() != truth
        game.push(list(game.legal_moves)[-1])
        assert mask[action]
    assert guessed > len(handed) / 2


@pytest.mark.parametrize("options", ["simulations=0", "simulations=1", "explore=-1"])
def test_options_that_cannot_be_played_are_refused(options: str) -> None:
    with pytest.raises(AgentError, match="simulations= of 2 or more"):
        make_agent(f"openspiel:{options}")


def test_agents_are_listed_where_openspiel_is_missing() -> None:
    assert "openspiel" in known_agents()
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "import agents; from fiveup_env.opponents.registry import listing, make_agent\n"
        "assert 'openspiel' in listing()\n"
        "make_agent('openspiel')\n"
    )
    sentence = "pip install 'fiveup-env[openspiel]' (Python 3.11 or newer)"
    assert sentence in python("-c", code).stderr
