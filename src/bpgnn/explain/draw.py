"""The triangles behind one edge, drawn as an SVG that needs nothing else."""

import unicodedata
from dataclasses import dataclass
from html import escape
from typing import final

from bpgnn.explain.edge import EdgeReasons, Witness
from bpgnn.explain.names import Names, name_of, percent, short

_WIDTH = 760
_TOP, _ROW, _BOX, _BOTTOM = 64, 52, 42, 56
_LEFT, _RIGHT, _RADIUS = 90, 670, 26
_BOX_LEFT, _BOX_RIGHT = 250, 510
_TITLE = 17
_FONT = 'font-family="system-ui, sans-serif"'


@final
@dataclass(frozen=True)
class _Row:
    """Hold one box between the two nodes: its two lines, its share, how it is linked."""

    title: str
    text: str
    share: float
    left: str
    right: str


def draw_edge(reasons: EdgeReasons, names: Names = None, *, most: int = 8) -> str:
    """Draw the witnesses between the two ends of an edge.

    The target is on the left and the source on the right. A solid blue line is an observed
    edge, a dashed orange one is likeness; the wider, the larger the witness's share. Colours
    are Okabe and Ito's, and no two kinds of lines differ by colour alone.

    Args:
        reasons: Of the edge.
        names: One name a node, if they have any.
        most: How many witnesses to draw; the others, and those of hardly any share, are one
            box together.

    Returns:
        An SVG of its own, to be written to a file or put into a page as it is.

    Example:
        >>> vote = Witness(2, "target", 0.5, 0.8, 0.4, 1.0)
        >>> drawing = draw_edge(EdgeReasons(0, 1, 0.4, (vote,)), ["Ann", "Bob", "<script>"])
        >>> "&lt;script&gt;" in drawing, "<script>" in drawing
        (True, False)
    """
    target, source = (name_of(node, names) for node in (reasons.target, reasons.source))
    rows = _rows(reasons, names, most)
    height = _TOP + max(_ROW * len(rows), 110) + _BOTTOM
    middle = (_TOP + height - _BOTTOM) / 2
    first = middle - _ROW * len(rows) / 2
    ends = " – ".join(_cut(name, _TITLE, 270, bold=True) for name in (target, source))
    title = f"{ends}: {'weight' if reasons.is_sum else 'probability'} {short(reasons.probability)}"
    places = [first + _ROW * (place + 0.5) for place in range(len(rows))]
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {_FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(_WIDTH / 2, 34, title, size=_TITLE, bold=True),
        *(_links(row, y, middle) for row, y in zip(rows, places, strict=True)),
        *(_box(row, y) for row, y in zip(rows, places, strict=True)),
        _node(_LEFT, middle, target, "target"),
        _node(_RIGHT, middle, source, "source"),
        _legend(rows, height - 20),
        "</svg>",
    ]
    return "\n".join(parts)


def _rows(reasons: EdgeReasons, names: Names, most: int) -> list[_Row]:
    if not reasons.witnesses:
        return [_Row("nobody speaks for it", "no witnesses", 0.0, "none", "none")]
    heard = sum(witness.share >= _HEARD for witness in reasons.witnesses)
    drawn = max(1, min(most, heard))
    # A box for one more takes no less room than that witness's own.
    drawn += len(reasons.witnesses) == drawn + 1
    rows = [_row(witness, reasons, names) for witness in reasons.witnesses[:drawn]]
    if left := reasons.witnesses[drawn:]:
        share = sum(witness.share for witness in left)
        rows.append(
            _Row(f"and {len(left)} more", f"{percent(share)} together", share, "none", "none")
        )
    return rows


def _row(witness: Witness, reasons: EdgeReasons, names: Names) -> _Row:
    """Say what a witness's box tells, and how it is linked with either end."""
    share = percent(witness.share)
    if witness.side == "observed":
        text = f"{share} · weight {short(witness.weight)}"
        return _Row("observed edge", text, witness.share, "observed", "observed")
    if witness.side == "latent":
        text = f"{share} · {short(witness.weight)} × P {short(witness.likeness)}"
        return _Row("likeness", text, witness.share, "alike", "alike")
    owner, other = reasons.target, reasons.source
    if witness.side == "source":
        owner, other = other, owner
    near = "itself" if witness.node == owner else "observed"
    far = "itself" if witness.node == other else "alike"
    name = name_of(witness.node, names)
    own = " itself" if witness.node in (owner, other) else ""
    text = f"{share} · vote {short(witness.weight)} × P {short(witness.likeness)}"
    ends = (near, far) if witness.side == "target" else (far, near)
    room = _BOX_RIGHT - _BOX_LEFT - 16 - _BOLD * _room(own, 13)
    return _Row(_cut(name, 13, room, bold=True) + own, text, witness.share, *ends)


def _links(row: _Row, y: float, middle: float) -> str:
    reach_left, reach_right = _LEFT + _RADIUS, _RIGHT - _RADIUS
    width = 1.2 + 10 * row.share
    return _link(reach_left, middle, _BOX_LEFT, y, row.left, width) + _link(
        _BOX_RIGHT, y, reach_right, middle, row.right, width
    )


def _link(x0: float, y0: float, x1: float, y1: float, kind: str, width: float) -> str:
    colour, dashes, _ = _LINES[kind]
    bend = (x0 + x1) / 2
    path = f"M{x0:.0f},{y0:.1f} C{bend:.0f},{y0:.1f} {bend:.0f},{y1:.1f} {x1:.0f},{y1:.1f}"
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"'
        f'{dashed} stroke-opacity="0.85"/>'
    )


def _box(row: _Row, y: float) -> str:
    width, centre = _BOX_RIGHT - _BOX_LEFT, (_BOX_LEFT + _BOX_RIGHT) / 2
    return (
        f'<rect x="{_BOX_LEFT}" y="{y - _BOX / 2:.1f}" width="{width}" height="{_BOX}" rx="7" '
        'fill="#f7f7f7" stroke="#777777"/>'
        + _text(centre, y - 4, row.title, bold=True)
        + _text(centre, y + 13, row.text, size=12, colour="#333333")
    )


def _node(x: float, y: float, name: str, role: str) -> str:
    return (
        f'<circle cx="{x}" cy="{y:.1f}" r="{_RADIUS}" fill="#333333"/>'
        + _text(x, y + 4, role, size=12, colour="#ffffff", room=2 * _RADIUS)
        + _text(x, y + _RADIUS + 18, name, bold=True, room=150, halo=True)
    )


def _legend(rows: list[_Row], y: float) -> str:
    used = {kind for row in rows for kind in (row.left, row.right)}
    entries = [kind for kind in _LINES if kind in used and _LINES[kind][2]]
    parts, x = [], 40.0
    for kind in entries:
        label = _LINES[kind][2]
        parts.append(_link(x, y - 4, x + 34, y - 4, kind, 4))
        parts.append(_text(x + 42, y, label, size=12, anchor="start"))
        x += 42 + _room(label, 12) + 24
    if entries:
        parts.append(_text(_WIDTH - 40, y, "width: share", size=12, anchor="end"))
    return "".join(parts)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 13,
    bold: bool = False,
    colour: str = "#111111",
    room: float = 2 * _WIDTH,
    anchor: str = "middle",
    halo: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    # A white rim keeps a name readable where lines run behind it.
    rim = ' paint-order="stroke" stroke="#ffffff" stroke-width="4"' if halo else ""
    return (
        f'<text x="{x:.0f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{colour}"{weight}{rim}>{escape(_cut(text, size, room, bold=bold))}</text>'
    )


def _cut(text: str, size: int, room: float, *, bold: bool = False) -> str:
    """Shorten a text to a width in pixels."""
    room = room / _BOLD if bold else room
    if _room(text, size) <= room:
        return text
    kept = ""
    for sign in text:
        if _room(kept + sign + "…", size) > room:
            break
        kept += sign
    return kept.rstrip() + "…"


def _room(text: str, size: int) -> float:
    """Estimate how wide a text is; which font a browser takes is not known here."""
    return size * sum(map(_sign_width, text))


def _sign_width(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.1
    if sign in "mwMW@%":
        return 1.0
    return 0.72 if sign.isupper() else 0.6


# What rounds to no per cent is not drawn on its own.
_HEARD = 0.005

# How much wider bold letters are.
_BOLD = 1.12

# Okabe and Ito's colours; each kind has dashes and a name in the legend as well.
_LINES = {
    "observed": ("#0072B2", "", "observed edge"),
    "alike": ("#D55E00", "9 5", "alike, by P"),
    "itself": ("#777777", "2 4", "the node itself"),
    "none": ("#bbbbbb", "1 5", ""),
}
