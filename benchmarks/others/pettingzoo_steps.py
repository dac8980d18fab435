"""PettingZoo: agents in turn, `last()`, and a random action under the mask, as it documents.

`env()` has the library's standard wrappers around `raw_env()`.
"""

from __future__ import annotations

from functools import partial

from _pettingzoo import play_game  # type: ignore[import-not-found]
from _timing import report  # type: ignore[import-not-found]
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.tictactoe import tictactoe

if __name__ == "__main__":
    for name, module in (("connect_four_v3", connect_four), ("tictactoe_v3", tictactoe)):
        report("pettingzoo", {f"{name}.env()": partial(play_game, module.env())})
        report("pettingzoo", {f"{name}.raw_env()": partial(play_game, module.raw_env())})
