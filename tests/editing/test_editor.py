"""Prototypes edited by hand: what was asked for is there, everything else holds, and it can be taken back."""

import json

import pytest
import torch

from protgnn.editing import PrototypeEditor
from protgnn.editing.part_looks import look_size, training_look
from protgnn.errors import ProtGNNError, RunError
from protgnn.explain.explanation import RunContext, explain
from protgnn.training.calibration import fit_temperature
from protgnn.training.evaluate import assess, faithfulness, predict_logits
from protgnn.training.run import load_model, read_run


def logits_on_validation(editor):
    return predict_logits(editor.model, editor.valid.graphs)


def test_an_edit_makes_exactly_the_requested_changes(editor, shown):
    before = shown(editor)
    result = editor.edit(remove=[1], replace={2: "CCC"}, add=["high: CCO"], require=[0])
    after = shown(editor)
    assert after == [before[0], "CCC", *before[3:], "CCO"]
    assert result.numbers == (0, None, None, *range(2, len(before) - 1))
    assert editor.edits.required == [0]
    assert editor.run.schema.class_names[editor.run.prototypes.cards[-1].label] == "high"
    assert [card.label for card in editor.run.prototypes.cards] == editor.model.head.classes.tolist()
    assert result.after["accuracy"] == editor.run.scores["valid"]["accuracy"]


def test_an_edited_model_is_faithful_after_it_is_saved_and_opened(editor, tmp_path):
    editor.edit(remove=[1], replace={2: "CCC"}, add=["high: CCO"])
    editor.save(tmp_path / "edited")
    model, run = load_model(tmp_path / "edited")
    valid = editor.valid.graphs
    figures = faithfulness(model, assess(model, valid, check_evidence=True), run.prototypes.subgraphs)
    wanted = {"prototype_error", "sum_error"} | ({"evidence_error"} if model.compares_evidence else set())
    assert wanted <= set(figures)
    for name in wanted:
        assert figures[name] <= 1e-5, name
        assert run.scores["valid"][name] <= 1e-5, name
    torch.testing.assert_close(predict_logits(model, valid), logits_on_validation(editor), rtol=0, atol=1e-5)
    for why in explain(model, valid, RunContext.of(run)):
        for label in range(3):
            total = sum(row.contribution(label) for row in why.rows) + (why.beside[label] if why.beside else 0)
            assert total == pytest.approx(why.logits[label], abs=1e-4)


def test_scores_are_those_of_the_validation_part_and_never_of_the_test_part(editor):
    assert "test" in editor.run.scores
    result = editor.edit(remove=[1])
    assert "test" not in editor.run.scores
    right = logits_on_validation(editor).argmax(1) == editor.valid.graphs.y
    assert result.after["accuracy"] == pytest.approx(float(right.float().mean()))
    assert result.after["n"] == len(editor.valid.graphs)


def test_undo_gives_the_same_predictions_prototypes_and_temperature_back(editor):
    logits, run = logits_on_validation(editor), editor.run
    first = editor.edit(remove=[1], add=["CCC"])
    middle = logits_on_validation(editor)
    editor.edit(forbid=["Br"], require=[0])
    editor.undo()
    torch.testing.assert_close(logits_on_validation(editor), middle, rtol=0, atol=1e-5)
    assert [step.done for step in editor.history] == [list(first.done)] and editor.edits.required == []
    result = editor.undo()
    torch.testing.assert_close(logits_on_validation(editor), logits, rtol=0, atol=1e-5)
    assert editor.run.prototypes.cards == run.prototypes.cards
    assert editor.run.scores["temperature"] == run.scores["temperature"]
    assert result.after["accuracy"] == run.scores["valid"]["accuracy"] and editor.history == []
    with pytest.raises(ProtGNNError, match="nothing to undo"):
        editor.undo()


def test_the_history_is_stored_with_the_run_and_undone_after_it_is_opened(mined, mined_run, tmp_path):
    logits = logits_on_validation(mined)
    mined.edit(remove=[1])
    mined.edit(require=[0], forbid=["Br"])
    mined.save(tmp_path / "edited")
    again = PrototypeEditor.of_run(tmp_path / "edited")
    assert again.edits == mined.edits and len(again.history) == 2
    assert json.loads((tmp_path / "edited" / "run.json").read_text())["edits"]["history"][0]["done"] == [
        mined.history[0].done[0]
    ]
    again.undo()
    again.undo()
    torch.testing.assert_close(logits_on_validation(again), logits, rtol=0, atol=1e-5)
    assert read_run(mined_run).edits is None


def test_the_temperature_is_fitted_again_on_the_validation_part(mined):
    mined.edit(remove=[0])
    temperature = mined.run.scores["temperature"]
    before = logits_on_validation(mined) * temperature
    assert fit_temperature(before, mined.valid.graphs.y) == pytest.approx(temperature, rel=1e-3)


def test_the_model_that_was_given_stays_as_it_was(mined_run):
    model, run = load_model(mined_run)
    editor = PrototypeEditor.of_run(mined_run)
    editor = PrototypeEditor(model, run, editor.train.graphs, editor.valid.graphs)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    editor.edit(remove=[0])
    assert len(editor.model.head.classes) == len(model.head.classes) - 1
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights[name])


def test_what_is_forbidden_goes_and_does_not_come_back(mined, shown):
    before = shown(mined)
    result = mined.edit(forbid=[1])
    assert before[1] not in shown(mined) and result.numbers[1] is None
    with pytest.raises(ProtGNNError, match="forbidden"):
        mined.edit(add=[before[1]])
    with pytest.raises(ProtGNNError, match="forbidden"):
        mined.edit(replace={1: before[1]})


def test_forbidding_by_text_takes_every_prototype_that_looks_like_it(editor, shown):
    text = next(one for one in ("c1ccccc1", "C1CCCCC1", "CCCCCC") if one in shown(editor))
    editor.edit(forbid=[text], add=[f"{name}: CC" for name in editor.run.schema.class_names])
    assert text not in shown(editor)


def test_a_required_prototype_can_be_neither_removed_nor_replaced_nor_forbidden(mined, shown):
    mined.edit(require=[1])
    for wanted in ({"remove": [1]}, {"replace": {1: "CC"}}, {"forbid": [1]}, {"forbid": [shown(mined)[1]]}):
        with pytest.raises(ProtGNNError, match="required"):
            mined.edit(**wanted)
    mined.undo()
    mined.edit(remove=[1])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "Nothing to edit"),
        ({"remove": [99]}, "no prototype 99"),
        ({"remove": [-1]}, "no prototype -1"),
        ({"remove": list(range(3))}, "No prototype would be left"),
        ({"require": [0], "remove": [0]}, "required and removed"),
        ({"add": ["CC", "CC"]}, "twice|already"),
        ({"add": ["C(("]}, "neither a SMILES nor a SMARTS"),
        ({"add": ["[Pt]"]}, "no training molecule has this part"),
        ({"forbid": ["[Pt]"]}, "no training molecule has this part"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(mined, wanted, message):
    run, model = mined.run, mined.model
    with pytest.raises(ProtGNNError, match=message):
        mined.edit(**wanted)
    assert mined.run is run and mined.model is model


def test_the_last_prototype_of_a_class_without_a_base_stays(prototype_run):
    editor = PrototypeEditor.of_run(prototype_run)
    with pytest.raises(ProtGNNError, match="Class high would have no prototype left"):
        editor.edit(remove=[0, 1])
    editor.edit(remove=[0], replace={1: "CC"})


def test_an_edited_run_goes_to_a_folder_of_its_own(mined, mined_run):
    mined.edit(remove=[1])
    with pytest.raises(RunError, match="holds a run already"):
        mined.save(mined_run)


def test_mined_weights_stay_positive_and_in_the_own_class(mined):
    mined.edit(remove=[1], add=["CCC", "high: CO"])
    head = mined.model.head
    own = torch.nn.functional.one_hot(head.classes, 3).t().bool()
    assert bool((head.last.weight[own] >= 0).all()) and bool((head.last.weight[~own] == 0).all())


@pytest.mark.parametrize("change", [{"add": ["high: CCO"]}, {"remove": [1]}])
def test_weights_that_were_averaged_with_a_composition_do_not_grow_back(composed_run, change):
    editor = PrototypeEditor.of_run(composed_run)
    editor.model.divide_logits(4.0)
    before = editor.model.head.last.weight.detach().amax(0)
    kept = [number for number in range(len(before)) if number not in change.get("remove", [])]
    editor.edit(**change)
    after = editor.model.head.last.weight.detach().amax(0)[: len(kept)]
    assert 0.5 < float(after.norm() / before[kept].norm()) < 1.5


def test_the_size_of_a_look_is_that_of_its_part(mined):
    train = mined.train.graphs
    for source in mined.sources():
        assert look_size(training_look(train, source.graph, source.nodes)) == len(source.nodes)


def test_a_plain_model_cannot_be_edited(run_folder):
    with pytest.raises(ProtGNNError, match="no prototypes"):
        PrototypeEditor.of_run(run_folder)
