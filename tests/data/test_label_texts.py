"""Labels as they are written: numbers with commas, and ranges of measured values."""

import pytest

from protgnn.data.label_texts import ambiguous_comma, is_missing, ranges_of


@pytest.mark.parametrize(
    ("texts", "place"), [(["a", " 1,000"], 1), (["1,5", "1,000"], None), (["1.5"], None), (["2,000 ", "1,000"], 0)]
)
def test_a_comma_that_may_stand_between_thousands_is_found_by_its_place(texts, place):
    assert ambiguous_comma(texts) == place


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "NaN", "<NA>", "null", "n.a.", "N/A", "n/a", "#N/A", "#NUM!", "nd", "n.d.", "n. d.", "n.d", "n/t"),
        *("-", "–", "?", "n.b.", "n. b.", "N.B.", "n.m.", "n.v.", "k.A.", "k. A.", "k/A", "nicht bestimmt"),
        *("keine Angabe", "Not determined"),
    ],
)
def test_what_people_write_where_there_is_no_value_is_no_label(text):
    assert is_missing(text)


@pytest.mark.parametrize("text", ["0", "no", "n", "none", "unknown", "NB", "ka", "n.x.", "d.n.", "1", "+", "inactive"])
def test_what_may_be_a_class_is_a_label(text):
    assert not is_missing(text)


def test_measured_values_are_cut_where_the_user_says():
    above = ranges_of("1234567", None, list)
    assert above.names == ("< 1234567", ">= 1234567")
    assert [above.place(text) for text in ("1234566", "1234567", "1234568")] == [0, 1, 1]
    close = ranges_of(None, "1000001,1000002", list)
    assert close.edges == (1000001.0, 1000002.0) and close.to_text() == "1000001,1000002"
    assert ranges_of("6.5", None, list).names == ("< 6.5", ">= 6.5")
