"""Sentences and other graphs: the same every time, and marks where the evidence is."""

import itertools
import math
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import networkx as nx
import pytest
import torch
from PIL import ImageFont
from rdkit import Chem

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.errors import ProtGNNError
from protgnn.explain.node_cards import NodeCard
from protgnn.viz.graphs import draw_graph, node_hints
from protgnn.viz.molecules import draw_molecule
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.sentences import draw_sentence
from protgnn.viz.svg_text import shortened, text_width, wrapped
from protgnn.viz.theme import DARK, LIGHT, PAGE, class_shape, theme_of, variables


def as_set(graph: nx.Graph, x: torch.Tensor | None = None, names: tuple[str, ...] = (), **more: object) -> GraphSet:
    pairs = [pair for a, b in graph.edges for pair in ((a, b), (b, a))]
    return GraphSet(
        torch.ones(len(graph), 1) if x is None else x,
        torch.tensor(pairs, dtype=torch.int64).t().reshape(2, -1),
        offsets(torch.tensor([len(graph)])),
        offsets(torch.tensor([len(pairs)])),
        schema=Schema("graph", ("a", "b"), names or ("one",)),
        **more,
    )


GRAPHS = {
    "house": nx.house_graph(),
    "apart": nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(4)),
    "one": nx.empty_graph(1),
    "none joined": nx.empty_graph(4),
    "large": nx.barabasi_albert_graph(150, 2, seed=1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_layout_is_the_same_every_time_and_keeps_within_its_picture(name):
    graph = as_set(GRAPHS[name])
    picture = draw_graph(graph)
    assert picture == draw_graph(graph)
    assert len(picture.spots) == len(GRAPHS[name]) and len(picture.links) == GRAPHS[name].number_of_edges()
    for spot in picture.spots.values():
        assert 0 < spot.x < picture.width and 0 < spot.y < picture.height
    places = {(round(spot.x), round(spot.y)) for spot in picture.spots.values()}
    assert len(places) >= 0.97 * len(picture.spots), "nodes lie on each other"


@pytest.mark.parametrize("graph", [nx.star_graph(28), nx.complete_graph(25), nx.barabasi_albert_graph(100, 5, seed=1)])
def test_nodes_do_not_overlap_even_around_hubs(graph):
    spots = [(spot.x, spot.y) for spot in draw_graph(as_set(graph)).spots.values()]
    assert min(math.dist(one, other) for one, other in itertools.combinations(spots, 2)) > 20


def test_of_a_graph_too_large_to_see_the_surroundings_of_what_matters_are_shown():
    picture = draw_graph(as_set(nx.path_graph(2000)), focus=[1500, 1501])
    assert set(range(1450, 1550)) < set(picture.spots) and len(picture.spots) == 250
    assert "250 of 2000 nodes are shown" in picture.note
    assert 'data-edge="1500-1501"' in picture.marks([1500, 1501], "red")
    assert len(draw_graph(as_set(nx.empty_graph(300))).spots) == 1


def test_nodes_show_their_kinds_wherever_the_data_has_several():
    kinds = ("label=7", "label=12")
    assert node_hints(as_set(nx.path_graph(3), torch.eye(2)[[0, 1, 0]], kinds)) == ["7", "12", "7"]
    alike = as_set(nx.path_graph(3), torch.eye(2)[[0, 0, 0]], kinds)  # it may stand beside others that differ
    assert node_hints(alike) == ["7", "7", "7"]
    assert node_hints(as_set(nx.path_graph(3), torch.rand(3, 2), kinds)) == ["", "", ""]


def test_what_stands_in_the_nodes_is_said():
    degrees, mixed = ("degree=1", "degree=2"), ("carbon", "size=2")
    assert draw_graph(as_set(nx.path_graph(3), torch.eye(2)[[0, 1, 0]], degrees)).note == "in the nodes: degree"
    assert draw_graph(as_set(nx.path_graph(3), torch.eye(2)[[0, 0, 0]], degrees)).note == "in the nodes: degree"
    assert draw_graph(as_set(nx.path_graph(3), torch.eye(2)[[0, 1, 0]], mixed)).note == ""


def test_the_node_that_is_asked_about_is_ringed_and_said_to_be():
    graph = as_set(nx.path_graph(3), targets=torch.tensor([[1]]))
    assert draw_graph(graph).body.count("<circle") == 4 and "ring: the node you asked about" in draw_graph(graph).note


def test_marks_lie_on_the_evidence_and_on_the_edges_between_it():
    picture = draw_graph(as_set(nx.path_graph(4)))
    marks = ElementTree.fromstring(picture.marks([0, 1, 3], "red"))
    assert marks.attrib["data-nodes"] == "0 1 3"
    assert [part.attrib["data-node"] for part in marks if "data-node" in part.attrib] == ["0", "1", "3"]
    assert [part.attrib["data-edge"] for part in marks if "data-edge" in part.attrib] == ["0-1"]


def test_a_sentence_has_a_place_for_every_word_and_an_arc_for_every_pair():
    words = ["a", "gorgeous", ",", "witty", "movie"]
    picture = draw_sentence(words, [(4, 0), (0, 4), (4, 1), (1, 3)], arcs=True)
    assert set(picture.spots) == set(range(5)) and set(picture.links) == {(0, 4), (1, 4), (1, 3)}
    assert [picture.spots[number].x for number in range(5)] == sorted(picture.spots[number].x for number in range(5))
    for word in words:
        assert f">{word}</text>" in picture.body


def test_a_sentence_is_its_words_until_arcs_are_asked_for():
    words, pairs = ["a", "gorgeous", "movie"], [(2, 0), (2, 1)]
    plain, parsed = draw_sentence(words, pairs), draw_sentence(words, pairs, arcs=True)
    assert not plain.links and "<path" not in plain.body
    assert plain.height < parsed.height and set(plain.spots) == set(parsed.spots)


def test_words_do_not_overlap_and_long_sentences_go_to_another_line():
    words = [f"word{number}" * (1 + number % 3) for number in range(60)]
    picture = draw_sentence(words, [(number, number + 7) for number in range(50)], arcs=True)
    lines: dict[float, list[int]] = {}
    for number, spot in picture.spots.items():
        lines.setdefault(spot.y, []).append(number)
    assert len(lines) > 1 and picture.width < 960
    for line in lines.values():
        for before, after in itertools.pairwise(line):
            one, other = picture.spots[before], picture.spots[after]
            assert one.x + one.width / 2 <= other.x - other.width / 2 + 1


def test_an_empty_sentence_is_drawn_as_one():
    assert "(empty)" in draw_sentence([], []).body


@pytest.mark.parametrize("theme", [LIGHT, DARK, PAGE], ids=lambda theme: theme.name)
def test_a_body_is_kept_once_however_often_it_is_placed(theme):
    sheet, picture = Sheet(theme), draw_graph(as_set(nx.house_graph()))
    content = [sheet.place(picture, (0, 0, 100, 100), [0], 1) for _ in range(3)]
    text = svg(100, 100, content, 'a "title" & more', theme, sheet.defs())
    root = ElementTree.fromstring(text)
    assert text.count("<circle") == 5 and len(sheet.bodies) == 1
    assert root.attrib["aria-label"] == 'a "title" & more'
    assert "{ink}" not in text and "{faint}" not in text and theme.ink in text


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_and_class_colours_stand_out_from_the_paper(theme):
    for ground in (theme.paper, theme.panel):
        assert contrast(theme.ink, ground) >= 7 and contrast(theme.muted, ground) >= 4.5
        for colour in theme.classes:
            assert contrast(colour, ground) >= 3, f"{colour} on {ground}"
    assert contrast(theme.ink, theme.warning) >= 7


def test_classes_differ_in_shape_as_well_as_in_colour():
    shapes = {class_shape(label, 0, 0, 10, LIGHT) for label in range(40)}
    assert len(shapes) == 40
    without_colour = set()
    for label in range(8):
        text = class_shape(label, 0, 0, 10, LIGHT).replace(LIGHT.of_class(label), "grey")
        without_colour.add(text)
    assert len(without_colour) == 8


def test_a_theme_that_is_not_there_is_refused():
    with pytest.raises(ProtGNNError, match="light, dark"):
        theme_of("sepia")
    assert variables(LIGHT).count("--") == variables(DARK).count("--")


def test_texts_are_broken_and_shortened_to_what_fits():
    smiles = "CC1(C)S[C@@H]2[C@H](NC(=O)C3(N)CCCCC3)C(=O)N2[C@H]1C(O)=O" * 3
    lines = wrapped(f"from {smiles}", 200, 12, most=3)
    assert len(lines) == 3 and lines[-1].endswith("…") and all(text_width(line, 12) <= 200 for line in lines)
    assert "".join(wrapped(smiles, 200, 12, most=99)) == smiles
    assert shortened("short", 200, 12) == "short" and shortened(smiles, 200, 12).endswith("…")


@pytest.mark.parametrize("letter", ["i", "C", "—"])
def test_a_text_without_measure_is_cut_as_a_long_one_is(letter):
    """Measuring it again for every letter left out would take hours."""
    long, longer = letter * 2_000, letter * 2_000_000
    assert wrapped(longer, 200, 12, most=3) == wrapped(long, 200, 12, most=3)
    assert shortened(longer, 200, 12) == shortened(long, 200, 12)
    assert shortened(longer, 200, 12).endswith("…") and wrapped(longer, 200, 12, most=3)[-1].endswith("…")


def test_bold_text_is_as_wide_as_it_is_estimated_at_the_most():
    """A warning's first line is bold, and must not run into the border of its box."""
    font = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf", 13)
    for text in (
        "unlike anything the model knows: the largest similarity is 1.99, and 99 of 100 sentences reach 3.57",
        "9 of 11 words occur in no training sentence (commander, merriment, torrent, terror, horror)",
        "atom 11 is Xe, which no training molecule contains: the model has learned nothing about it",
        "What speaks for or against non-mutagen",
    ):
        assert font.getlength(text) <= text_width(text, 13, bold=True)
        for line in wrapped(text, 300, 13, bold=True):
            assert font.getlength(line) <= 300
        assert font.getlength(shortened(text, 200, 13, bold=True)) <= 200


def test_bonds_that_leave_the_evidence_of_a_molecule_are_marked_and_no_others():
    picture = draw_molecule(Chem.MolFromSmiles("Cc1ccccc1O"))
    marks = ElementTree.fromstring(f"<svg>{picture.marks(range(1, 7), 'red')}</svg>")
    cuts = [part.attrib["data-cut"] for part in marks.iter("path") if part.attrib.get("class") == "cut"]
    assert sorted(cuts) == ["1-0", "6-7"]
    assert 'class="cut"' not in picture.marks(range(8), "red")
    assert 'class="cut"' not in draw_graph(as_set(nx.path_graph(4))).marks([0, 1], "red")


def test_nodes_of_a_network_are_drawn_by_name_kind_and_class_and_do_not_overlap():
    graph = as_set(nx.house_graph(), targets=torch.tensor([[1]]))
    cards = [NodeCard(f"user-{number}", "b", "dogs", ()) for number in range(5)]
    picture = draw_graph(graph, cards=cards)
    assert ">user-3</text>" in picture.body and picture.body.count(">b, dogs</text>") == 5
    assert "kind and label" in picture.note and "asked about" in picture.note
    for one, other in itertools.combinations(picture.spots.values(), 2):
        aside, above = abs(one.x - other.x), abs(one.y - other.y)
        assert aside >= (one.width + other.width) / 2 - 11 or above >= (one.height + other.height) / 2 - 11
