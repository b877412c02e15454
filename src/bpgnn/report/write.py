"""The report as one page that needs no network, and as Markdown."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from bpgnn.report.extra import require
from bpgnn.report.section import Section
from bpgnn.report.table import Entry, ReportTable
from bpgnn.training.folder import RunFolder

TITLE = "Boolean product graph neural networks: the paper's experiments, made again"

_LEAD = (
    "Test accuracy in percent, mean ± standard deviation over seeds, then what the paper prints "
    "and the difference. The best of a column is bold, or in italics where it lacks "
    "seeds and may not stay so. A cell that lacks seeds says so. OOM is out "
    "of memory, OOT out of time; what is behind each is said below its table. Differences have a "
    "bootstrap interval of 95 in 100 cases over seeds, from five seeds on."
)


_WARNING = (
    "Runs of a few steps each, made with --fast, and not all: they show that everything works, "
    "and are not to be believed."
)

_SUMMARY = "The command behind each figure, of its first seed, and where the figure came from"


def write_report(folder: Path, sections: Sequence[Section], foot: str, *, fast: bool) -> Path:
    """Write `index.html`, `report.md` and the figures; return the page.

    Args:
        folder: Where to; made if need be.
        sections: What to write.
        foot: Where the figures come from.
        fast: Whether they are not to be believed.
    """
    place = RunFolder(folder)
    for section in sections:
        for figure in section.figures:
            place.write(f"{figure.name}.svg", figure.svg.encode())
            place.write(f"{figure.name}.png", figure.png)
    place.write("report.md", as_markdown(sections, foot, fast=fast).encode())
    place.write("index.html", as_html(sections, foot, fast=fast).encode())
    return folder / "index.html"


def as_html(sections: Sequence[Section], foot: str, *, fast: bool) -> str:
    """Write the page; all it shows is within it."""
    require("The page", "jinja2")
    from jinja2 import Environment

    text = files("bpgnn.report").joinpath("page.html").read_text()
    template = Environment(autoescape=True, trim_blocks=True).from_string(text)
    return template.render(
        title=TITLE,
        lead=_LEAD,
        warning=_WARNING if fast else None,
        summary=_SUMMARY,
        sections=sections,
        foot=foot,
    )


def as_markdown(sections: Sequence[Section], foot: str, *, fast: bool) -> str:
    """Write the same as Markdown, for a README."""
    parts = [f"# {TITLE}", _LEAD]
    if fast:
        parts.append(f"**{_WARNING}**")
    for section in sections:
        parts.append(f"## {section.question}")
        parts += [f"![{one.caption}]({one.name}.png)" for one in section.figures]
        parts += [_markdown_table(table) for table in section.tables]
        if section.remarks:
            parts.append(_bullets(section.remarks))
        if section.commands:
            commands = _bullets(
                f"{place}: `{command}`{f' ({origin})' if origin else ''}"
                for place, command, origin in section.commands
            )
            summary = f"<summary>{_SUMMARY}</summary>"
            parts.append(f"<details>{summary}\n\n{commands}\n\n</details>")
    return "\n\n".join([*parts, foot]) + "\n"


def _markdown_table(table: ReportTable) -> str:
    lines = [table.head, ["---", *("---:" for _ in table.head[1:])]]
    lines += [
        [name, *(_markdown_entry(entry) for entry in entries)] for name, entries in table.rows
    ]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    notes = f"\n\n{_bullets(table.notes)}" if table.notes else ""
    return f"{table.heading}\n\n{rows}{notes}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _markdown_entry(entry: Entry) -> str:
    mark = ("*" if entry.is_lacking else "**") if entry.best else ""
    text = f"{mark}{entry.text}{mark}"
    if entry.printed is None:
        return text
    gap = "" if entry.difference is None else f", {entry.difference:+.2f}"
    return f"{text} / {entry.printed}{gap}"
