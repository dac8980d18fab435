"""OpenSpiel's CFR+ on a game small enough to be solved: how far is it from an equilibrium?

NashConv is what the two players together could gain if each knew the other's strategy: 0 where
neither can do better. Needs OpenSpiel: pip install 'fiveup-env[openspiel]'
"""

from __future__ import annotations

import argparse

from open_spiel.python import policy
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability

from agents.openspiel.policies import AgentPolicy
from fiveup_env.doors.openspiel import load

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rounds", type=int, default=8, help="passes of CFR+ through the game")
parser.add_argument("--reserve", type=int, default=2, help="tiles that stay undrawn (0 to 2)")
options = parser.parse_args()

game = load("mini-2", players=2, reserve=options.reserve)
solver = cfr.CFRPlusSolver(game)
for done in range(1, options.rounds + 1):
    solver.evaluate_and_update_policy()
    if done % 4 == 0:
        gap = exploitability.nash_conv(game, solver.average_policy())
        print(f"after {done} rounds: NashConv {gap:.4f} points a hand")

print("\nAgainst the CFR+ strategy, as first and as second player, in points a hand:")
best = solver.average_policy()
for spec in ("random", "greedy", "defensive"):
    asked = AgentPolicy(game, spec, samples=16)
    agent = policy.tabular_policy_from_callable(game, asked.action_probabilities)
    seatings: list[list[policy.Policy]] = [[agent, best], [best, agent]]
    first, second = (
        expected_game_score.policy_value(game.new_initial_state(), seated)[seat]
        for seat, seated in enumerate(seatings)
    )
    gap = exploitability.nash_conv(game, agent)
    print(f"{spec:<10} {first:+.3f} {second:+.3f}   NashConv {gap:.3f}")
