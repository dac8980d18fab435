"""Compare two ways to train: `python -m agents.compare selfplay mine.yaml --seeds 5`.

A way is what `train.py` takes, in quotes if it changes keys: `"selfplay network=residual"`. Each is
trained with the same seeds. Then every policy of one plays every policy of the other, and all play
the same rivals, on the same duplicate deals. Intervals are over seeds and deals: they tell what
other runs would do on other deals.

The runs are in runs/NAME. The same command continues them, and --seeds may grow.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Final

from agents.results import add_save, publish
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.errors import InputError
from fiveup_env.opponents.registry import make_agent, split_specs

INSTALL: Final = "pip install -c constraints.txt -e '.[train]'"
SAME: Final[dict[str, Any]] = {  # for both ways
    "seed": 0,
    "threads": 1,
    "panel_minutes": 0.2,
    "panel_deals": 100,
    "table_deals": 0,
}


def main() -> int:
    """Run the command line, and return the exit status."""
    return answer("compare", _run, install=INSTALL)


def parser() -> Parser:
    """Return the parser of the command line."""
    made = Parser(
        prog="python -m agents.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("ways", nargs=2, metavar="WAY", help="a config, with changes of keys in the same quotes")
    add("--seeds", type=int, default=5, help="runs of each way (default: %(default)s)")
    add("--decisions", type=float, default=2e6, help="of each run (default: 2e6)")
    add("--deals", type=int, default=1000, help="played by every run (default: %(default)s)")
    add("--rivals", default="greedy,partner", help="specs (default: %(default)s)")
    add("--name", help="of the folder in runs/, and of results/NAME.json (default: the configs')")
    add("--cores", type=int, default=os.cpu_count() or 1, help="runs at a time (default: all)")
    add("--trust", action="store_true", help="let config files name agents that run code")
    add_save(made)
    return made


def _run() -> int:
    # These need packages of the extra `train`; a missing one is said in a sentence.
    from agents.compare.games import play_all
    from agents.compare.report import differing_rows, draw, rows_of, runs_of
    from agents.compare.ways import train_all, ways_of

    options = parser().parse_args()
    _check(options)
    rivals = split_specs(options.rivals)
    for rival in rivals:
        make_agent(rival)
    name = options.name or "-".join(Path(text.split(" ")[0]).stem for text in options.ways)
    keys = {"decisions": int(options.decisions), "panel": rivals, **SAME}
    ways = ways_of(options.ways, name, trust=options.trust, **keys)
    train_all(ways, options.seeds, options.cores)
    games = play_all(ways, options.seeds, rivals, options.deals, options.cores)
    plot = ways[0].folder.with_name("compare.svg")
    draw(ways, games, options.seeds, plot)
    publish(
        name,
        keep=options.save,
        differing=differing_rows(ways),
        rows=rows_of(ways, games),
        runs=runs_of(ways, games, options.seeds),
    )
    print(f"The plot is in {os.path.relpath(plot)}.")
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.seeds < 2 or options.deals < options.seeds or options.cores < 1:
        raise InputError(
            "compare needs two seeds or more, as one run tells nothing of others, as many deals, "
            f"and a core or more; not {options.seeds}, {options.deals} and {options.cores}"
        )
    if not 1 <= options.decisions <= 10**15:
        raise InputError(f"--decisions must be from 1 to 1e15, not {options.decisions:g}")


if __name__ == "__main__":
    sys.exit(main())
