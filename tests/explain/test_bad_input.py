"""What a user may get wrong when asking for a reasoning: a message each, never a traceback."""

import json

import pytest
import torch

import protgnn
from protgnn.datasets.new_input import conform
from protgnn.explain.unseen_elements import unseen_among, unseen_elements
from protgnn.featurizers.molecule import from_smiles
from protgnn.training.run import load_model

FEW = {"epochs": 2, "hidden": 8, "prototypes": 1, "anchored_epochs": 1, "search_iterations": 2, "refine_steps": 2}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("CC(=O)N(", "neither a file nor a SMILES"),
        ("", "the input is empty"),
        ("   ", "the input is empty"),
        ("not a molecule", "neither a file nor a SMILES"),
        ("none.csv", "no such file"),
    ],
)
def test_an_input_that_cannot_be_read_is_named(protgnn_command, prototype_run, source, message):
    ended = protgnn_command("explain", prototype_run, source)
    assert ended.status == 1 and message in ended.err and ended.err.startswith("error: ")


def test_a_file_that_cannot_be_written_is_named_before_any_work(protgnn_command, prototype_run, tmp_path):
    (tmp_path / "file").write_text("")
    for path, message in (
        ("why.bmp", ".svg, .png, .html, .json"),
        ("why", "no ending"),
        ("file/why.svg", "Cannot write"),
    ):
        ended = protgnn_command("explain", prototype_run, "CCO", "-o", tmp_path / path)
        assert ended.status == 1 and message in ended.err
    ended = protgnn_command("explain", prototype_run, "CCO", "-o", tmp_path / "why.svg", "--theme", "sepia")
    assert ended.status == 1 and "light, dark" in ended.err and not (tmp_path / "why.svg").exists()


def test_a_row_that_is_not_there_is_named(protgnn_command, prototype_run):
    for row in (9, -1):
        ended = protgnn_command("explain", prototype_run, "test", "--row", row)
        assert ended.status == 1 and "from 0 to 8" in ended.err
    assert protgnn_command("explain", prototype_run, "test", "--row", 8).status == 0


def test_explaining_with_a_plain_model_is_refused(protgnn_command, run_folder):
    ended = protgnn_command("explain", run_folder, "CCO")
    assert ended.status == 1 and "no prototypes to explain by" in ended.err


def test_a_model_of_other_graphs_does_not_take_a_molecule(protgnn_command, tmp_path):
    graphs = protgnn.load("ba-2motifs").graphs
    few = graphs[torch.cat([(graphs.y == label).nonzero().squeeze(1)[:20] for label in (0, 1)])]
    protgnn.ProtGNNClassifier(settings=FEW).fit(few).save(tmp_path / "run")
    ended = protgnn_command("explain", tmp_path / "run", "CCO")
    assert ended.status == 1 and "trained on graphs whose features came with them" in ended.err
    ended = protgnn_command("explain", tmp_path / "run", "test")
    assert ended.status == 1 and "does not say what it was trained on" in ended.err


def test_an_element_that_no_training_molecule_has_is_pointed_out(protgnn_command, prototype_run, tmp_path):
    _, run = load_model(prototype_run)
    seen = conform(from_smiles(["CCCO"]), run.schema)
    assert unseen_elements(seen, run) == []
    for smiles, said in (("CC[Xe]", "atom 2 is Xe"), ("[Se]CC[Se]", "atoms 0, 3 are Se")):
        (note,) = unseen_elements(conform(from_smiles([smiles]), run.schema), run)
        assert note.startswith(f"{said}, which no training molecule contains")
    ended = protgnn_command("explain", prototype_run, " CC[Xe] ")
    assert ended.status == 0 and "atom 2 is Xe" in ended.out
    told = json.loads(protgnn_command("explain", prototype_run, "CC[Xe]", "--json").out)
    assert any("Xe" in note for note in told["notes"])
    path = tmp_path / "mols.csv"
    path.write_text("smiles\nCCO\nCC[Xe]\nC[Se]C\n")
    ended = protgnn_command("predict", prototype_run, path)
    assert ended.status == 0 and "2 of 3 contain elements that no training molecule contains: lines 3, 4" in ended.err
    graphs = from_smiles(["CCO", "CC[Xe]", "C[Se]C"])
    for few, said in ((graphs, "2 of 3 contain"), (graphs[:2], "1 of 2 contains")):
        told = unseen_among(conform(few, run.schema), run)
        assert told.startswith(f"{said} elements that no training molecule contains: row"), told
    assert told.endswith("row 1")


def test_the_estimator_explains_and_saves(molecules, tmp_path):
    model = protgnn.ProtGNNClassifier(settings=FEW).fit(molecules.train, validation=molecules.valid)
    why = model.explain(molecules.test[0])
    assert why.familiar is not None and why.describe(why.decisive()[0]) in str(why) and not why.notes
    model.save(tmp_path / "run")
    for one in (model, protgnn.ProtGNNClassifier.from_run(tmp_path / "run")):
        usual, strange = one.explain(["CCO", "CC[Xe]"])
        assert "atom 2 is Xe" in str(strange) and not usual.notes
    why.save(tmp_path / "why.svg")
    assert (tmp_path / "why.svg").read_text().startswith("<svg")
