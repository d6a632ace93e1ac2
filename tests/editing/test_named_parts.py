"""From a SMILES, words or node numbers to a part of a training graph."""

import pytest
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.editing import PrototypeEditor, find_part
from protgnn.editing.named_parts import find_looks, is_connected
from protgnn.editing.part_looks import look_size
from protgnn.errors import DataError
from protgnn.explain.describe import describe_part


def in_words(editor, found):
    return describe_part(editor.train.graphs[found.graph], found.nodes)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CCO", "CCO"),
        ("OCC", "CCO"),
        ("C1=CC=CC=C1", "c1ccccc1"),  # Kekulé
        ("[#6]~[#8]", "CO"),  # SMARTS
        ("low: CCC", "CCC"),
        (" CCl ", "CCl"),
    ],
)
def test_a_fragment_is_found_however_it_is_written(prototype_run, text, found):
    editor = PrototypeEditor.of_run(prototype_run)
    part = editor.find(text)
    assert in_words(editor, part) == part.description == found
    assert int(editor.train.graphs.y[part.graph]) == part.label


def test_the_class_is_the_one_named_or_the_one_that_has_the_part_most_often(prototype_run):
    editor = PrototypeEditor.of_run(prototype_run)
    named, free = editor.find("medium: CC"), editor.find("CC")
    names, y = editor.run.schema.class_names, editor.train.graphs.y
    assert names[named.label] == "medium"
    shares = torch.tensor(free.graphs_with_it) / torch.bincount(y)
    assert free.label == int(shares.argmax())


def test_every_description_of_a_prototype_can_be_written(editor, shown):
    for number, text in enumerate(shown(editor)):
        label = editor.run.prototypes.cards[number].label
        part = editor.find(text, label)
        assert part.description == text and part.label == label


def test_nodes_are_named_by_graph_and_number(prototype_run):
    editor = PrototypeEditor.of_run(prototype_run)
    for text in ("#3: 0, 1", "#3:1,0", (3, [0, 1])):
        part = editor.find(text)
        assert (part.graph, part.nodes) == (3, (0, 1)) and part.graphs_with_it == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expected a part"),
        ("C" * 1001, "Expected a part"),
        ("#999999:0", "training graphs, numbered from 0"),
        ("#3:0,99", "has nodes 0 to"),
        ("#3:0,2", "not joined"),
        ("C.O", "not joined|no training molecule"),
        ("c1ccc", "no training molecule|neither"),
        ("hi:CO", "neither a SMILES nor a SMARTS.*one of the classes high, low, medium"),
    ],
)
def test_what_is_no_part_is_refused_with_what_was_written(prototype_run, text, message):
    with pytest.raises(DataError, match=message):
        PrototypeEditor.of_run(prototype_run).find(text)


def test_a_class_that_never_has_the_part_is_refused(prototype_run):
    editor = PrototypeEditor.of_run(prototype_run)
    having = editor.find("CBr").graphs_with_it
    without = [name for name, count in zip(editor.run.schema.class_names, having, strict=True) if not count]
    assert without
    with pytest.raises(DataError, match=f"none of {without[0]}"):
        editor.find(f"{without[0]}: CBr")


@pytest.mark.parametrize("text", ["hi: CO", "Low: CO", "hi: #3:0,1"])
def test_a_class_that_is_none_is_named_with_the_classes_there_are(prototype_run, text):
    editor = PrototypeEditor.of_run(prototype_run)
    name, classes = text.partition(":")[0], ", ".join(editor.run.schema.class_names)
    with pytest.raises(DataError, match=f"^There is no class '{name}': the classes are {classes}$"):
        editor.find(text)


def test_a_colon_within_a_part_names_no_class(prototype_run):
    assert PrototypeEditor.of_run(prototype_run).find("c:c:c").description == "ccc"


def test_mined_prototypes_are_completed_to_whole_units(mined):
    ring = mined.find("[#6;r6]~[#6;r6]")
    assert len(ring.nodes) == 6 and "completed" in ring.notes[0]
    assert mined.find("CC").notes == ()


def test_what_is_whole_as_written_is_forbidden_and_nothing_larger(mined):
    looks = find_looks(mined.model, mined.train.graphs, "CC")
    assert {look_size(look) for look in looks} == {2}
    ring = find_looks(mined.model, mined.train.graphs, "[#6;r6]~[#6;r6]")
    assert min(look_size(look) for look in ring) == 6  # never whole as written


def test_a_mined_prototype_larger_than_any_evidence_is_refused(mined):
    mined.model.budget = 2
    with pytest.raises(DataError, match="6 edges and evidence at most 2"):
        mined.find("C1CCCCC1")


def test_words_are_found_in_sentences_where_they_are_joined(sentence_run):
    editor = PrototypeEditor.of_run(sentence_run)
    graphs = editor.train.graphs
    sentence = graphs.names[0].split(" ")
    ends = graphs[0].edge_index[:, 0].tolist()
    low, high = min(ends), max(ends)
    text = f"{sentence[low]} {sentence[high]}" if high == low + 1 else f"{sentence[low]} … {sentence[high]}"
    part = editor.find(text.upper(), int(graphs.y[0]))
    words = [graphs.names[part.graph].split(" ")[node] for node in part.nodes]
    assert words == [sentence[low], sentence[high]]
    assert is_connected(graphs[part.graph], part.nodes)
    with pytest.raises(DataError, match="no training sentence"):
        editor.find("hippopotamus")


def test_graphs_that_are_neither_molecules_nor_sentences_are_named_by_nodes(prototype_run):
    editor = PrototypeEditor.of_run(prototype_run)
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    schema = Schema("graph", ("a", "b"), ("f",))
    graphs = GraphSet(
        torch.ones(3, 1), edges, torch.tensor([0, 3]), torch.tensor([0, 4]), y=torch.tensor([1]), schema=schema
    )
    assert find_part(editor.model, graphs, "#0:1,2").label == 1
    with pytest.raises(DataError, match="name the nodes"):
        find_part(editor.model, graphs, "CC")
