"""Does an exported model keep its promises? ``python -m benchmarks.promises``.

For every dataset and encoder: ``protgnn train`` in one process, ``protgnn evaluate --json`` on the run directory in
another. Promised are ``prototype_error`` and ``sum_error`` of at most 1e-5, and with the default recipe a
``median_similarity`` of held-out graphs, to the nearest prototype of the predicted class, of at least 0.5. With
``--plus`` it is ProtGNN+, which promises an ``evidence_error`` of at most 1e-5 over every test graph and prototype.
That does not hang on how long a model was trained, so that ``--set epochs=10 …`` makes it quick; it is then a row of
its own. Each run is stored as soon as it is done, so an interrupted benchmark goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.outcome import RESULTS, machine, table, write
from benchmarks.runs import digest_of
from protgnn.training.settings import parse_settings

FIGURES = ("accuracy", "n", "prototype_error", "sum_error", "median_similarity", "evidence_error", "evidence_size")
ERRORS = ("prototype_error", "sum_error", "evidence_error")


def measure(data: str, encoder: str, model: str, settings: list[str]) -> dict[str, Any]:
    """Train in one process, evaluate in another."""
    command = [sys.executable, "-m", "protgnn"]
    options = [*(["--plus"] if model == "plus" else []), *(part for setting in settings for part in ("--set", setting))]
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        train = [*command, "train", data, "--encoder", encoder, "--out", run, *options]
        subprocess.run(train, check=True, capture_output=True)
        said = subprocess.run([*command, "evaluate", run, "--json"], check=True, capture_output=True, text=True)
    figures = json.loads(said.stdout)
    return {name: figures[name] for name in FIGURES if name in figures}


def kept(row: dict[str, Any]) -> bool:
    """Whether a row keeps the promises."""
    exact = all(row[name] <= 1e-5 for name in ERRORS if name in row)
    return bool(exact and (row["settings"] or row["median_similarity"] >= 0.5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["mutag", "solubility", "bbbp"])
    parser.add_argument("--encoders", nargs="+", default=["gcn", "gin", "gat"])
    parser.add_argument("--plus", action="store_true", help="ProtGNN+ instead of ProtGNN")
    parser.add_argument("--set", nargs="*", default=[], help="recipe keys, as in --set epochs=10")
    chosen = parser.parse_args()
    path = RESULTS / "promises.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    model, settings = "plus" if chosen.plus else "prototypes", " ".join(chosen.set)
    for data in chosen.data:
        for encoder in chosen.encoders:
            asked = {"data": data, "encoder": encoder, "model": model, "settings": settings}
            now = {**asked, "recipe": digest_of(encoder, model, parse_settings(chosen.set))}
            if not any(now.items() <= row.items() for row in rows):
                rows = [row for row in rows if not asked.items() <= row.items()]  # those of an older recipe
                rows.append({**now, **measure(data, encoder, model, chosen.set)})
                write("promises", {"rows": rows, "machine": machine()})
                print(rows[-1], flush=True)
    shown = [
        {
            "recipe": "older",
            **row,
            **{name: f"{row[name]:.1e}" if name in row else "-" for name in ERRORS},
            "kept": kept(row),
        }
        for row in rows
    ]
    print(table(shown))
    if not all(kept(row) for row in rows):
        sys.exit("a promise is broken")


if __name__ == "__main__":
    main()
