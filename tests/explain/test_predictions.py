"""Predictions with what decided them, for one graph or for thousands."""

import csv
import io
import json
import shutil
from dataclasses import replace

import pytest

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.new_input import conform
from protgnn.explain.composition_rows import VISIBLE
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.predictions import (
    WITHOUT_EVIDENCE,
    prediction_columns,
    prediction_names,
    prediction_row,
    predictions,
)
from protgnn.explain.run_data import run_part
from protgnn.featurizers.molecule import from_smiles
from protgnn.training.evaluate import predict_logits
from protgnn.training.run import load_model, run_checksum


@pytest.fixture(scope="module")
def opened(prototype_run):
    return load_model(prototype_run)


def test_every_row_names_the_prototype_that_adds_most(opened):
    model, run = opened
    graphs, context = run_part(run, "test"), RunContext.of(run)
    rows = predictions(model, graphs, context)
    for row, why in zip(rows, explain(model, graphs, context), strict=True):
        winning = why.winning()
        assert all(winning.contribution(why.predicted) >= other.contribution(why.predicted) for other in why.rows)
        assert row["prototype"] == winning.prototype and row["looks like"] == context.descriptions[winning.prototype]
        assert row["similarity"] == pytest.approx(winning.similarity, abs=1e-6)
        assert row["familiar"] == ("yes" if why.familiar else "no") and row["evidence"] == ""
        assert row["predicted"] == why.class_names[why.predicted]


def test_the_probabilities_are_those_of_the_logits(opened):
    model, run = opened
    graphs = run_part(run, "test")
    chances = predict_logits(model, graphs).softmax(1).tolist()
    for row, chance in zip(predictions(model, graphs, RunContext.of(run)), chances, strict=True):
        assert [row[f"p({name})"] for name in run.schema.class_names] == pytest.approx(chance, abs=1e-5)


def test_thousands_of_rows_are_predicted_row_by_row(opened, molecules):
    model, run = opened
    many = GraphSet.concatenate([molecules.graphs] * 40)
    rows = predictions(model, many, RunContext.of(run))
    assert len(rows) == 3600
    for key, value in {**rows[0], "row": 90}.items():
        assert rows[90][key] == (pytest.approx(value, abs=1e-5) if isinstance(value, float) else value), key


def test_an_old_run_does_not_say_what_is_familiar(opened, molecules):
    model, run = opened
    rows = predictions(model, molecules.graphs[:2], RunContext(run.prototypes))
    assert [row["familiar"] for row in rows] == ["unknown", "unknown"]


@pytest.mark.parametrize("threshold", [0.0, None])
def test_no_graph_is_familiar_where_ordinary_graphs_resemble_no_prototype(opened, molecules, threshold):
    model, run = opened
    context = RunContext.of(replace(run, scores={**run.scores, "familiarity": threshold}))
    (why,) = explain(model, molecules.graphs[:1], context)
    assert why.familiar is None and why.to_json()["familiar"] is None and "unlike anything" not in str(why)
    assert prediction_row(why, 0)["familiar"] == "unknown" and why.to_frame()["familiar"].isna().all()
    assert predictions(model, molecules.graphs[:1], context)[0]["familiar"] == "unknown"


@pytest.mark.parametrize("threshold", [0.0, 0.001])
def test_a_molecule_with_an_element_that_is_new_is_never_familiar(opened, threshold):
    model, run = opened
    context = RunContext.of(replace(run, scores={**run.scores, "familiarity": threshold}))
    graphs = conform(from_smiles(["C[Xe]C", "CCO"]), run.schema)
    strange, usual = explain(model, graphs, context)
    assert strange.familiar is False and usual.familiar is not False
    assert "unlike anything the model knows, whatever the similarities say" in str(strange)
    rows = predictions(model, graphs, context)
    assert rows[0]["familiar"] == "no" and rows[1]["familiar"] == ("yes" if threshold else "unknown")


@pytest.mark.parametrize(("threshold", "strange"), [(99.0, 9), (0.0, 0)])
def test_the_command_predicts_a_part_of_the_runs_own_data_and_says_what_is_strange(
    protgnn_command, prototype_run, tmp_path, threshold, strange
):
    folder = shutil.copytree(prototype_run, tmp_path / "run")
    content = json.loads((folder / "run.json").read_text())
    del content["checksum"]
    content["scores"]["familiarity"] = threshold
    (folder / "run.json").write_text(json.dumps({**content, "checksum": run_checksum(content)}))
    ended = protgnn_command("predict", folder, "test")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert len(rows) == 9 and {"familiar", "prototype", "looks like", "similarity", "evidence"} <= set(rows[0])
    assert sum(row["familiar"] == "no" for row in rows) == strange
    if strange:
        assert "9 of 9 are unlike anything" in ended.err
    else:
        assert "unlike anything" not in ended.err


def test_a_plain_model_has_nothing_to_be_familiar_with(protgnn_command, run_folder):
    plain = json.loads(protgnn_command("predict", run_folder, "CCO", "--json").out)
    assert "familiar" not in plain[0]


def test_the_evidence_of_a_row_is_that_of_its_reasoning(mined_run):
    model, run = load_model(mined_run)
    graphs, context = run_part(run, "test"), RunContext.of(run)
    rows, reasons = predictions(model, graphs, context), explain(model, graphs, context)
    assert any(row["evidence"] for row in rows)
    for row, why in zip(rows, reasons, strict=True):
        winning = max(why.rows, key=lambda one, label=why.predicted: one.contribution(label))
        said = (winning.prototype, " ".join(map(str, winning.evidence or ())), why.describe(winning))
        if winning.contribution(why.predicted) < VISIBLE:
            said = (None, "", WITHOUT_EVIDENCE)
        assert (row["prototype"], row["evidence"], row["looks like"]) == said
        assert row["predicted"] == why.class_names[why.predicted]


def test_the_columns_that_are_promised_are_those_that_come(opened, run_folder):
    for model, run in (opened, load_model(run_folder)):
        context = RunContext.of(run)
        graphs = run_part(run, "test")
        assert prediction_names(model, run.schema, context) == list(prediction_columns(model, graphs, context))
