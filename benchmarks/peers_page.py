"""``docs/peers.md`` from the stored runs of ``benchmarks.peers``."""

from __future__ import annotations

from benchmarks.markdown import markdown_table, save_page
from benchmarks.outcome import RESULTS
from benchmarks.peer_models import SETTINGS
from benchmarks.peers import COMPARED, Cells, best_peer, cells_of, differences, mean, summary, with_error
from benchmarks.runs import Figures, stored

TITLES = {
    "bbbp": "BBBP",
    "solubility:given": "Solubility, the split that comes with it",
    "solubility": "Solubility, random splits",
    "tox21:NR-AhR": "Tox21, NR-AhR",
    "tox21:SR-p53": "Tox21, SR-p53",
}
NAMES = {
    "forest": "random forest, ECFP4 and RDKit descriptors",
    "boosting": "gradient boosting, RDKit descriptors",
    "chemprop": "chemprop",
    "plain": "plain GNN",
    "prototypes": "ProtGNN",
    "plus": "ProtGNN+",
}
FIGURES = {"accuracy": "accuracy", "roc_auc": "ROC AUC"}
INTRODUCTION = """\
# Beside other methods

What a chemist would pick instead, on the same molecules, splits and labels, scored by the same code (`make
bench-peers`; chemprop with `--chemprop PYTHON`, the Python of an environment that has it). This page is written by
`python -m benchmarks.peers --page` from `benchmarks/results/peers.json`.

The forest has 500 trees on ECFP4 (2 048 bits) and RDKit's descriptors; boosting is scikit-learn's histogram gradient
boosting on the descriptors; chemprop has its defaults and 50 epochs. Splits are random, 80/10/10, unless said
otherwise; molecules that a Tox21 assay has no label for are left out. Forest and boosting do not use the validation
part; chemprop and ours choose their epoch by it, and ours their temperature.

Accuracy, ROC AUC and balanced accuracy in per cent, mean ± standard deviation over splits; ECE is the expected
calibration error in 15 bins; the last columns are the difference in points to the peer that is best in this figure,
split by split, mean ± standard error. Seconds are those of one run on a shared machine: they say which is the slower
method, not by how much."""


def write_page() -> None:
    """Write the page."""
    save_page("peers.md", page(stored(RESULTS / "peers.json")))


def page(done: dict[str, Figures]) -> list[str]:
    """The blocks of the page."""
    cells, rows = cells_of(done), summary(done)
    blocks = [INTRODUCTION, "## In short", *in_short(cells)]
    for data, title in TITLES.items():
        own = [row for row in rows if row["data"] == data]
        if not own:
            continue
        baseline = 100 * mean(
            next(iter(splits for (name, _), splits in cells.items() if name == data)), "majority_baseline"
        )
        blocks += [f"## {title}", f"Always predicting the most frequent class is right in {baseline:.1f} %."]
        head = ["model", "splits", "accuracy", "ROC AUC", "balanced accuracy", "ECE", "seconds"]
        head += [f"{name}, to the best peer" for name in FIGURES.values()]
        keys = ("splits", "accuracy", "roc_auc", "balanced_accuracy", "ece", "seconds")
        lines = [
            [called(row["model"]), *(str(row[key]) for key in keys), *(row[f"{key}_difference"] for key in COMPARED)]
            for row in own
        ]
        blocks.append(markdown_table(head, lines))
    return blocks


def called(model: str) -> str:
    """A model in words."""
    encoder, _, head = model.partition(":")
    return f"{NAMES[head]}, {encoder.upper()}" if head else NAMES[model]


def in_short(cells: Cells) -> list[str]:
    """For each data set and figure the best peer and the best of ours, and what lies between them."""
    lines = []
    for data, title in TITLES.items():
        for figure, word in FIGURES.items():
            peer = best_peer(cells, data, figure)
            if peer is None:
                continue
            found = f"- {title}, {word}: the best peer is {called(peer)} ({100 * mean(cells[data, peer], figure):.1f})"
            ours = [model for name, model in cells if name == data and model not in SETTINGS]
            if ours:
                best = max(ours, key=lambda model: mean(cells[data, model], figure))
                between = with_error(differences(cells, data, best, peer, figure))
                found += (
                    f"; the best of ours is {called(best)} ({100 * mean(cells[data, best], figure):.1f}), {between}"
                )
            lines.append(found + ".")
    missing = [title for data, title in TITLES.items() if not any(n == data and m not in SETTINGS for n, m in cells)]
    note = []
    if missing:
        note = [f"Our own models have not been run with today's recipe on: {'; '.join(missing)}."]
    return ["\n".join(lines), *note]
