"""What each extra promises: extras.py WHEEL names them, and extras.py WHEEL EXTRA uses one."""

import re
import sys
import zipfile
from importlib.util import find_spec

# Code that works where the wheel was installed with one extra, and with nothing else.
PROMISES = {
    "sb3": """
from sb3_contrib import MaskablePPO
from fiveup_env.envs.sb3 import FiveUpVecEnv
games = FiveUpVecEnv(4, players=2, opponents="greedy", episode="hand", scaled=True)
MaskablePPO("MlpPolicy", games, n_steps=8, batch_size=8).learn(32)
""",
    "train": """
import matplotlib, rich, safetensors.torch, sb3_contrib, stable_baselines3, tensorboard, torch, yaml
""",
    "render": """
import fiveup_env
env = fiveup_env.env(players=2, render_mode="rgb_array")
env.reset(seed=1)
assert env.render().ndim == 3
""",
    "openspiel": """
from fiveup_env.adapters.openspiel import load
state = load().new_initial_state()
assert state.is_chance_node()
""",
    "web": """
from fiveup_env.play.launch import free_socket
free_socket("127.0.0.1", 0).close()
""",
    "ray": """
import ray, ray.rllib
""",
    "dev": """
import httpx, hypothesis, mypy, playwright, pytest, ruff, scipy, torchrl, xdist
from importlib.metadata import version
version("import-linter"), version("pre-commit")
""",
    "data": """
import minari, pyarrow.parquet
""",
    "sweep": """
import optuna
""",
    "docs": """
import furo, myst_parser, sphinx
""",
}

wheel, *chosen = sys.argv[1:]
if not chosen:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        said = archive.read(name).decode()
    print(*re.findall(r"^Provides-Extra: (.+)$", said, re.MULTILINE), sep="\n")
for extra in chosen:
    if extra not in PROMISES:
        sys.exit(f"nothing says what the extra {extra!r} promises: name it in .ci/extras.py")
    assert find_spec("agents") is None, "the laboratory can be imported from a bare install"
    exec(PROMISES[extra])  # noqa: S102 - it is above
    print(f"the extra {extra} does what it promises")
