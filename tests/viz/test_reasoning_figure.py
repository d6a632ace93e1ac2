"""The reasoning figure and its files: what is shown is what was computed."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.errors import ProtGNNError
from protgnn.explain.explanation import UNFAMILIAR, Reasoning, ReasoningRow, RunContext, explain
from protgnn.explain.run_data import run_part
from protgnn.training.prototype_cards import PrototypeCard, Prototypes
from protgnn.training.run import load_model
from protgnn.viz.figure_rows import telling_rows
from protgnn.viz.reasoning_figure import reasoning_svg
from protgnn.viz.theme import DARK, LIGHT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def reasons(prototype_run) -> list[Reasoning]:
    """Real reasonings, by the whole graph."""
    model, run = load_model(prototype_run)
    found = explain(model, run_part(run, "test"), RunContext.of(run))
    assert len(found) == 9
    return found


def with_evidence(why: Reasoning) -> Reasoning:
    """The same with parts of the graph as evidence, another for each row."""
    nodes = len(why.graph.x)
    rows = [replace(row, evidence=tuple(range(row.prototype % 3, min(nodes, 4 + row.prototype)))) for row in why.rows]
    return replace(why, rows=tuple(rows))


def shown_rows(text: str) -> dict[int, set[int] | None]:
    """Per prototype the nodes of the input that are highlighted in its row, none where none are."""
    found: dict[int, set[int] | None] = {}
    for row in ElementTree.fromstring(text).iter(f"{SVG}g"):
        if row.attrib.get("class") != "row":
            continue
        marks = [part for part in row.iter(f"{SVG}g") if part.attrib.get("class") == "evidence"]
        assert len(marks) <= 1
        nodes = {int(part.attrib["data-node"]) for mark in marks for part in mark if "data-node" in part.attrib}
        found[int(row.attrib["data-prototype"])] = nodes if marks else None
    return found


def test_the_highlighted_atoms_are_the_evidence_in_the_json(reasons):
    for why in map(with_evidence, reasons):
        told = {row["prototype"]: row["evidence"] for row in why.to_json()["rows"]}
        shown = shown_rows(reasoning_svg(why, rows=99))
        assert set(shown) == set(told)
        for prototype, nodes in shown.items():
            assert nodes == set(told[prototype])


def test_without_evidence_nothing_of_the_input_is_highlighted_and_it_says_so(reasons):
    text = reasoning_svg(reasons[0])
    assert set(shown_rows(text).values()) == {None} and "the whole molecule is close to these parts" in text


def test_prototypes_are_highlighted_as_their_cards_say(reasons):
    why = reasons[0]
    groups = ElementTree.fromstring(reasoning_svg(why, rows=99)).iter(f"{SVG}g")
    shown = {int(part.attrib["data-prototype"]): part for part in groups if part.attrib.get("class") == "row"}
    assert set(shown) == set(range(6))
    for number, part in shown.items():
        (marks,) = [mark for mark in part.iter(f"{SVG}g") if mark.attrib.get("class") == "prototype"]
        card = why.context.prototypes.cards[number]
        assert marks.attrib["data-nodes"] == " ".join(map(str, sorted(card.nodes)))


def test_every_class_has_a_section_that_ends_in_its_logit(reasons):
    why = reasons[0]
    sections = [
        part for part in ElementTree.fromstring(reasoning_svg(why)).iter(f"{SVG}g") if "data-class" in part.attrib
    ]
    assert sorted(int(part.attrib["data-class"]) for part in sections) == [0, 1, 2]
    for part in sections:
        logit = why.logits[int(part.attrib["data-class"])]
        assert [text.text for text in part.iter(f"{SVG}text")][-1] == f"{logit:+.2f}".replace("-", "−")


def test_rows_that_are_not_drawn_are_counted_with_what_they_add(reasons):
    why = reasons[0]
    assert len(why.rows) == 6
    text = reasoning_svg(why, rows=1)
    for label in range(3):
        shown, rest = telling_rows(why, label, 1)
        assert len(shown) in (1, 2) and {*shown, *rest} == set(why.rows)  # a single further one is not left out
        added = sum(row.contribution(label) for row in rest)
        assert f"{added:+.2f}".replace("-", "−") in text
        assert f"and {len(rest)} more prototypes, adding" in text
    assert text.count("more prototypes, adding") == 3


def test_the_rows_of_a_class_are_the_largest_and_one_is_of_the_class_itself(reasons):
    for why in reasons:
        for label in range(3):
            for most in (1, 2, 3):
                shown, rest = telling_rows(why, label, most)
                assert any(row.label == label for row in shown)
                foreign = [row for row in shown if row.label != label]
                for row in foreign:
                    assert all(abs(row.contribution(label)) >= abs(other.contribution(label)) for other in rest)


def test_an_unfamiliar_graph_says_so_wherever_it_is_shown(reasons, tmp_path):
    why = reasons[0]
    strange = replace(why, context=replace(why.context, familiarity=why.largest_similarity + 0.1))
    usual = replace(why, context=replace(why.context, familiarity=why.largest_similarity - 0.1))
    unknown = replace(why, context=replace(why.context, familiarity=None))
    assert (strange.familiar, usual.familiar, unknown.familiar) == (False, True, None)
    for suffix in ("svg", "html", "json"):
        for said, reasoning in ((True, strange), (False, usual), (False, unknown)):
            reasoning.save(tmp_path / f"why.{suffix}")
            assert (UNFAMILIAR in (tmp_path / f"why.{suffix}").read_text()) is said
    assert UNFAMILIAR in str(strange) and UNFAMILIAR not in str(usual)
    assert json.loads((tmp_path / "why.json").read_text())["familiar"] is None


def test_light_and_dark_differ_in_colours_only(reasons):
    light, dark = reasoning_svg(reasons[0], LIGHT), reasoning_svg(reasons[0], DARK)
    assert light != dark
    for name in ("paper", "ink", "muted", "faint", "line", "panel", "warning"):
        light, dark = (text.replace(getattr(theme, name), name) for text, theme in ((light, LIGHT), (dark, DARK)))
    for label in range(8):
        light, dark = (text.replace(theme.of_class(label), "c") for text, theme in ((light, LIGHT), (dark, DARK)))
    assert light.replace("-light", "-dark") == dark


def test_a_figure_is_the_same_every_time(reasons):
    assert reasoning_svg(reasons[0]) == reasoning_svg(reasons[0])


def test_a_png_is_the_figure_at_twice_its_size(reasons, tmp_path):
    from PIL import Image

    reasons[0].save(tmp_path / "why.png")
    reasons[0].save(tmp_path / "why.svg")
    root = ElementTree.parse(tmp_path / "why.svg").getroot()
    with Image.open(tmp_path / "why.png") as image:
        assert image.size == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))
        assert len(image.convert("L").getcolors(256)) > 50, "something is drawn"


def test_names_that_look_like_markup_stay_text(reasons, tmp_path):
    nasty = '<script>alert("x")</script> & {{ 7 * 7 }}'
    why = replace(reasons[0], name=nasty, class_names=("<b>a</b>", "b", "c"))
    assert nasty in "".join(ElementTree.fromstring(reasoning_svg(why)).itertext())
    why.save(tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text()
    assert "<script>alert" not in page and "<b>a</b>" not in page and "{{ 7 * 7 }}" in page


def test_a_page_has_every_row_and_fetches_nothing(reasons, tmp_path):
    reasons[0].save(tmp_path / "why.html", rows=1)
    page = (tmp_path / "why.html").read_text()
    for row in reasons[0].rows:
        assert f"{row.similarity:.3f}" in page
    assert "src=" not in page and 'href="http' not in page and "prefers-color-scheme: dark" in page


def test_what_cannot_be_written_is_said(reasons, tmp_path):
    for path, message in ((tmp_path / "why.bmp", ".svg, .png, .html, .json"), (tmp_path / "why", "no ending")):
        with pytest.raises(ProtGNNError, match=message):
            reasons[0].save(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ProtGNNError, match="Cannot write"):
        reasons[0].save(tmp_path / "file" / "why.svg")
    with pytest.raises(ProtGNNError, match="light, dark"):
        reasons[0].save(tmp_path / "why.svg", theme="sepia")
    with pytest.raises(ProtGNNError, match="at least one row"):
        reasons[0].save(tmp_path / "why.svg", rows=0)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def sentence(text: str, pairs: list[tuple[int, int]], schema: Schema) -> GraphSet:
    edges = [edge for a, b in pairs for edge in ((a, b), (b, a))]
    return GraphSet(
        torch.rand(len(text.split(" ")), 2),
        torch.tensor(edges).t(),
        offsets(torch.tensor([len(text.split(" "))])),
        offsets(torch.tensor([len(edges)])),
        names=(text,),
        schema=schema,
    )


def test_in_a_sentence_the_words_of_the_evidence_are_marked():
    schema = Schema("sentence", ("negative", "positive"), ("a", "b"), (), "sentence")
    graph = sentence("a gorgeous , witty movie", [(4, 0), (4, 1), (1, 3), (1, 2)], schema)
    source = "it is a witty film"
    cut = replace(sentence("witty film", [(0, 1)], schema), names=(source,))
    context = RunContext(Prototypes((PrototypeCard(1, 0, source, [3, 4], 1.0, 1),), cut))
    why = Reasoning(
        graph.names[0],
        schema.class_names,
        (0.0, 2.0),
        (0.1, 0.9),
        (ReasoningRow(0, 1, 2.0, (0.0, 1.0), (3, 4)),),
        graph,
        0,
        context,
    )
    assert why.describe(why.rows[0]) == "witty film" and why.describe_evidence(why.rows[0]) == "witty movie"
    text = reasoning_svg(why)
    assert shown_rows(text) == {0: {3, 4}} and ">gorgeous</text>" in text and ">film</text>" in text


def test_a_graph_without_names_or_kinds_is_drawn_too(tmp_path):
    classes = tuple(f"class {number}" for number in range(12))
    schema = Schema("graph", classes, ("one",))
    graph = GraphSet(
        torch.ones(3, 1),
        torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        offsets(torch.tensor([3])),
        offsets(torch.tensor([4])),
        schema=schema,
    )
    logits = tuple(float(number) for number in range(12))
    why = Reasoning(None, classes, logits, tuple([1 / 12] * 12), (ReasoningRow(0, 1, 1.0, logits, (0, 1)),), graph)
    text = reasoning_svg(why)
    assert shown_rows(text) == {0: {0, 1}} and "and 4 more, each at +3.00 or below" in text
    assert "prototype 0" in str(why)


def test_a_reasoning_shows_itself_in_a_notebook(reasons):
    assert reasons[0]._repr_svg_().startswith("<svg")


def test_a_prototype_is_shown_in_its_source_where_the_training_data_is_at_hand(
    protgnn_command, prototype_run, tmp_path
):
    _, run = load_model(prototype_run)
    context = RunContext.of(run, run_part(run, "train"))
    for number, card in enumerate(run.prototypes.cards):
        assert context.sources.names[number] == card.name
    ended = protgnn_command("explain", prototype_run, "test", "--row", 2, "-o", tmp_path / "why.svg")
    assert ended.status == 0 and "pale: the rest of its source" in (tmp_path / "why.svg").read_text()


@pytest.mark.parametrize("suffix", ["svg", "png", "html", "json"])
def test_the_command_writes_every_kind_of_file(protgnn_command, prototype_run, tmp_path, suffix):
    path: Path = tmp_path / f"why.{suffix}"
    ended = protgnn_command("explain", prototype_run, "CC(=O)Nc1ccc(O)cc1", "-o", path)
    assert ended.status == 0 and str(path) in ended.err and path.stat().st_size > 1000
    assert ended.out == ""
