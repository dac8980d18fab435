"""The standings as one self-contained HTML page, for people who did not run the tournament."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena import plots
from fiveup_env.arena.page import Section, page_of
from fiveup_env.arena.play.results import code_version
from fiveup_env.arena.statistics.standings import POINTS
from fiveup_env.arena.tables import (
    Table,
    differences_table,
    errors_table,
    ladder_table,
    pairs_table,
)

if TYPE_CHECKING:
    from fiveup_env.arena.play.tournament import TournamentResult
    from fiveup_env.arena.statistics.standings import Standings

RAREST = 0.01  # plies that a smaller share of the hands reaches are left out


def report_html(
    outcome: TournamentResult, standings: Standings, command: str, test: str | None = None
) -> str:
    """Return the page.

    Args:
        outcome: what was played.
        standings: its figures.
        command: the command line that the page shows.
        test: what a sequential test found.
    """
    terms = outcome.tournament.terms
    ratings = standings.ratings
    names = {row["agent"]: row["agent"] for row in ratings}
    elos = [plots.Interval(row["agent"], row["elo"], *row["elo_ci"]) for row in ratings]
    points = [(name, curve["hand_points"]) for name, curve in standings.curves.items()]
    timed = [(row["agent"], row["us_per_move"]) for row in ratings if row["us_per_move"]]
    sections = [
        Section("What was played", table=_what_was_played(outcome, standings, command, test)),
        Section(
            "The ladder",
            "Elo puts all pairs on one scale, whose mean is 0: one side that leads another by 100 "
            "points wins 64 %, by 200 points 76 %, by 400 points 91 % of the games between the "
            "two. Nash is how often each agent is chosen if two players each choose one to win "
            "with, as well as possible: agents that share it beat each other in a circle. "
            "Intervals are at 95 %, from resamples of whole deals.",
            plots.intervals(elos, "Elo"),
            ladder_table(ratings, names),
        ),
        Section(
            "Who beats whom",
            "The win rate (%) of the agent in the row against the agent in the column. The best "
            "are at the top and on the left.",
            plots.heat_map([row["agent"] for row in ratings], standings.rates),
        ),
        Section(
            "All pairs",
            "Every deal was played under each seat assignment, with the same tiles, for luck "
            "matters a lot in this game. With more than two sides, one agent plays one side and "
            "the other all others, and both ways; equals win 50 %. Points a hand are the mean "
            "points of an agent's sides minus those of the other's. Saved is how many times as "
            "many games, each on a deal of its own, an equally exact margin would have needed. A "
            "forfeit is a game lost by a fault: an illegal action, an error, or too much time.",
            table=pairs_table(standings.pairs, names),
        ),
        Section(
            "Points in a hand",
            "How the points that an agent's side scores in a hand are distributed, including those "
            "at the end of the hand. The line marks the mean.",
            plots.histograms(points, POINTS * terms.rules.unit, "points in a hand"),
        ),
        Section(
            "Points by ply",
            "The points that an agent's tiles scored as they were set. The first tile is the lead; "
            "the more open ends there are, the larger the totals.",
            plots.curves(_points_by_ply(standings), "the k-th tile set in a hand", "mean points"),
        ),
        Section(
            "Time per move",
            "The time for a decision on one core, where many are requested together.",
            plots.times(timed) if timed else "",
        ),
    ]
    if standings.differences:
        table = differences_table(standings.differences, names)
        text = "By how much the first agent did better than each other, on the same deals."
        sections.insert(4, Section("The first agent less the others", text, table=table))
    if any(row["error"] for row in ratings):
        text = (
            "The mean loss of a decision with a choice, in chances to win and in points, compared "
            f"with the best move by <code>{escape(terms.judge or '')}</code>."
        )
        sections.insert(-1, Section("Error rates", text, table=errors_table(ratings, names)))
    lead = "A tournament of agents on duplicate deals."
    return page_of("Five Up: an arena report", lead, sections)


def _what_was_played(
    outcome: TournamentResult, standings: Standings, command: str, test: str | None
) -> Table:
    tournament, rules = outcome.tournament, outcome.tournament.terms.rules
    deals = standings.pairs[0]["deals"]
    partners = " as partners" if rules.teams else ""
    episode = f"games to {rules.target}" if tournament.terms.episode == "game" else "single hands"
    cut = f" (interrupted; {tournament.deals:,} were requested)" if outcome.interrupted else ""
    rows = [
        ("Rules", f"{rules.name or 'custom rules'}, {rules.players} players{partners}, {episode}"),
        ("Fields", ", ".join(f"{name} {value}" for name, value in rules.fields().items())),
        ("Deals", f"{deals:,}{cut}, each under {standings.pairs[0]['games'] // deals} seatings"),
        ("Seed", f"{tournament.seed} (deal k has seed {tournament.seed} + k)"),
        ("Agents", ", ".join(tournament.agents)),
        ("Hands", f"{sum(pair['hands'] for pair in standings.pairs):,} in all"),
        ("Version", code_version()),
        *([("Sequential test", test)] if test else []),
        ("Command", command),
    ]
    return Table((), rows)


def _points_by_ply(standings: Standings) -> list[tuple[str, np.ndarray]]:
    """Return the mean points of every agent's k-th tile; NaN where hands rarely are so long."""
    curves = []
    for name, curve in standings.curves.items():
        often = curve["plies"] > RAREST * curve["plies"].max()
        with np.errstate(invalid="ignore", divide="ignore"):
            curves.append((name, np.where(often, curve["ply_points"] / curve["plies"], np.nan)))
    return curves
