"""The catalogue: every dataset that has a name, what it is, and how it is made or found.

A new dataset is a line in :func:`named_datasets` or :func:`named_networks`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.network import Network
from protgnn.datasets.download import MOLECULE_NET, TU_NAMES, download_molecules, download_tu
from protgnn.datasets.readers.reader import Loaded, ReadOptions, Source, endings, to_train
from protgnn.errors import DataError
from protgnn.io.text import ending, title

__all__ = [
    "DATA_VARIABLE",
    "Entry",
    "NamedDataset",
    "NamedNetwork",
    "catalogue",
    "in_data_folder",
    "named_dataset",
    "named_datasets",
    "named_networks",
    "takes_words",
]

DATA_VARIABLE = "PROTGNN_DATA"
MOTIF_MOLECULES = "motif-molecules"
_BENZENE = "c1ccccc1"


@dataclass(frozen=True)
class Entry:
    """A line of ``protgnn data list``."""

    name: str
    task: str
    description: str
    origin: str
    available: bool


@dataclass(frozen=True)
class NamedDataset:
    """A dataset by name: its task in words, what it is, where it comes from, how to read it and whether it is here."""

    task: str
    description: str
    origin: str
    read: Callable[..., Loaded]
    available: Callable[[], bool] = lambda: True
    takes_words: bool = False
    """Whether they are sentences, whose words may get other features: ``read`` then takes a choice of words."""


@dataclass(frozen=True)
class NamedNetwork:
    """A network by name: its task in words, what it is, where it comes from, and how it is made from a seed."""

    task: str
    description: str
    origin: str
    make: Callable[[int], Network]


def catalogue() -> list[Entry]:
    """Every dataset that has a name, and whether it can be loaded now without a network."""
    graphs = [
        Entry(name, known.task, known.description, known.origin, known.available())
        for name, known in named_datasets().items()
    ]
    networks = [
        Entry(name, known.task, known.description, known.origin, True) for name, known in named_networks().items()
    ]
    return [*graphs, *networks]


def named_dataset(name: str, label: str | None = None, words: str | None = None) -> NamedDataset:
    """A dataset of graphs by its name, whatever its case: ours, a motif task as it is written, or one of the TU and
    MoleculeNet collections; ``label`` is the column of one of the latter, ``words`` is for sentences."""
    name = name.lower()
    known = named_datasets().get(name)
    if known is not None:
        return replace(known, read=partial(known.read, words)) if known.takes_words else known
    prefix, _, task = name.partition(":")
    if prefix == MOTIF_MOLECULES and set(task) & set("+|!"):
        return _motif_dataset(task)
    return _downloadable(name, label)


@cache
def named_datasets() -> dict[str, NamedDataset]:
    """Every dataset of graphs that has a name."""
    from protgnn.datasets.builtin.smarts_motifs import COMBINED_TASKS, DEFAULT_TASK, MOTIFS

    known = {
        "solubility": NamedDataset(
            "3-class molecules",
            "Water solubility of 1 282 organic molecules: low, medium or high",
            "Huuskonen 2000, in the classes of RDKit's book data",
            _solubility,
        ),
        "ba-2motifs": NamedDataset(
            "2-class graphs",
            "1 000 Barabási–Albert graphs with a house or a cycle of five attached; the true nodes are known",
            "Luo et al. 2020, generated",
            _ba_2motifs,
        ),
        "mutag": NamedDataset(
            "2-class molecules",
            "188 nitro compounds, mutagenic or not",
            "Debnath et al. 1991, TUDataset collection",
            _mutag,
            lambda: in_data_folder("MUTAG") is not None,
        ),
        "bbbp": NamedDataset(
            "2-class molecules",
            "2 039 molecules that do or do not pass the blood-brain barrier",
            "Martins et al. 2012, MoleculeNet",
            _bbbp,
            lambda: in_data_folder("bbbp") is not None,
        ),
        "benzene": NamedDataset(
            "2-class molecules",
            "12 000 ZINC molecules with or without a benzene ring; the true atoms are known",
            "Sanchez-Lengeling et al. 2020, as distributed by GraphXAI",
            _benzene,
            lambda: in_data_folder("benzene") is not None,
        ),
        "graph-sst2": NamedDataset(
            "2-class sentences",
            "70 042 phrases of film reviews as dependency trees, positive or negative",
            "Socher et al. 2013, parsed",
            partial(_sentences, "graph-sst2"),
            lambda: in_data_folder("graph-sst2") is not None,
            takes_words=True,
        ),
        "graph-twitter": NamedDataset(
            "3-class sentences",
            "6 940 tweets as dependency trees, positive, neutral or negative about a target",
            "Dong et al. 2014, parsed",
            partial(_sentences, "graph-twitter"),
            lambda: in_data_folder("graph-twitter") is not None,
            takes_words=True,
        ),
    }
    known[MOTIF_MOLECULES] = _motif_dataset(DEFAULT_TASK)
    known |= {f"{MOTIF_MOLECULES}:{task}": _motif_dataset(task) for task in (*MOTIFS, *COMBINED_TASKS)}
    return known


def _motif_dataset(task: str) -> NamedDataset:
    from protgnn.datasets.builtin.smarts_motifs import parse_task

    without, having = parse_task(task).class_names
    return NamedDataset(
        "2-class molecules",
        f"ChEMBL molecules, {having} or {without}; the true atoms are known",
        "ChEMBL samples and drugs, labelled by SMARTS",
        partial(_motif_molecules, task),
    )


def named_networks() -> dict[str, NamedNetwork]:
    """Every network that has a name."""
    published = "Ying et al. 2019, generated"
    houses = "300 Barabási–Albert nodes with 80 houses attached; the true nodes are known"
    cycles = "A binary tree with 80 cycles of six attached; the true nodes are known"
    return {
        "ba-shapes": NamedNetwork(
            "4-class nodes", f"{houses}; features are degrees", published, partial(_ba_shapes, degrees=True)
        ),
        "ba-shapes:constant": NamedNetwork("4-class nodes", f"{houses}; features are ones", published, _ba_shapes),
        "tree-cycles": NamedNetwork(
            "2-class nodes", f"{cycles}; features are degrees", published, partial(_tree_cycles, degrees=True)
        ),
        "tree-cycles:constant": NamedNetwork("2-class nodes", f"{cycles}; features are ones", published, _tree_cycles),
        "communities": NamedNetwork(
            "4-class nodes, or links", "A stochastic block model of 600 nodes in 4 groups", "generated", _communities
        ),
        "web": NamedNetwork(
            "5-class nodes", "10 000 nodes with hubs and 100 000 edges, for measuring", "generated", _web
        ),
    }


def takes_words(name: str) -> bool:
    """Whether a dataset with a name holds sentences, whose words may get other features."""
    known = named_datasets().get(name.lower())
    return known is not None and known.takes_words


def in_data_folder(name: str) -> Path | None:
    """``PROTGNN_DATA/name``, a folder or a file of a kind that can be read, whatever its case."""
    place = os.environ.get(DATA_VARIABLE)
    if not place:
        return None
    folder = Path(place).expanduser()
    if not folder.is_dir():
        raise DataError(f"{DATA_VARIABLE} is set to {place}, which is no folder: correct or unset it")
    wanted, suffixes = name.lower(), endings(training=True)
    for path in sorted(folder.iterdir()):
        if path.name.lower() == wanted or (title(path).lower() == wanted and ending(path) in suffixes):
            return path
    return None


def _ba_shapes(seed: int, degrees: bool = False) -> Network:
    from protgnn.datasets.builtin.networks import ba_shapes

    return ba_shapes(seed, features="degree" if degrees else "constant")


def _tree_cycles(seed: int, degrees: bool = False) -> Network:
    from protgnn.datasets.builtin.networks import tree_cycles

    return tree_cycles(seed, features="degree" if degrees else "constant")


def _communities(seed: int) -> Network:
    from protgnn.datasets.builtin.networks import communities

    return communities(seed=seed)


def _web(seed: int) -> Network:
    from protgnn.datasets.builtin.networks import web_network

    return web_network(seed=seed)


def _solubility() -> Loaded:
    from protgnn.datasets.builtin.solubility import read_solubility

    graphs, given = read_solubility()
    return Loaded(graphs, given_split=given)


def _ba_2motifs() -> Loaded:
    from protgnn.datasets.builtin.ba_2motifs import ba_2motifs

    return Loaded(ba_2motifs())


def _motif_molecules(task: str) -> Loaded:
    from protgnn.datasets.builtin.smarts_motifs import motif_molecules

    return Loaded(motif_molecules(task))


def _mutag() -> Loaded:
    from protgnn.datasets.readers.tu import read_tu

    return Loaded(*read_tu(in_data_folder("MUTAG") or download_tu("MUTAG", DATA_VARIABLE)))


def _bbbp() -> Loaded:
    from protgnn.datasets.readers.smiles import read_csv as read

    found = in_data_folder("bbbp")
    label = None if found else "p_np"
    # Eleven rows have impossible valences; everyone who uses this dataset leaves them out.
    graphs, notes = read(found or download_molecules("bbbp", DATA_VARIABLE), label=label, skip_bad=True)
    return Loaded(_renamed(graphs, {"0": "non-penetrating", "1": "penetrating"}), notes)


def _benzene() -> Loaded:
    from protgnn.datasets.readers.smiles import read_csv as read
    from protgnn.featurizers.molecule import pattern

    found = in_data_folder("benzene")
    if found is None:
        raise DataError(f"benzene is not on this machine: set {DATA_VARIABLE} to a folder that holds benzene.csv")
    graphs, notes = read(found, truth=pattern(_BENZENE))
    return Loaded(_renamed(graphs, {"0": "no benzene", "1": "benzene"}), notes)


def _sentences(name: str, words: str | None) -> Loaded:
    found = in_data_folder(name)
    if found is None:
        raise DataError(f"{name} is not on this machine: set {DATA_VARIABLE} to a folder that holds {name}.conllu.gz")
    source = Source(found, ReadOptions(words=words))
    read = to_train(source).read
    assert read is not None
    return read(source)


def _renamed(graphs: GraphSet, names: dict[str, str]) -> GraphSet:
    class_names = tuple(names.get(name, name) for name in graphs.schema.class_names)
    return replace(graphs, schema=replace(graphs.schema, class_names=class_names))


def _downloadable(name: str, label: str | None) -> NamedDataset:
    """A dataset of the TU or MoleculeNet collections by its name there."""
    tu = {known.lower(): known for known in TU_NAMES}.get(name.lower())
    if tu is not None:
        return NamedDataset("graphs", f"{tu} of the TUDataset collection", "TUDataset", lambda: _tu(tu))
    if name.lower() in MOLECULE_NET:
        return NamedDataset(
            "molecules", f"{name} of MoleculeNet", "MoleculeNet", lambda: _molecule_net(name.lower(), label)
        )
    names = [*named_datasets(), *named_networks(), *TU_NAMES, *MOLECULE_NET]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    raise DataError(
        f"No dataset or file is called {name!r}. "
        + (f"Did you mean {' or '.join(near)}? " if near else "")
        + f"Known names: {', '.join(known for known in (*named_datasets(), *named_networks()) if ':' not in known)}, "
        "and those of TUDataset and MoleculeNet. "
        "Or give the path of your own data"
    )


def _tu(name: str) -> Loaded:
    from protgnn.datasets.readers.tu import read_tu

    return Loaded(*read_tu(download_tu(name, DATA_VARIABLE)))


def _molecule_net(name: str, label: str | None) -> Loaded:
    from protgnn.datasets.readers.smiles import read_csv as read

    return Loaded(*read(download_molecules(name, DATA_VARIABLE), label=label, skip_bad=True))
