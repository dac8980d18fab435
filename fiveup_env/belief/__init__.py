"""The hidden tiles, given a view: the number of worlds, uniform samples, and marginals.

A world is a complete arrangement of the tiles: every dealt hand, and the boneyard in its order. The
deal is a shuffle, so all worlds that are consistent with what a seat has seen are equally likely.

    evidence    what a view says about the hidden tiles
    counting    the number of worlds, by dynamic programming
    worlds      worlds drawn at random, each with the same probability
    marginals   the probability of each place for each tile

`count`, `sample` and `worlds_to_games` take an array that holds one VIEW, as `Game.view` returns
it, `marginals` takes any number, and all check them. The compiled functions below check nothing.
"""

from fiveup_env.belief.counting import count
from fiveup_env.belief.marginals import marginals
from fiveup_env.belief.structs import BONEYARD, WORLD
from fiveup_env.belief.worlds import sample, worlds_to_games

__all__ = ["BONEYARD", "WORLD", "count", "marginals", "sample", "worlds_to_games"]
