"""The empty drawing that the page fills: layers of lines below a layer of nodes."""

from typing import Any

from bpgnn.errors import InputError

# One `Line` with gaps for each layer. Measured in Chromium without a GPU, with 19,717 nodes and
# 20,000 pairs, a redraw takes 0.47 s as lines with gaps, 0.51 s as segments and 0.50 s as
# multi-lines, whose file is 5 MB larger. Of the three, Bokeh knows how to draw only lines and
# multi-lines with a GPU, and it never thins out lines while the picture is moved.
LAYERS: dict[str, dict[str, Any]] = {
    "observed": {"line_color": "#9aa1ab", "line_alpha": 0.45, "line_width": 3.5},
    "latent": {"line_color": "#0b6fb5", "line_alpha": 0.4, "line_width": 1},
    "added": {"line_color": "#d9660a", "line_alpha": 0.6, "line_width": 1.2},
    "dropped": {
        "line_color": "#aa3377",
        "line_alpha": 0.75,
        "line_width": 1.2,
        "line_dash": [4, 3],
    },
    "chosen": {"line_color": "#16181d", "line_alpha": 0.8, "line_width": 1.6},
    "asked": {"line_color": "#16181d", "line_alpha": 1, "line_width": 4},
}

# Without a GPU, more nodes than this are thinned out while the picture is moved.
_THIN_OUT_ABOVE = 6000


def empty_drawing() -> tuple[Any, list[str]]:
    """Return the drawing without data, as JSON for Bokeh, and the scripts that draw it.

    Raises:
        InputError: If Bokeh is not installed.
    """
    try:
        from bokeh.embed import json_item
        from bokeh.resources import Resources
    except ImportError:
        raise InputError(
            "The page needs bokeh. Install it with: pip install bpgnn[explore]"
        ) from None
    # "bokeh-gl" draws with WebGL. What follows them only sets the level of its log, aloud.
    library = Resources(mode="inline", components=["bokeh", "bokeh-gl"]).js_raw
    return json_item(_plot()), library[:2]


def _plot() -> Any:
    from bokeh.models import LinearColorMapper, PanTool, Range1d, WheelZoomTool
    from bokeh.plotting import figure

    plot = figure(
        name="plot",
        sizing_mode="stretch_both",
        tools=[PanTool(), WheelZoomTool()],
        active_scroll="auto",
        toolbar_location=None,
        x_range=Range1d(start=0, end=1),
        y_range=Range1d(start=0, end=1),
        min_border=0,
        outline_line_color=None,
        background_fill_color=None,
        border_fill_color=None,
        lod_threshold=_THIN_OUT_ABOVE,
        lod_timeout=200,
    )
    plot.axis.visible = False
    plot.grid.visible = False
    for name, style in LAYERS.items():
        plot.line("x", "y", source=_source(name, "x", "y"), **style)
    shade = LinearColorMapper(name="shade", palette=["#888888"], low=0, high=1)
    plot.scatter(
        "x",
        "y",
        source=_source("nodes", "x", "y", "shade", "marker"),
        marker={"field": "marker"},
        fill_color={"field": "shade", "transform": shade},
        line_color="#16181d",
        line_alpha=0.55,
        line_width=0.5,
        size=6,
        name="node glyphs",
    )
    plot.scatter(
        "x",
        "y",
        source=_source("rings", "x", "y", "size"),
        size="size",
        fill_color=None,
        line_color="#16181d",
        line_width=2,
    )
    return plot


def _source(name: str, *columns: str) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(name=name, data={column: [] for column in columns})
