"""Training on after edits: what is required stays, what is forbidden is never chosen."""

import numpy as np
import pytest
import torch

from protgnn.editing.part_looks import forbidden_looks, training_look
from protgnn.editing.retrain import without_looks
from protgnn.errors import ProtGNNError
from protgnn.training.evaluate import assess, faithfulness


def looks_of(editor):
    return [training_look(editor.train.graphs, source.graph, source.nodes) for source in editor.sources()]


def test_mining_again_keeps_what_is_required_and_never_takes_what_is_forbidden(mined, shown):
    names = shown(mined)
    mined.edit(forbid=[0], require=[2])
    kept = mined.sources()[mined.edits.required[0]]
    result = mined.retrain(1)
    assert kept in [mined.sources()[number] for number in mined.edits.required]
    assert not set(looks_of(mined)) & set(forbidden_looks(mined.train.graphs, mined.edits.forbidden))
    assert names[0] not in shown(mined)
    assert mined.edits.forbidden and result.done == ("mined prototypes again",)
    assert mined.run.scores["valid"]["prototype_error"] <= 1e-5


def test_evidence_is_faithful_after_retraining_which_cannot_be_undone(editor):
    editor.edit(remove=[1])
    before = [weight.clone() for weight in editor.model.parameters()]
    editor.retrain(1)
    assert any(not torch.equal(old, new) for old, new in zip(before, editor.model.parameters(), strict=True))
    found = assess(editor.model, editor.valid.graphs, check_evidence=True)
    figures = faithfulness(editor.model, found, editor.run.prototypes.subgraphs)
    assert max(figures[name] for name in ("prototype_error", "sum_error")) <= 1e-5
    assert figures.get("evidence_error", 0.0) <= 1e-5
    with pytest.raises(ProtGNNError, match="cannot be undone"):
        editor.undo()
    editor.edit(require=[0])
    editor.undo()
    assert len(editor.history) == 2


def test_a_model_that_projects_keeps_the_prototypes_that_it_was_given(prototype_run):
    from protgnn.editing import PrototypeEditor

    editor = PrototypeEditor.of_run(prototype_run)
    editor.edit(replace={0: "CCC"})
    before = editor.sources()
    editor.retrain(1)
    assert editor.sources() == before


def test_candidates_without_forbidden_looks_are_all_the_others(mined):
    train = mined.train.graphs
    mined.edit(forbid=["CC"])
    parts = mined.model.candidates(train.batch())
    looks = set(forbidden_looks(train, mined.edits.forbidden))
    some = without_looks(mined.model, parts, train, looks)
    banned = sum(
        training_look(train, int(graph), [node for node in range(64) if mask >> node & 1]) in looks
        for mask, graph in zip(parts.masks, parts.graph, strict=True)
    )
    alone = int((np.diff(some.ptr) == 1).sum())
    assert banned > 0 and len(parts) - banned <= len(some) <= len(parts) - banned + alone
    assert some.num_graphs == parts.num_graphs and bool((np.diff(some.ptr) > 0).all())
