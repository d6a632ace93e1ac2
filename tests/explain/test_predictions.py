"""Predictions with what decided them, for one graph or for thousands."""

import csv
import io
import json
import time

import pytest

from protgnn.explain.own_data import own_part
from protgnn.explain.predictions import predictions
from protgnn.explain.reasoning import Known, explain
from protgnn.graphs.packed import GraphSet
from protgnn.training.evaluate import predict_logits
from protgnn.training.run import load_model


@pytest.fixture(scope="module")
def opened(prototype_run):
    return load_model(prototype_run)


def test_every_row_names_the_prototype_that_adds_most(opened):
    model, run = opened
    graphs, known = own_part(run, "test"), Known.of(run)
    rows = predictions(model, graphs, known)
    for row, why in zip(rows, explain(model, graphs, known), strict=True):
        winning = why.winning()
        assert all(winning.contribution(why.predicted) >= other.contribution(why.predicted) for other in why.rows)
        assert row["prototype"] == winning.prototype and row["looks like"] == known.shows[winning.prototype]
        assert row["similarity"] == pytest.approx(winning.similarity, abs=1e-6)
        assert row["familiar"] == ("yes" if why.familiar else "no") and row["evidence"] == ""
        assert row["predicted"] == why.class_names[why.predicted]


def test_the_probabilities_are_those_of_the_logits(opened):
    model, run = opened
    graphs = own_part(run, "test")
    chances = predict_logits(model, graphs).softmax(1).tolist()
    for row, chance in zip(predictions(model, graphs, Known.of(run)), chances, strict=True):
        assert [row[f"p({name})"] for name in run.schema.class_names] == pytest.approx(chance, abs=1e-5)


def test_thousands_of_rows_take_seconds(opened, molecules):
    model, run = opened
    many = GraphSet.concatenate([molecules.graphs] * 40)
    start = time.process_time()
    rows = predictions(model, many, Known.of(run))
    assert len(rows) == 3600 and time.process_time() - start < 10
    assert rows[0]["predicted"] == rows[90]["predicted"]


def test_an_old_run_does_not_say_what_is_familiar(opened, molecules):
    model, run = opened
    rows = predictions(model, molecules.graphs[:2], Known(run.prototypes))
    assert [row["familiar"] for row in rows] == ["", ""]


def test_the_command_predicts_a_part_of_the_runs_own_data_and_says_what_is_strange(
    protgnn_command, prototype_run, run_folder
):
    ended = protgnn_command("predict", prototype_run, "test")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert len(rows) == 9 and {"familiar", "prototype", "looks like", "similarity", "evidence"} <= set(rows[0])
    strange = sum(row["familiar"] == "no" for row in rows)
    assert (f"{strange} of 9 are unlike anything" in ended.err) is (strange > 0)
    plain = json.loads(protgnn_command("predict", run_folder, "CCO", "--json").out)
    assert "familiar" not in plain[0], "a plain model has no prototypes to be familiar with"
