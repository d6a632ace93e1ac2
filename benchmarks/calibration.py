"""Do probabilities mean what they say? ``python -m benchmarks.calibration``.

The calibration error (ECE, 15 bins of equal width), Brier score and cross-entropy on the test parts of random splits,
before and after the temperature that was fitted on the validation part. A test part is small: even probabilities that
mean exactly what they say have some error by chance, which is given beside it, and so is the error of the predictions
of all splits taken together, in which there is less of that.
Each run is stored as soon as it is done, so an interrupted benchmark goes on where it stopped.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from benchmarks.runs import MODELS, Figures, Split, cells, complete, name_of
from protgnn.training.settings import parse_settings

SPLITS = 3
AFTER, BEFORE = "after", "before"


def run(task: Split) -> tuple[str, Figures]:
    """Train on one split and measure on its test part."""
    import torch

    from protgnn.datasets.load import load_graphs
    from protgnn.training.evaluate import predict_logits
    from protgnn.training.recipe import make_recipe
    from protgnn.training.reliability import reliability
    from protgnn.training.scores import score
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    data, encoder, model, seed, settings = task
    start = time.perf_counter()
    parts = load_graphs(data).with_split("random", seed)
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **{**MODELS[model], **settings})
    done = train(SplitData(parts.train, parts.valid, parts.test), recipe)
    logits, y, temperature = predict_logits(done.model, parts.test), parts.test.y, done.scores["temperature"]
    assert y is not None
    figures: Figures = {"accuracy": done.scores["test"]["accuracy"], "temperature": temperature, "n": len(y)}
    if model != "plain":
        figures["sum_error"] = done.scores["test"]["sum_error"]
    for when, said in ((AFTER, logits), (BEFORE, logits * temperature)):
        found = score(said, y, parts.schema.class_names, with_intervals=True)
        kept = {name: found[name] for name in ("ece", "ece_by_chance", "brier", "loss")}
        figures[when] = {**kept, "bins": [vars(one) for one in reliability(said.softmax(1), y)]}
    return name_of(task), {**figures, "seconds": round(time.perf_counter() - start, 1)}


def together(runs: list[Figures], when: str) -> float:
    """The calibration error of the predictions of several runs taken together."""
    total, gaps = sum(one["n"] for one in runs), dict[float, float]()
    for one in runs:
        for found in one[when]["bins"]:
            gap = found["n"] * (found["confidence"] - found["accuracy"])
            gaps[found["low"]] = gaps.get(found["low"], 0.0) + gap
    return float(sum(abs(gap) for gap in gaps.values()) / total)


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row for all runs that differ in their split alone."""
    rows = []
    for row, runs in cells(done):
        row["temperature"] = statistics.mean(one["temperature"] for one in runs)
        for when in (BEFORE, AFTER):
            row[f"ece_{when}"] = statistics.mean(one[when]["ece"] for one in runs)
            row[f"together_{when}"] = together(runs, when)
        row["by_chance"] = statistics.mean(one[AFTER]["ece_by_chance"] for one in runs)
        for name in ("brier", "loss"):
            for when in (BEFORE, AFTER):
                row[f"{name}_{when}"] = statistics.mean(one[when][name] for one in runs)
        row["sum_error"] = f"{max(one.get('sum_error', 0.0) for one in runs):.1e}"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["bbbp", "solubility"])
    parser.add_argument("--encoder", default="gin")
    parser.add_argument("--models", nargs="+", default=["plain", "prototypes"], choices=list(MODELS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=40")
    parser.add_argument("--processes", type=int, default=1)
    chosen = parser.parse_args()
    settings = parse_settings(chosen.set)
    tasks: list[Split] = [
        (data, chosen.encoder, model, seed, settings)
        for data in chosen.data
        for model in chosen.models
        for seed in range(chosen.splits)
    ]
    complete("calibration", tasks, name_of, run, summary, chosen.processes)


if __name__ == "__main__":
    main()
