"""A prototype that a chemist objects to is removed: what does that cost? ``python -m benchmarks.editing``.

MUTAG, ProtGNN+ with mined prototypes. A nitro group on an aromatic ring is a structural alert for mutagenicity, yet the
model takes small nitroarenes for reasons *against* it, as most of the few non-mutagens in the data are such. All
prototypes of the class non-mutagen with that group are forbidden, the last layer is refitted on the training part and
chosen on the validation part, and the test part, which nothing has seen, is scored before and after; then the model
trains on with the edits kept, until it has no such prototype. One row per split; the processor time of the edit is
given as a share of that of training.
"""

from __future__ import annotations

import argparse
import time
from statistics import fmean, stdev
from typing import Any

import torch
from rdkit import Chem
from torch import Tensor

from benchmarks.outcome import machine, table, write
from protgnn.datasets.load import load_graphs
from protgnn.editing import PrototypeEditor
from protgnn.explain.explanation import RunContext
from protgnn.explain.to_rdkit import to_rdkit
from protgnn.training.evaluate import predict_logits
from protgnn.training.paired import mcnemar, paired_differences
from protgnn.training.recipe import make_recipe
from protgnn.training.run import Run
from protgnn.training.train import SplitData, train

OBJECTION, CLASS = "c[N+](=O)[O-]", "non-mutagen"
MOST_ROUNDS = 5
"""Times that the model trains on at the most; each may mine another part with the group."""


def objectionable(editor: PrototypeEditor) -> list[int]:
    """The prototypes of the class that have the group."""
    query, label = Chem.MolFromSmarts(OBJECTION), editor.run.schema.class_names.index(CLASS)
    prototypes = editor.run.prototypes
    assert prototypes is not None
    found = []
    for number, card in enumerate(prototypes.cards):
        mol = to_rdkit(prototypes.subgraphs[number], cut_out=True)
        if card.label == label and mol is not None and mol.HasSubstructMatch(query):
            found.append(number)
    return found


def story(seed: int) -> tuple[dict[str, Any], list[Tensor], Tensor]:
    """One split: figures, the test logits before, after the edit and after training on, and the classes."""
    data = load_graphs("mutag").with_split("stratified", seed)
    recipe = make_recipe(plus=True, seed=seed)
    start = time.process_time()
    trained = train(SplitData(data.train, data.valid), recipe)
    seconds = time.process_time() - start
    run = Run(trained.recipe, data.graphs.schema, scores=trained.scores, prototypes=trained.prototypes, finished=True)
    editor = PrototypeEditor(trained.model, run, data.train, data.valid)
    logits, count = [predict_logits(editor.model, data.test)], len(editor.sources())
    found = objectionable(editor)
    shown = [RunContext.of(editor.run).descriptions[number] for number in found]
    figures: dict[str, Any] = {"split": seed, "prototypes": count, "objections": len(found), "shown": shown}
    start = time.process_time()
    if found:
        result = editor.edit(forbid=found)
        figures |= {"valid_before": result.before["accuracy"], "valid_after": result.after["accuracy"]}
    figures["edit_share"] = (time.process_time() - start) / seconds
    logits.append(predict_logits(editor.model, data.test))
    rounds = 0
    while found and rounds < MOST_ROUNDS:
        editor.retrain()
        rounds += 1
        if not (again := objectionable(editor)):
            break
        editor.edit(forbid=again)
    figures |= {"trained_on": rounds, "left": len(objectionable(editor)), "prototypes_then": len(editor.sources())}
    logits.append(predict_logits(editor.model, data.test))
    y = data.test.y
    assert y is not None
    accuracies = [float((one.argmax(1) == y).float().mean()) for one in logits]
    return figures | dict(zip(("test_before", "test_edited", "test_trained_on"), accuracies, strict=True)), logits, y


def compared(first: list[Tensor], second: list[Tensor], y: list[Tensor]) -> dict[str, Any]:
    """The test graphs of all splits together."""
    one, other, truth = torch.cat(first), torch.cat(second), torch.cat(y)
    gap, test = paired_differences(one, other, truth)["accuracy"], mcnemar(one.argmax(1), other.argmax(1), truth)
    return {"difference": gap.difference, "interval": [gap.low, gap.high], **vars(test), "n": len(truth)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    chosen = parser.parse_args()
    rows, logits, classes = [], [], []
    for seed in range(chosen.splits):
        figures, found, y = story(seed)
        rows.append(figures)
        logits.append(found)
        classes.append(y)
        print(table([{key: value for key, value in figures.items() if key != "shown"}]), flush=True)
        before, edited, trained_on = ([split[place] for split in logits] for place in range(3))
        summary = {
            key: f"{100 * fmean(row[key] for row in rows):.1f}"
            + (f" ± {100 * stdev(row[key] for row in rows):.1f}" if len(rows) > 1 else "")
            for key in ("test_before", "test_edited", "test_trained_on")
        }
        together = {
            "edited": compared(before, edited, classes),
            "trained_on": compared(before, trained_on, classes),
        }
        write("editing", {"summary": summary, "together": together, "rows": rows, "machine": machine()})
    print(summary, together)


if __name__ == "__main__":
    main()
