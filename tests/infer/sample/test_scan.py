import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.infer.sample.scan import _smallest


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0, np.inf]) | st.floats(0, 9), min_size=1),
    st.data(),
)
def test_the_smallest_of_a_rank_is_that_of_the_sorted_values(values, data):
    rank = data.draw(st.integers(1, len(values)))
    assert _smallest(np.array(values), rank) == sorted(values)[rank - 1]
