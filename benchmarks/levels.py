"""Measure the ten levels of the table: `python -m benchmarks.levels`.

Every level plays the one below on duplicate deals: in the main game, with two players, and in
All Fives. The levels that search take long, and play fewer deals.
"""

from __future__ import annotations

import argparse
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from agents.results import add_save, cell, publish
from benchmarks.duels import duels_with
from fiveup_env import Rules
from fiveup_env.arena.statistics.ratings import lead_of
from fiveup_env.opponents.levels import LEVEL_SPECS, LEVELS

if TYPE_CHECKING:
    from fiveup_env.files import Json

GAMES: Final = {  # by the heading of their column
    "Elo above the level below": Rules.preset("five_up", 4),
    "with two players": Rules.preset("five_up", 2),
    "in All Fives": Rules.preset("all_fives", 4),
}
# By how much fewer deals the slow levels play: in the main game, and in the other two.
SLOW: Final = {"level:9": (1, 5), "level:10": (4, 20)}
SEED: Final = 6_200_000_000


def lead(level: str, below: str, rules: Rules, deals: int) -> Json:
    """Return a cell with the Elo by which a level is ahead of the one below."""
    duel = duels_with(below, [level], rules, deals, SEED, cores=os.cpu_count() or 1)[level]
    rates = duel.wins.mean(), *duel.win_interval()
    value, *ends = (lead_of(rate, rules.sides) for rate in rates)
    return cell(value, ends, "+.0f")


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_save(parser)
    parser.add_argument("--deals", type=int, default=1200, help="of a pair")
    options = parser.parse_args()
    rows: list[Json] = [{"level": "`level:1`", "agent": f"`{LEVELS[0]}`"}]
    rows[0] |= dict.fromkeys(("deals", *GAMES), "")
    for k, (below, level) in enumerate(pairwise(LEVEL_SPECS), 1):
        main, other = (options.deals // one_of for one_of in SLOW.get(level, (1, 1)))
        row: Json = {"level": f"`{level}`", "agent": f"`{LEVELS[k]}`"}
        row["deals"] = f"{main:,} / {other:,}"
        for (name, rules), deals in zip(GAMES.items(), (main, other, other), strict=True):
            row[name] = lead(level, below, rules, deals)
        rows.append(row)
    publish("levels", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
