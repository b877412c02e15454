"""Lines of cost against size, on logarithmic axes, labelled at their ends."""

from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

# Told apart by the colour-blind.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#707070"

_GAP = 0.09  # between two labels, as a share of the axis


class Point(NamedTuple):
    """Place one cost."""

    size: int
    value: float
    measured: bool = True


class Line(NamedTuple):
    """Name a line and say how it looks."""

    label: str
    colour: str
    marker: str
    points: list[Point]


def new_figure(rows: int, columns: int, *, share_rows: bool = True) -> tuple[Figure, np.ndarray]:
    """Make panels, of which those in a row may share their height; return an array of axes."""
    mpl.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    return plt.subplots(
        rows,
        columns,
        figsize=(1.2 + 3.1 * columns, 2.9 * rows),
        sharex=True,
        sharey="row" if share_rows else False,
        squeeze=False,
        layout="constrained",
    )


def draw_lines(axes: Axes, lines: list[Line]) -> None:
    """Draw lines; what was not measured is dashed, its marks hollow."""
    axes.set(xscale="log", yscale="log")
    axes.grid(which="major", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(LogLocator(numticks=7))
    for line in lines:
        for start, end in zip(line.points, line.points[1:], strict=False):
            style = "-" if end.measured and start.measured else ":"
            axes.plot(
                *([start.size, end.size], [start.value, end.value]),
                style,
                color=line.colour,
                linewidth=1.6,
            )
        for point in line.points:
            axes.plot(
                *(point.size, point.value),
                line.marker,
                color=line.colour,
                markerfacecolor=line.colour if point.measured else "white",
                markersize=5,
            )


def label_ends(axes: Axes, lines: list[Line]) -> None:
    """Write each line's name to the right of its end, moved apart where two would touch."""
    lines = sorted((line for line in lines if line.points), key=lambda line: line.points[-1].value)
    largest = max(line.points[-1].size for line in lines)
    bottom, top = np.log(axes.get_ylim())
    last = -_GAP
    for line in lines:
        end = line.points[-1]
        if end.size < largest:
            style = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(line.label, (end.size, end.value), color=line.colour, **style)
            continue
        last = max(last + _GAP, (np.log(end.value) - bottom) / (top - bottom))
        axes.text(1.03, last, line.label, color=line.colour, transform=axes.transAxes, va="center")


def note(axes: Axes, text: str) -> None:
    """Write a remark into the lower right corner."""
    place = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    axes.text(0.98, 0.03, text, color=GREY, fontsize=8, **place)


def save(figure: Figure, path: Path) -> None:
    """Write the picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
