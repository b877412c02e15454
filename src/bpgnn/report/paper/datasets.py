"""The paper's table of data sets."""

from bpgnn.data.catalog import CATALOG
from bpgnn.experiments.paper.datasets import DATA, PRINTED
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import Entry, ReportTable


def section(_: Source) -> Section:
    """List sizes beside those that the paper prints."""
    head = ("", "nodes", "edges", "features", "classes", "mean degree")
    rows = tuple((NAMES[name], _entries(name)) for name in PRINTED)
    return Section(DATA.name, DATA.question, (ReportTable("Sizes.", head, rows),))


def _entries(name: str) -> tuple[Entry, ...]:
    one = CATALOG[name]
    pairs = one.num_pairs or 0
    sizes = (one.num_nodes, pairs, one.num_features, one.num_classes)
    texts = (*(f"{size:,}" for size in sizes), f"{2 * pairs / one.num_nodes:.1f}")
    beside = zip(texts, PRINTED[name], strict=True)
    return tuple(Entry(note=text, printed=printed) for text, printed in beside)
