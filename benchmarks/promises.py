"""Does an exported model keep its promises? ``python -m benchmarks.promises``.

For every dataset and encoder: ``protgnn train`` with the default recipe in one process, ``protgnn evaluate --json`` on
the run directory in another. Promised are ``prototype_error`` and ``sum_error`` of at most 1e-5, and a
``median_similarity`` of held-out graphs, to the nearest prototype of the predicted class, of at least 0.5. Each run is
stored as soon as it is done, so an interrupted benchmark goes on where it stopped.
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

FIGURES = ("accuracy", "n", "prototype_error", "sum_error", "median_similarity")


def measure(data: str, encoder: str) -> dict[str, Any]:
    """Train in one process, evaluate in another."""
    command = [sys.executable, "-m", "protgnn.cli"]
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        subprocess.run([*command, "train", data, "--encoder", encoder, "--out", run], check=True, capture_output=True)
        said = subprocess.run([*command, "evaluate", run, "--json"], check=True, capture_output=True, text=True)
    figures = json.loads(said.stdout)
    return {"data": data, "encoder": encoder, **{name: figures[name] for name in FIGURES}}


def kept(row: dict[str, Any]) -> bool:
    """Whether a row keeps the three promises."""
    exact = row["prototype_error"] <= 1e-5 and row["sum_error"] <= 1e-5
    return bool(exact and row["median_similarity"] >= 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["mutag", "solubility", "bbbp"])
    parser.add_argument("--encoders", nargs="+", default=["gcn", "gin", "gat"])
    chosen = parser.parse_args()
    path = RESULTS / "promises.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    for data in chosen.data:
        for encoder in chosen.encoders:
            if not any((row["data"], row["encoder"]) == (data, encoder) for row in rows):
                rows.append(measure(data, encoder))
                write("promises", {"rows": rows, "machine": machine()})
                print(rows[-1], flush=True)
    print(table([{**row, "prototype_error": f"{row['prototype_error']:.1e}", "kept": kept(row)} for row in rows]))
    if not all(kept(row) for row in rows):
        sys.exit("a promise is broken")


if __name__ == "__main__":
    main()
