"""The paper's main table beside ours, in two tracks."""

from bpgnn.experiments.paper.results import PRINTED, RESULTS, cell
from bpgnn.experiments.paper.systems import DATASETS, SYSTEMS, TRACKS
from bpgnn.experiments.statistics import paired_difference, sampling_error
from bpgnn.report.paper.printed import rows_beside
from bpgnn.report.section import Section
from bpgnn.report.source import NAMES, Source
from bpgnn.report.table import ReportTable

_CAPTIONS = {
    "tuned": "Every method with the settings that we recommend for it.",
    "paper": "The settings of the paper's comparison, as far as a method has them.",
}

_TEST_NODES = 500


def section(source: Source) -> Section:
    """Put the thirteen systems beside what the paper prints."""
    error = 100 * sampling_error(0.88, _TEST_NODES)
    remarks = [remark for track in TRACKS for remark in _comparisons(source, track)]
    remarks.append(
        f"The test set of {_TEST_NODES} nodes is a sample, too: an accuracy near 88 % has a "
        f"standard error of {error:.1f} points from that alone."
    )
    tables = tuple(_table(source, track) for track in TRACKS)
    return Section("results", RESULTS.question, tables, remarks=tuple(remarks))


def _table(source: Source, track: str) -> ReportTable:
    seeds = source.seeds(RESULTS)
    rows = rows_beside(
        source, PRINTED, DATASETS, lambda method, name: cell(track, method, name, seeds)
    )
    head = (f"{track} track", *NAMES.values())
    return ReportTable(_CAPTIONS[track], head, rows).with_best_marked()


def _comparisons(source: Source, track: str) -> list[str]:
    """Compare BPGNN with every other method on the same seeds."""
    sentences = []
    for dataset in DATASETS:
        by_seed = {
            method: {
                line["seed"]: line["test_accuracy"]
                for line in source.found(cell(track, method, dataset, source.seeds(RESULTS)))
            }
            for method in SYSTEMS
        }
        ours = by_seed.pop("bpgnn")
        parts = []
        for method, theirs in by_seed.items():
            gap = paired_difference(ours, theirs)
            if gap is not None:
                interval = ""
                if gap.low is not None and gap.high is not None:
                    interval = f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}; "
                parts.append(f"{method} {100 * gap.mean:+.1f} ({interval}{gap.num_pairs} seeds)")
        if parts:
            sentences.append(
                f"{NAMES[dataset]}, {track} track, BPGNN less the other on the same seeds, in "
                f"points with a bootstrap interval over seeds: {', '.join(parts)}."
            )
    return sentences
