"""The difference between two cells, in words."""

from collections.abc import Mapping, Sequence

from bpgnn.data.counted import counted
from bpgnn.experiments.statistics import Difference, paired_difference
from bpgnn.experiments.store import Line


def difference_of(ours: Sequence[Line], theirs: Sequence[Line]) -> Difference | None:
    """Compare the test accuracies of two cells on the same seeds; None where they share none."""
    one, other = ({line["seed"]: line["test_accuracy"] for line in part} for part in (ours, theirs))
    return paired_difference(one, other)


def in_points(gap: Difference) -> str:
    """Write a difference in points with its interval, where it has one.

    Example:
        >>> in_points(Difference(0.012, 0.004, 0.02, 5))
        '+1.2 (+0.4 to +2.0; 5 seeds)'
    """
    interval = ""
    if gap.low is not None and gap.high is not None:
        interval = f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}; "
    seeds = counted(gap.num_pairs, "seed", "seeds")
    return f"{100 * gap.mean:+.1f} ({interval}{seeds})"


def verdict(gap: Difference) -> str:
    """Say which is ahead, as far as the seeds tell.

    Example:
        >>> verdict(Difference(0.012, 0.004, 0.02, 5)), verdict(Difference(0.01, None, None, 2))
        ('ahead', 'too few seeds to tell')
    """
    if gap.low is None or gap.high is None:
        return "too few seeds to tell"
    if gap.low <= 0 <= gap.high:
        return "not told apart"
    return "ahead" if gap.low > 0 else "behind"


def against_others(
    found: Mapping[str, Sequence[Line]], about: str, *, ours: str = "bpgnn"
) -> list[str]:
    """Compare one row with every other on the same seeds, in a sentence.

    Args:
        found: The lines of every row's cell.
        about: What the cells are of, as the sentence begins.
        ours: The row that others are compared with.

    Returns:
        The sentence; none where nothing is shared.
    """
    gaps = {
        name: difference_of(found[ours], lines) for name, lines in found.items() if name != ours
    }
    parts = [f"{name} {in_points(gap)}" for name, gap in gaps.items() if gap is not None]
    if not parts:
        return []
    one = "BPGNN" if ours == "bpgnn" else ours
    return [f"{about}, {one} less the other on the same seeds, in points: {'; '.join(parts)}."]
