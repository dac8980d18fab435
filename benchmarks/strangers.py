"""Measure what training for strangers brings: `python -m benchmarks.strangers`.

Both arms are the configuration `selfplay`, from the same seeds, with the same number of decisions.
In one of them, partners from a population play one seat in half of the games. The policies then
play as in `benchmarks.crossplay`, on its deals: beside themselves, beside those of other seeds, and
beside partners whom they have met in training or never. Runs that exist are not repeated.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.crossplay import HELD_OUT, add_play, difference, play, rate, teams_of
from benchmarks.results import ROOT, add_save, publish
from benchmarks.training import across_seeds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.crossplay import Crossplay
    from fiveup_env.files import Json

POPULATION: Final = ("greedy", "counter", "level:3", "level:5")
COMMON: Final = ("selfplay", "decisions=1.5e6", "threads=1", "panel=[]", "table_deals=0")
ARMS: Final = {
    "itself": (),
    "strangers": ("partner_share=0.5", f"partners={[*POPULATION]}"),
}
LESS: Final = "other seeds, less itself"
KINDS: Final = {
    "partners of the training": POPULATION,
    "levels that err": HELD_OUT[1:4],
    "other learners": HELD_OUT[4:],
    "`random`": HELD_OUT[:1],
}


def trained(arm: str, seed: int) -> str:
    """Train a run to its end, unless it has ended, and return the spec of its policy."""
    name = f"{arm}-{seed}"
    words = [*COMMON, *ARMS[arm], f"seed={seed}", "--name", name]
    if (ROOT / "runs" / name).exists():
        words = ["--resume", name]
    subprocess.run([sys.executable, "train.py", *words], cwd=ROOT, check=True)
    return f"torch:runs/{name}/policy"


def beside(wins: Crossplay, policy: str, siblings: Sequence[str]) -> dict[str, np.ndarray]:
    """Return what a policy won beside each kind of partner, by deal."""
    alone, others = wins.alone(policy), wins.beside(policy, siblings)
    won = {"itself": alone, "other seeds": others, LESS: others - alone}
    return won | {kind: wins.beside(policy, partners) for kind, partners in KINDS.items()}


def rows_of(wins: Crossplay, policies: Mapping[str, Sequence[str]]) -> list[Json]:
    """Return a row for each kind of partner: the policies of each arm, and their difference."""
    won = {
        arm: [beside(wins, policy, [one for one in of_arm if one != policy]) for policy in of_arm]
        for arm, of_arm in policies.items()
    }
    rows = []
    for kind in won["itself"][0]:
        by_seed = {arm: np.array([one[kind] for one in of_arm]) for arm, of_arm in won.items()}
        cell = partial(difference, form="+.1%") if kind == LESS else rate
        more = by_seed["strangers"] - by_seed["itself"]
        rows.append(
            {"win rate (%) beside": kind}
            | {f"trained with {arm}": cell(values.mean(0)) for arm, values in by_seed.items()}
            | {
                "difference, by deals": difference(more.mean(0), "+.1%"),
                "by seeds": across_seeds((100 * more.mean(1)).tolist(), 1),
            }
        )
    return rows


def main() -> None:
    """Train, measure, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_save(parser)
    add_play(parser)
    parser.add_argument("--seeds", type=int, default=3, help="of each arm (default: 3)")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("--seeds must be 2 or more: policies of other seeds are partners, too")
    policies = {arm: [trained(arm, seed) for seed in range(options.seeds)] for arm in ARMS}
    teams = [team for of_arm in policies.values() for team in permutations(of_arm, 2)]
    for of_arm in policies.values():
        teams += teams_of(of_arm, (*POPULATION, *HELD_OUT))
    wins, _ = play(teams, options.deals, options.cores, options.results)
    publish("strangers", keep=options.save, rows=rows_of(wins, policies))


if __name__ == "__main__":
    main()
