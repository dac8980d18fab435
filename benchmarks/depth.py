"""Compare what searches choose and by how much each other's choices are worse.

python -m benchmarks.depth 4 8000 400 ahead=0 ahead=1

Arguments: players, worlds, positions, and the searches' options. Positions are of games of
`policy:partners`. Every search chooses once, and judges all choices with other worlds.
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from fiveup_env import Batch
from fiveup_env.opponents.registry import make_agent


def positions(players: int, count: int) -> np.ndarray:
    """Return views of decisions with a choice, from all over some games."""
    player, rng, views = make_agent("policy:partners"), np.random.default_rng(0), []
    for seed in range(10_000, 10_000 + count // 16):
        batch = Batch(1, players=players, seed=seed)
        batch.reset()
        while not batch.terminated[0]:
            if batch.action_mask[0].sum() > 1:
                views.append(batch.views())
            batch.step(player(batch.views(), rng))
    found = np.concatenate(views)
    return found[np.linspace(0, len(found) - 1, count).astype(int)]


def main() -> None:
    """Print how often choices differ, and what the judge thinks they lose."""
    torch.set_num_threads(1)
    players, worlds, count = (int(word) for word in sys.argv[1:4])
    views, rows = positions(players, count), np.arange(count)
    spec = f"policy+search:{'partners' if players == 4 else 'family'},trust=0,worlds={worlds},"
    found = {
        options: [
            make_agent(spec + options).search(views, np.random.default_rng(seed)) for seed in (1, 2)
        ]
        for options in sys.argv[4:]
    }
    for options, (player, _) in found.items():
        for other, (_, judge) in found.items():
            chosen, best = player.scores.argmax(1), judge.scores.argmax(1)
            lost = judge.means[rows, best] - judge.means[rows, chosen]
            lost[~np.isfinite(lost)] = 0
            error = lost.std() / np.sqrt(count)
            print(
                f"{options} judged by {other}: {100 * np.mean(chosen != best):.1f} % differ, "
                f"{1000 * lost.mean():.2f} +- {1000 * error:.2f} thousandths lost"
            )


if __name__ == "__main__":
    main()
