"""``model.edit`` on the estimator: after ``fit`` and after ``from_run``."""

import pickle

import numpy as np
import pytest

import protgnn
from protgnn.errors import ProtGNNError

QUICK = {"warm_up": 2, "hidden": 8, "anchored_epochs": 1}


@pytest.mark.filterwarnings("ignore::protgnn.errors.ScoreWarning")
def test_a_fitted_model_is_edited_undone_saved_and_opened(molecules, tmp_path):
    model = protgnn.ProtGNNClassifier(plus=True, settings=QUICK).fit(molecules.train, validation=molecules.valid)
    first, count = model.predict_logits(molecules.test), len(model.run_.prototypes.cards)
    result = model.edit(remove=[0])
    assert len(model.run_.prototypes.cards) == count - 1 and len(model.edits_) == 1
    assert result.after["accuracy"] == pytest.approx(model.score(molecules.valid))
    edited = model.predict_logits(molecules.test)
    model.save(tmp_path / "edited")
    again = protgnn.ProtGNNClassifier.from_run(tmp_path / "edited")
    np.testing.assert_allclose(again.predict_logits(molecules.test), edited, atol=1e-5)
    assert again.edits_ == model.edits_
    with pytest.raises(ProtGNNError, match="does not say what it was trained on"):
        again.undo()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own)
    np.testing.assert_allclose(copy.predict_logits(molecules.test), edited, atol=1e-5)
    model.undo()
    np.testing.assert_allclose(model.predict_logits(molecules.test), first, atol=1e-5)


def test_a_model_of_a_run_is_edited_on_the_data_of_the_run(mined_run, molecules):
    model = protgnn.ProtGNNClassifier.from_run(mined_run)
    assert model.edits_ == []
    model.edit(add=["CCC"], require=[0])
    model.retrain(1)
    assert [len(step.done) for step in model.edits_] == [2, 1]
    why = model.explain(molecules.test[0])
    assert len(why.rows) == len(model.run_.prototypes.cards)
