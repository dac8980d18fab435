"""Pages of HTML that stand alone: titled sections of text, plots and tables."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.tables import Table


class Section(NamedTuple):
    """A part of a page: the title and the text are HTML, the plot is SVG."""

    title: str
    text: str = ""
    plot: str = ""
    table: Table | None = None


def page_of(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return a page."""
    frame = Template(files("fiveup_env.arena").joinpath("page.html").read_text("utf-8"))
    body = "\n".join(map(_html, sections))
    return frame.substitute(title=escape(title), lead=escape(lead), body=body)


def _html(section: Section) -> str:
    parts = [f"<h2>{section.title}</h2>"]
    if section.text:
        parts.append(f"<p>{section.text}</p>")
    if section.plot:
        parts.append(f"<figure>{section.plot}</figure>")
    if section.table:
        rows = [_row(row, section.table, "td") for row in section.table.rows]
        heads = _row(section.table.heads, section.table, "th")
        parts.append("\n".join(["<div><table>", heads, *rows, "</table></div>"]))
    return "\n".join(["<section>", *parts, "</section>"])


def _row(cells: Sequence[str], table: Table, tag: str) -> str:
    return "".join(
        f"<{tag}{' class=right' if k in table.right else ''}>{escape(cell)}</{tag}>"
        for k, cell in enumerate(cells)
    ).join(("<tr>", "</tr>"))
