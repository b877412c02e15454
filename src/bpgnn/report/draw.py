"""Drawings that are read in print and by the colour-blind."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from bpgnn.report.extra import require
from bpgnn.report.section import Figure
from bpgnn.report.table import Entry

# Okabe and Ito's colours, which differ in brightness too, each with a mark of its own.
_STYLES = (
    *(("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D")),
    *(("#E69F00", "v"), ("#56B4E9", "P"), ("#000000", "X")),
)


@final
@dataclass(frozen=True)
class Series:
    """Hold a line to draw: points, and by how much each may be off, NaN where nobody knows.

    A pair is by how much downwards and by how much upwards.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | tuple[Sequence[float], Sequence[float]] | None = None


@final
@dataclass(frozen=True)
class Panel:
    """Hold one pair of axes, logarithmic or not, its lines, and where its ticks and ends are."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log: bool = False
    x_range: tuple[float, float] | None = None
    x_ticks: Sequence[float] | None = None


def line_of(name: str, x: Sequence[float], entries: Sequence[Entry]) -> Series:
    """Make a line of a table's row, with a gap where something was not run."""
    if all(one.mean is None for one in entries):
        return Series(name, [], [], [])
    return Series(
        name,
        x,
        [math.nan if one.mean is None else one.mean for one in entries],
        [math.nan if one.deviation is None else one.deviation for one in entries],
    )


def draw(name: str, caption: str, panels: Sequence[Panel], *, columns: int = 2) -> Figure:
    """Draw lines with error bars, side by side, with one legend for all.

    Args:
        name: Of the figure.
        caption: What it shows.
        panels: One for each pair of axes.
        columns: Panels side by side.
    """
    plt = _pyplot()
    rows = -(-len(panels) // columns)
    size = (3.4 * max(columns, 2), 2.7 * rows + 0.5)
    with plt.rc_context({"font.size": 9, "svg.hashsalt": name, "svg.fonttype": "path"}):
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, sharey="row")
        styles: dict[str, tuple[str, str]] = {}
        for place, axis in enumerate(axes.flat):
            if place >= len(panels):
                axis.set_visible(False)
                continue
            _draw_panel(axis, panels[place], styles)
        shown = {
            label: handle
            for axis in axes.flat
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            shown.values(),
            shown.keys(),
            loc="lower center",
            ncols=min(max(len(shown), 1), 6 if columns > 1 else 2),
            frameon=False,
        )
        figure.tight_layout(rect=(0, 0.6 / size[1], 1, 1))
        svg, png = io.StringIO(), io.BytesIO()
        # Without a date, the same figures give the same file.
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.savefig(png, format="png", dpi=150)
        plt.close(figure)
    return Figure(name, caption, svg.getvalue()[svg.getvalue().index("<svg") :], png.getvalue())


def _draw_panel(axis: Any, panel: Panel, styles: dict[str, tuple[str, str]]) -> None:
    for series in panel.series:
        if not len(series.x):
            continue
        colour, mark = styles.setdefault(series.name, _STYLES[len(styles) % len(_STYLES)])
        axis.errorbar(
            series.x,
            series.y,
            yerr=series.error,
            label=series.name,
            color=colour,
            marker=mark,
            markersize=4,
            linewidth=1.2,
            capsize=2,
        )
    if not any(len(series.x) for series in panel.series):
        middle = {"ha": "center", "va": "center", "transform": axis.transAxes}
        axis.text(0.5, 0.5, "not run", color="0.4", **middle)
        axis.set_xticks([])
        axis.tick_params(labelleft=False)
    axis.set_title(panel.title)
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if panel.log and any(len(series.x) for series in panel.series):
        axis.set_xscale("log")
        axis.set_yscale("log")
    if panel.x_range is not None:
        axis.set_xlim(*panel.x_range)
    if panel.x_ticks is not None and any(len(series.x) for series in panel.series):
        axis.set_xticks(panel.x_ticks)
    axis.grid(visible=True, alpha=0.3)


def _pyplot() -> Any:
    require("A figure", "matplotlib")
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt
