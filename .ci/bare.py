"""What must hold where only the wheel is installed: bare.py play, bare.py card FILE, bare.py table.

`card` writes the figures of a small score card and a small tournament: they must be the same, bit
for bit, from a bare install and in a clone. `table` needs the extra `web`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import gymnasium
import numpy as np

from fiveup_env import Batch, Game, Rules, make_agent
from fiveup_env.arena.benchmark.card import TIMES, card_of
from fiveup_env.arena.benchmark.games import play as play_protocol
from fiveup_env.arena.benchmark.isolated import measure
from fiveup_env.arena.benchmark.protocol import QUICK, read_protocol
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.statistics.standings import standings_of
from fiveup_env.opponents import known_agents
from fiveup_env.opponents.registry import needed_options


def play() -> None:
    """Play by Gymnasium, and let every agent of the library step a batch."""
    for missing in ("agents", "train", "evaluate", "tests", "torch", "stable_baselines3"):
        assert find_spec(missing) is None, f"{missing} can be imported from a bare install"
    tops = {path.parts[0] for path in files("fiveup-env") or ()}
    tops = {top for top in tops if not top.endswith(".dist-info") and top != ".."}
    assert tops == {"fiveup_env"}, tops

    env = gymnasium.make("fiveup/FiveUp-v0", opponents="partner")
    _, info = env.reset(seed=1)
    ended = truncated = False
    reward = 0.0
    while not ended and not truncated:
        _, won, ended, truncated, info = env.step(int(info["action_mask"].argmax()))
        reward = float(won)
    assert reward in {-1.0, 1.0}, reward

    batch, rng = Batch(64, players=[2, 3, 4], seed=0), np.random.default_rng(0)
    batch.reset()
    names = [name for name, agent in known_agents().items() if not needed_options(agent)]
    for name in names:
        agent = make_agent("pimc:worlds=4" if name == "pimc" else name)
        batch.step(agent(batch.views(), rng))

    game = Game("five_up", seed=7)
    assert "seat" in str(game)
    assert game._repr_svg_().startswith("<svg")
    print(f"a game against partner, and a batch stepped by {', '.join(names)}")


def card(file: str) -> None:
    """Play a little of the protocol and of a tournament, and write the figures."""
    protocol = read_protocol("fiveup-v1")
    protocol.check()
    few = replace(
        protocol,
        tasks=tuple(replace(task, quick=2) for task in protocol.tasks[::2]),  # partners, and three
        minis=protocol.minis[:1],
    )
    with TemporaryDirectory() as folder:
        results = list(play_protocol(few, "student", QUICK, folder))
    figures = card_of(few, "student", QUICK, results, *measure(few, "student", QUICK))
    del figures[TIMES]
    agents = ("student", "partner", "policy:family")
    met = play_tournament(Tournament(agents, Terms(Rules.preset()), deals=10, seed=1), 1)
    figures["pairs"] = standings_of(met).pairs
    Path(file).write_text(json.dumps(figures, indent=1), encoding="utf-8")


def table() -> None:
    """Check that the page is served with all its parts, and that an agent answers."""
    fiveup = str(Path(sys.executable).with_name("fiveup"))
    command = [fiveup, "play", "--no-browser", "--port", "0", "--seed", "7"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[4].rstrip("/")

            def ask(path: str, body: object = None) -> bytes:
                data = None if body is None else json.dumps(body).encode()
                headers = {"Content-Type": "application/json"}
                with urlopen(Request(address + path, data, headers)) as answer:
                    return bytes(answer.read())

            parts = re.findall(r'(?:src|href)="([^"]+)"', ask("/").decode())
            assert len(parts) >= 5, parts
            assert all(len(ask(f"/{part}")) > 200 for part in parts)
            assert ask("/fiveup.wasm").startswith(b"\0asm")
            question = {"spec": "partner", "view": Game(seed=7).view().tobytes().hex(), "key": 1}
            assert Game(seed=7).parse(json.loads(ask("/api/ask", question))["move"])
        finally:
            server.terminate()
    print(f"the page is served at {address}")


if __name__ == "__main__":
    {"play": play, "card": card, "table": table}[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
