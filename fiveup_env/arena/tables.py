"""The standings as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fiveup_env.arena.statistics.bootstrap import with_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fiveup_env.arena.statistics.standings import Standings

LONGEST_NAME = 18
GAP = "  "


class Table(NamedTuple):
    """Rows of cells, as text in columns or on a page; without rows there is no table."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()  # the columns that are aligned to the right

    def text(self) -> str:
        """Return the table as text."""
        return columns([self.heads, *self.rows], {*self.right})


def standings_text(standings: Standings) -> str:
    """Return the tables of pairs, differences and agents, then all cut names in full."""
    names = short_names(row["agent"] for row in standings.ratings)
    tables = [
        pairs_table(standings.pairs, names),
        differences_table(standings.differences, names),
        ladder_table(standings.ratings, names),
        errors_table(standings.ratings, names),
    ]
    texts = [table.text() for table in tables if table.rows]
    if cut := [(short, name) for name, short in names.items() if short != name]:
        texts.append(columns(cut, right=set()))
    return "\n\n".join(texts)


def pairs_table(pairs: Sequence[dict[str, Any]], names: Mapping[str, str]) -> Table:
    """Return the table of all pairs.

    `saved` is how many times as many games, each on its own deal, an equally exact margin needs.
    """
    rows = [
        (
            names[pair["a"]],
            names[pair["b"]],
            f"{pair['deals']:,}",
            percent(pair["win_rate"], pair["win_rate_ci"]),
            points(pair["margin"], pair["margin_ci"]),
            times(pair["variance_reduction"]["margin"]) + forfeited(pair["forfeits"]),
        )
        for pair in pairs
    ]
    return Table(("a", "b", "deals", "a's win rate (%)", "points a hand", "saved"), rows, [2])


def differences_table(differences: Sequence[dict[str, Any]], names: Mapping[str, str]) -> Table:
    """Return the table of paired differences against one agent."""
    rival = names[differences[0]["against"]] if differences else ""
    rows = [
        (
            names[row["a"]],
            names[row["less"]],
            percent(row["win_rate"], row["win_rate_ci"], sign="+"),
            points(row["margin"], row["margin_ci"]),
        )
        for row in differences
    ]
    return Table(("a", "less", f"win rate (%) against {rival}", "points a hand"), rows)


def ladder_table(ratings: Sequence[dict[str, Any]], names: Mapping[str, str]) -> Table:
    """Return the table of all agents, the best first."""
    rows = [
        (
            names[row["agent"]],
            with_bounds(row["elo"], row["elo_ci"], "+.0f"),
            f"{100 * row['win_rate']:.1f}",
            "-" if row["nash"] is None else f"{100 * row['nash']:.0f} %",
            duration(row["us_per_move"]),
        )
        for row in ratings
    ]
    return Table(("agent", "Elo", "win rate (%)", "Nash", "time per move"), rows, [2, 3, 4])


def errors_table(ratings: Sequence[dict[str, Any]], names: Mapping[str, str]) -> Table:
    """Return the table of error rates, the lowest first."""
    judged = sorted(
        (row for row in ratings if row["error"]), key=lambda row: row["error"]["chance"]
    )
    rows = [
        (
            names[row["agent"]],
            f"{row['error']['decisions']:,}",
            f"{row['error']['deals']:,}",
            hundredths(row["error"]["chance"], row["error"]["chance_ci"]),
            points(row["error"]["points"], row["error"]["points_ci"]),
        )
        for row in judged
    ]
    heads = ("agent", "judged", "deals", "error rate (%)", "points a decision")
    return Table(heads, rows, [1, 2])


def hundredths(rate: float, bounds: Sequence[float]) -> str:
    """Return a small rate in per cent, with its interval."""
    return with_bounds(100 * rate, [100 * bound for bound in bounds], ".2f")


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


def markdown(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells, of which the first has the headings, as a Markdown table."""
    heads, *others = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *others))


def short_names(names: Iterable[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return names of at most `longest` characters, no two of which look alike.

    A longer name keeps its beginning and its end. All are cut at the same place, one that leaves
    them different; where there is none, they are numbered.
    """
    different = dict.fromkeys(names)
    for head in (longest // 2 - 2, *range(longest - 1)):
        cut = {name: _cut(name, head, longest) for name in different}
        if len(set(cut.values())) == len(cut):
            return cut
    return {
        name: name if len(name) <= longest else _cut(f"{k}: {name}", longest // 2, longest)
        for k, name in enumerate(different, 1)
    }


def _cut(name: str, head: int, longest: int) -> str:
    tail = longest - 2 - head
    return name if len(name) <= longest else f"{name[:head]}..{name[len(name) - tail :]}"


def percent(rate: float, bounds: Sequence[float], sign: str = "") -> str:
    """Return a win rate in per cent, with its interval; with `sign="+"`, a difference of two."""
    return with_bounds(100 * rate, [100 * bound for bound in bounds], f"{sign}.1f")


def points(margin: float, bounds: Sequence[float]) -> str:
    """Return a margin with its interval."""
    return with_bounds(margin, bounds, "+.2f")


def times(factor: float | None) -> str:
    """Return a factor as text, or a dash where there is none."""
    return "-" if factor is None else f"x {factor:.1f}"


def duration(microseconds: float | None) -> str:
    """Return a time in the unit that suits it, or a dash where there is none."""
    if microseconds is None:
        return "-"
    rounded = float(f"{microseconds:.3g}")  # first, as that may be a number of the next unit
    for unit, size in (("us", 1), ("ms", 1e3)):
        if rounded < 1e3 * size:
            return f"{rounded / size:.3g} {unit}"
    return f"{rounded / 1e6:g} s"


def forfeited(forfeits: Sequence[int]) -> str:
    """Return the number of games that each agent of a pair forfeited, or "" if none did."""
    names = zip("ab", forfeits, strict=True)
    text = ", ".join(f"{name} forfeited {games}" for name, games in names if games)
    return f"; {text}" if text else ""
