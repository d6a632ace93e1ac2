"""Raw sentences: a tree each, whatever they say, and a message that helps where there is no parser."""

import importlib.util

import pytest

from protgnn.errors import DataError
from protgnn.featurizers.sentence import word_in_a_circle
from protgnn.featurizers.spacy_parser import PARSER_VARIABLE, parse_sentences
from tests.sentences import needs_spacy

TEXTS = [
    "a gripping film",
    "A dull story,  isn't it?\nYes. No.",
    "😀",
    "x" * 3000,
    "1 2 3",
    "\t tabs \u00a0 everywhere ",
]


@needs_spacy
def test_every_text_becomes_words_with_heads(parser):
    for text, sentence in zip(TEXTS, parse_sentences(TEXTS), strict=True):
        assert "".join(sentence.words) == "".join(text.split())
        assert sentence.roots >= 1 and word_in_a_circle(sentence.heads) is None
        assert len(sentence.heads) == len(sentence.words)


@needs_spacy
def test_a_parser_among_the_data_is_found(parser_folder, monkeypatch, tmp_path):
    (tmp_path / "parser-en").symlink_to(parser_folder)
    monkeypatch.delenv(PARSER_VARIABLE, raising=False)
    monkeypatch.setenv("PROTGNN_DATA", str(tmp_path))
    assert parse_sentences(["a film"])[0].words == ("a", "film")


@needs_spacy
def test_what_is_no_pipeline_is_named_with_what_to_do(monkeypatch, tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    (tmp_path / "empty").mkdir()
    for place, message in (
        (tmp_path / "blank", "has no dependency parser"),
        (tmp_path / "empty", "cannot load the pipeline"),
        (tmp_path / "none", "cannot load the pipeline"),
        ("no_such_package", "cannot load the pipeline no_such_package"),
    ):
        monkeypatch.setenv(PARSER_VARIABLE, str(place))
        with pytest.raises(DataError, match=rf"{message}.*set PROTGNN_PARSER to"):
            parse_sentences(["a film"])


def test_without_a_parser_or_spacy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delenv(PARSER_VARIABLE, raising=False)
    monkeypatch.delenv("PROTGNN_DATA", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name != "spacy" else object())
    with pytest.raises(DataError, match=r"no parser .*set PROTGNN_PARSER .*spacy download en_core_web_sm"):
        parse_sentences(["a film"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"spaCy, which is not installed: pip install 'protgnn\[text\]'"):
        parse_sentences(["a film"])
