import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from bpgnn.errors import InputError
from bpgnn.estimator.classifier import BPGNNClassifier
from bpgnn.estimator.features import is_mixed, read_new_features, read_training_features


def read(X):
    return read_training_features(BPGNNClassifier(), X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_every_sparse_form_is_the_same_matrix(form):
    values = np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]])
    features, columns = read(scipy.sparse.csr_matrix(values).asformat(form))
    np.testing.assert_array_equal(features.to_dense().numpy(), values)
    assert columns is None


def test_pandas_categories_of_numbers_are_categories():
    frame = pd.DataFrame({"age": [30, 40, 50], "zip": pd.Categorical([8001, 3000, 8001])})
    assert is_mixed(frame)
    model = BPGNNClassifier()
    features, columns = read_training_features(model, frame)
    assert columns.feature_names == ("age", "zip=3000", "zip=8001")
    assert features.tolist() == [[30, 0, 1], [40, 1, 0], [50, 0, 1]]
    later = pd.DataFrame({"age": [20], "zip": [3000]})
    assert read_new_features(model, later, columns).tolist() == [[20, 1, 0]]


def test_a_category_of_too_many_numbers_is_an_id():
    numbers = np.arange(300)
    with pytest.raises(InputError, match="Column 'id'.*looks like an id"):
        read(pd.DataFrame({"age": numbers, "id": pd.Categorical(numbers)}))


@pytest.mark.parametrize(
    "dates",
    [
        pd.date_range("2024-01-01", periods=3),
        pd.date_range("2024-01-01", periods=3, tz="UTC"),
        pd.to_timedelta([1, 2, 3], unit="D"),
        pd.period_range("2024-01", periods=3, freq="M"),
        pd.date_range("2024-01-01", periods=3).date,
    ],
)
def test_dates_are_refused_with_the_cure(dates):
    with pytest.raises(InputError, match="Column 'when' holds dates.*days since"):
        read(pd.DataFrame({"age": [1, 2, 3], "when": dates}))


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_missing_values_are_refused_with_their_place_and_the_cure(make):
    values = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, np.nan]])
    with pytest.raises(InputError, match="X has 2 .*NaN.*row 1, column 1.*SimpleImputer"):
        read(make(values))
    frame = pd.DataFrame(values, columns=["age", "price"])
    with pytest.raises(InputError, match="row 1, column 'price'"):
        read(frame)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300])
def test_values_too_large_for_32_bits_are_refused(value):
    with pytest.raises(InputError, match="row 2, column 0.*Correct them"):
        read(np.array([[1.0], [2.0], [value]]))


def test_text_in_an_array_is_sent_to_a_frame():
    with pytest.raises(InputError, match="text in it.*'Bern'.*pandas frame"):
        read(np.array([[31, "Bern"], [45, "Chur"]], dtype=object))


def test_new_rows_must_be_there_and_in_a_frame():
    frame = pd.DataFrame({"age": [30, 40], "city": ["Bern", "Chur"]})
    model = BPGNNClassifier()
    _, columns = read_training_features(model, frame)
    with pytest.raises(InputError, match="no rows"):
        read_new_features(model, frame[:0], columns)
    with pytest.raises(TypeError, match="frame with the columns"):
        read_new_features(model, frame.to_numpy(), columns)
