"""`fiveup warm`: compile now what is played with, so that nothing waits for it later."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np

import fiveup_env
from fiveup_env import Batch, Game, make_agent
from fiveup_env.analysis import judge
from fiveup_env.belief import marginals, sample
from fiveup_env.cli.shared import NoOptions, add_command
from fiveup_env.engine.dispatch import compile_now
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS: Final = (
    *("random", "partner", "level:1", "student", "policy:partners"),
    *("pimc:worlds=4", "pimc:worlds=4,weighed=2,playout=partner", "policy+search:partners"),
)


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "compile the games, environments and agents now, so that none of them waits later"
    add_command(commands, "warm", about, run, NoOptions)


def run(_options: NoOptions) -> int:
    """Use everything once, and return the exit status."""
    began = time.monotonic()
    compile_now()
    games = (_play, _step, _step_batch, _step_alone, _believe)
    uses: list[Callable[[], None]] = [*games, *(partial(_ask, spec) for spec in AGENTS)]
    for use in progress(uses, len(uses), "compiling"):
        use()
    print(f"compiled in {time.monotonic() - began:.0f} s; what was compiled is kept")
    return 0


def _play() -> None:
    game, random = Game(seed=1), make_agent("random")
    while game.turn is not None:
        game.push(game.ask(random))
    str(game)
    judge(game)


def _ask(spec: str) -> None:
    Game(seed=1).ask(make_agent(spec))


def _step() -> None:
    env = fiveup_env.env()
    env.reset(seed=1)
    mask = env.last()[0]["action_mask"]
    env.step(int(mask.argmax()))


def _step_batch() -> None:
    batch = Batch(2, seed=1)
    batch.reset()
    batch.step(batch.action_mask.argmax(1))


def _step_alone() -> None:
    for env in (gymnasium.make("fiveup/FiveUp-v0"), gymnasium.make_vec("fiveup/FiveUp-v0", 2)):
        _, info = env.reset(seed=1)
        env.step(np.asarray(info["action_mask"]).argmax(-1))


def _believe() -> None:
    view = Game(seed=1).view()
    sample(view, 2, np.random.default_rng(1))
    marginals(view)
