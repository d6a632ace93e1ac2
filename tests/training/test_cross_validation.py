"""Cross-validation: every graph is tested on once, each fold is a run, and what was interrupted goes on to the same."""

import json

import pytest
import torch

from protgnn.data.network.node_split import fold_nodes
from protgnn.datasets.builtin.networks import ba_shapes
from protgnn.datasets.splits import folds, scaffold
from protgnn.errors import DataError
from protgnn.io.progress import ProgressBar
from protgnn.training.cross_validation import summary_of
from protgnn.training.folder_checks import FOLDS_FILE
from protgnn.training.run import read_run
from tests.conftest import TINY

K = 3


@pytest.fixture(scope="module")
def finished(molecules_csv, tmp_path_factory):
    """Three folds; not to be changed."""
    from protgnn.cli.main import main

    folder = tmp_path_factory.mktemp("folds") / "run"
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--folds", str(K), "--out", str(folder), *TINY])
    assert not end.value.code
    return folder


def arguments(data, folder, *more):
    return ("train", data, "--folds", K, "--out", folder, *TINY, *more)


@pytest.mark.parametrize("kind", ["random", "stratified", "scaffold"])
def test_every_graph_is_tested_on_once_and_groups_stay_together(molecules, kind):
    graphs = molecules.graphs
    made = folds(graphs, 4, kind, seed=1)
    assert torch.cat([one.test for one in made]).sort().values.tolist() == list(range(len(graphs)))
    for number, one in enumerate(made):
        assert one.valid.tolist() == made[(number + 1) % 4].test.tolist()
        assert len(set(one.train.tolist()) | set(one.valid.tolist()) | set(one.test.tolist())) == len(graphs)
        if kind == "stratified":
            assert torch.bincount(graphs.y[one.test]).tolist() == pytest.approx([7.5] * 3, abs=1)
        if kind == "scaffold":
            tested = {scaffold(graphs.names[place]) for place in one.test.tolist()}
            assert tested.isdisjoint(scaffold(graphs.names[place]) for place in one.train.tolist())
    other = folds(graphs, 4, kind, seed=2)
    drawn = [one.test.tolist() for one in made] != [one.test.tolist() for one in other]
    assert drawn == (kind != "scaffold"), "so few scaffolds can only be dealt out in one way"


def test_nodes_have_folds_too_and_what_cannot_be_folded_is_refused(molecules, protgnn_command, tmp_path):
    network = ba_shapes()
    made = fold_nodes(network, 3)
    assert torch.cat([one.test for one in made]).sort().values.tolist() == network.labelled.tolist()
    for call in (lambda: folds(molecules.graphs, 3, "given"), lambda: fold_nodes(network, 3, "scaffold")):
        with pytest.raises(DataError, match="choose one"):
            call()
    for call in (lambda: folds(molecules.graphs, 2, "scaffold"), lambda: fold_nodes(network, 2)):
        with pytest.raises(DataError, match="Expected between 3 and"):
            call()
    ended = protgnn_command("train", "ba-shapes", "--task", "links", "--folds", 3, "--out", tmp_path / "run", *TINY)
    assert ended.status == 1 and "Folds are for graphs and nodes" in ended.err


def test_each_fold_is_a_run_and_the_summary_is_their_mean_and_deviation(protgnn_command, finished):
    stored = json.loads((finished / FOLDS_FILE).read_text())
    runs = [read_run(finished / f"fold-{number}") for number in (1, 2, 3)]
    assert stored == summary_of(runs) and stored["folds"] == K and sum(stored["n"]) == 90
    values = torch.tensor([run.scores["test"]["accuracy"] for run in runs], dtype=torch.float64)
    accuracy = stored["scores"]["accuracy"]
    assert accuracy["folds"] == values.tolist() and accuracy["mean"] == pytest.approx(float(values.mean()))
    assert accuracy["std"] == pytest.approx(float(values.std()))
    assert json.loads(protgnn_command("evaluate", finished / "fold-2", "--json").out)["n"] == stored["n"][1]


def test_interrupted_folds_go_on_to_the_same_scores(protgnn_command, molecules_csv, finished, tmp_path, monkeypatch):
    folder, seen = tmp_path / "run", []

    def stop(_: object, done: int, note: str) -> None:
        seen.append(note)
        if note.startswith("fold 2 of 3"):
            raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(ProgressBar, "update", stop)
        ended = protgnn_command(*arguments(molecules_csv, folder))
    assert ended.status == 130 and "--folds 3" in ended.err and "--resume continues" in ended.err
    assert read_run(folder / "fold-1").finished and not (folder / FOLDS_FILE).exists()
    first = (folder / "fold-1" / "run.json").stat().st_mtime_ns
    ended = protgnn_command(*arguments(molecules_csv, folder, "--seed", 5, "--resume"))
    assert ended.status == 1 and "fold-1 with another recipe: seed was 0 and is now 5" in ended.err
    ended = protgnn_command(*arguments(molecules_csv, folder, "--resume"))
    assert ended.status == 0 and "accuracy" in ended.out and "±" in ended.out
    assert (folder / FOLDS_FILE).read_bytes() == (finished / FOLDS_FILE).read_bytes()
    assert (folder / "fold-1" / "run.json").stat().st_mtime_ns == first, "what was finished is left alone"


def test_folders_with_other_things_are_left_alone(protgnn_command, molecules_csv, finished, run_folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    for folder, said in (
        (finished, "holds folds already: --resume continues them, --overwrite replaces them"),
        (run_folder, "holds a run: choose another --out"),
        (tmp_path / "other", "does not hold folds"),
    ):
        ended = protgnn_command(*arguments(molecules_csv, folder))
        assert ended.status == 1 and said in ended.err
    more = ("train", molecules_csv, "--folds", 4, "--out", finished, *TINY, "--resume")
    assert protgnn_command(*more).status == 1
    fewer = tmp_path / "run"
    (fewer / "fold-4").mkdir(parents=True)
    ended = protgnn_command(*arguments(molecules_csv, fewer, "--overwrite"))
    assert ended.status == 1 and "holds fold-4, and 3 folds are asked for" in ended.err


def test_a_split_is_chosen_by_an_option(protgnn_command, molecules_csv, tmp_path):
    ended = protgnn_command("train", molecules_csv, "--split", "scaffold", "--out", tmp_path / "run", *TINY)
    assert ended.status == 0 and read_run(tmp_path / "run").recipe.split == "scaffold"
    ended = protgnn_command("train", molecules_csv, "--split", "by-eye", "--out", tmp_path / "no", *TINY)
    assert ended.status == 1 and "split" in ended.err and "'by-eye'" in ended.err
