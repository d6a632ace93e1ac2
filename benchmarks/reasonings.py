"""Reasonings, drawn and looked at: ``python -m benchmarks.reasonings``.

ProtGNN+ is trained on split 10 of some data sets and explains the test part. Of the graphs that it predicts rightly,
and of those that it gets wrong, two are drawn. The rule: order them by the resemblance of evidence and prototype in the
winning row, equal ones as they come in the test part; the *typical* one is in the middle, the *worst* one is the
lowest. Graphs whose class is predicted without any evidence have no such row: they are left out, and the page says how
many they are. Nothing is picked by hand.

Pictures go to ``docs/reasonings/``, what was chosen to ``benchmarks/results/reasonings.json``. ``--page`` writes
``docs/reasonings.md`` from that and from ``benchmarks/reasonings.toml``, which holds a sentence for each picture,
written after looking at it:

    [solubility-right-typical]
    name = "CCO"
    sentence = "Both parts are hydroxyls on a chain; a chemist would agree."

The name is what the picture is of. A sentence about another graph, after training anew, is not shown, and the command
says which pictures wait to be looked at.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.markdown import DOCS, save_page
from benchmarks.outcome import RESULTS, machine, write
from benchmarks.recipe_digest import METHODS
from benchmarks.runs import digest_of
from protgnn.data.graph_set import GraphSet
from protgnn.datasets.load import load_graphs
from protgnn.estimator import ProtGNNClassifier
from protgnn.explain.explanation import Reasoning, RunContext, explain
from protgnn.explain.metrics.looks import look_figures

DATA = ("solubility", "bbbp", "mutag", "graph-twitter")
SPLIT = 10
SENTENCES = Path(__file__).parent / "reasonings.toml"
INTRODUCTION = """\
# Reasonings, looked at

Explanations by ProtGNN+ (GIN, the default recipe) of test graphs of split 10, on which nothing was selected. The
examples follow a rule and were not picked by hand: correctly and wrongly predicted graphs are each sorted by the
[resemblance](method.md) of evidence and prototype in the winning row; the median is *typical*, the lowest is the
*worst*. Graphs whose class no prototype contributes to have no winning row and are left out. The sentence under each
picture was written after inspecting it.

Drawn by `python -m benchmarks.reasonings`; this page is written by `python -m benchmarks.reasonings --page`."""


def chosen(reasonings: Sequence[Reasoning]) -> dict[str, tuple[Reasoning, float]]:
    """By case (``right-typical``, …) the reasoning that the rule takes, and its resemblance; a case that no graph with
    a winning row falls into is missing, and so is the typical one where there is a single graph."""
    found: dict[str, tuple[Reasoning, float]] = {}
    by_evidence = [why for why in reasonings if why.winning() is not None]
    for case in ("right", "wrong"):
        own = [why for why in by_evidence if (why.predicted == why.truth) == (case == "right")]
        alike = [look_figures([why], why.context)["resemblance"] for why in own]
        order = sorted(range(len(own)), key=lambda number: alike[number])
        if len(order) > 1:
            middle = order[(len(order) - 1) // 2]
            if middle == order[0]:
                middle = order[1]
            found[f"{case}-typical"] = own[middle], alike[middle]
        if order:
            found[f"{case}-worst"] = own[order[0]], alike[order[0]]
    return found


def draw(data: str, reasonings: Sequence[Reasoning], folder: Path) -> dict[str, dict[str, Any]]:
    """Draw the chosen reasonings into a folder; returns what the page says of each, by the name of its picture."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {}
    without = sum(why.winning() is None for why in reasonings)
    for case, (why, alike) in chosen(reasonings).items():
        name = f"{re.sub(r'[^a-z0-9]+', '-', data.lower())}-{case}"
        why.save(folder / f"{name}.svg")
        row = why.winning()
        assert why.truth is not None and row is not None
        told[name] = {
            "data": data,
            "case": case,
            "name": why.title,
            "predicted": why.class_names[why.predicted],
            "truth": why.class_names[why.truth],
            "probability": why.probabilities[why.predicted],
            "prototype": why.describe(row),
            "evidence": why.describe_evidence(row),
            "resemblance": alike,
            "without_evidence": without / len(reasonings),
        }
    return told


def page(told: dict[str, dict[str, Any]], sentences: dict[str, dict[str, str]]) -> list[str]:
    """The blocks of the page."""
    blocks = [INTRODUCTION]
    for data in dict.fromkeys(one["data"] for one in told.values()):
        own = {name: one for name, one in told.items() if one["data"] == data}
        share = next(iter(own.values()))["without_evidence"]
        blocks += [f"## {data}", f"Predicted without any evidence, and left out: {share:.0%} of the test graphs."]
        for name, one in own.items():
            kind, _, rank = one["case"].partition("-")
            blocks.append(f"### Predicted {'rightly' if kind == 'right' else 'wrongly'}, {rank}")
            blocks += [f"![The reasoning as a picture](reasonings/{name}.svg)", facts(one)]
            if not waits(name, one, sentences):
                blocks.append(f"**{sentences[name]['sentence']}**")
    return blocks


def facts(one: dict[str, Any]) -> str:
    """What is known of a picture, in a line."""
    evidence = f"{code(one['evidence'])} beside " if one["evidence"] else ""
    return (
        f"{code(one['name'])}: predicted {one['predicted']} ({one['probability']:.0%}), labelled {one['truth']}. "
        f"In the winning row {evidence}{code(one['prototype'])}, resemblance {one['resemblance']:.2f}."
    )


def code(text: str) -> str:
    """A text as code; the backticks of a tweet would end it, or begin a block."""
    return "`" + text.replace("`", "'") + "`"


def waits(name: str, one: dict[str, Any], sentences: dict[str, dict[str, str]]) -> bool:
    """Whether nobody has written a sentence about this picture."""
    return bool(sentences.get(name, {}).get("name") != one["name"])


def read_sentences(path: Path) -> dict[str, dict[str, str]]:
    """The sentences by the names of their pictures; none where there is no file."""
    found: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def explained(data: str, settings: dict[str, Any]) -> list[Reasoning]:
    """Train ProtGNN+ on the split and explain its test part."""
    parts = load_graphs(data).with_split("random", SPLIT)
    model = ProtGNNClassifier(encoder="gin", plus=True, settings=settings, seed=SPLIT)
    return explain_test(model.fit(parts.train, validation=parts.valid), parts.train, parts.test)


def explain_test(model: ProtGNNClassifier, train: GraphSet, test: GraphSet) -> list[Reasoning]:
    """Reasonings that know the labels, and the training graphs that prototypes were cut from."""
    return explain(model.model_, test, RunContext.of(model.run_, train))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--page", action="store_true", help="write the page from what was drawn, and train nothing")
    options = parser.parse_args()
    path = RESULTS / "reasonings.json"
    stored: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"recipe": None, "reasonings": {}}
    told: dict[str, dict[str, Any]] = stored["reasonings"]
    if not options.page:
        recipe = f"{digest_of('gin', 'plus', {})}-{METHODS['plus']}"
        told = told if stored["recipe"] == recipe else {}
        for data in options.data:
            told = {name: one for name, one in told.items() if one["data"] != data}
            told |= draw(data, explained(data, {"split": "random"}), DOCS / "reasonings")
            write("reasonings", {"recipe": recipe, "reasonings": told, "machine": machine()})
    sentences = read_sentences(SENTENCES)
    save_page("reasonings.md", page(told, sentences))
    for name, one in told.items():
        if waits(name, one, sentences):
            print(f"to be looked at: docs/reasonings/{name}.svg, {one['name']}")


if __name__ == "__main__":
    main()
