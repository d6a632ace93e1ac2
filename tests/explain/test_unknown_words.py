"""Words that a model was not trained on: counted, said, and reason enough to call a sentence unfamiliar."""

import csv
import io
import json

from protgnn.explain.unknown_words import strange_among, unknown_words
from tests.featurizers.test_language import ENGLISH
from tests.sentences import needs_spacy, needs_vectors

KNOWN = frozenset(ENGLISH.split())
GERMAN = "Dieser Film ist sehr langweilig"


def test_the_share_of_unknown_words_is_counted_without_punctuation():
    found = unknown_words("the xylograph is a gripping story !", KNOWN)
    assert found is not None and found.unknown == ("xylograph",) and found.share == 1 / 6
    assert not found.is_strange and found.note is None
    assert unknown_words("the film", None) is None and unknown_words(None, KNOWN) is None


def test_another_language_is_strange_even_where_its_words_are_known():
    found = unknown_words("der Film ist nicht gut", KNOWN | {"der", "ist", "nicht", "gut"})
    assert found is not None and found.share == 0 and found.is_strange
    assert found.note == "this looks like German, and the model was trained on English"
    german = unknown_words(GERMAN, KNOWN)
    assert german is not None and "4 of 5 words occur in no training sentence (dieser, ist, sehr, langweilig); " in (
        german.note or ""
    )
    assert "row 1" in (strange_among([found.__class__((), 3), german]) or "") and strange_among([None]) is None


@needs_vectors
@needs_spacy
def test_a_german_sentence_is_not_familiar_to_a_model_of_english(protgnn_command, sentence_run, parser, tmp_path):
    told = json.loads(protgnn_command("explain", sentence_run, GERMAN, "--json").out)
    assert told["familiar"] is False and told["unknown_words"] == ["dieser", "ist", "sehr", "langweilig"]
    assert "4 of 5 words occur in no training sentence" in protgnn_command("explain", sentence_run, GERMAN).out
    (tmp_path / "a.txt").write_text(f"a gripping film\n{GERMAN}\n")
    ended = protgnn_command("predict", sentence_run, tmp_path / "a.txt")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [row["unknown words"] for row in rows] == ["0.0", "0.8"] and rows[1]["familiar"] == "no"
    assert [row["language"] for row in rows] == ["", "German"] and "row 1" in ended.err
    report = tmp_path / "report.html"
    assert protgnn_command("report", sentence_run, tmp_path / "a.txt", "-o", report).status == 0
    assert "in another language</dt><dd>1 of 2</dd>" in report.read_text()
