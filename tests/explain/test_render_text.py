"""What is printed of a reasoning adds up, names no reason that adds nothing, and says what its numbers mean."""

import re
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree

import pytest
from rich.console import Console

from protgnn.explain.explanation import Reasoning, ReasoningRow, RunContext, explain
from protgnn.explain.render_text import ReasoningTable, chosen_rows, difference, likeness, similarity_said
from protgnn.explain.run_data import run_part
from protgnn.training.run import load_model
from protgnn.viz.figure_rows import telling_rows
from protgnn.viz.html import reasoning_entry, render
from protgnn.viz.picture import Sheet
from protgnn.viz.reasoning_figure import reasoning_svg
from protgnn.viz.theme import PAGE


def of_rows(*rows: tuple[int, float, tuple[float, float]], base: tuple[float, float] = (0.0, 0.0)) -> Reasoning:
    """A reasoning of (class, similarity, weights) rows for the classes a and b."""
    made = tuple(ReasoningRow(number, *row, evidence=(0,)) for number, row in enumerate(rows))
    logits = tuple(sum(row.contribution(label) for row in made) + base[label] for label in (0, 1))
    return Reasoning("x", ("a", "b"), logits, (0.5, 0.5), made, beside=base)


ODD = of_rows(
    (0, 2.0, (0.5, 0.0)), (1, 2.61, (0.0, 0.3)), (1, 0.001, (0.0, 0.9)), (0, 1.0, (0.0, 0.0)), base=(1.0, -1.0)
)


@pytest.fixture(scope="module", params=["mined_run", "prototype_run"])
def reasons(request) -> list[Reasoning]:
    model, run = load_model(request.getfixturevalue(request.param))
    return explain(model, run_part(run, "test"), RunContext.of(run))


def svg_words(why: Reasoning) -> str:
    """The words of the picture, lines joined by spaces."""
    return " ".join(text.text or "" for text in ElementTree.fromstring(reasoning_svg(why)).iter() if text.text)


def leads(text: str) -> list[float]:
    """The numbers of the last column, the total at the end."""
    lines = text.splitlines()
    below = lines[next(place for place, line in enumerate(lines) if line.rstrip().endswith("lead")) :]
    lines = [line for line in below if re.search(r"(\d\.\d\d)$", line)]
    total = next(place for place, line in enumerate(lines) if "sum (logit)" in line)
    return [float(line.split()[-1]) for line in lines[: total + 1]]


def test_the_last_column_adds_up_to_the_lead_of_the_sentence(reasons):
    for why in reasons:
        *rows, total = leads(str(why))
        assert total == pytest.approx(why.margin, abs=0.006)
        assert sum(rows) == pytest.approx(total, abs=0.006 * (len(rows) + 1))
        assert f"by {why.margin:.2f}" in difference(why)


def test_every_number_of_the_sentence_stands_in_the_last_column(reasons):
    for why in reasons:
        sentence = re.sub(r" \([^()]* -?\+?\d+\.\d\d, [^()]*\d\.\d\d\)", "", difference(why))  # what a base is made of
        told = [float(number) for number in re.findall(r" ([+-]\d+\.\d\d)(?=[,;]|$)", sentence)]
        assert told and set(told) <= set(leads(str(why)))


@pytest.mark.parametrize("width", [80, 100])
def test_no_number_is_cut_off_at_the_edge_of_a_terminal(mined_run, width):
    model, run = load_model(mined_run)
    of_run = explain(model, run_part(run, "test"), RunContext.of(run))[0]
    weights = tuple(0.5 * (label == of_run.predicted) for label in range(len(of_run.class_names)))
    row = replace(of_run.rows[0], resemblance=1.0, similarity=5.0, weights=weights, places=((0,), (1,)), counts=True)
    names = ("< 1.69 mg per litre", "from 1.69 to 3.24", ">= 3.24 mg per litre")
    why = replace(of_run, class_names=names, rows=(row, *of_run.rows[1:]))
    console = Console(file=StringIO(), width=width)
    console.print(ReasoningTable(why))
    shown = console.file.getvalue()
    assert "2 × 2.50  looks the" in shown and "→ from" in shown
    assert leads(shown) == leads(str(why))


def test_a_row_that_adds_nothing_is_not_listed():
    shown, rest = chosen_rows(ODD)
    assert [row.prototype for row in shown] == [0, 1] and [row.prototype for row in rest] == [2, 3]
    assert "and 2 more" in str(ODD)
    drawn = {row.prototype for label in (0, 1) for row in telling_rows(ODD, label, 9)[0]}
    assert drawn == {0, 1}


def test_rows_are_in_the_order_of_what_they_add_to_the_lead(reasons):
    for why in reasons:
        gains = [why.gain(row) for row in chosen_rows(why)[0]]
        assert gains == sorted(gains, reverse=True)


def test_the_base_is_told_with_what_it_gives_to_each_class():
    assert "the base +2.00 (a +1.00, b -1.00)" in difference(ODD)
    assert "base: the bias of each class" in str(ODD).replace("\n", " ")
    assert "the base (bias of the class)" in reasoning_svg(ODD)


def test_what_speaks_against_a_prediction_is_told_even_where_only_the_base_speaks_for_it():
    why = of_rows((1, 1.0, (0.0, 1.0)), (1, 1.0, (0.0, 0.5)), base=(1.0, -1.0))
    assert "; most against: prototype 0 -1.00" in difference(why)


def test_where_nothing_was_found_it_says_so():
    why = of_rows((0, 0.0, (1.0, 0.0)), (1, 0.0, (0.0, 1.0)), base=(0.5, -0.5))
    assert "2 prototypes, nothing found" in str(why) and "no part looks like its prototypes" in reasoning_svg(why)
    unlike = of_rows((0, 0.3, (1.0, 0.0)), base=(0.5, -0.5))
    unlike = replace(unlike, rows=tuple(replace(row, resemblance=0.2) for row in unlike.rows))
    drawn = reasoning_svg(unlike)
    assert "its 1 prototype, hardly alike" in drawn, "it adds 0.30"
    assert drawn.count("no part looks like its prototypes") == 1, "only in the class to which it adds 0.00"
    assert "1 prototype, hardly alike" in str(unlike) and "looks like prototype" not in str(unlike).partition("\n\n")[2]
    assert "1 prototype, nothing found" in str(of_rows((1, 0.0, (0.0, 1.0)), base=(0.5, -0.5)))


def test_parts_that_are_compared_by_their_looks_are_called_the_same_or_hardly_alike():
    why = replace(ODD, context=RunContext(highest_similarity=2.0))
    row = ReasoningRow(0, 0, 1.5, (1.0, 0.0), evidence=(0,))
    words = {alike: likeness(why, replace(row, resemblance=alike)) for alike in (1.0, 0.8, 0.6, 0.3, None)}
    said = ["looks the same", "looks alike", "a little alike", "hardly alike", None]
    assert list(words.values()) == said
    elsewhere = "same part, other surroundings"
    fused = replace(row, resemblance=1.0, similarity=0.9)
    assert likeness(why, fused) == elsewhere
    twice = replace(row, resemblance=1.0, places=((0,), (1,)), counts=True)
    assert likeness(why, twice) == elsewhere, "a sum over two places says nothing of either"
    meaning = f"{elsewhere}: the two look the same, but what they are attached to differs"
    for shown, told in ((fused, True), (replace(row, resemblance=1.0), False)):
        said = replace(why, rows=(shown, *why.rows[1:]))
        assert (meaning in " ".join(str(said).split())) is told
        assert (f"{elsewhere[0].upper()}{meaning[1:]}"[:60] in svg_words(said)) is told


def test_a_sum_over_places_is_written_as_their_number_times_what_each_has():
    row = replace(ODD.rows[0], similarity=2.5, places=((0,), (1,)), counts=True)
    best = replace(row, counts=False)
    assert [similarity_said(one) for one in (row, best, replace(row, places=((0,),)))] == ["2 × 1.25", "2.50", "2.50"]
    assert similarity_said(row, 3) == "2 × 1.250"
    context = RunContext(highest_similarity=2.6)
    for one, each in ((row, ", per place (2 × 1.25: in 2 places, 1.25 each on average)"), (best, "")):
        why = replace(ODD, rows=(one, *ODD.rows[1:]), context=context)
        terminal = " ".join(str(why).split())
        assert f"0 for nothing in common, 2.6 for the same part{each}; " in terminal
        assert f"0 for nothing in common, 2.6 for the same part{each}. Weight" in svg_words(why)
        page = render("reasoning.html", why=reasoning_entry(why, Sheet(PAGE)), defs="")
        assert (">2 × 1.25<" in page) == (">2 × 1.250<" in page) == ("2 × 1.25" in terminal) == bool(each)


def test_rows_whose_parts_hardly_look_alike_are_counted_and_not_shown():
    unlike = replace(ODD.rows[0], resemblance=0.3)
    why = replace(ODD, rows=(unlike, *ODD.rows[1:]))
    shown, rest = chosen_rows(why)
    assert unlike in rest and unlike not in shown and {*shown, *rest} == set(why.rows)
    for label in (0, 1):
        drawn, left = telling_rows(why, label, 9)
        assert unlike in left and unlike not in drawn
    assert f"prototype {unlike.prototype} " not in difference(why)
    assert why.winning() is not unlike


def test_similarities_come_with_their_place_among_the_training_graphs(reasons):
    for why in reasons:
        for row in why.rows:
            assert 0 <= why.percentile(row) <= 100
        assert why.to_json()["rows"][0]["percentile"] == why.percentile(why.rows[0])
    assert "less similar" in str(reasons[0]).replace("\n", " ")
    assert "of 100 training molecules" in reasoning_svg(reasons[0])


def test_cut_edges_lead_from_the_evidence_to_the_rest(reasons):
    for why in reasons:
        edges = {tuple(edge) for edge in why.graph.edge_index.t().tolist()}
        for row in why.rows:
            inside = set(row.evidence or ())
            assert why.cut_edges(row) == sorted(why.cut_edges(row), key=lambda edge: edge[::-1])
            expected = {(a, b) for a, b in edges if a in inside and b not in inside}
            assert set(why.cut_edges(row)) == expected


def test_a_page_asks_about_a_class_that_is_a_number_in_words():
    for name, asked in (("1", "Why class 1?"), ("toxic", "Why toxic?")):
        why = replace(ODD, class_names=(name, "b"), logits=(2.0, 1.0), rows=ODD.rows[:1])
        page = render("reasoning.html", why=reasoning_entry(why, Sheet(PAGE)), defs="")
        assert f"<h1>{asked}</h1>" in page
