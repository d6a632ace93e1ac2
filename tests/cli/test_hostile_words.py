"""The words of a stranger's run: it names no folder to read, and nothing to fetch."""

import shutil
from pathlib import Path

import pytest

from protgnn.featurizers import model_folder, words
from tests.sentences import needs_vectors
from tests.training.test_strangers import put, sealed

pytestmark = [needs_vectors]


@pytest.mark.parametrize(
    "named", ["evil/model", "/etc", "contextual", "sentence:contextual:../../../../../../dev/zero"]
)
@pytest.mark.parametrize("field", [("schema", "featurizer"), ("data", "options", "words")])
def test_no_command_looks_for_words_where_a_run_says(
    protgnn_command, sentence_run, reviews_file, tmp_path, monkeypatch, named, field
):
    run = Path(shutil.copytree(sentence_run, tmp_path / "run"))
    sealed(run, put(*field, value=named))
    looked: list[str] = []
    monkeypatch.setattr(words, "chosen_folder", looked.append)
    monkeypatch.setattr(model_folder, "_remembered", looked.append)
    for command in (["predict", run, reviews_file], ["evaluate", run], ["predict", run, "test"]):
        done = protgnn_command(*command)
        assert done.status == (1 if field == ("schema", "featurizer") and command[-1] == reviews_file else done.status)
        assert "Traceback" not in done.err and looked == [], command
