"""CoNLL-U: what is read, what is passed over, and a message with file and line for what cannot be."""

import gzip

import pytest
import torch

import protgnn
from protgnn.datasets.readers.conllu import read_conllu
from protgnn.errors import DataError
from tests.sentences import block, needs_vectors, reviews

ROW = "1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n"


def edges(graph: protgnn.GraphSet) -> set[tuple[int, int]]:
    return {(a, b) for a, b in graph.edge_index.t().tolist() if a < b}


@needs_vectors
def test_words_are_nodes_and_arcs_are_edges(tmp_path):
    path = tmp_path / "reviews.conllu"
    path.write_text(reviews())
    data = protgnn.load(path)
    assert data.name == "reviews" and data.schema.kind == "sentence" and data.notes == []
    assert data.schema.class_names == ("negative", "positive") and data.statistics()["graphs"] == 48
    assert data.graphs.names[0] == "a gripping film indeed" and edges(data.graphs[0]) == {(0, 2), (1, 2), (2, 3)}
    assert data.graphs.y.tolist() == [1] * 24 + [0] * 24 and data.given_split is None
    with gzip.open(tmp_path / "packed.conllu.gz", "wt") as file:
        file.write(reviews().replace("\n", "\r\n"))
    packed = protgnn.load(tmp_path / "packed.conllu.gz")
    assert packed.name == "packed" and packed.fingerprint() == data.fingerprint()


@needs_vectors
def test_multiword_tokens_empty_nodes_and_other_comments_are_passed_over(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(
        "# newdoc\n# global = yes\n\n"
        "# text = I don't go\n# label = a = b\n"
        "1\tI\t_\t_\t_\t_\t4\tnsubj\t_\t_\n"
        "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\tdo\t_\t_\t_\t_\t4\taux\t_\t_\n"
        "3\tn't\t_\t_\t_\t_\t4\tadvmod\t_\t_\n"
        "3.1\tever\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "4\tgo\t_\t_\t_\t_\t0\troot\t_\t_"
    )
    graphs, notes, given = read_conllu(path)
    assert graphs.names == ("I do n't go",) and edges(graphs) == {(0, 3), (1, 3), (2, 3)}
    assert graphs.schema.class_names == ("a = b",) and notes == [] and given is None


@needs_vectors
def test_later_roots_hang_on_the_first_and_that_is_said(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(block(["yes", "a", "film"], [0, 3, 0], label="x"))
    graphs, notes, _ = read_conllu(path)
    assert edges(graphs) == {(0, 2), (1, 2)} and "several roots" in notes[0]


@needs_vectors
def test_the_split_of_the_file_is_the_one_in_use(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(reviews(split=True))
    data = protgnn.load(path)
    assert [len(part) for part in (data.train, data.valid, data.test)] == [36, 4, 8]
    assert data.uses_given_split(set()) and not data.uses_given_split({"split"})
    assert {int(graph.y) for graph in data.valid} == {0, 1}, "what is held out is stratified"
    assert data.with_split("given").split_ is data.given_split
    assert len(data.with_split("random", 1).test) == 5
    assert data.statistics()["own_split"] == {"train": 36, "valid": 4, "test": 8}
    again = path.read_text().replace("split = train", "split = dev", 1)
    path.write_text(again)
    assert protgnn.load(path).given_split.valid.tolist() == [0]


@needs_vectors
def test_another_comment_may_hold_the_label(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(reviews().replace("# label", "# mood"))
    with pytest.raises(DataError, match=r"line 1: the sentence has no label: add a line `# label"):
        protgnn.load(path)
    assert protgnn.load(path, label="mood").schema.class_names == ("negative", "positive")


@needs_vectors
def test_for_a_trained_model_labels_may_be_missing_and_must_be_its_classes(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(block(["a"], [0]) + block(["b"], [0], label="positive"))
    names = ("negative", "positive")
    assert read_conllu(path, classes=names)[0].y is None
    path.write_text(block(["a"], [0], label="positive"))
    assert torch.equal(read_conllu(path, classes=names)[0].y, torch.tensor([1]))
    path.write_text(block(["a"], [0], label="sad"))
    with pytest.raises(DataError, match="line 1: the label 'sad' is not a class of this model"):
        read_conllu(path, classes=names)


@needs_vectors
def test_bad_sentences_can_be_skipped_and_are_counted(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(reviews() + block(["a"], [7], label="positive") + block([], [], label="positive"))
    with pytest.raises(DataError, match=r"line 290: the head is 7"):
        protgnn.load(path)
    data = protgnn.load(path, skip_bad=True)
    assert len(data.graphs) == 48 and "Skipped 2 of 50 sentences of a.conllu" in data.notes[0]
    path.write_text(block(["a"], [7], label="positive"))
    with pytest.raises(DataError, match="no sentence in it can be used"):
        protgnn.load(path, skip_bad=True)


BROKEN = {
    "head out of range": (block(["a", "b"], [3, 0], label="x"), r"line 2: the head is 3 but the words are 1 to 2"),
    "its own head": (block(["a", "b"], [1, 0], label="x"), r"line 2: the word 'a' is its own head"),
    "a circle": (block(["a", "b", "c"], [2, 3, 1], label="x"), r"line 2: the word 'a' is, over its heads"),
    "a circle beside a root": (block(["a", "b", "c"], [0, 3, 2], label="x"), r"line 3: the word 'b' is, over"),
    "no words": ("# label = x\n# text = \n\n" + ROW, r"line 1: the sentence has no words"),
    "no words at the end": ("# label = x\n" + ROW + "\n# label = x\n", r"line 4: the sentence has no words"),
    "only a range": ("# label = x\n1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", r"line 1: the sentence has no words"),
    "an id that is a text": ("# label = x\n" + ROW.replace("1", "one", 1), r"line 2: .* number 1 .* \(got 'one'\)"),
    "an id that is half": ("# label = x\n" + ROW.replace("1", "1,5", 1), r"line 2: .* \(got '1,5'\)"),
    "ids from 0": ("# label = x\n" + ROW.replace("1", "0", 1), r"line 2: .*number the words of a sentence from 1"),
    "an id twice": ("# label = x\n" + ROW + ROW, r"line 3: expected the word number 2"),
    "no head": ("# label = x\n" + ROW.replace("\t0\t", "\t_\t"), r"line 2: expected the number of the head"),
    "a negative head": ("# label = x\n" + ROW.replace("\t0\t", "\t-1\t"), r"line 2: expected the number of the head"),
    "a strange head": ("# label = x\n" + ROW.replace("\t0\t", "\t²\t"), r"line 2: expected the number of the head"),
    "a huge head": ("# label = x\n" + ROW.replace("\t0\t", f"\t{'9' * 30}\t"), r"line 2: expected the number"),
    "no word": ("# label = x\n" + ROW.replace("film", " "), r"line 2: the word is missing"),
    "too few columns": ("# label = x\n1\tfilm\t0\n", r"line 2: expected 10 columns separated by tabs \(got 3\)"),
    "spaces for tabs": ("# label = x\n" + ROW.replace("\t", " "), r"line 2: expected 10 columns"),
    "plain text": ("A gripping film.\nNot a bad one.\n", r"line 1: expected 10 columns"),
    "no label": (ROW, r"line 1: the sentence has no label"),
    "an empty label": ("# label = \n" + ROW, r"line 1: the sentence has no label"),
    "an unknown split": ("# label = x\n# split = dance\n" + ROW, r"line 1: the sentence has `# split = dance`"),
    "a split here and there": (
        "# label = x\n# split = test\n" + ROW + "\n# label = x\n" + ROW,
        r"line 5: .*others have",
    ),
    "no train part": ("# label = x\n# split = test\n" + ROW, r"no sentence has `# split = train`"),
    "only comments": ("# newdoc\n\n# another\n", r"no sentence in it can be used"),
    "nothing": ("", r"is empty"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_named_with_its_line(tmp_path, what):
    content, message = BROKEN[what]
    path = tmp_path / "a.conllu"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=rf"a\.conllu.*{message}"):
        read_conllu(path)


def test_other_encodings_and_damaged_packing_are_named(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_bytes(reviews().replace("film", "für").encode("latin-1"))
    with pytest.raises(DataError, match=r"a\.conllu line 4: not UTF-8"):
        read_conllu(path)
    packed = tmp_path / "a.conllu.gz"
    whole = gzip.compress(reviews().encode())
    for content, message in (
        (whole[: len(whole) // 2], "is cut short or damaged"),
        (whole[:-4], "is cut short or damaged"),
        (b"", "is empty"),
        (reviews().encode(), "is no gzip file"),
        (whole[:40] + bytes(20) + whole[60:], "damaged"),
    ):
        packed.write_bytes(content)
        with pytest.raises(DataError, match=message):
            read_conllu(packed)
    with pytest.raises(DataError, match="no such file"):
        read_conllu(tmp_path / "none.conllu.gz")


@needs_vectors
def test_the_real_files_have_the_sizes_their_story_tells(real_data):
    data = protgnn.load("graph-twitter")
    figures = data.statistics()
    assert figures["graphs"] == 6940 and round(figures["nodes"]["mean"], 2) == 20.64
    assert figures["own_split"]["test"] == 692 and sum(figures["own_split"].values()) == 6940
    assert data.notes == []


@needs_vectors
def test_relations_say_which_words_belong_together(tmp_path):
    path = tmp_path / "names.conllu"
    rows = [("new", 2, "compound"), ("york", 3, "nsubj"), ("shines", 0, "_")]
    lines = [f"{number}\t{word}\t_\t_\t_\t_\t{head}\t{kind}\t_\t_" for number, (word, head, kind) in enumerate(rows, 1)]
    path.write_text("# label = positive\n" + "\n".join(lines) + "\n")
    graphs, _, _ = read_conllu(path)
    assert {tuple(sorted(pair)) for pair in graphs.edge_index[:, graphs.bound].t().tolist()} == {(0, 1)}
