"""The standings as text of at most 100 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.arena.standings import Standings

LONGEST_NAME = 20
GAP = "  "


def standings_text(standings: Standings) -> str:
    """Return the table of all pairs, then the ladder."""
    return f"{pairs_text(standings.pairs)}\n\n{ladder_text(standings.ratings)}"


def pairs_text(pairs: Sequence[dict[str, Any]]) -> str:
    """Return the table of all pairs.

    `saved` is how many times as many games, each on its own deal, an equally exact margin needs.
    """
    rows = [("a", "b", "deals", "a's win rate (%)", "points a hand", "saved")]
    rows += [
        (
            short(pair["a"]),
            short(pair["b"]),
            f"{pair['deals']:,}",
            percent(pair["win_rate"], pair["win_rate_ci"]),
            points(pair["margin"], pair["margin_ci"]),
            times(pair["variance_reduction"]["margin"]) + forfeited(pair["forfeits"]),
        )
        for pair in pairs
    ]
    return columns(rows, right={2})


def ladder_text(ratings: Sequence[dict[str, Any]]) -> str:
    """Return the table of all agents, the best first."""
    rows = [("agent", "Elo", "win rate (%)", "Nash", "time per move", "regret")]
    rows += [
        (
            short(row["agent"]),
            f"{row['elo']:+.0f} ({row['elo_ci'][0]:+.0f} .. {row['elo_ci'][1]:+.0f})",
            f"{100 * row['win_rate']:.1f}",
            "-" if row["nash"] is None else f"{100 * row['nash']:.0f} %",
            duration(row["us_per_move"]),
            "-" if row["regret"] is None else f"{row['regret']:.3f}",
        )
        for row in ratings
    ]
    return columns(rows, right={2, 3, 4, 5})


def columns(rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Return rows of cells as text in columns, of which those in `right` are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        GAP.join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a name of at most `longest` characters: a longer one keeps its beginning and end."""
    head = longest // 2 - 2
    return name if len(name) <= longest else f"{name[:head]}..{name[head + 2 - longest :]}"


def percent(rate: float, bounds: Sequence[float]) -> str:
    """Return a win rate in per cent, with its interval."""
    low, high = (100 * bound for bound in bounds)
    return f"{100 * rate:.1f} ({low:.1f} .. {high:.1f})"


def points(margin: float, bounds: Sequence[float]) -> str:
    """Return a margin with its interval."""
    return f"{margin:+.2f} ({bounds[0]:+.2f} .. {bounds[1]:+.2f})"


def times(factor: float | None) -> str:
    """Return a factor as text, or a dash where there is none."""
    return "-" if factor is None else f"x {factor:.1f}"


def duration(microseconds: float | None) -> str:
    """Return a time in the unit that suits it, or a dash where there is none."""
    if microseconds is None:
        return "-"
    for unit, size in (("us", 1), ("ms", 1e3)):
        if microseconds < 1e3 * size:
            return f"{microseconds / size:.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"


def forfeited(forfeits: Sequence[int]) -> str:
    """Return how many games each agent of a pair forfeited, or nothing if none did."""
    names = zip("ab", forfeits, strict=True)
    text = ", ".join(f"{name} forfeited {games}" for name, games in names if games)
    return f"; {text}" if text else ""
