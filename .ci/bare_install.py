"""What must hold where only the wheel was installed: opponents play, and no laboratory is there."""

from importlib.metadata import files
from importlib.util import find_spec

import gymnasium
import numpy as np

import fiveup_env
from fiveup_env import Batch, Game, make_agent
from fiveup_env.opponents import known_agents

for missing in ("agents", "train", "evaluate", "tests", "torch", "stable_baselines3"):
    assert find_spec(missing) is None, f"{missing} can be imported from a bare install"
tops = {path.parts[0] for path in files("fiveup-env") or ()}
tops = {top for top in tops if not top.endswith(".dist-info") and top != ".."}
assert tops == {"fiveup_env"}, tops

# A whole game against `partner`, one learner among three opponents.
env = gymnasium.make("fiveup/FiveUp-v0", opponents="partner")
_, info = env.reset(seed=1)
ended = truncated = False
moves, reward = 0, 0.0
while not ended and not truncated:
    _, won, ended, truncated, info = env.step(int(info["action_mask"].argmax()))
    reward = float(won)
    moves += 1
assert reward in {-1.0, 1.0}, reward
print(f"a game against partner: {moves} moves, reward {reward:+.0f}")

# A batch that every agent of the library plays.
batch, random = Batch(64, players=[2, 3, 4], seed=0), np.random.default_rng(0)
batch.reset()
for name in known_agents():
    agent = make_agent("pimc:worlds=4" if name == "pimc" else name)
    batch.step(agent(batch.views(), batch.mask, random))
print(f"a batch stepped by {', '.join(known_agents())}")

game = Game("five_up", seed=7)
assert "seat" in str(game)
assert game._repr_svg_().startswith("<svg")
print(f"fiveup-env {fiveup_env.__version__} works from the wheel alone")
