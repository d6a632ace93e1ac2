"""What is printed of scores is told of what the model classifies: a molecule, a sentence, a node or a pair."""

import csv
import io

import pytest

from protgnn.cli.console import print_scores
from protgnn.data.schema import Schema
from protgnn.training.recipe import make_recipe
from protgnn.training.run import Run

SCORES = {
    "n": 8,
    "accuracy": 0.75,
    "loss": 0.5,
    "per_class": {"a": {"n": 4, "recall": 0.5}, "b": {"n": 4, "recall": 1.0}},
    "evidence_size": 2.0,
    "agreement": 0.875,
    "without_evidence": 0.75,
}


@pytest.mark.parametrize(
    ("kind", "readout", "noun", "whole"),
    [
        ("molecule", "sum", "molecule", "molecules"),
        ("sentence", "sum", "sentence", "sentences"),
        ("graph", "sum", "graph", "graphs"),
        ("graph", "target", "node", "neighbourhoods"),
        ("graph", "pair_product", "pair", "neighbourhoods"),
    ],
)
def test_scores_name_what_is_classified(capsys, kind, readout, noun, whole):
    run = Run(make_recipe(readout=readout, plus=True), Schema(kind, ("a", "b")))
    print_scores(SCORES, run)
    print_scores({**SCORES, "n": 1}, run, "mine.csv")
    said = " ".join(capsys.readouterr().out.split())
    assert f"8 held-out test {noun}s " in said and f" 1 {noun} of mine.csv" in said
    assert f"; whole {whole} get the same class in 87.5%" in said
    assert "parts decided 25.0% of the predictions; the rest would be the same without them" in said
    assert "cross-entropy 0.5000" in said and "loss" not in said


def test_a_model_that_compares_whole_graphs_is_not_said_to_find_parts_that_look_alike(
    protgnn_command, prototype_run, mined_run
):
    note = "the column `looks like` names the prototype that a whole molecule is close to"
    for run, told in ((prototype_run, True), (mined_run, False)):
        ended = protgnn_command("predict", run, "CCO")
        assert (note in ended.err) is told
        (row,) = csv.DictReader(io.StringIO(ended.out))
        assert "looks like" in row, "programs know the column by this name"
