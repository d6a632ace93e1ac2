"""Sentences on the command line: train, explain, predict and report, and what is said of inputs of another kind."""

import csv
import io
import json

import pytest

import protgnn
from protgnn.errors import DataError
from protgnn.featurizers.feature_cache import CACHE_VARIABLE
from protgnn.featurizers.model_folder import WORDS_VARIABLE
from protgnn.featurizers.spacy_parser import PARSER_VARIABLE
from tests.conftest import TINY
from tests.sentences import BAD, GOOD, needs_spacy, needs_vectors, reviews
from tests.tiny_transformer import make_transformer

pytestmark = [needs_vectors]


def test_the_split_of_the_file_is_used_and_that_is_said(protgnn_command, reviews_file, tmp_path):
    done = protgnn_command("train", reviews_file, "--out", tmp_path / "run", *TINY, "--json")
    assert done.status == 0 and json.loads(done.out)["test"]["n"] == 8 and "split column or comment" in done.err
    done = protgnn_command("train", reviews_file, "--out", tmp_path / "b", *TINY, "--set", "split=random", "--json")
    assert json.loads(done.out)["test"]["n"] == 5


def test_the_data_is_shown_with_its_split(protgnn_command, reviews_file):
    shown = protgnn_command("data", "show", reviews_file)
    assert shown.status == 0 and "train 36, valid 4, test 8" in shown.out
    listed = json.loads(protgnn_command("data", "list", "--json").out)
    assert {"graph-sst2", "graph-twitter"} <= {entry["name"] for entry in listed}


def test_named_sentences_that_are_not_here_say_where_to_put_them(protgnn_command, monkeypatch):
    monkeypatch.delenv("PROTGNN_DATA", raising=False)
    ended = protgnn_command("data", "show", "graph-sst2")
    assert ended.status == 1 and "set PROTGNN_DATA to a folder that holds graph-sst2.conllu.gz" in ended.err


def test_reasonings_and_reports_show_words(protgnn_command, sentence_run, tmp_path):
    ended = protgnn_command("explain", sentence_run, "test", "--row", 0, "-o", tmp_path / "why.svg")
    drawn = (tmp_path / "why.svg").read_text()
    assert ended.status == 0 and ">gripping</text>" in drawn and ">indeed</text>" in drawn
    ended = protgnn_command("explain", sentence_run, "test", "--row", 0, "--arcs", "-o", tmp_path / "arcs.svg")
    assert ended.status == 0 and (tmp_path / "arcs.svg").read_text().count("<path") > drawn.count("<path")
    told = protgnn_command("prototypes", sentence_run)
    assert told.status == 0 and "a " in told.out and "nodes," not in told.out
    assert protgnn_command("report", sentence_run, "-o", tmp_path / "report.html").status == 0
    assert ">gripping</text>" in (tmp_path / "report.html").read_text()


def test_the_promises_hold_for_sentences(protgnn_command, sentence_run):
    scores = json.loads(protgnn_command("evaluate", sentence_run, "--json").out)
    assert scores["prototype_error"] <= 1e-5 and scores["sum_error"] <= 1e-5 and scores["n"] == 8


@needs_spacy
def test_a_raw_sentence_is_parsed_and_explained(protgnn_command, sentence_run, parser, tmp_path):
    ended = protgnn_command("explain", sentence_run, "a gripping film", "-o", tmp_path / "why.svg")
    assert ended.status == 0 and ">gripping</text>" in (tmp_path / "why.svg").read_text()
    told = json.loads(protgnn_command("explain", sentence_run, "A  witty\ttale!", "--json").out)
    assert told["name"] == "A witty tale !" and told["predicted"] in ("negative", "positive")


@needs_spacy
def test_files_of_raw_sentences_are_predicted(protgnn_command, sentence_run, parser, tmp_path):
    (tmp_path / "a.txt").write_text("a gripping film\n\na dull plot\n")
    (tmp_path / "a.csv").write_text("id,said\n1,a gripping film\n2,a dull plot\n")
    ended = protgnn_command("predict", sentence_run, tmp_path / "a.txt")
    lines = list(csv.DictReader(io.StringIO(ended.out)))
    assert ended.status == 0 and [row["name"] for row in lines] == ["a gripping film", "a dull plot"]
    assert [row.pop("line") for row in lines] == ["1", "3"]
    ended = protgnn_command("predict", sentence_run, tmp_path / "a.csv", "--text", "said")
    named = list(csv.DictReader(io.StringIO(ended.out)))
    assert ended.status == 0 and [row.pop("line") for row in named] == ["2", "3"] and named == lines
    unnamed = protgnn_command("predict", sentence_run, tmp_path / "a.csv")
    assert unnamed.status == 1 and "line 1: which column holds the sentences?" in unnamed.err


@needs_spacy
def test_a_csv_of_sentences_is_trained_on_and_read_again(protgnn_command, parser, tmp_path):
    rows = [f"a {word} film,{label}" for label, words in (("good", GOOD), ("bad", BAD)) for word in (*words, "so so")]
    (tmp_path / "a.csv").write_text("\n".join(["said,mood", *rows]) + "\n")
    columns = ["--text", "said", "--label", "mood"]
    done = protgnn_command("train", tmp_path / "a.csv", *columns, "--out", tmp_path / "run", *TINY)
    assert done.status == 0, done.err
    assert protgnn_command("evaluate", tmp_path / "run").status == 0


@needs_spacy
@pytest.mark.parametrize("source", ["", "  ", "\t\n"])
def test_an_empty_sentence_is_refused(protgnn_command, sentence_run, parser, source):
    for command in ("explain", "predict"):
        ended = protgnn_command(command, sentence_run, source)
        assert ended.status == 1 and "Expected a sentence or a file of them (the input is empty)" in ended.err


def test_inputs_of_another_kind_are_told(protgnn_command, sentence_run, prototype_run, reviews_file, tmp_path):
    (tmp_path / "a.smi").write_text("CCO\n")
    (tmp_path / "a.csv").write_text("smiles\nCCO\n")
    for run, source, message in (
        (sentence_run, "CC(=O)Nc1ccc(O)cc1", "is a SMILES, and this model was trained on sentences"),
        (sentence_run, tmp_path / "a.smi", "trained on sentences, and takes no SMILES"),
        (sentence_run, tmp_path / "a.csv", "which column holds the sentences?"),
        (prototype_run, "a gripping film", "trained on molecules, not on sentences"),
        (prototype_run, reviews_file, "trained on molecules, and takes no sentences"),
    ):
        for command in ("explain", "predict"):
            ended = protgnn_command(command, run, source)
            assert ended.status == 1 and message in ended.err
    for run, option in ((sentence_run, "--smiles"), (prototype_run, "--text")):
        ended = protgnn_command("predict", run, tmp_path / "a.csv", option, "smiles")
        assert ended.status == 1 and f"leave {option} out" in ended.err


@needs_spacy
def test_without_a_parser_a_raw_sentence_says_what_to_do(protgnn_command, sentence_run, monkeypatch, tmp_path):
    monkeypatch.setenv(PARSER_VARIABLE, str(tmp_path / "none"))
    ended = protgnn_command("explain", sentence_run, "a gripping film")
    assert ended.status == 1 and "PROTGNN_PARSER" in ended.err
    (tmp_path / "a.conllu").write_text(reviews())
    assert protgnn_command("predict", sentence_run, tmp_path / "a.conllu").status == 0, "parsed ones need no parser"


@needs_spacy
def test_a_run_uses_the_words_that_it_was_trained_with(
    protgnn_command, reviews_file, sentence_run, parser, tmp_path, monkeypatch
):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    folder, run = make_transformer(tmp_path / "model"), tmp_path / "run"
    done = protgnn_command("train", reviews_file, "--words", folder, "--out", run, *TINY)
    assert done.status == 0, done.err
    stored = json.loads((run / "run.json").read_text())
    assert stored["schema"]["featurizer"].startswith("sentence:contextual:") and str(folder) not in str(stored)
    for command in (("evaluate", run), ("predict", run, "a gripping film"), ("predict", run, reviews_file)):
        assert protgnn_command(*command).status == 0
    contextual = protgnn.load(reviews_file, words=str(folder)).test
    refused = [(run, protgnn.load(reviews_file).test), (sentence_run, contextual)]
    for trained, graphs in refused:
        with pytest.raises(DataError, match=r"The model was trained with .* words .* and these sentences have"):
            protgnn.ProtGNNClassifier.from_run(trained).predict(graphs)
    estimator = protgnn.ProtGNNClassifier.from_run(run)
    assert (
        estimator.predict(["a gripping film", "a dull plot"]).shape == estimator.predict(contextual[:2]).shape == (2,)
    )
    folder.rename(tmp_path / "gone")
    ended = protgnn_command("predict", run, "a gripping film")
    assert ended.status == 1 and "set PROTGNN_WORDS to its folder" in ended.err
    monkeypatch.setenv(WORDS_VARIABLE, str(tmp_path / "gone"))
    assert protgnn_command("predict", run, "a gripping film").status == 0


def test_words_are_for_sentences(protgnn_command, molecules_csv, tmp_path):
    for data in (molecules_csv, "ba-2motifs"):
        ended = protgnn_command("train", data, "--words", "contextual", "--out", tmp_path / "run")
        assert ended.status == 1 and "leave --words out" in ended.err
