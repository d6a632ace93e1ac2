"""Names that try to be markup, script or terminal codes stay text, on every page, in every picture and in print."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
import torch

import protgnn
from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.explain.explanation import Reasoning, RunContext, explain
from protgnn.explain.run_data import run_part
from protgnn.io.printable import printable
from protgnn.training.run import load_model
from protgnn.viz.html import reasoning_page
from protgnn.viz.reasoning_figure import reasoning_svg
from protgnn.viz.report import report_page

HOSTILE = (
    '"><script>alert(1)</script>',
    "</script><script>alert(2)</script>",
    "'><img src=x onerror=alert(3)>",
    "&lt;b&gt; & {{ 7 * 7 }} {% raw %}",
    "</svg></title></style><b>x</b>",
    "\x1b[31mred\x07\x00 <i>",
)
FEW = {"epochs": 2, "hidden": 8, "prototypes": 1, "anchored_epochs": 1, "search_iterations": 2, "refine_steps": 2}


class Page(HTMLParser):
    """What a browser would make of a page: elements, attributes, text outside of scripts, and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.texts += [value or "" for _, value in attrs]
        self.inside = tag
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        (self.scripts if self.inside == "script" else self.texts).append(data)


def assert_harmless(text: str) -> Page:
    page = Page(text)
    assert len(page.scripts) == 1 and "alert" not in page.scripts[0]
    assert "img" not in page.tags and "i" not in page.tags
    assert not {name for name in page.names if name.startswith("on")}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", text), "a control character is in the page"
    return page


@pytest.fixture(scope="module")
def why(prototype_run) -> Reasoning:
    model, run = load_model(prototype_run)
    return explain(model, run_part(run, "test"), RunContext.of(run))[0]


def renamed(why: Reasoning, text: str) -> Reasoning:
    """The same with a text wherever a name may stand."""
    prototypes = why.context.prototypes
    cards = tuple(replace(card, name=text) for card in prototypes.cards)
    return replace(
        why,
        name=text,
        class_names=(text, f"{text} 2", "c"),
        notes=(text,),
        context=replace(why.context, prototypes=replace(prototypes, cards=cards)),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_the_page_of_a_reasoning_shows_hostile_names_as_text(why, text):
    page = assert_harmless(reasoning_page(renamed(why, text)))
    assert printable(text) in page.texts, "the name itself, as an element's text"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_picture_shows_hostile_names_as_text(why, text):
    root = ElementTree.fromstring(reasoning_svg(renamed(why, text)))
    tags = {part.tag.rpartition("}")[2] for part in root.iter()}
    assert tags <= {"svg", "g", "title", "rect", "path", "text", "defs", "use", "circle", "polygon", "ellipse"}
    assert re.sub("[\x00-\x1f]", "\ufffd", text) in "".join(root.itertext())


def hostile_graphs(kind: str) -> GraphSet:
    """Forty paths whose names, words, classes and columns are hostile."""
    # A sentence is split into words at spaces, so there each hostile text is one word.
    words = [text.replace(" ", "_") for text in HOSTILE]
    columns = (*words, "{ink}", "plain")
    schema = Schema(kind, HOSTILE[:2], columns, (), "sentence" if kind == "sentence" else "given")
    sets = []
    for number in range(40):
        order = [(place + number) % 6 for place in range(3)] + [6 + number % 2]
        edges = torch.tensor([[place, place + 1] for place in range(3)]).t()
        sets.append(
            GraphSet(
                torch.eye(8)[order],
                torch.cat([edges, edges.flip(0)], dim=1),
                offsets(torch.tensor([4])),
                offsets(torch.tensor([6])),
                y=torch.tensor([number % 2]),
                names=(" ".join(columns[word] for word in order),),
                schema=schema,
            )
        )
    return GraphSet.concatenate(sets)


@pytest.mark.parametrize("kind", ["graph", "sentence"])
def test_a_report_shows_hostile_names_as_text(kind, tmp_path):
    graphs = hostile_graphs(kind)
    model = protgnn.ProtGNNClassifier(settings=FEW).fit(graphs[:30])
    folder = tmp_path / '"><script>alert(4)<'
    folder.mkdir()
    page = assert_harmless(report_page(model.model_, model.run_, folder, graphs[30:]))
    shown = "".join(page.texts)
    assert HOSTILE[0] in shown and HOSTILE[1] in shown and "alert(4)" in shown
    assert ("{ink}" in shown) if kind == "sentence" else ("{in" in shown), "a word is no colour"


def test_scripts_are_allowed_by_hash_only(why):
    page = Page(reasoning_page(why))
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["script-src"] == f"'sha256-{digest}'" and rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"


def test_printing_spells_out_what_would_steer_the_terminal(why):
    shown = str(renamed(why, "\x1b[31mred\x07"))
    assert "\x1b" not in shown and "\x07" not in shown and r"\x1b[31mred\x07" in shown
