"""Offline learning: behaviour cloning, and regression weighed by advantages, on decision data.

Two of the three players often err, and cloning learns to err like them. Weights from the search's
values let it learn most from what was good. Each result then meets `partner` in the arena.
`offline.py FOLDER` learns from the data in FOLDER/data, and keeps the policies in FOLDER.
"""

import sys
import tempfile

import numpy as np
import torch

from agents.data.files import make_data, read_data
from agents.data.plan import Plan
from agents.policies.files import save_policy
from agents.policies.networks import PolicyNetwork, Shape, build, masked_log_probabilities
from fiveup_env import Rules
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.registry import make_agent

torch.set_num_threads(1)
PLAN = Plan(agents=("partner", "greedy", "random"), positions=6_000, encoder="lookahead")


def advantages(data: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return by how much each action played is better than the mean of the legal ones."""
    values, legal = data["values"], data["mask"] > 0
    means = values.masked_fill(~legal, 0).sum(1) / legal.sum(1)
    return values[torch.arange(len(values)), data["action"].long()] - means


def learn(data: dict[str, torch.Tensor], weights: torch.Tensor, epochs: int = 6) -> PolicyNetwork:
    """Return a network that plays the actions of the data, each as much as it weighs."""
    torch.manual_seed(0)
    network = build(Shape("guided", 64, 2, shared=True))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    for rows in torch.split(torch.cat([torch.randperm(len(weights)) for _ in range(epochs)]), 256):
        part = {name: column[rows] for name, column in data.items()}
        logs = masked_log_probabilities(network.logits(part["observation"]), part["mask"])
        played = logs[torch.arange(len(rows)), part["action"].long()]
        optimizer.zero_grad()
        (-weights[rows] * played).mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return network


with tempfile.TemporaryDirectory() as scratch:
    folder = sys.argv[1] if sys.argv[1:] else scratch
    source = f"{folder}/data" if sys.argv[1:] else make_data(f"{folder}/data", PLAN)
    columns = read_data(source, columns=["observation", "mask", "action", "values"])
    data = {name: torch.from_numpy(column.copy()) for name, column in columns.items()}
    weighed = (advantages(data) / 0.02).clamp(max=3).exp()  # 2 % more chances count e times
    about = {"data": str(source), "command": " ".join(["python", *sys.argv])}
    for name, weights in {"cloning": weighed**0, "weighed": weighed}.items():
        save_policy(f"{folder}/{name}", learn(data, weights), about | {"reward": None})
        agents = [make_agent(f"policy:{folder}/{name}"), make_agent("partner")]
        played = duel(agents, Rules.preset(), np.arange(900_000, 900_050))
        low, high = played.win_interval()
        print(f"{name}: {100 * played.wins.mean():.0f} % ({100 * low:.0f} .. {100 * high:.0f})")
