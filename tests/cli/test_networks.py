"""Nodes and links from the command line, and a clear message for every mistake in a user's network."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from protgnn.datasets.builtin.networks import communities

QUICK = [
    *("--set", "epochs=4", "--set", "hidden=8", "--set", "prototypes=2", "--set", "anchored_epochs=2"),
    *("--set", "search_iterations=2", "--set", "refine_steps=3"),
]


def write_network(folder: Path, split: bool = False, unlabelled: int = 0) -> Path:
    """A community network as a user would have it: ids that are texts, a kind, a number, a label."""
    network = communities(nodes=120, groups=2, within=0.12, across=0.01)
    folder.mkdir(exist_ok=True)
    rows = []
    for node, label in enumerate(network.y.tolist()):
        part = [("train", "train", "train", "valid", "test")[node % 5]] if split else []
        known = "" if node < unlabelled else ("cats", "dogs")[label]
        rows.append([f"user-{node}", f"{network.x[node, 0]:.3f}", "ab"[node % 2], *part, known])
    header = ["id", "age", "kind", *(["split"] if split else []), "label"]
    table(folder / "nodes.csv", header, rows)
    edges = [(f"user-{a}", f"user-{b}") for a, b in network.edge_index.t().tolist() if a < b]
    table(folder / "edges.csv", ["source", "target"], edges)
    return folder


def table(path: Path, header, rows) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    path.write_text(text.getvalue())


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> Path:
    return write_network(tmp_path_factory.mktemp("net") / "users")


@pytest.fixture(scope="module")
def node_run(network, tmp_path_factory) -> Path:
    from protgnn.cli.main import main

    folder = tmp_path_factory.mktemp("runs") / "nodes"
    with pytest.raises(SystemExit) as end:
        main(["train", str(network), "--encoder", "gcn", "--out", str(folder), *QUICK])
    assert not end.value.code
    return folder


@pytest.fixture(scope="module")
def link_run(network, tmp_path_factory) -> Path:
    from protgnn.cli.main import main

    folder = tmp_path_factory.mktemp("runs") / "links"
    with pytest.raises(SystemExit) as end:
        main(["train", str(network), "--task", "links", "--encoder", "gcn", "--plus", "--out", str(folder), *QUICK])
    assert not end.value.code
    return folder


def test_links_are_learned_with_a_gcn_unless_another_encoder_is_chosen(protgnn_command, network, tmp_path):
    quick = [*QUICK, "--set", "epochs=1", "--set", "head=plain", "--task", "links"]
    done = protgnn_command("train", network, "--out", tmp_path / "run", *quick)
    assert done.status == 0 and "links are learned with a GCN" in done.err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]["encoder"] == "gcn"
    done = protgnn_command("train", network, "--encoder", "gin", "--out", tmp_path / "other", *quick)
    assert json.loads((tmp_path / "other" / "run.json").read_text())["recipe"]["encoder"] == "gin"


def test_a_network_whose_label_has_another_name_says_why_links_are_predicted(protgnn_command, network, tmp_path):
    folder = write_network(tmp_path / "users")
    (folder / "nodes.csv").write_text((folder / "nodes.csv").read_text().replace("label", "topic", 1))
    shown = protgnn_command("data", "show", folder)
    assert "No node has a label, so links are predicted" in shown.out and "--label" in shown.out
    for arguments in ((folder, "--label", "topic"), (folder, "--task", "links"), (network,)):
        assert "so links are predicted" not in protgnn_command("data", "show", *arguments).out


def test_a_run_on_nodes_is_scored_on_its_test_nodes(protgnn_command, node_run):
    done = protgnn_command("evaluate", node_run)
    assert done.status == 0 and "12 held-out test nodes" in done.out
    figures = json.loads(protgnn_command("evaluate", node_run, "--json").out)
    assert figures["prototype_error"] <= 1e-5 and figures["sum_error"] <= 1e-5


def test_all_nodes_of_a_network_are_predicted_by_their_ids(protgnn_command, node_run, network):
    done = protgnn_command("predict", node_run, network)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["name"] for row in rows] == [f"user-{node}" for node in range(120)]
    assert {row["predicted"] for row in rows} <= {"cats", "dogs"}


def test_a_model_that_samples_may_predict_from_all_neighbours_in_one_pass(protgnn_command, network, tmp_path):
    run = tmp_path / "sampled"
    protgnn_command("train", network, "--encoder", "gcn", "--out", run, *QUICK, "--set", "fanout=2")
    sampled = list(csv.DictReader(io.StringIO(protgnn_command("predict", run, network).out)))
    done = protgnn_command("predict", run, network, "--neighbours", "all", "-o", tmp_path / "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert done.status == 0 and [row["name"] for row in rows] == [row["name"] for row in sampled]
    assert [row["p(cats)"] for row in rows] != [row["p(cats)"] for row in sampled]
    (alone,) = csv.DictReader(io.StringIO(protgnn_command("predict", run, "user-7", "--neighbours", "all").out))
    assert float(alone["p(cats)"]) == pytest.approx(float(rows[7]["p(cats)"]), abs=1e-5)


def test_neighbours_are_for_networks(protgnn_command, run_folder, molecules_csv):
    for source in (molecules_csv, "CCO"):
        done = protgnn_command("predict", run_folder, source, "--neighbours", "all")
        assert done.status == 1 and "leave --neighbours out" in done.err


def test_of_a_partly_labelled_network_the_others_are_predicted(protgnn_command, node_run, tmp_path):
    folder = write_network(tmp_path / "more", unlabelled=7)
    rows = list(csv.DictReader(io.StringIO(protgnn_command("predict", node_run, folder).out)))
    assert [row["name"] for row in rows] == [f"user-{node}" for node in range(7)]
    done = protgnn_command("evaluate", node_run, folder)
    assert done.status == 0 and done.out.startswith("113 nodes of ")


def test_a_node_is_explained_by_its_row_or_its_id_alike(protgnn_command, node_run, tmp_path):
    by_row = json.loads(protgnn_command("explain", node_run, "test", "--row", "3", "--json").out)
    by_id = json.loads(protgnn_command("explain", node_run, by_row["name"], "--json").out)
    assert by_id["logits"] == pytest.approx(by_row["logits"], abs=1e-5)
    done = protgnn_command("explain", node_run, by_row["name"], "-o", tmp_path / "why.svg")
    assert done.status == 0 and "<svg" in (tmp_path / "why.svg").read_text()


def test_an_explanation_agrees_with_the_prediction(protgnn_command, node_run, network):
    rows = list(csv.DictReader(io.StringIO(protgnn_command("predict", node_run, network).out)))
    why = json.loads(protgnn_command("explain", node_run, "user-5", "--json").out)
    assert why["predicted"] == rows[5]["predicted"]
    assert why["probabilities"]["cats"] == pytest.approx(float(rows[5]["p(cats)"]), abs=1e-5)


def test_prototypes_and_report_name_the_nodes(protgnn_command, node_run):
    assert "user-" in protgnn_command("prototypes", node_run).out
    assert protgnn_command("report", node_run).status == 0
    page = (node_run / "report.html").read_text()
    assert "test nodes" in page and "user-" in page


def test_links_are_scored_by_roc_auc_and_average_precision(protgnn_command, link_run):
    done = protgnn_command("evaluate", link_run)
    assert "held-out test pairs" in done.out and "ROC AUC" in done.out and "average precision" in done.out
    figures = json.loads(protgnn_command("evaluate", link_run, "--json").out)
    assert figures["evidence_error"] <= 1e-5 and figures["prototype_error"] <= 1e-5 and figures["sum_error"] <= 1e-5


@pytest.mark.parametrize("task", ["node_run", "link_run"])
def test_another_process_finds_the_promises_kept(task, request):
    folder = request.getfixturevalue(task)
    command = [sys.executable, "-m", "protgnn", "evaluate", str(folder), "--json"]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout)
    known = json.loads((folder / "run.json").read_text())["scores"]["test"]
    errors = [name for name in known if name.endswith("_error")]
    assert {"prototype_error", "sum_error"} <= set(errors) and all(figures[name] <= 1e-5 for name in errors)
    assert figures["loss"] == pytest.approx(known["loss"], abs=1e-6)


def test_pairs_are_predicted_from_a_file_and_explained_by_their_ids(protgnn_command, link_run, network, tmp_path):
    folder = write_network(tmp_path / "asked")
    table(folder / "pairs.csv", ["source", "target"], [("user-0", "user-1"), ("user-3", "user-70")])
    rows = list(csv.DictReader(io.StringIO(protgnn_command("predict", link_run, folder).out)))
    assert [row["name"] for row in rows] == ["user-0 – user-1", "user-3 – user-70"]
    why = json.loads(protgnn_command("explain", link_run, "user-0, user-1", "--json").out)
    assert why["predicted"] == rows[0]["predicted"]
    assert all({"user-0", "user-1"} <= set(row["evidence_names"]) for row in why["rows"])  # evidence keeps both ends
    assert protgnn_command("report", link_run).status == 0


def test_pairs_without_a_file_are_asked_for(protgnn_command, link_run, network):
    done = protgnn_command("predict", link_run, network)
    assert done.status == 1 and "pairs.csv" in done.err


def test_the_split_column_is_used_unless_another_split_is_asked_for(protgnn_command, tmp_path):
    folder = write_network(tmp_path / "split", split=True)
    done = protgnn_command("train", folder, "--out", tmp_path / "a", "--json", *QUICK, "--set", "head=plain")
    assert json.loads(done.out)["test"]["n"] == 24 and "split column" in done.err
    options = ["--set", "head=plain", "--set", "split=stratified"]
    done = protgnn_command("train", folder, "--out", tmp_path / "b", "--json", *QUICK, *options)
    assert json.loads(done.out)["test"]["n"] == 12
    assert protgnn_command("evaluate", tmp_path / "a").status == 0


def test_networks_are_listed_and_shown(protgnn_command, network):
    listed = protgnn_command("data", "list").out
    assert "ba-shapes" in listed and "tree-cycles:constant" in listed
    shown = json.loads(protgnn_command("data", "show", network, "--json").out)
    assert shown["nodes"] == 120 and shown["task"] == "nodes" and shown["classes"] == {"cats": 60, "dogs": 60}


MISTAKES = {
    "an id that nodes.csv lacks": (False, "edges.csv", "user-0,", "nobody,", "'nobody' is no node of nodes.csv"),
    "an id twice": (False, "nodes.csv", "user-1,", "user-0,", "the id 'user-0' is that of line 2 already"),
    "no node to validate on": (True, "nodes.csv", "valid", "train", "leaves no node to the part valid"),
    "a class in test alone": (True, "nodes.csv", "test,cats", "test,birds", "no node of class birds to train on"),
    "a feature that is no number": (False, "nodes.csv", "user-0,", "user-0,old", "expected a number in column 'age'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_tables_ends_in_one_clear_message(protgnn_command, mistake, tmp_path):
    split, name, old, new, said = MISTAKES[mistake]
    folder = write_network(tmp_path / "users", split=split)
    text = (folder / name).read_text()
    times = -1 if mistake == "no node to validate on" else 1
    (folder / name).write_text(text.replace(old, new, times))
    done = protgnn_command("train", folder, "--out", tmp_path / "run", *QUICK)
    assert done.status == 1 and done.err.count("error:") == 1 and "Traceback" not in done.err
    assert said in done.err.replace("\n", " ")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "{network}", "--out", "{out}", "--set", "split=scaffold"], "not for networks"),
        (["train", "{network}", "--out", "{out}", "--set", "split=given"], "without a split of its own"),
        (["train", "{network}", "--out", "{out}", "--directed", "--plus"], "networks without direction"),
        (["train", "solubility", "--out", "{out}", "--task", "nodes"], "leave --task and --directed out"),
        (["explain", "{run}", "nobody"], "is neither a file nor a node of users"),
        (["explain", "{links}", "user-1"], "two nodes with a comma between"),
        (["explain", "{links}", "user-1,user-1"], "two different nodes"),
        (["evaluate", "{links}", "{network}"], "leave DATA out"),
        (["explain", "{run}", "test", "--row", "99"], "choose --row from 0 to 11"),
    ],
)
def test_what_a_network_cannot_do_is_said(protgnn_command, network, node_run, link_run, arguments, said, tmp_path):
    places = {"network": network, "run": node_run, "links": link_run, "out": tmp_path / "run"}
    done = protgnn_command(*(argument.format(**places) for argument in arguments))
    assert done.status == 1 and said in done.err.replace("\n", " ")


def test_a_model_of_graphs_refuses_a_network(protgnn_command, run_folder, network):
    done = protgnn_command("predict", run_folder, network)
    assert done.status == 1 and "trained on graphs" in done.err


def test_runs_on_links_are_compared_on_the_pairs_that_both_held_out(protgnn_command, network, tmp_path):
    """Every seed draws other pairs: their numbers and their labels say nothing of which they are."""
    from protgnn.explain.compare_runs import held_out_in_both
    from protgnn.training.run import load_model

    quick = [*QUICK, "--set", "epochs=1", "--set", "head=plain", "--task", "links"]
    runs = []
    for seed in ("0", "1"):
        done = protgnn_command("train", network, "--seed", seed, "--out", tmp_path / seed, *quick)
        assert done.status == 0, done.err
        runs.append(load_model(tmp_path / seed)[1])
    mine, theirs, notes = held_out_in_both(*runs)
    assert mine.targets.tolist() == theirs.targets.tolist() and mine.y.tolist() == theirs.y.tolist()
    assert "both runs held out" in notes[0]
    same, again, notes = held_out_in_both(runs[0], runs[0])
    assert len(same) == len(again) > len(mine) and notes == ()
