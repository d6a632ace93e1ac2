"""The embedded default: water solubility of 1 282 molecules (Huuskonen 2000), in RDKit's three classes."""

from __future__ import annotations

import numpy as np
import torch

from protgnn.data.graph_set import GraphSet
from protgnn.data.split import Split, hold_out
from protgnn.datasets.builtin.tables import read_packaged
from protgnn.featurizers.molecule import from_smiles

_CLASSES = ("low", "medium", "high")
_VALID_FRACTION = 0.1


def read_solubility() -> tuple[GraphSet, Split]:
    """All molecules and RDKit's own split, with a tenth of its train set held out to validate on."""
    rows = read_packaged("solubility")
    y = np.array([_CLASSES.index(row["class"]) for row in rows], dtype=np.int64)
    graphs = from_smiles([row["smiles"] for row in rows], torch.from_numpy(y), _CLASSES)
    in_test = np.array([row["part"] == "test" for row in rows])
    members = np.flatnonzero(~in_test)
    train, valid = hold_out(members, y[members], _VALID_FRACTION * len(members), seed=0)
    return graphs, Split(
        torch.from_numpy(np.sort(train)),
        torch.from_numpy(np.sort(valid)),
        torch.from_numpy(np.flatnonzero(in_test)),
    )
