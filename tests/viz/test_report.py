"""The report: one page that has everything in it and needs nothing else."""

import json
import re
import shutil
from html.parser import HTMLParser

import pytest
import torch

import protgnn
from protgnn.cli.main import main
from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.explain.explanation import RunContext, explain
from protgnn.explain.run_data import run_part
from protgnn.training.run import load_model
from protgnn.viz.report import report_page

FEW = {"epochs": 2, "hidden": 8, "prototypes": 1, "anchored_epochs": 1, "search_iterations": 2, "refine_steps": 2}


class Page(HTMLParser):
    """Every element with its attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def having(self, **wanted: str) -> list[dict[str, str | None]]:
        return [
            attributes
            for _, attributes in self.elements
            if all(attributes.get(name.replace("_", "-")) == value for name, value in wanted.items())
        ]


@pytest.fixture(scope="module")
def written(prototype_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    with pytest.raises(SystemExit) as end:
        main(["report", str(prototype_run), "-o", str(path)])
    assert not end.value.code
    return path


@pytest.fixture(scope="module")
def page(written):
    return Page(written.read_text())


def test_the_report_refers_to_no_other_host(written, page):
    text = written.read_text()
    assert len(text) < 5e6
    for tag, attributes in page.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "video", "audio")
        assert "src" not in attributes
        for name in ("href", "xlink:href", "action"):
            assert attributes.get(name, "#").startswith("#"), f"{tag} {name}"
    assert "@import" not in text and "url(" not in text and "fetch(" not in text and "XMLHttpRequest" not in text
    assert "default-src 'none'" in text


def test_every_prototype_has_a_card_with_a_picture_and_its_nearest_graphs(page):
    assert len(page.having(**{"class": "card"})) == 6
    for number in range(6):
        (card,) = page.having(id=f"prototype-{number}")
        assert f"prototype {number}" in card["data-text"]
    assert page.words.count("the most similar test molecules:") == 6


def test_every_picture_has_a_text_and_every_link_a_target(page):
    ids = {attributes["id"] for _, attributes in page.elements if attributes.get("id")}
    pictures = [attributes for tag, attributes in page.elements if tag == "svg" and attributes.get("role")]
    links = [attributes["href"] for _, attributes in page.elements if attributes.get("href")]
    assert pictures and links
    for attributes in pictures:
        assert attributes["role"] == "img" and attributes["aria-label"]
    for link in links:
        assert link[1:] in ids
    assert len(ids) == sum(bool(attributes.get("id")) for _, attributes in page.elements), "an id twice"


def test_it_says_how_good_the_model_is_and_how_it_was_made(page):
    for words in ("accuracy on 9 test molecules", "Labelled (rows) against predicted (columns)", "Confident and right"):
        assert words in page.words
    for words in ("Confident and wrong", "Unfamiliar", "fingerprint", "refine_steps", "validation part"):
        assert words in page.words
    assert any(attributes.get("aria-label", "").startswith("loss over") for _, attributes in page.elements)


def test_every_test_graph_is_listed(page):
    assert len(page.having(data_kind="test molecules")) == 9


def test_where_no_prototype_adds_to_the_class_none_is_linked_or_marked(base_run, prototype_run, written):
    model, run = load_model(base_run)
    graphs = run_part(run, "test")
    reasons = explain(model, graphs, RunContext.of(run))
    text = report_page(model, run, base_run, graphs)
    lines = re.findall(r'<tr data-kind="test molecules".*?</tr>', text, re.DOTALL)
    assert any(why.winning() is None for why in reasons)
    for line, why in zip(lines, reasons, strict=True):
        winning = why.winning()
        linked = re.findall(r'href="#prototype-(\d+)"', line)
        assert linked == ([] if winning is None else [str(winning.prototype)])
        assert ("<td>nothing found</td>" in line) == (winning is None)
    summaries = re.findall(r'id="why-right-(\d+)".*?<summary>(.*?)</summary>', text, re.DOTALL)
    assert any(reasons[int(number)].winning() is None for number, _ in summaries)
    for number, summary in summaries:
        placed = summary.split("<use")[0].split("<g transform", 1)[1]  # marks are drawn under the molecule
        assert ("<path" in placed or "<circle" in placed) == (reasons[int(number)].winning() is not None), number
    assert "Nothing found" in text and "othing found" not in written.read_text()


def test_it_is_the_same_every_time(protgnn_command, prototype_run, written, tmp_path):
    assert protgnn_command("report", prototype_run, "-o", tmp_path / "again.html").status == 0
    assert (tmp_path / "again.html").read_text() == written.read_text()


def test_it_lies_in_the_run_if_no_place_is_named_and_the_run_still_opens(protgnn_command, prototype_run, tmp_path):
    shutil.copytree(prototype_run, tmp_path / "run")
    ended = protgnn_command("report", tmp_path / "run")
    assert ended.status == 0 and f"report: {tmp_path / 'run' / 'report.html'}" in ended.out
    assert protgnn_command("prototypes", tmp_path / "run").status == 0


def test_a_run_whose_data_is_gone_is_reported_without_reasonings(protgnn_command, molecules, molecules_csv, tmp_path):
    model = protgnn.ProtGNNClassifier(settings=FEW).fit(molecules.train, validation=molecules.valid)
    model.save(tmp_path / "run")
    ended = protgnn_command("report", tmp_path / "run")
    assert ended.status == 0 and "no explanations in the report" in ended.err
    text = (tmp_path / "run" / "report.html").read_text()
    assert "is not at hand" in text and "Prototype 2 of" in text
    ended = protgnn_command("report", tmp_path / "run", molecules_csv, "-o", tmp_path / "with.html")
    assert ended.status == 0 and "90 given molecules" in (tmp_path / "with.html").read_text()


def test_sentences_are_reported_as_lines_of_words(tmp_path):
    words = [f"word{number}" for number in range(12)]
    schema = Schema("sentence", ("negative", "positive"), tuple(words), (), "sentence")
    sets = []
    for number in range(40):
        length = 4 + number % 5
        order = [(3 * place + number) % 10 for place in range(length - 1)] + [10 + number % 2]
        edges = torch.tensor([[place, place + 1] for place in range(length - 1)]).t()
        sets.append(
            GraphSet(
                torch.eye(12)[order],
                torch.cat([edges, edges.flip(0)], dim=1),
                offsets(torch.tensor([length])),
                offsets(torch.tensor([2 * length - 2])),
                y=torch.tensor([number % 2]),
                names=(" ".join(words[word] for word in order),),
                schema=schema,
            )
        )
    graphs = GraphSet.concatenate(sets)
    model = protgnn.ProtGNNClassifier(settings=FEW).fit(graphs[:30])
    page = Page(report_page(model.model_, model.run_, tmp_path, graphs[30:]))
    assert len(page.having(**{"class": "cards wide"})) == 1 and len(page.having(data_kind="test sentences")) == 10
    for name in graphs[30:].names:
        assert name in page.words


def test_mistakes_get_a_message(protgnn_command, prototype_run, run_folder, tmp_path):
    (tmp_path / "file").write_text("")
    for arguments, message in (
        ((prototype_run, "-o", tmp_path / "report.pdf"), "ends in .html"),
        ((prototype_run, "-o", tmp_path / "file" / "report.html"), "Cannot write"),
        ((run_folder, "-o", tmp_path / "report.html"), "plain model"),
        ((tmp_path / "none",), "no run directory"),
        ((prototype_run, tmp_path / "none.csv", "-o", tmp_path / "report.html"), "no such file"),
    ):
        ended = protgnn_command("report", *arguments)
        assert ended.status == 1 and message in ended.err and ended.err.startswith("error: "), ended.err
    assert not re.search(r"report", " ".join(path.name for path in tmp_path.iterdir()))


def test_elements_that_no_training_molecule_contains_are_warned_of(protgnn_command, prototype_run, tmp_path):
    path = tmp_path / "mols.csv"
    path.write_text("smiles,label\nCCO,low\nCC[Xe],low\nCCC,high\n")
    assert protgnn_command("report", prototype_run, path, "-o", tmp_path / "report.html").status == 0
    page = Page((tmp_path / "report.html").read_text())
    assert "1 of 3 contains elements that no training molecule contains: line 3" in page.words
    assert page.words.count("atom 2 is Xe") >= 2, "in its reasoning and in the list"
    assert "This data has no example of class medium: its scores say nothing about it." in page.words


def test_a_report_without_such_elements_does_not_speak_of_them(page):
    assert "no training molecule contains" not in page.words


def test_recall_and_precision_are_called_so(page):
    assert "recall" in page.words and "precision" in page.words


def test_it_has_the_scores_that_evaluate_prints(protgnn_command, prototype_run, page):
    found = json.loads(protgnn_command("evaluate", prototype_run, "--json").out)
    for key in ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "mcc", "brier"):
        low, high = found["intervals"][key]
        assert f"{low:.3f} to {high:.3f}" in page.words, key
        assert f"{found[key]:.3f}" in page.words, key
    assert "accuracy of always predicting high" in page.words
    plots = [
        text for _, attributes in page.elements if "Reliability of 9" in (text := attributes.get("aria-label") or "")
    ]
    assert len(plots) == 1 and "right at probability" in plots[0] and "a temperature of" in page.words
    said = [tag for tag, attributes in page.elements if attributes.get("class") == "warning" and tag == "p"]
    assert len(said) == len(found["warnings"])  # a picture may have warnings of its own
    words = re.sub(r"\W+", " ", page.words)
    assert all(re.sub(r"\W+", " ", warning[1:]) in words for warning in found["warnings"]), found["warnings"]


def test_each_molecule_is_parsed_once(prototype_run):
    from protgnn.explain.run_data import run_part
    from protgnn.featurizers.molecule import parse
    from protgnn.training.run import load_model

    model, run = load_model(prototype_run)
    graphs = run_part(run, "test")
    parse.cache_clear()
    report_page(model, run, prototype_run, graphs)
    asked = parse.cache_info()
    assert asked.misses == asked.currsize >= len(set(graphs.names))  # none was read again
    assert asked.hits > asked.misses  # though rows, thumbnails and prototypes ask for them
    report_page(model, run, prototype_run, graphs)
    assert parse.cache_info().misses == asked.misses
