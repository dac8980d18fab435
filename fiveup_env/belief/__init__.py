"""The hidden tiles, given a view: the number of worlds, uniform samples, and marginals.

A world is a complete arrangement of the tiles: every dealt hand, and the boneyard in its order. The
deal is a shuffle, so all worlds that are consistent with what a seat has seen are equally likely.

    evidence    what a view says about the hidden tiles
    counting    the number of worlds, by dynamic programming
    worlds      worlds drawn at random, each with the same probability
    marginals   the probability of each place for each tile

Compiled code calls `fill_worlds` and `fill_marginals` with one VIEW, which is not checked; Python
calls `count`, `sample`, `marginals` and `worlds_to_games` with an array that holds one, as
`Game.view` returns it, and which is.
"""

from fiveup_env.belief.counting import count, count_ways, full
from fiveup_env.belief.evidence import read_view
from fiveup_env.belief.marginals import fill_marginals, fill_marginals_at, marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD, GROUP, SETTLED, WORLD
from fiveup_env.belief.worlds import fill_worlds, fill_worlds_at, sample, worlds_to_games

__all__ = [
    "BELIEF",
    "BONEYARD",
    "GROUP",
    "SETTLED",
    "WORLD",
    "count",
    "count_ways",
    "fill_marginals",
    "fill_marginals_at",
    "fill_worlds",
    "fill_worlds_at",
    "full",
    "marginals",
    "read_view",
    "sample",
    "worlds_to_games",
]
