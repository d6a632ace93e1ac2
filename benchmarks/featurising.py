"""Molecules to graphs, against the version before they were read as columns: ``make bench-featurising``.

The old featurizer is taken from the history of the repository, and both featurise the same parsed molecules in one
process, one after the other, each from molecules that RDKit has computed nothing of. Features must be the same, bit for
bit. Times are microseconds of processor time per molecule; ``again`` is a second pass, when surroundings are known.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.outcome import machine, table, write
from benchmarks.throughput import molecules
from protgnn.data.graph_set import GraphSet
from protgnn.featurizers.molecule import from_molecules, quiet

BEFORE = "49e1e58"
FIELDS = ("x", "edge_index", "edge_attr", "node_ptr", "edge_ptr")


def featurizer_of(commit: str, folder: Path) -> Any:
    """``from_molecules`` as it was at a commit."""
    for name in ("atom_properties", "molecule"):
        shown = ["git", "show", f"{commit}:protgnn/featurizers/{name}.py"]
        source = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
        own = source.replace("protgnn.featurizers.atom_properties", "old_atom_properties")
        (folder / f"old_{name}.py").write_text(own)
    sys.path.insert(0, str(folder))
    return import_module("old_molecule").from_molecules


def main() -> None:
    from rdkit.Chem import MolFromSmiles

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--molecules", type=int, default=10_000)
    parser.add_argument("--before", default=BEFORE, help="a commit from before")
    chosen = parser.parse_args()
    texts = molecules()[: chosen.molecules]
    names, took = [""] * len(texts), {}

    def timed(name: str, featurise: Any) -> GraphSet:
        with quiet():
            start = time.process_time()
            fresh = [MolFromSmiles(text) for text in texts]
            took["parse"] = (time.process_time() - start) / len(texts) * 1e6
        start = time.process_time()
        found: GraphSet = featurise(fresh, names)
        took[name] = (time.process_time() - start) / len(texts) * 1e6
        return found

    with tempfile.TemporaryDirectory() as folder:
        old = timed("before", featurizer_of(chosen.before, Path(folder)))
    new = timed("now", from_molecules)
    timed("again", from_molecules)
    same = all(torch.equal(getattr(old, field), getattr(new, field)) for field in FIELDS)
    row = {"molecules": len(texts), **{name: round(value, 1) for name, value in took.items()}, "same": same}
    print(table([row]))
    write("featurising", {"rows": [row], "machine": machine()})
    if not same:
        sys.exit("features differ")


if __name__ == "__main__":
    main()
