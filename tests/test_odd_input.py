"""What users do that nobody thinks of: odd names, odd places, labels in another order, options that mean nothing."""

import json
import os
import stat
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from protgnn.data.labels import renumbered, to_known_classes
from protgnn.io.atomic_files import write_text
from protgnn.training.recipe import make_recipe
from tests.cli.test_networks import QUICK, table, write_network
from tests.conftest import TINY


def graphs_file(path: Path, header: dict | None, labels, targets=None, name=None) -> Path:
    """Forty rings and chains of four nodes; ``labels`` are those of a ring and of a chain."""
    lines = [] if header is None else [json.dumps({"schema": header})]
    for number in range(40):
        edges = [[0, 1], [1, 2], [2, 3]] + ([[3, 0]] if number % 2 == 0 else [])
        item = {"x": [[1.0, number % 2]] * 4, "edges": edges, "y": labels[number % 2]}
        item |= {} if targets is None else {"targets": targets}
        item |= {} if name is None else {"name": name}
        lines.append(json.dumps(item))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_folder_called_test_does_not_hide_the_test_part(protgnn_command, run_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test").mkdir()
    assert protgnn_command("evaluate", run_folder).status == 0
    assert protgnn_command("evaluate", run_folder, "test").status == 0
    assert "TU folder" in protgnn_command("evaluate", run_folder, "./test").err


def test_a_link_is_followed_and_a_pipe_written_to(tmp_path):
    real, link, pipe = tmp_path / "real.csv", tmp_path / "link.csv", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "through")
    reader.join(timeout=120)
    assert heard == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)
    out, into = os.pipe()
    write_text(Path(f"/dev/fd/{into}"), "this way too")  # as /dev/stdout before a pipe
    os.close(into)
    with open(out) as file:
        assert file.read() == "this way too"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_files_are_for_whom_the_user_allows(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "out.csv", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_numbers_its_classes_otherwise_is_scored_by_their_names(protgnn_command, tmp_path):
    made = graphs_file(tmp_path / "made.jsonl", None, ("ring", "chain"))  # the model's classes: chain, ring
    settings = ["--set", "epochs=30", "--set", "hidden=8", "--set", "head=plain"]
    assert protgnn_command("train", made, "--out", tmp_path / "run", *settings).status == 0
    named = json.loads(protgnn_command("evaluate", tmp_path / "run", made, "--json").out)
    header = {"class_names": ["ring", "chain", "star"]}
    numbered = graphs_file(tmp_path / "numbered.jsonl", header, (0, 1))
    assert json.loads(protgnn_command("evaluate", tmp_path / "run", numbered, "--json").out) == named
    assert named["accuracy"] > 0.5
    strange = graphs_file(tmp_path / "strange.jsonl", header, (0, 2))
    assert "'star' is unknown to the model" in protgnn_command("evaluate", tmp_path / "run", strange).err


def test_a_graph_without_a_name_is_called_by_its_row(protgnn_command, tmp_path):
    made = graphs_file(tmp_path / "made.jsonl", None, ("ring", "chain"))
    few = [*TINY[:4], "--set", "prototypes=1", "--set", "anchored_epochs=0", "--set", "search_iterations=1"]
    assert protgnn_command("train", made, "--out", tmp_path / "run", *few).status == 0
    for source in ("test", made):
        told = json.loads(protgnn_command("explain", tmp_path / "run", source, "--row", 3, "--json").out)
        shown = protgnn_command("explain", tmp_path / "run", source, "--row", 3).out
        assert shown.startswith("graph 3: ") and ("(correct)" in shown) == (told["truth"] == told["predicted"])


def test_labels_of_something_else_do_not_stand_in_the_way_of_predictions(protgnn_command, molecules_csv, tmp_path):
    rows = molecules_csv.read_text().splitlines()
    other = [rows[0], *(f"{row.split(',')[0]},{'even' if place % 2 else 'odd'}" for place, row in enumerate(rows[1:]))]
    (tmp_path / "other.csv").write_text("\n".join(other))
    few = [*TINY[:4], "--set", "prototypes=1", "--set", "anchored_epochs=0", "--set", "search_iterations=1"]
    assert protgnn_command("train", tmp_path / "other.csv", "--out", tmp_path / "run", *few).status == 0
    said = protgnn_command("predict", tmp_path / "run", "solubility", "-o", tmp_path / "out.csv")
    assert said.status == 0 and "predictions written" in said.err
    assert protgnn_command("explain", tmp_path / "run", "solubility", "--row", 3).status == 0
    refused = protgnn_command("evaluate", tmp_path / "run", "solubility")
    assert refused.status == 1 and "unknown to the model" in refused.err

    made = graphs_file(tmp_path / "made.jsonl", None, ("ring", "chain"))
    assert protgnn_command("train", made, "--out", tmp_path / "graphs", *TINY).status == 0
    colours = {"class_names": ["red", "blue"]}
    for header, labels in ((None, ("red", "blue")), (colours, (0, 1))):
        strange = graphs_file(tmp_path / "strange.jsonl", header, labels)
        assert protgnn_command("predict", tmp_path / "graphs", strange).status == 0
        assert protgnn_command("evaluate", tmp_path / "graphs", strange).status == 1


def test_classes_are_renumbered_by_name_and_what_has_none_stays():
    y = torch.tensor([0, 1, -1, 1])
    assert renumbered(y, ("b", "a"), ("a", "b")).tolist() == [1, 0, -1, 0]
    assert renumbered(y, (), ("a", "b")) is y and renumbered(None, ("b",), ("a",)) is None


def test_a_saved_network_that_numbers_its_classes_otherwise_is_scored_by_their_names(protgnn_command, tmp_path):
    from protgnn.datasets.builtin.networks import communities

    network = communities(nodes=120, groups=2, within=0.12, across=0.01)
    entries = {"x": network.x, "edge_index": network.edge_index.long(), "y": network.y.long()}
    torch.save({**entries, "class_names": ["odd", "even"]}, tmp_path / "one.pt")
    torch.save({**entries, "y": 1 - entries["y"], "class_names": ["even", "odd"]}, tmp_path / "other.pt")
    torch.save({**entries, "edge_attr": torch.ones(entries["edge_index"].shape[1], 2)}, tmp_path / "wide.pt")
    torch.save({**entries, "class_names": ["odd"]}, tmp_path / "few.pt")
    run = tmp_path / "run"
    assert protgnn_command("train", tmp_path / "one.pt", "--encoder", "gcn", "--out", run, *QUICK).status == 0
    one, other = (
        json.loads(protgnn_command("evaluate", run, tmp_path / f"{name}.pt", "--json").out) for name in ("one", "other")
    )
    assert one == other
    assert "0 edge attributes and this input has 2" in protgnn_command("predict", run, tmp_path / "wide.pt").err
    assert "1 classes of `class_names`" in protgnn_command("evaluate", run, tmp_path / "few.pt").err


def test_pairs_of_a_saved_network_go_by_numbers(protgnn_command, tmp_path):
    from protgnn.datasets.builtin.networks import communities

    network = communities(nodes=120, groups=2, within=0.12, across=0.01)
    torch.save({"x": network.x, "edge_index": network.edge_index.long()}, tmp_path / "mine.pt")
    run = tmp_path / "run"
    quick = [*QUICK, "--set", "epochs=2"]
    assert protgnn_command("train", tmp_path / "mine.pt", "--encoder", "gcn", "--out", run, *quick).status == 0
    table(tmp_path / "pairs.csv", ["source", "target"], [(3, 7), ("node 4", 9)])
    done = protgnn_command("predict", run, tmp_path / "mine.pt")
    assert done.status == 0 and len(done.out.splitlines()) == 3
    table(tmp_path / "pairs.csv", ["source", "target"], [(3, 700)])
    assert "'700' is no node of mine.pt" in protgnn_command("predict", run, tmp_path / "mine.pt").err


def test_a_split_that_changed_is_not_resumed(protgnn_command, tmp_path, monkeypatch):
    from protgnn.training.checkpoint import TrainingState

    folder, run = write_network(tmp_path / "net", split=True), tmp_path / "run"
    saved = TrainingState.save

    def killed(state: TrainingState, place: Path) -> None:
        saved(state, place)
        raise KeyboardInterrupt

    arguments = ("train", folder, "--encoder", "gcn", "--out", run, *QUICK)
    monkeypatch.setattr(TrainingState, "save", killed)
    assert protgnn_command(*arguments).status == 130
    monkeypatch.setattr(TrainingState, "save", saved)
    lines = (folder / "nodes.csv").read_text().splitlines()
    swap = {"train": "test", "test": "train"}
    cells = [line.split(",") for line in lines[:11]]
    moved = [",".join(swap.get(cell, cell) for cell in row) for row in cells]
    (folder / "nodes.csv").write_text("\n".join([*moved, *lines[11:]]) + "\n")
    ended = protgnn_command(*arguments, "--resume")
    assert ended.status == 1 and "the split of the data has changed" in ended.err
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    assert protgnn_command(*arguments, "--resume").status == 0


def test_the_papers_recipe_keeps_the_split_that_came_with_the_data(protgnn_command, tmp_path):
    assert make_recipe("paper").model_fields_set == set()
    assert make_recipe("paper", epochs=3).model_fields_set == {"epochs"}
    folder = write_network(tmp_path / "net", split=True)
    quick = [*QUICK, "--set", "head=plain"]
    ended = protgnn_command("train", folder, "--recipe", "paper", "--encoder", "gcn", "--out", tmp_path / "run", *quick)
    assert ended.status == 0 and "24 held-out test nodes" in ended.out


def test_no_warm_up_at_all_is_allowed(protgnn_command, molecules_csv, tmp_path):
    few = ["epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "warm_up=0"]
    settings = [part for setting in few for part in ("--set", setting)]
    assert protgnn_command("train", molecules_csv, "--plus", "--out", tmp_path / "run", *settings).status == 0


@pytest.mark.parametrize("setting", ["separation_margin=inf", "cluster=1e400", "exploration=nan"])
def test_what_is_no_number_is_refused(protgnn_command, molecules_csv, tmp_path, setting):
    ended = protgnn_command("train", molecules_csv, "--out", tmp_path / "run", "--set", setting)
    assert ended.status == 1 and f"Recipe key {setting.split('=')[0]}" in ended.err


def test_graphs_without_the_targets_that_a_model_reads_are_refused(protgnn_command, tmp_path):
    one = graphs_file(tmp_path / "one.jsonl", None, ("ring", "chain"), targets=[0])
    none = graphs_file(tmp_path / "none.jsonl", None, ("ring", "chain"))
    two = graphs_file(tmp_path / "two.jsonl", None, ("ring", "chain"), targets=[0, 1])
    run = tmp_path / "run"
    assert protgnn_command("train", one, "--out", run, *TINY).status == 0
    assert protgnn_command("predict", run, one).status == 0
    for other, number in ((none, 0), (two, 2)):
        ended = protgnn_command("predict", run, other)
        assert ended.status == 1 and f"1 target nodes, and these have {number}" in ended.err


def test_names_that_xml_cannot_hold_are_drawn(protgnn_command, tmp_path):
    path = graphs_file(tmp_path / "odd.jsonl", None, ("[/b]x", "a[sp3]"), name="x\u0001<y>")
    few = ["epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2"]
    settings = [part for setting in few for part in ("--set", setting)]
    run = tmp_path / "run"
    assert protgnn_command("train", path, "--out", run, *settings).status == 0
    told = protgnn_command("explain", run, path)
    assert told.status == 0 and "→ [/b]x" in told.out and "→ a[sp3]" in told.out
    for name in ("why.svg", "why.png"):
        assert protgnn_command("explain", run, path, "-o", tmp_path / name).status == 0
    drawn = "".join(ElementTree.fromstring((tmp_path / "why.svg").read_text()).itertext())
    assert "x\ufffd<y>" in drawn


def test_labels_that_look_like_numbers_are_the_classes_they_spell():
    names = ("01", "1.0", "x")
    assert to_known_classes(["01", "1.0", " x "], names, str).tolist() == [0, 1, 2]
    assert to_known_classes(["1.0", "0"], ("0", "1"), str).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--label", "nonsense"], "leave --label out"),
        (["--smiles", "nonsense"], "leave --smiles out"),
        (["--text", "nonsense"], "leave --text out"),
        (["--skip-bad"], "leave --skip-bad out"),
    ],
)
def test_options_that_mean_nothing_for_a_file_are_refused(protgnn_command, tmp_path, options, words):
    path = graphs_file(tmp_path / "graphs.jsonl", None, ("ring", "chain"))
    ended = protgnn_command("train", path, "--out", tmp_path / "run", *TINY, *options)
    assert ended.status == 1 and words in ended.err and not (tmp_path / "run").exists()


def test_options_that_mean_nothing_for_a_named_dataset_or_a_network_are_refused(protgnn_command, tmp_path):
    ended = protgnn_command("data", "show", "solubility", "--label", "nonsense")
    assert ended.status == 1 and "solubility: leave --label out" in ended.err
    folder = write_network(tmp_path / "net")
    assert "leave --smiles out" in protgnn_command("data", "show", folder, "--smiles", "age").err
    assert "leave --skip-bad out" in protgnn_command("data", "show", "ba-shapes", "--skip-bad").err
    assert protgnn_command("data", "show", folder, "--label", "kind").status == 0


def test_a_row_that_predict_skipped_can_be_skipped_by_explain(protgnn_command, prototype_run, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text("smiles\nCCO\nC(\nCCN\n")
    assert "--skip-bad" in protgnn_command("explain", prototype_run, path).err
    told = protgnn_command("explain", prototype_run, path, "--row", 2, "--skip-bad", "--json")  # as in the sheet
    assert told.status == 0 and json.loads(told.out)["name"] == "CCN"
    skipped = protgnn_command("explain", prototype_run, path, "--row", 1, "--skip-bad", "--json")
    assert skipped.status == 1 and "line 3" in skipped.err


def test_scoring_names_the_line_of_a_label_that_is_wrong_or_missing(protgnn_command, run_folder, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text("smiles,mood\nCCO,low\nCCN,hihg\n")
    assert "line 3: the label 'hihg'" in protgnn_command("evaluate", run_folder, path).err
    path.write_text("smiles,mood\nCCO,low\nCCN,\n")
    scored = protgnn_command("evaluate", run_folder, path, "--json")
    assert "Left out 1 of 2 rows" in scored.err and '"n": 1' in scored.out


def test_predicting_passes_over_columns_that_are_no_labels(protgnn_command, run_folder, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text("smiles,category\nCCO,drug\nCCN,food\n")
    assert protgnn_command("predict", run_folder, path).status == 0


def test_a_split_column_does_not_matter_when_predicting(protgnn_command, tmp_path):
    folder, run = write_network(tmp_path / "net", split=True), tmp_path / "run"
    assert protgnn_command("train", folder, "--encoder", "gcn", "--out", run, *QUICK).status == 0
    text = (folder / "nodes.csv").read_text()
    (folder / "nodes.csv").write_text(text.replace(",train,", ",test,").replace(",valid,", ",test,"))
    assert protgnn_command("predict", run, folder, "-o", tmp_path / "out.csv").status == 0


def test_links_need_neither_labels_nor_a_split_of_the_nodes(protgnn_command, tmp_path):
    folder = write_network(tmp_path / "net", split=True)
    rows = [line.split(",") for line in (folder / "nodes.csv").read_text().splitlines()[1:]]
    table(
        folder / "nodes.csv",
        ["id", "x", "y", "split"],
        [(row[0], row[1], f"0.{n}", "train") for n, row in enumerate(rows)],
    )
    shown = protgnn_command("data", "show", folder, "--task", "links", "--json")
    assert shown.status == 0 and json.loads(shown.out)["task"] == "links"
    assert "measurement" in protgnn_command("data", "show", folder, "--task", "nodes").err
