"""Agents against each other on duplicate deals: `python evaluate.py --agents greedy,defensive`."""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

from agents.arena.duels import pairs_of, pairs_table
from agents.registry import listing
from fiveup_env import FiveUpError, Rules
from fiveup_env.episodes import EPISODES
from fiveup_env.files import whole_file


def main() -> int:
    """Play every pair, print the table, keep it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="list the agents and their options")
    parser.add_argument("--agents", default="random,greedy,defensive", help="specs, by commas")
    parser.add_argument("--rules", default="five_up", help="a preset (default: five_up)")
    parser.add_argument("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    parser.add_argument("--deals", type=int, default=1000, help="deal streams (default: 1000)")
    parser.add_argument("--episode", choices=EPISODES, default="game", help="default: game")
    parser.add_argument("--seed", type=int, default=0, help="the first deal stream (default: 0)")
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    options = parser.parse_args()
    if options.list:
        print(listing())
        return 0
    try:
        rules = Rules.preset(options.rules, options.players)
        seeds = np.arange(options.seed, options.seed + options.deals)
        pairs = pairs_of(options.agents, rules, seeds, options.episode)
        print(pairs_table(pairs))
        if options.json:
            with whole_file(options.json) as file:
                json.dump({"options": vars(options), "pairs": pairs}, file, indent=1)
    except (FiveUpError, OSError) as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
