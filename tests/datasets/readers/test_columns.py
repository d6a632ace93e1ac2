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
        (["1", "", "3"], 3, ""),
        (["1", "2", "nan"], 4, "nan"),
        (["1", "inf", "3"], 3, "inf"),
        (["1", "1e39", "3"], 3, "1e39"),
        (["1", "2", "", "many"], 5, "many"),
    ],
)
def test_an_odd_cell_among_numbers_is_named(cells, line, got):
    with pytest.raises(DataError, match=rf"nodes\.csv line {line}: expected a number in column 'age'.*\(got '{got}'\)"):
        columns(age=cells).features()


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
