"""Two runs on the same graphs: scores, disagreements, prototypes."""

import json
from dataclasses import replace

import pytest
import torch

from protgnn.data.split import Split
from protgnn.editing import PrototypeEditor
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.compare_runs import compare_runs, held_out_in_both, pair_prototypes
from protgnn.explain.run_data import run_part
from protgnn.training.evaluate import predict_logits
from protgnn.training.run import load_model


@pytest.fixture(scope="module")
def runs(mined_run, prototype_run):
    return load_model(mined_run), load_model(prototype_run)


def test_scores_and_disagreements_are_those_of_the_two_models(runs):
    first, second = runs
    graphs = run_part(first[1], "train")
    found = compare_runs(first, second, graphs)
    said = [predict_logits(model, graphs).argmax(1) for model, _ in runs]
    for scores, own in zip(found.scores, said, strict=True):
        assert scores["accuracy"] == pytest.approx(float((own == graphs.y).float().mean()))
    wanted = (said[0] != said[1]).nonzero().squeeze(1).tolist()
    assert [one.number for one in found.disagreements] == wanted and wanted
    one, names = found.disagreements[0], graphs.schema.class_names
    assert one.name == graphs.names[one.number] and one.truth == names[int(graphs.y[one.number])]
    assert one.first.predicted == names[int(said[0][one.number])] != one.second.predicted
    alone = (said[0] == graphs.y).int() - (said[1] == graphs.y).int()
    assert (found.mcnemar.only_first, found.mcnemar.only_second) == (int((alone > 0).sum()), int((alone < 0).sum()))
    assert json.loads(json.dumps(found.to_json()))["n"] == len(graphs)


def test_without_data_runs_are_compared_on_what_both_held_out(runs):
    run = runs[0][1]
    mine, theirs, notes = held_out_in_both(run, run)
    assert len(mine) == len(theirs) == len(run.split.test) and notes == ()
    moved = torch.cat([run.split.test[2:], run.split.valid[:3]])
    other = Split(torch.cat([run.split.train, run.split.test[:2]]), run.split.valid[3:], moved)
    mine, theirs, notes = held_out_in_both(run, replace(run, split=other))
    assert mine.names == theirs.names and len(mine) == len(run.split.test) - 2
    assert "both runs held out" in notes[0]
    apart = Split(run.split.test, run.split.valid, run.split.train)
    with pytest.raises(ProtGNNError, match="No graph was held out from both"):
        held_out_in_both(run, replace(run, split=apart))
    with pytest.raises(ProtGNNError, match="trained on different data"):
        held_out_in_both(run, replace(run, data=replace(run.data, source="solubility", fingerprint="")))


def test_prototypes_that_look_the_same_stand_side_by_side(mined_run):
    editor = PrototypeEditor.of_run(mined_run)
    before = editor.run
    editor.edit(remove=[1], add=["CC"])
    pairs = pair_prototypes(before, editor.run)
    count = len(before.prototypes.cards)
    both = {(pair.first, pair.second) for pair in pairs}
    assert both == {(0, 0), (1, None), *((number, number - 1) for number in range(2, count)), (None, count - 1)}
    new = next(pair for pair in pairs if pair.first is None)
    assert new.description == "CC" and new.first_weight is None and new.second_weight is not None


def test_classes_are_matched_by_name_and_other_classes_are_refused(runs):
    model, run = runs[0]
    graphs = run_part(run, "test")
    turned = replace(run.schema, class_names=run.schema.class_names[::-1])
    other = replace(graphs, y=2 - graphs.y, schema=turned)
    found = compare_runs((model, run), (model, replace(run, schema=turned)), graphs, other)
    assert len(found.disagreements) > 0  # the same numbers now mean other classes
    strange = replace(run, schema=replace(run.schema, class_names=("a", "b", "c")))
    with pytest.raises(DataError, match="different classes"):
        compare_runs((model, run), (model, strange), graphs)
    with pytest.raises(DataError, match="without labels"):
        compare_runs(runs[0], runs[1], replace(graphs, y=None))
    with pytest.raises(DataError, match="same graphs"):
        compare_runs(runs[0], runs[1], graphs, graphs[:3])
