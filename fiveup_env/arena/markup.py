"""Pages of HTML that stand alone: their frame, their sections, tables and figures."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def page_of(title: str, lead: str, body: str) -> str:
    """Return a page; `body` is HTML, the title and the lead are text."""
    frame = files("fiveup_env.arena").joinpath("page.html").read_text("utf-8")
    frame = frame.replace("<!-- title -->", escape(title)).replace("<!-- lead -->", escape(lead))
    return frame.replace("<!-- body -->", body)


def sections_of(sections: Iterable[tuple[str, str]]) -> str:
    """Return sections, each with its heading."""
    return "\n".join(f"<section>\n<h2>{title}</h2>\n{text}\n</section>" for title, text in sections)


def facts_of(rows: Iterable[tuple[str, str]]) -> str:
    """Return facts, each with its name."""
    facts = "\n".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return f"<dl>\n{facts}\n</dl>"


def figure_of(svg: str) -> str:
    """Return a figure."""
    return f"<figure>{svg}</figure>"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """Return a table whose first `names` columns are aligned left, the others right."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{'' if k < names else ' class=figures'}>{escape(cell)}</{tag}>"
            for k, cell in enumerate(row)
        )

    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f"<div class=scroll><table>\n<thead><tr>{cells(heads, 'th')}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
