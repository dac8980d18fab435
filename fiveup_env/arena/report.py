"""The standings as one self-contained HTML page, for people who did not run the tournament."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.charts import Whisker, dots, heat_map, histograms, lines, whiskers
from fiveup_env.arena.markup import facts_of, figure_of, page_of, sections_of, table_of
from fiveup_env.arena.results import code_version
from fiveup_env.arena.standings import POINTS
from fiveup_env.arena.statistics import with_bounds
from fiveup_env.arena.tables import (
    duration,
    forfeited,
    hundredths,
    percent,
    points,
    times,
)

if TYPE_CHECKING:
    from fiveup_env.arena.standings import Standings
    from fiveup_env.arena.tournament import Outcome

RAREST = 0.01  # plies that a smaller share of the hands reaches are left out


def report_html(
    outcome: Outcome,
    standings: Standings,
    command: str,
    test: str | None = None,
) -> str:
    """Return the page.

    Args:
        outcome: what was played.
        standings: its figures.
        command: the command line that the page shows.
        test: what a sequential test found.
    """
    sections = [
        ("What was played", _what_was_played(outcome, standings, command, test)),
        ("The ladder", _ladder(standings)),
        ("Who beats whom", _heat_map(standings)),
        ("All pairs", _pairs(standings)),
        ("Points in a hand", _hand_points(outcome, standings)),
        ("Points by ply", _points_by_ply(standings)),
        ("Time per move", _time(standings)),
    ]
    if any(row["error"] for row in standings.ratings):
        sections.insert(-1, ("Error rates", _errors(outcome, standings)))
    reading = files("fiveup_env.arena").joinpath("reading.html").read_text("utf-8")
    lead = "A tournament of agents on duplicate deals."
    return page_of("Five Up: an arena report", lead, f"{sections_of(sections)}\n{reading}")


def _what_was_played(outcome: Outcome, standings: Standings, command: str, test: str | None) -> str:
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
    ]
    tested = [("Sequential test", test)] if test else []
    return facts_of([*rows, *tested, ("Command", command)])


def _ladder(standings: Standings) -> str:
    rows = [Whisker(row["agent"], row["elo"], *row["elo_ci"]) for row in standings.ratings]
    table = table_of(
        [
            "agent",
            "Elo (95 % interval)",
            "win rate (%)",
            "Nash",
            "time per move",
            "forfeits",
        ],
        [
            [
                row["agent"],
                with_bounds(row["elo"], row["elo_ci"], "+.0f"),
                f"{100 * row['win_rate']:.1f}",
                "-" if row["nash"] is None else f"{100 * row['nash']:.0f} %",
                duration(row["us_per_move"]),
                str(row["forfeits"]),
            ]
            for row in standings.ratings
        ],
    )
    return figure_of(whiskers(rows, "Elo")) + table


def _heat_map(standings: Standings) -> str:
    names = [row["agent"] for row in standings.ratings]
    return (
        "<p>The win rate (%) of the agent in the row against the agent in the column. "
        "The best are at the top and on the left.</p>" + figure_of(heat_map(names, standings.rates))
    )


def _pairs(standings: Standings) -> str:
    rows = [
        [
            pair["a"],
            pair["b"],
            percent(pair["win_rate"], pair["win_rate_ci"]),
            points(pair["margin"], pair["margin_ci"]),
            "-" if pair["hand_margin_sd"] is None else f"{pair['hand_margin_sd']:.1f}",
            times(pair["variance_reduction"]["margin"]) + forfeited(pair["forfeits"]),
        ]
        for pair in standings.pairs
    ]
    heads = ["a", "b", "a's win rate (%)", "a's points a hand", "spread of a hand", "saved"]
    return table_of(heads, rows, names=2) + _differences(standings)


def _differences(standings: Standings) -> str:
    if not standings.differences:
        return ""
    rows = [
        [
            row["a"],
            row["less"],
            percent(row["win_rate"], row["win_rate_ci"], sign="+"),
            points(row["margin"], row["margin_ci"]),
        ]
        for row in standings.differences
    ]
    rival = standings.differences[0]["against"]
    return (
        f"<p>By how much the first agent did better than each other against {escape(rival)}, "
        "on the same deals.</p>"
        + table_of(["a", "less", "win rate (%)", "points a hand"], rows, names=2)
    )


def _hand_points(outcome: Outcome, standings: Standings) -> str:
    unit = outcome.tournament.terms.rules.unit
    rows = [(name, curve["hand_points"]) for name, curve in standings.curves.items()]
    return (
        "<p>How the points that an agent's side scores in a hand are distributed, including those "
        "at the end of the hand. The line marks the mean.</p>"
        + figure_of(histograms(rows, POINTS * unit, "points in a hand"))
    )


def _points_by_ply(standings: Standings) -> str:
    curves = []
    for name, curve in standings.curves.items():
        often = curve["plies"] > RAREST * curve["plies"].max()
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(often, curve["ply_points"] / curve["plies"], np.nan)
        curves.append((name, means[: np.flatnonzero(often)[-1] + 1]))
    figure = lines(curves, "the k-th tile set in a hand", "mean points that it scored")
    return (
        "<p>The points that an agent's tiles scored as they were set. The first tile is the lead; "
        "the more open ends there are, the larger the totals.</p>" + figure_of(figure)
    )


def _errors(outcome: Outcome, standings: Standings) -> str:
    terms = outcome.tournament.terms
    judged = [(row["agent"], row["error"]) for row in standings.ratings if row["error"]]
    judged.sort(key=lambda pair: pair[1]["chance"])
    return (
        "<p>The mean loss of a decision with a choice, in chances to win and in points, compared "
        f"with the best move by <code>{escape(terms.judge or '')}</code>, on every "
        f"{terms.judge_every}th deal. Intervals are over deals.</p>"
        + table_of(
            ["agent", "decisions", "error rate (%)", "points a decision"],
            [
                [
                    name,
                    f"{error['decisions']:,}",
                    hundredths(error["chance"], error["chance_ci"]),
                    points(error["points"], error["points_ci"]),
                ]
                for name, error in judged
            ],
        )
    )


def _time(standings: Standings) -> str:
    rows = [(row["agent"], row["us_per_move"]) for row in standings.ratings if row["us_per_move"]]
    figure = dots(rows, "time per move", duration) if rows else ""
    return (
        "<p>The time for a decision on one core, where many are requested together. Each step of "
        "the scale is ten times the one before.</p>" + figure_of(figure)
    )
