"""Measure how well regret on the bank predicts wins: `python -m benchmarks.bank`.

Every agent meets `partner` on duplicate deals, by the default rules, and is measured on the bank's
positions by these rules. The correlations are between the mean regret and the Elo difference to
`partner`; their intervals come from resampled deals and resampled games of the bank. To the agents
listed here, others can be added, such as policies of quick runs.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np

from agents.bank.regret import measure, resampled_rates
from agents.bank.storage import shipped_bank
from benchmarks.results import add_save, named, publish
from fiveup_env.arena.duels import duel
from fiveup_env.arena.ratings import ELO_SCALE
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress
from fiveup_env.rules.fields import Rules

RIVAL: Final = "partner"
AGENTS: Final = (
    *("random", "greedy", "defensive", "positional", "counter"),
    *("pimc:worlds=4", "pimc:worlds=16", "pimc:worlds=50", "pimc:worlds=200", "pimc:worlds=1000"),
    *("pimc:worlds=50,aim=hand", "pimc:worlds=32,playout=partner"),
    *("policy:partners", "policy:family"),
    "policy+search:partners,worlds=50,trust=1,playout=greedy,least=0.01,weighed=1",
    "policy:partners,sample=1",
    "policy:partners,sample=1,temperature=3",
)
FIRST_SEED: Final = 990_000_000
STRONG: Final = -150  # Elo against the rival: agents above it are correlated on their own, too


def main() -> None:
    """Play, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", nargs="*", help="more agents, such as policy:FOLDER")
    parser.add_argument("--deals", type=int, default=200)
    add_save(parser)
    options = parser.parse_args()
    agents, rules = (*AGENTS, *options.agents), Rules.preset()
    seeds, rival = np.arange(FIRST_SEED, FIRST_SEED + options.deals), make_agent(RIVAL)
    wins = np.array(
        [
            duel([make_agent(spec), rival], rules, seeds).wins
            for spec in progress(agents, len(agents), "agents")
        ]
    )
    elos = elo_of(wins.mean(1), options.deals)
    elo_samples = elo_of(resampled_means(wins.T), options.deals)
    bank = shipped_bank().under([rules])
    measured = [measure(bank, make_agent(spec), spec) for spec in agents]
    regrets, regret_samples = resampled_rates(bank, [one.regrets for one in measured])
    rows = [
        (
            f"`{spec}`",
            f"{100 * wins[k].mean():.1f}",
            _with_interval(elos, elo_samples, k, "+.0f", 1),
            _with_interval(regrets, regret_samples, k, ".2f", 100),
        )
        for k, spec in enumerate(agents)
    ]
    rows.sort(key=lambda row: -float(row[1]))
    head = ("agent", f"win rate against `{RIVAL}` (%)", f"Elo against `{RIVAL}`", "regret (%)")
    print(f"{options.deals} deals, {len(bank)} positions")
    publish("bank-elo", keep=options.save, rows=named([head, *rows]))
    for name, which in (
        ("all", np.arange(len(agents))),
        (f"above {STRONG} Elo", np.flatnonzero(elos > STRONG)),
    ):
        for kind, ranked in (("Pearson", False), ("Spearman", True)):
            value = correlation(regrets[which], elos[which], ranked=ranked)
            samples = [
                correlation(one[which], other[which], ranked=ranked)
                for one, other in zip(regret_samples, elo_samples, strict=True)
            ]
            low, high = interval(np.array(samples)[:, None])
            print(f"{kind}, {name} ({len(which)}): {value:.2f} ({low[0]:.2f} .. {high[0]:.2f})")


def elo_of(rates: np.ndarray, deals: int) -> np.ndarray:
    """Return Elo differences from win rates, with one even deal added."""
    shares = (rates * deals + 0.5) / (deals + 1)
    return ELO_SCALE * np.log(shares / (1 - shares))


def correlation(regrets: np.ndarray, elos: np.ndarray, *, ranked: bool) -> float:
    """Return the correlation of regret with Elo, or of their ranks: -1 if regret tells all."""
    if ranked:
        regrets, elos = (values.argsort().argsort() for values in (regrets, elos))
    return float(np.corrcoef(regrets, elos)[0, 1])


def _with_interval(
    values: np.ndarray, samples: np.ndarray, k: int, form: str, factor: float
) -> str:
    low, high = interval(factor * samples[:, k : k + 1])
    return f"{factor * values[k]:{form}} ({low[0]:{form}} .. {high[0]:{form}})"


if __name__ == "__main__":
    main()
