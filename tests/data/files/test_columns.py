import json

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bpgnn.data.files.columns import Column, Columns, encode, encode_with_notes, learn_columns
from bpgnn.errors import InputError, RepairWarning

MIXED = {
    "age": ["31", " 45 ", "1e1"],
    "city": ["Bern", "Basel", "Bern"],
    "old": [True, False, True],
}


def test_numbers_stay_and_categories_become_ones():
    columns = learn_columns(MIXED)
    assert [column.kind for column in columns.items] == ["number", "category", "category"]
    assert columns.feature_names == ("age", "city=Basel", "city=Bern", "old=False", "old=True")
    wanted = [[31, 0, 1, 0, 1], [45, 1, 0, 1, 0], [10, 0, 1, 0, 1]]
    features = encode(columns, MIXED)
    assert features.dtype == torch.float32
    assert features.tolist() == wanted


words = st.text("abé<=,\n' ", min_size=1).map(lambda w: f"v{w.strip()}")


@given(st.lists(st.tuples(st.floats(-1e9, 1e9, width=32), words), min_size=1, max_size=30))
def test_a_table_reads_back_from_its_features(rows):
    numbers, kinds = zip(*rows, strict=True)
    table = {"kind": np.array(kinds, dtype=object), "number": np.array(numbers)}
    columns = learn_columns(table)
    features = encode(columns, table)
    names = np.array(columns.items[0].categories, dtype=object)
    assert names[features[:, :-1].argmax(1).numpy()].tolist() == [word.strip() for word in kinds]
    assert features[:, :-1].sum(1).tolist() == [1] * len(rows)
    assert features[:, -1].tolist() == list(numbers)
    assert Columns.from_json(json.loads(json.dumps(columns.to_json()))) == columns


def test_the_order_of_columns_in_a_later_table_does_not_matter():
    columns = learn_columns(MIXED)
    turned = {name: MIXED[name] for name in reversed(MIXED)} | {"more": ["x"] * 3}
    assert torch.equal(encode(columns, turned), encode(columns, MIXED))


def test_an_unseen_category_is_none_and_named_in_a_warning():
    columns = learn_columns(MIXED)
    later = {"age": [1], "city": ["<b>Chur</b>"], "old": [True]}
    with pytest.warns(RepairWarning, match="'city' has values .* '<b>Chur</b>'"):
        features = encode(columns, later)
    assert features.tolist() == [[1, 0, 0, 0, 1]]
    assert len(encode_with_notes(columns, later)[1]) == 1


@pytest.mark.parametrize("nothing", ["", "NA", None, float("nan"), "null", " "])
@pytest.mark.parametrize("others", [["1", "2"], ["a", "b"]])
def test_a_missing_value_is_refused_with_its_place_and_the_cure(nothing, others):
    table = {"age": np.array([*others, nothing], dtype=object)}
    with pytest.raises(InputError, match=r"'age', row 2: the value is missing \(1 of 3.*Fill"):
        learn_columns(table)
    columns = learn_columns({"age": others})
    with pytest.raises(InputError, match=r"Column 'age', row 2: the value is missing"):
        encode(columns, table)


def test_frames_of_pandas_can_be_read():
    frame = pd.DataFrame(
        {
            "age": [1.5, 2],
            "city": pd.Categorical(["a", "b"]),
            "word": pd.array(["x", "y"], dtype="string"),
            3: [True, False],
        }
    )
    columns = learn_columns(dict(frame.items()))
    assert columns.names == ("age", "city", "word", "3")
    assert encode(columns, dict(frame.items())).tolist() == [
        [1.5, 1, 0, 1, 0, 0, 1],
        [2, 0, 1, 0, 1, 1, 0],
    ]
    with pytest.raises(InputError, match="row 1: the value is missing"):
        learn_columns(dict(frame.assign(word=pd.array(["x", pd.NA], dtype="string")).items()))


def test_a_later_text_in_a_column_of_numbers_is_refused():
    with pytest.raises(InputError, match="'old' is not a number, but in training"):
        encode(learn_columns({"age": [1, 2]}), {"age": ["3", "old"]})


def test_a_missing_column_is_refused_by_name():
    with pytest.raises(InputError, match="The column 'city' is missing"):
        encode(learn_columns(MIXED), {"age": [1], "old": [True]})


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="'city' has 1 cells, but the first one has 2"):
        encode(learn_columns(MIXED), {"age": [1, 2], "city": ["Bern"], "old": [True, True]})


@pytest.mark.parametrize("table", [{}, {"age": []}])
def test_no_features_are_refused(table):
    with pytest.raises(InputError, match="There are no features"):
        learn_columns(table)


GOOD = {"name": "x", "kind": "category", "categories": ["a", "b"]}


@pytest.mark.parametrize(
    "stored",
    [
        None,
        3,
        [],
        {},
        {"columns": []},
        {"columns": None},
        {"columns": [3]},
        {"columns": [GOOD, GOOD]},
        {"columns": [{**GOOD, "kind": "odd"}]},
        {"columns": [{**GOOD, "name": 3}]},
        {"columns": [{**GOOD, "categories": []}]},
        {"columns": [{**GOOD, "categories": ["a", "a"]}]},
        {"columns": [{**GOOD, "categories": [1]}]},
        {"columns": [{**GOOD, "kind": "number"}]},
    ],
)
def test_a_damaged_description_is_refused(stored):
    with pytest.raises(InputError, match="description of the columns is damaged"):
        Columns.from_json(stored)


def test_a_description_of_one_column_has_its_width():
    assert Column("x", "category", ("a", "b")).width == 2
    assert Columns((Column("x", "number"),)).num_features == 1


def test_every_column_with_gaps_is_named_at_once():
    table = {"age": ["1", ""], "city": ["a", "b"], "spent": [1.0, float("nan")]}
    with pytest.raises(InputError, match=r"'age', row 1: .* missing in all of: 'age', 'spent'"):
        learn_columns(table)


def test_the_way_to_drop_a_column_names_it():
    with pytest.raises(InputError, match="or leave it out with --drop 'of age'"):
        learn_columns({"of age": ["1", ""]}, how_to_drop="leave it out with --drop NAME")


def test_case_counts_only_where_nothing_else_differs():
    columns = learn_columns({"vip": ["True", "False"], "size": ["m", "M"]})
    features, notes = encode_with_notes(columns, {"vip": ["TRUE", "false"], "size": ["M", "m"]})
    assert features.tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert notes == ()
    columns = learn_columns({"size": ["ss", "SS", "m"]})
    _, notes = encode_with_notes(columns, {"size": ["Ss"]})
    assert "'Ss'" in notes[0]
