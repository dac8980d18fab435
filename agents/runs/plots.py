"""The style of the plots that matplotlib draws: that of the pages of the arena."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cycler import cycler

if TYPE_CHECKING:
    from typing import IO

    from matplotlib.figure import Figure

COLOURS: Final = (
    *("#1f6f8b", "#cf6a32", "#5b8c2a", "#8d4fa3"),
    *("#b8860b", "#c23b5a", "#4a63c4", "#767676"),
)
STYLE: Final[Any] = {
    "axes.edgecolor": "#c8c8c8",
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "fiveup",
}


def name_curves(figure: Figure) -> None:
    """Name the curves of the first axes below the plots, where they cover nothing."""
    curves = figure.axes[0].get_legend_handles_labels()
    if curves[0]:
        figure.legend(*curves, loc="outside lower center", ncols=3, fontsize="small")


def save_svg(figure: Figure, file: IO[Any]) -> None:
    """Write a figure as SVG; the same figure has the same bytes."""
    figure.savefig(file, format="svg", metadata={"Date": None})
