"""A class that wins by its base alone: no prototype is named, and no figure counts one."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
import torch

from protgnn.explain.composition_rows import VISIBLE
from protgnn.explain.explanation import Reasoning, ReasoningRow, RunContext, explain
from protgnn.explain.metrics.looks import look_figures
from protgnn.explain.metrics.removal import filler
from protgnn.explain.predictions import WITHOUT_EVIDENCE, prediction_row, predictions
from protgnn.explain.render_text import difference
from protgnn.explain.run_data import run_part
from protgnn.training.run import load_model

OURS = ("prototype", "looks like", "similarity", "evidence")


def reasoning(similarity: float, base: tuple[float, ...]) -> Reasoning:
    """What is predicted to be of class a: by a row that adds ``similarity``, or by the base."""
    rows = (ReasoningRow(0, 1, 2.0, (0.0, 1.0), (0,)), ReasoningRow(1, 0, similarity, (1.0, 0.0), (1,)))
    return Reasoning("x", ("a", "b"), (5.0, 0.0), (0.9, 0.1), rows, beside=base)


@pytest.fixture(scope="module")
def explained(base_run):
    """Model, graphs, context and reasonings of the test set."""
    model, run = load_model(base_run)
    graphs, context = run_part(run, "test"), RunContext.of(run)
    return model, graphs, context, explain(model, graphs, context)


@pytest.fixture(scope="module")
def expected(explained) -> list[bool]:
    """Which rows are predicted without any evidence, from nothing but the contributions."""
    without = [max(row.contribution(why.predicted) for row in why.rows) < VISIBLE for why in explained[-1]]
    assert any(without) and not all(without)
    return without


def test_what_adds_nothing_that_shows_does_not_win_where_there_is_a_base():
    assert reasoning(VISIBLE - 1e-6, (5.0, -2.0)).winning() is None
    assert reasoning(VISIBLE, (5.0, -2.0)).winning().prototype == 1


def test_without_a_base_some_row_always_wins():
    assert reasoning(0.0, ()).winning().contribution(0) == 0.0
    assert reasoning(VISIBLE / 2, ()).winning().prototype == 1


def test_the_row_of_a_reasoning_names_no_prototype():
    found = prediction_row(reasoning(0.0, (5.0, -2.0)), 3)
    assert [found[name] for name in OURS] == [None, WITHOUT_EVIDENCE, None, ""]


def test_rows_name_a_prototype_where_it_adds_to_the_class_and_nothing_elsewhere(explained, expected):
    model, graphs, context, reasons = explained
    rows = predictions(model, graphs, context)
    assert [row["prototype"] is None for row in rows] == expected == [why.winning() is None for why in reasons]
    for number, (row, why) in enumerate(zip(rows, reasons, strict=True)):
        alone = prediction_row(why, number)
        assert {name: row[name] for name in (*OURS, "predicted")} == {
            name: alone[name] for name in (*OURS, "predicted")
        }
        assert (row["looks like"] == WITHOUT_EVIDENCE) == (row["evidence"] == "") == (row["similarity"] is None)


@pytest.mark.parametrize("kind", ["prototype_run", "mined_run"])
def test_table_and_reasonings_agree_where_no_prototype_weighs_anything(request, kind):
    model, run = load_model(request.getfixturevalue(kind))
    with torch.no_grad():
        model.head.last.weight.zero_()
    graphs, context = run_part(run, "test"), RunContext.of(run)
    reasons = explain(model, graphs, context)
    told = [row["prototype"] is None for row in predictions(model, graphs, context)]
    assert told == [why.winning() is None for why in reasons] == [bool(why.beside) for why in reasons]


def test_a_file_of_predictions_has_gaps_and_not_another_kind_of_column(protgnn_command, base_run, expected, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    part = protgnn_command("predict", base_run, "test", "--json")
    names = [row["name"] for row in json.loads(part.out)]
    table = tmp_path / "mols.csv"
    table.write_text("smiles\n" + "\n".join(names) + "\n")
    for source in (table, "test"):  # a table is streamed, a part is predicted at once
        for ending in ("csv", "jsonl", "parquet"):
            ended = protgnn_command("predict", base_run, source, "-o", tmp_path / f"out.{ending}")
            assert ended.status == 0, ended.err
        cells = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
        lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        columns = parquet.read_table(tmp_path / "out.parquet")
        for name in OURS:
            told = ["" if line[name] is None else str(line[name]) for line in lines]
            assert [row[name] for row in cells] == told, name
        assert [row["prototype"] == row["similarity"] == row["evidence"] == "" for row in cells] == expected
        assert [row["looks like"] == WITHOUT_EVIDENCE for row in cells] == expected
        assert str(columns.schema.field("prototype").type) == "int64"
        assert columns.column("prototype").to_pylist() == [line["prototype"] for line in lines]
        assert columns.column("similarity").to_pylist() == [line["similarity"] for line in lines]
        assert [value is None for value in columns.column("prototype").to_pylist()] == expected


def test_the_sentence_says_that_the_base_speaks_for_the_class(explained, expected):
    for why, without in zip(explained[-1], expected, strict=True):
        first = re.search(r"Most in favour: (the base|prototype)", difference(why))
        assert not without or first.group(1) == "the base", difference(why)


def test_resemblance_is_that_of_graphs_with_a_winning_row(explained, expected):
    *_, context, reasons = explained
    by_evidence = [why for why, without in zip(reasons, expected, strict=True) if not without]
    by_base = [why for why, without in zip(reasons, expected, strict=True) if without]
    figures, apart = look_figures(reasons, context), look_figures(by_evidence, context)
    for name in ("resemblance", "resemblance_random"):
        assert figures[name] == pytest.approx(apart[name]), name
    assert figures["resemblance_correlation"] != pytest.approx(apart["resemblance_correlation"]), "of all rows"
    none = look_figures(by_base, context)
    assert none["whole_parts"] == 1.0 and "resemblance" not in none and "resemblance_random" not in none


def test_filler_is_that_of_winning_rows(explained, expected):
    model, graphs, _, reasons = explained
    left = [number for number, without in enumerate(expected) if without]
    everything = [tuple(range(int(graphs.node_counts[number]))) for number in left]  # of which most can go
    large = [
        replace(reasons[number], rows=tuple(replace(row, evidence=nodes, places=()) for row in reasons[number].rows))
        for number, nodes in zip(left, everything, strict=True)
    ]
    assert filler(model, graphs[left], large) == 0.0
    assert filler(model, graphs[left], [replace(why, beside=()) for why in large]) > 0.0
