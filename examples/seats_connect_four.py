"""Self-play in another game: PettingZoo's `connect_four_v3`, by nothing but arrays.

`fiveup_env.seats` knows no dominoes: it takes who moved, what the move brought everybody, and
where a game ended. The gain is the plainest there is, by REINFORCE with values.
"""

from __future__ import annotations

import numpy as np
import torch
from pettingzoo.classic import connect_four_v3
from torch import nn
from torch.distributions import Categorical

from fiveup_env.seats import SeatTrajectories

GAMES, TICKS, UPDATES = 16, 64, 20
torch.manual_seed(0)
torch.set_num_threads(1)  # the network is too small for more
chance = np.random.default_rng(0)
envs = [connect_four_v3.env() for _ in range(GAMES)]
network = nn.Sequential(nn.Flatten(), nn.Linear(84, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)


def look(boards: np.ndarray, masks: np.ndarray) -> tuple[Categorical, torch.Tensor]:
    """Return the chances of the columns, and the values, of some boards."""
    out = network(torch.as_tensor(boards, dtype=torch.float32))
    forbidden = torch.as_tensor(masks) == 0
    return Categorical(logits=out[:, :7].masked_fill(forbidden, -torch.inf)), out[:, 7]


def share_won(games: int) -> float:
    """Return the share of games that the network wins against random play, in either seat."""
    env, points = envs[0], 0.0
    for game in range(games):
        env.reset()
        for agent in env.agent_iter():
            seen, _, termination, truncation, _ = env.last()
            if termination or truncation:
                points += (1 + env.rewards[f"player_{game % 2}"]) / 2 / games
                break
            board, mask = seen["observation"][None], seen["action_mask"]
            drawn = int(look(board, mask[None])[0].probs.argmax())
            own = agent == f"player_{game % 2}"
            env.step(drawn if own else int(chance.choice(np.flatnonzero(mask))))
    return points


before, window = share_won(100), SeatTrajectories(TICKS, GAMES, players=2)
for env in envs:
    env.reset(seed=0)
for _ in range(UPDATES):
    while not window.is_full:
        seen = [env.observe(env.agent_selection) for env in envs]
        boards, masks = (np.stack([s[k] for s in seen]) for k in ("observation", "action_mask"))
        with torch.no_grad():
            drawn, values = look(boards, masks)
        moves = drawn.sample().numpy()
        seats = np.array([env.agents.index(env.agent_selection) for env in envs])
        window.decide(seats, boards=boards, masks=masks, moves=moves, values=values.numpy())
        for env, move in zip(envs, moves, strict=True):
            env.step(int(move))
        rewards = np.array([[env.rewards[f"player_{k}"] for k in range(2)] for env in envs])
        ends = np.array([any(env.terminations.values()) for env in envs])
        window.reward(rewards, ends)
        for game in np.flatnonzero(ends):
            envs[game].reset()
    decisions = window.take()
    known = decisions.known
    gains = decisions.advantages(decisions["values"], gamma=1.0, gae_lambda=0.9)[known]
    now, values = look(decisions["boards"][known], decisions["masks"][known])
    gain, target = (torch.as_tensor(x) for x in (gains, gains + decisions["values"][known]))
    won = (now.log_prob(torch.as_tensor(decisions["moves"][known])) * gain).mean()
    optimizer.zero_grad()
    ((values - target).square().mean() - won - 0.01 * now.entropy().mean()).backward()
    optimizer.step()
print(f"won against random play: {before:.0%} before, {share_won(200):.0%} after")
