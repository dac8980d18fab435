"""PettingZoo's loop, with nothing around it: four random players, as partners, play 100 hands.

`env.last()` returns what the side of the agent to move has won or lost since the agent's own last
move, so partners end with the same sum, and the other side with its opposite. An agent that can
only draw or pass is never asked.
"""

from __future__ import annotations

import fiveup_env

HANDS = 100

env = fiveup_env.env(players=4, episode="hand", reward="margin")
points = dict.fromkeys(env.possible_agents, 0.0)
moves = dict.fromkeys(env.possible_agents, 0)
for seat, agent in enumerate(env.possible_agents):
    env.action_space(agent).seed(seat)

for hand in range(HANDS):
    env.reset(seed=hand)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        points[agent] += reward
        if observation is None or termination or truncation:
            env.step(None)
            continue
        action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
        moves[agent] += 1
        if hand == 0:
            print(f"{agent} sets {fiveup_env.MOVES[action]}")

print(f"\nAfter {HANDS} hands:")
for agent in env.possible_agents:
    print(f"{agent}: {moves[agent]} moves, {points[agent]:+.0f} points more than the other side")
