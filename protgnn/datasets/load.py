"""Data by name or path: find what a text means, read it with the format's reader, and check it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from protgnn.data.stats import fingerprint, statistics
from protgnn.data.validate import check
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.network_dataset import NetworkDataset, network_dataset
from protgnn.datasets.new_input import existing_path, read_for_prediction
from protgnn.datasets.readers.options import ReadOptions
from protgnn.datasets.readers.reader import (
    Loaded,
    NetworkData,
    Source,
    Task,
    endings,
    network_reader,
    refuse_options,
    to_train,
)
from protgnn.datasets.registry import (
    Entry,
    catalogue,
    in_data_folder,
    named_dataset,
    named_datasets,
    named_networks,
    takes_words,
)
from protgnn.errors import DataError
from protgnn.io.text import ending, nothing_there, title

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

_OWN = "Your own data"


def load(
    name: str | Path,
    *,
    smiles: str | None = None,
    text: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    task: Task | None = None,
    directed: bool = False,
    words: str | None = None,
    threshold: float | str | None = None,
    bins: int | str | Sequence[float] | None = None,
    standardise: bool = False,
    dedupe: bool = False,
) -> Dataset | NetworkDataset:
    """A dataset by name (``catalogue`` lists them) or by path.

    The path is that of a table of SMILES or sentences (CSV, TSV, Excel), an SDF, a ``.smi``, CoNLL-U or JSONL file, a
    TU folder, a folder with ``nodes.csv`` and ``edges.csv``, or a saved PyG ``Data``.

    Args:
        name: The name or path.
        smiles: The column with the SMILES; guessed if it is not named.
        text: The column with the sentences.
        label: The column, or comment of a CoNLL-U file, with the class.
        skip_bad: Skip and count rows that cannot be read.
        task: Of a network, whether its nodes or its links are predicted.
        directed: Of a network, whether edges have a direction.
        words: Of sentences, which features words get: ``"static"`` vectors, the default, ``"contextual"`` ones of a
            transformer, or those of a model folder.
        threshold: Cut measured values into two classes, below this and not.
        bins: Cut measured values into so many classes of about equal size, or at these numbers.
        standardise: Take salts and charges off molecules.
        dedupe: Count each molecule once, and leave out those whose rows disagree on the label.

    Raises:
        DataError: There is no such data, or all that is wrong with it.
    """
    values: dict[str, Any] = {"threshold": threshold, "bins": bins, "standardise": standardise, "dedupe": dedupe}
    return _load(str(name), ReadOptions(smiles, text, label, skip_bad, words=words, **values), task, directed)


def _load(wanted: str, options: ReadOptions, task: Task | None, directed: bool) -> Dataset | NetworkDataset:
    known = wanted.lower()
    path, networks = existing_path(wanted), named_networks()
    has_name = known in named_datasets() or known in networks
    if path is None and not has_name:
        path = in_data_folder(wanted)
        if path is None and _looks_like_path(wanted):
            raise DataError(nothing_there(wanted))
    if path is not None or has_name:
        refuse_options(
            path or Path(wanted), options, frozenset({"words"} if path is None and takes_words(known) else ())
        )
    if path is None and known in networks:
        named = networks[known]
        return network_dataset(known, NetworkData(named.make(0)), task, named.description, named.origin)
    reader = None if path is None else network_reader(path)
    if path is not None and reader is not None:
        return network_dataset(path.stem, reader.read(path, options.label, directed, task), task, _OWN, str(path))
    if task is not None or directed:
        raise DataError(f"{wanted} holds graphs, which get a label as a whole: leave --task and --directed out")
    if path is not None:
        return _own(Source(path, options))
    entry = named_dataset(wanted, options.label, options.words)
    return _checked(known, entry.read(), entry.description, entry.origin)


def load_graphs(name: str | Path, words: str | None = None) -> Dataset:
    """A dataset of graphs; a network is refused."""
    data = load(name, words=words)
    if isinstance(data, NetworkDataset):
        raise DataError(f"Expected graphs, each with a label (got the network {data.name})")
    return data


def read_csv(
    path: str | Path,
    smiles: str | None = None,
    label: str | None = None,
    skip_bad: bool = False,
    text: str | None = None,
    words: str | None = None,
    *,
    threshold: float | str | None = None,
    bins: int | str | Sequence[float] | None = None,
    standardise: bool = False,
    dedupe: bool = False,
) -> Dataset:
    """A dataset from a CSV of SMILES or sentences with a label, or another table; :func:`load` tells the arguments."""
    values: dict[str, Any] = {"threshold": threshold, "bins": bins, "standardise": standardise, "dedupe": dedupe}
    return _own(Source(Path(path), ReadOptions(smiles, text, label, skip_bad, words=words, **values)))


def _own(source: Source) -> Dataset:
    """A file or folder of the user's."""
    return _checked(title(source.path), _read(source), _OWN, str(source.path))


def _read(source: Source) -> Loaded:
    reader = to_train(source)
    if source.options.words is not None and "words" not in reader.options:  # a CSV may hold molecules or sentences
        raise DataError(f"{source.path}: leave --words out, which is for sentences, and these are {reader.kind}s")
    assert reader.read is not None
    return reader.read(source)


def _checked(name: str, read: Loaded, description: str, origin: str) -> Dataset:
    try:
        graphs, notes = check(read.graphs, training=True)
    except DataError as error:  # what was left out may be why
        raise DataError("\n".join([str(error), *(f"note: {note}" for note in read.notes)])) from None
    notes = [*read.notes, *notes]
    return Dataset(
        name,
        graphs,
        description,
        origin,
        read.given_split,
        notes,
        standard_split=read.standard_split,
        settled=read.settled,
    )


def _looks_like_path(text: str) -> bool:
    return os.sep in text or ending(Path(text)) in endings(training=False)
