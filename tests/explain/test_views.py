"""A reasoning as a table, as masks, and in a notebook."""

import re
import sys

import pytest
import torch
from torch_geometric.explain import Explainer

from protgnn.errors import ProtGNNError
from protgnn.explain import ProtGNNExplainer, PyGModule, RunContext, explain, to_frame
from protgnn.explain.run_data import run_part
from protgnn.training.run import load_model


@pytest.fixture(scope="module")
def mined(mined_run):
    return load_model(mined_run)


@pytest.fixture(scope="module")
def reasons(mined):
    model, run = mined
    return explain(model, run_part(run, "test"), RunContext.of(run))


def test_a_table_has_a_row_per_graph_and_prototype_and_for_what_is_beside_them_that_add_up(reasons):
    pytest.importorskip("pandas")
    table = to_frame(reasons)
    for why, (_, rows) in zip(reasons, table.groupby("graph", sort=True), strict=True):
        assert rows["contribution"].sum() == pytest.approx(why.logits[why.predicted], abs=1e-4)
        assert rows["gain"].sum() == pytest.approx(why.margin, abs=1e-4)
        assert rows["predicted"].unique().tolist() == [why.class_names[why.predicted]]
        own, beside = rows[rows["prototype"].notna()], rows[rows["prototype"].isna()]
        assert own["looks_like"].tolist() == list(why.context.descriptions)
        assert own["evidence"].tolist() == [row.evidence if row.is_found else () for row in why.rows]
        assert beside["looks_like"].tolist() == [line.name for line in why.beside_lines()] and len(beside)
    assert reasons[0].to_frame().equals(table[table["graph"] == 0])
    assert to_frame([]).columns.tolist() == table.columns.tolist()


def test_without_pandas_the_error_says_what_to_install(reasons, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ProtGNNError, match="pip install pandas"):
        reasons[0].to_frame()


def test_masks_are_those_of_the_explainer_for_pyg(mined, reasons):
    model, run = mined
    explainer = Explainer(
        PyGModule(model, run.schema, run.recipe),
        ProtGNNExplainer(),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"},
    )
    for why in reasons:
        graph = why.graph
        found = explainer(graph.x, graph.edge_index, edge_attr=graph.edge_attr)
        assert why.node_mask().shape == (len(graph.x), 1) and why.edge_mask().shape == (graph.edge_index.shape[1],)
        torch.testing.assert_close(why.node_mask(), found.node_mask)
        torch.testing.assert_close(why.edge_mask(), found.edge_mask)


def test_masks_of_a_model_that_compares_whole_graphs_are_all_one(prototype_run):
    model, run = load_model(prototype_run)
    why = explain(model, run_part(run, "test")[:1], RunContext.of(run))[0]
    assert bool((why.node_mask() == 1).all()) and bool((why.edge_mask() == 1).all())
    for label in range(3):
        assert why.node_mask(label).shape == why.node_mask().shape
    with pytest.raises(ProtGNNError, match="class from 0 to 2"):
        why.node_mask(3)


def test_a_notebook_shows_the_figure_and_every_row_and_runs_nothing(reasons):
    page = reasons[0]._repr_html_()
    assert page.count("<tr>") == len(reasons[0].rows) + 3  # the head, the base and the sum
    assert 'src="data:image/svg+xml;base64,' in page and 'alt="' in page
    assert not re.search(r"<script|<style|<link|https?://", page)


def test_names_are_escaped_in_a_notebook(reasons):
    from dataclasses import replace

    why = replace(reasons[0], class_names=("<script>alert(1)</script>", "b", "c"), notes=("<b>odd</b>",))
    page = why._repr_html_()
    assert "<script" not in page and "&lt;script" in page and "<b>odd" not in page
