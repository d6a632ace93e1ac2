"""What a chemist would pick instead of a graph network: fingerprints and descriptors with trees, and chemprop.

==============  =====================================================================================================
``forest``      scikit-learn's random forest of 500 trees on ECFP4 (2 048 bits, radius 2) and RDKit's descriptors
``boosting``    scikit-learn's histogram gradient boosting on RDKit's descriptors
``chemprop``    chemprop's message passing with its defaults, 50 epochs, in a Python environment of its own
==============  =====================================================================================================

Forest and boosting learn from the training part; chemprop also chooses its epoch by the validation part, as ours do.
"""

from __future__ import annotations

import csv
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

TREES = 500
EPOCHS = 50
SETTINGS = {"forest": f"trees={TREES}", "boosting": "defaults", "chemprop": f"epochs={EPOCHS}"}
"""What names the runs of each peer, in place of a recipe."""


@dataclass(frozen=True, eq=False)
class MoleculeParts:
    """SMILES and classes of the three parts of a split: what every peer gets."""

    smiles: tuple[list[str], list[str], list[str]]
    labels: tuple[list[int], list[int], list[int]]
    num_classes: int

    @property
    def train(self) -> tuple[list[str], list[int]]:
        return self.smiles[0], self.labels[0]

    @property
    def test(self) -> list[str]:
        return self.smiles[2]


def probabilities(peer: str, parts: MoleculeParts, seed: int, chemprop: str | None = None) -> np.ndarray:
    """Probabilities ``[G, C]`` of the test part from a peer that was trained on the others."""
    if peer == "chemprop":
        if chemprop is None:
            raise SystemExit("chemprop runs in an environment of its own: name its Python with --chemprop")
        return chemprop_probabilities(chemprop, parts, seed)
    return forest(parts, seed) if peer == "forest" else boosting(parts, seed)


def forest(parts: MoleculeParts, seed: int) -> np.ndarray:
    """Probabilities ``[G, C]`` from a random forest on fingerprints and descriptors."""
    from sklearn.ensemble import RandomForestClassifier

    smiles, labels = parts.train
    model = RandomForestClassifier(n_estimators=TREES, random_state=seed, n_jobs=1)
    model.fit(_columns(smiles, fingerprints=True), labels)
    return _of_all_classes(model.predict_proba(_columns(parts.test, fingerprints=True)), model.classes_, parts)


def boosting(parts: MoleculeParts, seed: int) -> np.ndarray:
    """Probabilities ``[G, C]`` from gradient boosting on descriptors."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    smiles, labels = parts.train
    model = HistGradientBoostingClassifier(random_state=seed)
    model.fit(_columns(smiles), labels)
    return _of_all_classes(model.predict_proba(_columns(parts.test)), model.classes_, parts)


def _of_all_classes(found: np.ndarray, classes: np.ndarray, parts: MoleculeParts) -> np.ndarray:
    """Probabilities with a column for every class, also for one that the training part has no example of."""
    result = np.zeros((len(found), parts.num_classes))
    result[:, classes] = found
    return result


def _columns(smiles: Sequence[str], fingerprints: bool = False) -> np.ndarray:
    """Descriptors ``[G, D]``, beside them 2 048 bits where asked; what RDKit cannot compute is 0."""
    rows = [described(one) for one in smiles]
    descriptors = np.nan_to_num(np.stack([row for row, _ in rows]), nan=0.0, posinf=0.0, neginf=0.0)
    columns = descriptors.clip(-1e6, 1e6).astype(np.float32)
    return np.concatenate([columns, np.stack([bits for _, bits in rows])], axis=1) if fingerprints else columns


@lru_cache(maxsize=20_000)
def described(smiles: str) -> tuple[np.ndarray, np.ndarray]:
    """RDKit's descriptors and the bits of ECFP4 of a molecule."""
    from rdkit.Chem.Descriptors import CalcMolDescriptors
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    from protgnn.featurizers.molecule import parse, quiet

    with quiet():
        mol = parse(smiles)
        assert mol is not None, smiles
        descriptors = np.array(list(CalcMolDescriptors(mol).values()), dtype=np.float64)  # type: ignore[no-untyped-call]
        bits = GetMorganGenerator(radius=2, fpSize=2048).GetFingerprintAsNumPy(mol)
    return descriptors, bits.astype(np.float32)


def chemprop_version(python: str) -> str:
    """The version of chemprop that a Python environment has."""
    asked = "import importlib.metadata as m; print(m.version('chemprop'))"
    found = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def chemprop_probabilities(python: str, parts: MoleculeParts, seed: int, epochs: int = EPOCHS) -> np.ndarray:
    """Probabilities ``[G, C]`` from chemprop's own commands, which read and write CSV files."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        _write_split(folder / "all.csv", parts)
        _write_rows(folder / "test.csv", [["smiles"], *([one] for one in parts.test)])
        binary = parts.num_classes == 2
        task = ["classification"] if binary else ["multiclass", "--multiclass-num-classes", str(parts.num_classes)]
        shared = ["--smiles-columns", "smiles", "--accelerator", "cpu", "--devices", "1", "--num-workers", "0"]
        columns = ["--target-columns", "label", "--splits-column", "split"]
        trained = ["--epochs", str(epochs), "--pytorch-seed", str(seed), "--output-dir", "run"]
        _chemprop(python, folder, ["train", "--data-path", "all.csv", "-t", *task, *columns, *trained, *shared])
        best = ["--model-paths", "run/model_0/best.pt", "--output", "said.csv", "--drop-extra-columns"]
        _chemprop(python, folder, ["predict", "--test-path", "test.csv", *best, *shared])
        return _read_probabilities(folder / "said.csv", parts.num_classes)


def _chemprop(python: str, folder: Path, arguments: list[str]) -> None:
    command = [python, "-c", "from chemprop.cli.main import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"chemprop {arguments[0]} failed:\n{done.stderr[-2000:]}")


def _environment() -> dict[str, str]:
    """That of this process without its paths to modules, with one thread, as our own runs have."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1"}


def _write_split(path: Path, parts: MoleculeParts) -> None:
    rows: list[list[str]] = [["smiles", "label", "split"]]
    for name, smiles, labels in zip(("train", "val", "test"), parts.smiles, parts.labels, strict=True):
        rows += [[one, str(label), name] for one, label in zip(smiles, labels, strict=True)]
    _write_rows(path, rows)


def _write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _read_probabilities(path: Path, num_classes: int) -> np.ndarray:
    """What chemprop wrote: the probability of class 1, or those of all classes in one cell."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if num_classes == 2:
        positive = np.array([float(row["label"]) for row in rows])
        return np.stack([1 - positive, positive], axis=1)
    return np.array([[float(one) for one in row["label_prob"].split(",")] for row in rows])
