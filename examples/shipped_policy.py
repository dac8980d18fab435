"""A shipped policy: what it plays in a hand, and how it does against `greedy`.

Its files hold only numbers, so loading them executes nothing. It sees only what a player sees.
"""

from __future__ import annotations

import numpy as np
import torch

from fiveup_env import MOVES, Game, Rules
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent

torch.set_num_threads(1)  # this network is too small for more
policy = PolicyAgent("partners")
rng = np.random.default_rng(0)

game = Game("five_up", players=4, seed=7)
while not game.hand_over and len(game.plays) < 6:
    seat = game.turn
    print(f"seat {seat} sets {game.push(game.ask(policy, rng))}")
print(f"\n{game}\n")

probabilities = policy.probabilities(game.view())[0]
for action in np.argsort(-probabilities)[: len(game.legal_moves)]:
    print(f"{MOVES[action]}: {probabilities[action]:.2f}")

rules, deals = Rules.preset("five_up", players=4), np.arange(900_000, 900_050)
played = duel([policy, make_agent("greedy")], rules, deals)
low, high = played.win_interval()
print(
    f"\nIt won {100 * played.wins.mean():.0f} % of the games against greedy ({100 * low:.0f} .. "
    f"{100 * high:.0f}), with a margin of {played.margins.mean():+.2f} points a hand."
)
