"""Columns of text become feature columns by name, and the same ones for another file of the same kind."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.datasets.readers.columns import CONSTANT, Columns, scale_of, scaled
from protgnn.errors import DataError
from tests.data.random_graphs import law

PATH = Path("nodes.csv")


def columns(**cells: list[str]) -> Columns:
    rows = max((len(column) for column in cells.values()), default=0)
    return Columns(PATH, cells, range(2, rows + 2))


numbers = st.floats(width=32, allow_nan=False, allow_infinity=False)
words = st.sampled_from(["red", "blue", "green", "", "NA"])


@law
@given(st.lists(st.tuples(numbers, words), min_size=1, max_size=10))
def test_numbers_stay_and_kinds_become_one_hot(rows):
    found, names = columns(size=[repr(number) for number, _ in rows], colour=[word for _, word in rows]).features()
    kinds = sorted({word for _, word in rows} - {"", "NA"})
    assert names == ("size", *(f"colour={kind}" for kind in kinds))
    wanted = [[number, *(float(word == kind) for kind in kinds)] for number, word in rows]
    assert torch.equal(found, torch.tensor(wanted, dtype=torch.float32))


@law
@given(
    st.lists(st.tuples(numbers, words), min_size=1, max_size=10).filter(
        lambda rows: any(word not in ("", "NA") for _, word in rows)
    ),
    st.randoms(),
)
def test_another_file_is_read_into_the_same_columns(rows, random):
    made = columns(size=[repr(number) for number, _ in rows], colour=[word for _, word in rows])
    x, names = made.features()
    order = list(range(len(rows)))
    random.shuffle(order)
    again = columns(
        colour=[f" {rows[row][1]} " for row in order],
        other=["?"] * len(rows),
        size=[repr(rows[row][0]) for row in order],
    )
    assert torch.equal(again.features_of(names), x[order])
    assert any("other" in note for note in again.notes)


def test_codes_may_be_kinds_if_one_says_so():
    found, names = columns(code=["1", "2", "1"]).features(kinds=("code",))
    assert names == ("code=1", "code=2") and found.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_things_without_features_get_a_constant():
    nothing = Columns(PATH, {}, [2, 3])
    assert nothing.features()[0].tolist() == [[1], [1]] and nothing.features()[1] == (CONSTANT,)
    assert nothing.features_of((CONSTANT,)).tolist() == [[1], [1]]
    empty = columns(a=["", ""])
    assert empty.features()[1] == (CONSTANT,) and "all its cells are empty" in empty.notes[0]


@pytest.mark.parametrize(
    ("cells", "line", "got"),
    [
        (["1", "2", "x", "4"], 4, "x"),
        (["1", "inf", "3"], 3, "inf"),
        (["1", "1e39", "3"], 3, "1e39"),
        (["1", "2", "", "many"], 5, "many"),
        (["1", "", "inf", "3"], 4, "inf"),
    ],
)
def test_an_odd_cell_among_numbers_is_named(cells, line, got):
    with pytest.raises(DataError, match=rf"nodes\.csv line {line}: expected a number in column 'age'.*\(got '{got}'\)"):
        columns(age=cells).features()


def test_empty_cells_among_numbers_get_the_mean_and_a_flag():
    table = columns(age=["10", "", "2,5", "n.d.", "4"], colour=["red", "", "red", "blue", "red"])
    found, names = table.features()
    assert names == ("age", "missing=age", "colour=blue", "colour=red")
    assert found[:, :2].tolist() == [[10, 0], [5.5, 1], [2.5, 0], [5.5, 1], [4, 0]]
    assert table.notes[0].startswith("2 empty cells in column 'age' of nodes.csv got the mean of the others, 5.5;")
    scale = scale_of(found, names)
    assert scale[0][0] == 5.5 and scale[1:] == ((0.0, 1.0),) * 3

    new = columns(colour=["blue", "red"], age=["", "7"])
    assert new.features_of(names, scale).tolist() == [[5.5, 1, 1, 0], [7, 0, 0, 1]]
    assert "got the mean that the column had in training, 5.5" in new.notes[0]


def test_an_empty_cell_where_training_had_none_gets_the_mean_if_it_is_known():
    x, names = columns(age=["10", "2"], old=["1", "0"]).features()
    new = columns(age=["", "3"], old=["1", "1"])
    assert new.features_of(names, scale_of(x)).tolist() == [[6, 1], [3, 1]]
    assert "there, no cell was empty" in new.notes[0]
    with pytest.raises(DataError, match="line 2: expected a number in column 'old'"):
        columns(age=["4", "3"], old=["", "1"]).features_of(names, scale_of(x))


def test_a_column_with_empty_cells_is_centred_even_if_it_never_changes():
    x, names = columns(age=["3", "", "3"]).features()
    assert scale_of(x, names) == ((3.0, 1.0), (0.0, 1.0))


def test_more_texts_than_can_be_kinds_are_refused():
    with pytest.raises(DataError, match="column 'remark' holds 101 different texts"):
        columns(remark=[f"text {row}" for row in range(101)]).features()


def test_what_the_model_does_not_know_is_refused():
    with pytest.raises(DataError, match=r"line 3: 'pink' in column 'colour' is unknown to the model, which knows red"):
        columns(colour=["red", "pink"]).features_of(("colour=red",))
    with pytest.raises(DataError, match="has no column 'size', which the model was trained with"):
        columns(colour=["red"]).features_of(("size",))
    with pytest.raises(DataError, match=r"line 2: expected a number in column 'size'.*correct it$"):
        columns(size=["large"]).features_of(("size",))


def test_columns_of_zeros_and_ones_and_columns_that_never_change_stay_as_they_are():
    values = torch.tensor([[0.0, 7.0, 20.0], [1.0, 7.0, 40.0]])
    assert scale_of(values) == ((0.0, 1.0), (0.0, 1.0), (30.0, 10.0))
    assert scaled(values, scale_of(values)).tolist() == [[0.0, 7.0, -1.0], [1.0, 7.0, 1.0]]
    assert scaled(values, ()) is values
