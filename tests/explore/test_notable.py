from hypothesis import given
from hypothesis import strategies as st

from bpgnn.explore.notable import certain_added, improbable_observed
from bpgnn.explore.scene import KINDS, Scene

levels = st.sampled_from([0.0, 0.25, 0.5, 1.0])
rows = st.lists(st.tuples(st.sampled_from(KINDS), levels, levels), min_size=1, max_size=12)


def star(rows):
    """A scene of one node paired with all others."""
    num = len(rows)
    kind, weight, frequency = zip(*rows, strict=True)
    nodes = {"labels": [0] * (num + 1), "predictions": [0] * (num + 1)}
    shares = {"confidence": [1.0] * (num + 1), "entropy": [0.0] * (num + 1)}
    words = {"part": [""] * (num + 1), "features": [""] * (num + 1)}
    return Scene(
        title="star",
        node_names=[str(i) for i in range(num + 1)],
        places=[[0.0, float(i)] for i in range(num + 1)],
        class_names=["all"],
        **nodes,
        **shares,
        **words,
        pairs=[[0] * num, list(range(1, num + 1))],
        kind=kind,
        weight=weight,
        frequency=frequency,
        witness_pointer=[0] * (num + 1),
        witness_nodes=[],
        witness_shares=[],
        witness_similarity=[],
    )


@given(rows, st.integers(1, 5))
def test_the_lists_are_what_plain_sorting_gives(rows, most):
    scene = star(rows)
    observed = sorted((w, f, e) for e, (kind, w, f) in enumerate(rows) if kind != "added")
    added = sorted((-f, -w, e) for e, (kind, w, f) in enumerate(rows) if kind == "added")
    assert improbable_observed(scene, most).tolist() == [e for _, _, e in observed[:most]]
    assert certain_added(scene, most).tolist() == [e for _, _, e in added[:most]]
