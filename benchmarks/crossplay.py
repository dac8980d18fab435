"""Measure agents beside partners whom they have never met: `python -m benchmarks.crossplay`.

Every agent is the partner of every other, in both orders of their seats, and of held-out partners,
from whom no agent here has learnt. Each pair plays `partner`, which has both seats of the other
side, in games to 61 of Five Up on the same duplicate deals. So an agent's games with itself, with
the others and with the held-out partners can be compared deal by deal.

`--enter SPEC ...` measures any agents with themselves and with the held-out partners alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

import agents as laboratory  # noqa: F401 - registers its agents
from agents.results import add_save, cell, publish
from benchmarks.duels import duels_with
from fiveup_env import Rules
from fiveup_env.arena.statistics.bootstrap import mean_interval
from fiveup_env.cli.shared import answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fiveup_env.files import Json

    Team = tuple[str, str]

AGENTS: Final = (
    "greedy",
    "defensive",
    "positional",
    "counter",
    "partner",
    "student",
    "policy:partners",
    "policy:family",
    "pimc:worlds=50",
    "student+search:worlds=50",
)
HELD_OUT: Final = (
    "random",
    "level:2",
    "level:4",
    "level:6",
    "torch:leaderboard/maskable-ppo",
    "torch:leaderboard/rllib",
)
RIVAL: Final = "partner"
RULES: Final = Rules.preset("five_up", 4)
SEED: Final = 7_400_000_000


@dataclass(frozen=True)
class Crossplay:
    """The points of teams of two against the rival on the same deals: by team, one value a deal."""

    won: Mapping[Team, np.ndarray]

    def alone(self, agent: str) -> np.ndarray:
        """Return what an agent won with itself as its partner."""
        return self.won[agent, agent]

    def beside(self, agent: str, partners: Sequence[str]) -> np.ndarray:
        """Return what an agent won on average with some partners, in both orders of the seats."""
        both = [(self.won[agent, partner] + self.won[partner, agent]) / 2 for partner in partners]
        return np.mean(both, axis=0)

    def beyond_members(self, agent: str, partners: Sequence[str]) -> np.ndarray:
        """Return what an agent and its partners won beyond the mean of what each wins with itself.

        A strong agent wins less beside a weak partner, though the two play well together; here that
        cancels out.
        """
        theirs = np.mean([self.alone(partner) for partner in partners], axis=0)
        return self.beside(agent, partners) - (self.alone(agent) + theirs) / 2


def play(
    teams: Iterable[Team], deals: int, cores: int, results: str | None = None
) -> tuple[Crossplay, Crossplay]:
    """Let every team play the rival on the same deals; what `results` holds is not played again.

    Returns:
        The shares of the games that the teams won, and their points a hand.
    """
    specs = {f"pair:{first},second={other}": (first, other) for first, other in teams}
    duels = duels_with(RIVAL, specs, RULES, deals, SEED, cores=cores, results=results)
    return (
        Crossplay({specs[spec]: duel.wins for spec, duel in duels.items()}),
        Crossplay({specs[spec]: duel.margins for spec, duel in duels.items()}),
    )


def teams_of(agents: Sequence[str], partners: Sequence[str]) -> list[Team]:
    """Return each agent with itself, and with all partners, in both orders."""
    others = [(a, b) for a, b in product(agents, partners) if a != b]
    both = [team for a, b in others for team in ((a, b), (b, a))]
    return list(dict.fromkeys([*((agent, agent) for agent in agents), *both]))


def rate(wins: np.ndarray) -> Json:
    """Return a cell with a share of games, as a percentage with its interval."""
    return cell(wins.mean(), mean_interval(wins, (0, 1)), ".1%")


def difference(values: np.ndarray, form: str) -> Json:
    """Return a cell with the mean of differences by deal, with its interval."""
    most = max(1, np.abs(values).max())  # a whole game, or the most points
    return cell(values.mean(), mean_interval(values, (-most, most)), form)


def with_held_out(wins: Crossplay, agent: str) -> Json:
    """Return the row of an agent with itself and beside the held-out partners."""
    alone, beside = wins.alone(agent), wins.beside(agent, HELD_OUT)
    return {
        "agent": f"`{agent}`",
        "deals": len(alone),
        "with itself (%)": rate(alone),
        "beside held-out partners (%)": rate(beside),
        "difference": difference(beside - alone, "+.1%"),
    }


def among_all(wins: Crossplay, margins: Crossplay, agents: Sequence[str]) -> Json:
    """Return the row of an agent with itself and beside others, or of the mean of several."""
    others = {agent: [other for other in AGENTS if other != agent] for agent in agents}

    def mean(values: Iterable[np.ndarray]) -> np.ndarray:
        return np.mean(list(values), axis=0)

    alone = mean(wins.alone(agent) for agent in agents)
    beside = mean(wins.beside(agent, others[agent]) for agent in agents)
    beyond = mean(margins.beyond_members(agent, others[agent]) for agent in agents)
    return {
        "agent": "the mean" if agents[1:] else f"`{agents[0]}`",
        "with itself (%)": rate(alone),
        "beside the others (%)": rate(beside),
        "difference": difference(beside - alone, "+.1%"),
        "beyond their members (points a hand)": difference(beyond, "+.3f"),
        "beside held-out partners (%)": rate(
            mean(wins.beside(agent, HELD_OUT) for agent in agents)
        ),
    }


def matrix_row(wins: Crossplay, agents: Sequence[str], partner: str) -> Json:
    """Return the win rates of some agents beside a partner (%), each with half its interval."""
    row: Json = {"win rate (%) beside": f"`{partner}`"}
    for agent in agents:
        win_rate = rate(wins.beside(agent, [partner]))
        low, high = win_rate["ci"]
        value, error = (round(x, 2) for x in (100 * win_rate["value"], 50 * (high - low)))
        row[f"`{agent}`"] = {"value": value, "error": error, "format": ".1f"}
    return row


def main() -> int:
    """Measure, print what was found, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_save(parser)
    parser.add_argument("--deals", type=int, default=400, help="default: 400")
    parser.add_argument("--cores", type=int, default=1, help="processes that play (default: 1)")
    kept = "keep results, and skip what it already holds"
    parser.add_argument("--results", metavar="FILE", help=kept)
    parser.add_argument("--enter", nargs="+", metavar="SPEC", help="measure these agents alone")
    options = parser.parse_args()
    if options.enter and options.save:
        parser.error("--save keeps the table of all agents; an entry is printed alone")
    agents = options.enter or AGENTS
    teams = teams_of(agents, HELD_OUT if options.enter else (*AGENTS, *HELD_OUT))
    wins, margins = play(teams, options.deals, options.cores, options.results)
    if options.enter:
        publish("crossplay", keep=False, rows=[with_held_out(wins, agent) for agent in agents])
        return 0
    rows = [among_all(wins, margins, some) for some in (*([agent] for agent in AGENTS), AGENTS)]
    matrix = [matrix_row(wins, agents, agent) for agent in (*AGENTS, *HELD_OUT)]
    publish("crossplay", keep=options.save, rows=rows, matrix=matrix)
    return 0


if __name__ == "__main__":
    sys.exit(answer("crossplay", main))
