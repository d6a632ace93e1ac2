"""A reasoning is the computation itself: its rows add up to what the model predicts."""

import json
from io import StringIO

import pytest
import torch
from rich.console import Console

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.errors import ProtGNNError
from protgnn.explain.describe import describe_subgraph, fragment_smiles
from protgnn.explain.explanation import Reasoning, ReasoningRow, explain
from protgnn.explain.render_text import chosen_rows, difference
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import make_recipe
from protgnn.training.train import SplitData, train

QUICK = {"hidden": 16, "epochs": 4, "anchored_epochs": 2, "prototypes": 2, "search_iterations": 3, "refine_steps": 20}


@pytest.fixture(scope="module")
def trained(molecules):
    return train(SplitData(molecules.train, molecules.valid), make_recipe(**QUICK))


def test_contributions_add_up_to_the_logits_that_predict_gives(trained, molecules):
    logits = predict_logits(trained.model, molecules.test)
    for why, expected in zip(explain(trained.model, molecules.test), logits.tolist(), strict=True):
        content = json.loads(json.dumps(why.to_json()))
        for label, name in enumerate(why.class_names):
            total = sum(row["contributions"][name] for row in content["rows"])
            total += sum(row["contributions"][name] for row in content["composition"])
            total += content["base"][name] if content["base"] else 0.0
            assert total == pytest.approx(expected[label], abs=1e-5)
            assert content["logits"][name] == pytest.approx(expected[label], abs=1e-6)
        assert content["predicted"] == why.class_names[expected.index(max(expected))]


def test_the_decisive_rows_account_for_the_margin(trained, molecules):
    for why in explain(trained.model, molecules.test):
        gains = [row.contribution(why.predicted) - row.contribution(why.runner_up) for row in why.decisive()]
        assert gains == sorted(gains, reverse=True)
        beside = why.beside or (0.0,) * len(why.class_names)
        assert sum(gains) + beside[why.predicted] - beside[why.runner_up] == pytest.approx(why.margin, abs=1e-5)
        assert why.margin >= 0 and sum(why.probabilities) == pytest.approx(1)


def test_one_graph_and_many_are_explained_alike(trained, molecules):
    many = explain(trained.model, molecules.test)
    alone = explain(trained.model, molecules.test[3])[0]
    assert alone.name == many[3].name == molecules.test.names[3]
    assert alone.logits == pytest.approx(many[3].logits, abs=1e-5)


def test_a_plain_model_has_nothing_to_explain_by(molecules):
    plain = train(SplitData(molecules.train, molecules.valid), make_recipe(hidden=8, epochs=1, head="plain"))
    with pytest.raises(ProtGNNError, match="no prototypes"):
        explain(plain.model, molecules.test)


def test_a_fragment_is_written_as_its_own_smiles():
    assert fragment_smiles("CC(=O)Nc1ccc(O)cc1", [4, 5, 6, 7, 9, 10]) == "c1ccccc1"
    assert fragment_smiles("CC(=O)O", [1, 2, 3]) == "O=CO"
    assert fragment_smiles("not a molecule", [0]) is None
    assert fragment_smiles("CC", [7]) is None


def test_subgraphs_without_smiles_are_told_by_their_atoms_or_their_size():
    names = ("C", "N", "O")
    graph = GraphSet(
        torch.eye(3)[[1, 2, 2]],
        torch.tensor([[0, 1, 0, 2], [1, 0, 2, 0]]),
        offsets(torch.tensor([3])),
        offsets(torch.tensor([4])),
        schema=Schema("molecule", ("a", "b"), names),
    )
    assert describe_subgraph(graph, [0, 1, 2]) == "N O2"
    other = GraphSet(torch.rand(3, 2), graph.edge_index, graph.node_ptr, graph.edge_ptr)
    assert describe_subgraph(other, [0, 1, 2]) == "3 nodes, 2 edges"


def test_the_command_line_explains_a_raw_smiles(molecules_csv, tmp_path, protgnn_command):
    settings = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path / "run"
    assert protgnn_command("train", molecules_csv, "--out", folder, *settings).status == 0
    shown = protgnn_command("explain", folder, "CC(=O)Nc1ccc(O)cc1")
    assert shown.status == 0 and "similarity" in shown.out and "sum" in shown.out
    content = json.loads(protgnn_command("explain", folder, molecules_csv, "--row", 4, "--json").out)
    assert len(content["rows"]) == 6
    for arguments, message in (
        (("CC(=O)N(", "--json"), "SMILES"),
        ((molecules_csv, "--row", 90), "from 0 to 89"),
        ((tmp_path / "none.csv",), "no such file"),
    ):
        ended = protgnn_command("explain", folder, *arguments)
        assert ended.status == 1 and message in ended.err


def test_in_a_narrow_terminal_fragments_have_a_table_of_their_own_and_nothing_is_lost(trained, molecules):
    (why,) = explain(trained.model, molecules.test[:1])
    fragments = {why.describe(row) for row in chosen_rows(why)[0]}
    for width, headers in ((200, 1), (max(map(len, fragments)) + 30, 2)):
        console = Console(file=StringIO(), width=width, color_system=None)
        console.print(why)
        lines = console.file.getvalue().splitlines()
        assert sum(line.startswith("no.") for line in lines) == headers
        assert all(any(shown in line for line in lines) for shown in fragments)
        assert max(map(len, lines)) <= width


def test_what_speaks_against_a_close_prediction_is_named_too():
    def row(prototype: int, label: int, similarity: float) -> ReasoningRow:
        return ReasoningRow(prototype, label, similarity, (1.0, 0.0) if label == 0 else (0.0, 1.0))

    def told(*rows: ReasoningRow) -> str:
        logits = tuple(sum(one.contribution(label) for one in rows) for label in (0, 1))
        return difference(Reasoning(None, ("low", "high"), logits, (0.5, 0.5), rows))

    close = told(row(0, 0, 1.5), row(1, 0, 1.4), row(2, 1, 2.8))
    assert close == (
        "low is ahead of high by 0.10. Most in favour: prototype 0 +1.50, prototype 1 +1.40; "
        "most against: prototype 2 -2.80"
    )
    clear = told(row(0, 0, 1.5), row(1, 0, 1.4), row(2, 1, 0.1))
    assert clear == "low is ahead of high by 2.80. Most in favour: prototype 0 +1.50, prototype 1 +1.40"
