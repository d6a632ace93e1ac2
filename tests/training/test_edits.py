"""Edits as run.json stores them: checked at the door like everything else in it."""

import json

import pytest

from protgnn.editing import PrototypeEditor
from protgnn.errors import RunError
from protgnn.training.edits import Edits
from protgnn.training.run import read_run, run_checksum


@pytest.fixture(scope="module")
def edited_run(mined_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "edited"
    editor = PrototypeEditor.of_run(mined_run)
    editor.edit(remove=[1], forbid=["Br"], require=[0])
    editor.save(folder)
    return folder


def changed(folder, target, change):
    """A copy of a run whose edits somebody changed and sealed again."""
    target.mkdir()
    for path in folder.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    content = json.loads((folder / "run.json").read_text())
    content.pop("checksum")
    change(content["edits"])
    (target / "run.json").write_text(json.dumps({**content, "checksum": run_checksum(content)}))
    return target


def test_edits_are_read_as_they_were_written(edited_run, tmp_path):
    stored = json.loads((edited_run / "run.json").read_text())["edits"]
    assert read_run(edited_run).edits == Edits.model_validate(stored)
    assert read_run(changed(edited_run, tmp_path / "same", lambda edits: None)).edits == read_run(edited_run).edits


def test_a_run_that_was_not_edited_says_nothing_of_edits(mined_run):
    assert "edits" not in json.loads((mined_run / "run.json").read_text())


def _step(edits):
    return edits["history"][0]


def _snapshot(edits):
    return _step(edits)["snapshot"]


@pytest.mark.parametrize(
    "change",
    [
        lambda edits: edits.update(required=[99]),
        lambda edits: edits.update(required=["0"]),
        lambda edits: edits.update(more=1),
        lambda edits: edits["forbidden"][0].update(parts=[]),
        lambda edits: edits["forbidden"][0]["parts"][0].update(graph=-1),
        lambda edits: _step(edits).update(before="good"),
        lambda edits: _step(edits).update(done=[]),
        lambda edits: _snapshot(edits)["weight"].pop(),
        lambda edits: _snapshot(edits)["weight"][0].pop(),
        lambda edits: _snapshot(edits)["base"].pop(),
        lambda edits: _snapshot(edits)["sources"][0].update(label=7),
        lambda edits: _snapshot(edits)["sources"][0].update(nodes=[]),
        lambda edits: _snapshot(edits).update(temperature=0.0),
        lambda edits: _snapshot(edits).update(required=[50]),
        lambda edits: edits.update(history=[_step(edits)] * 1001),
    ],
)
def test_edits_that_cannot_be_are_refused(edited_run, tmp_path, change):
    with pytest.raises(RunError, match="damaged"):
        read_run(changed(edited_run, tmp_path / "run", change))


@pytest.mark.parametrize(
    "change",
    [
        lambda edits: edits["forbidden"][0]["parts"][0].update(graph=10**6),
        lambda edits: edits["forbidden"][0]["parts"][0].update(nodes=[10**6]),
        lambda edits: _snapshot(edits)["sources"][0].update(graph=10**6),
        lambda edits: _snapshot(edits)["sources"][0].update(nodes=[10**6]),
    ],
)
def test_edits_that_name_what_the_training_part_has_not_are_refused(edited_run, tmp_path, change):
    with pytest.raises(RunError, match="training part"):
        PrototypeEditor.of_run(changed(edited_run, tmp_path / "run", change))
