"""Which reasonings are drawn for the page, and what it says of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from benchmarks import reasonings
from protgnn.datasets.load import load_graphs
from protgnn.estimator import ProtGNNClassifier
from protgnn.explain.metrics.looks import look_figures


@cache
def _explained():
    """What a hastily trained ProtGNN+ says of some molecules."""
    parts = load_graphs("solubility").with_split("random", 0)
    settings = {"epochs": 2, "anchored_epochs": 1, "split": "random"}
    model = ProtGNNClassifier(encoder="gin", plus=True, settings=settings, seed=0)
    train = parts.train[::5]
    return reasonings.explain_test(model.fit(train, validation=parts.valid[::2]), train, parts.test[::2])


def _resemblance(why) -> float:
    return look_figures([why], why.context)["resemblance"]


def test_the_worst_is_the_lowest_and_the_typical_one_has_as_many_below_as_above() -> None:
    found = reasonings.chosen(_explained())
    assert list(found) == ["right-typical", "right-worst", "wrong-typical", "wrong-worst"]
    by_evidence = [why for why in _explained() if why.winning() is not None]
    for case in ("right", "wrong"):
        own = [why for why in by_evidence if (why.predicted == why.truth) == (case == "right")]
        alike = sorted(_resemblance(why) for why in own)
        assert found[f"{case}-worst"][1] == alike[0]
        assert found[f"{case}-typical"][1] == alike[(len(alike) - 1) // 2]
        assert all((found[f"{case}-{rank}"][0] in own) for rank in ("typical", "worst"))


def test_a_case_without_a_graph_is_left_out() -> None:
    right = [why for why in _explained() if why.predicted == why.truth and why.winning() is not None]
    assert list(reasonings.chosen(right[:1])) == ["right-worst"]
    two = reasonings.chosen(right[:2])
    assert two["right-typical"][0] is not two["right-worst"][0]


def test_what_is_predicted_without_any_evidence_is_counted_and_not_drawn(tmp_path) -> None:
    one = next(why for why in _explained() if why.winning() is not None)
    nothing = replace(one, rows=tuple(replace(row, similarity=0.0) for row in one.rows))
    assert reasonings.chosen([nothing]) == {}
    told = reasonings.draw("solubility", [one, nothing, nothing, nothing], tmp_path)
    assert [drawn["name"] for drawn in told.values()] == [one.title]
    assert "without any evidence, and left out: 75% of the test graphs" in "\n".join(reasonings.page(told, {}))


def test_pictures_are_drawn_and_a_sentence_is_shown_only_under_its_own(tmp_path) -> None:
    told = reasonings.draw("solubility", _explained(), tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(told)
    assert all((tmp_path / f"{name}.svg").read_text().startswith("<svg") for name in told)
    first, second = list(told)[:2]
    sentences = {
        first: {"name": told[first]["name"], "sentence": "They look alike."},
        second: {"name": "another molecule", "sentence": "They do not."},
    }
    text = "\n\n".join(reasonings.page(told, sentences))
    assert "**They look alike.**" in text and "They do not." not in text
    assert f"](reasonings/{second}.svg)" in text and text.count("### Predicted wrongly") == 2
    assert [name for name in told if reasonings.waits(name, told[name], sentences)] == list(told)[1:]


def test_sentences_are_read_from_a_file_that_need_not_be_there(tmp_path) -> None:
    path = tmp_path / "sentences.toml"
    assert reasonings.read_sentences(path) == {}
    path.write_text('[bbbp-right-worst]\nname = "CCO"\nsentence = "No."\n')
    assert reasonings.read_sentences(path)["bbbp-right-worst"] == {"name": "CCO", "sentence": "No."}
