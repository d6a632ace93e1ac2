"""A network as two tables in a folder: ``nodes.csv`` and ``edges.csv``, each with a header.

========== =====================================================================================
nodes.csv  a column ``id`` of any texts, each once; perhaps a label column (empty where the class is
           unknown) and a column ``split`` of train, valid, test (empty for none). Every other column
           is a feature: numbers, centred and scaled, and texts as kinds. An empty cell among numbers
           gets the mean of the column, and ``missing=…`` says where
edges.csv  columns ``source`` and ``target`` of ids; every other column is a feature of the edge. An
           edge that is listed several times with different features has their mean
========== =====================================================================================

Columns of other names can be chosen. Commas, semicolons and tabs separate alike.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
import torch
from torch import Tensor

from protgnn.data.canonical_edges import merged_edges
from protgnn.data.label_texts import LABEL_COLUMNS, merged_spellings, missing_labels
from protgnn.data.labels import UNKNOWN, to_classes, to_known_classes
from protgnn.data.network.network import Network
from protgnn.data.network.node_split import PARTS, check_node_split
from protgnn.data.schema import Schema
from protgnn.data.split import Split
from protgnn.datasets.readers.columns import Columns, scale_of, scaled
from protgnn.datasets.readers.reader import NetworkData, NetworkReader, Task
from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.tables import listed, named_column, read_table, unique_column

ID_COLUMNS = ("id", "node", "node_id", "name")
SPLIT_COLUMNS = ("split", "part")
END_COLUMNS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("node1", "node2"))
_PART_OF = {"train": 0, "training": 0, "valid": 1, "validation": 1, "val": 1, "dev": 1, "test": 2, "testing": 2}


@dataclass(frozen=True)
class NetworkColumns:
    """Which columns mean what, where they are not called as usual; ``kinds`` are columns whose numbers are codes."""

    id: str | None = None
    label: str | None = None
    split: str | None = None
    source: str | None = None
    target: str | None = None
    kinds: tuple[str, ...] = ()


def is_network_folder(folder: str | Path) -> bool:
    """Whether a folder holds ``nodes.csv`` or ``edges.csv``."""
    return any(_file(Path(folder), part).is_file() for part in ("nodes", "edges"))


def read_network_folder(
    folder: str | Path,
    columns: NetworkColumns | None = None,
    directed: bool = False,
    schema: Schema | None = None,
    ignore_labels: bool = False,
    of_nodes: bool = True,
) -> NetworkData:
    """The network of a folder. With the ``schema`` of a trained model, features are its columns and labels, which
    may then be missing, its classes; ``ignore_labels`` where the classes of the model are not of nodes. Unless nodes
    are what is learned (``of_nodes``) a column that only seems to hold labels is a feature, and no split is read."""
    wanted = columns or NetworkColumns()
    nodes, edges = (_Table(_file(Path(folder), part), part) for part in ("nodes", "edges"))
    names = [text.strip() for text in nodes.take(nodes.column(wanted.id, ID_COLUMNS, "id", "the ids"))]
    number = _numbered(nodes, names)
    y, classes = (None, ()) if ignore_labels else _classes(nodes, wanted.label, schema, of_nodes)
    split_column = nodes.column(wanted.split, SPLIT_COLUMNS, "split")
    split = None
    if split_column is not None:
        cells = nodes.take(split_column)
        split = _split(nodes, split_column, cells) if of_nodes and schema is None else None
    edge_index = _edges(edges, wanted, number, nodes.path)

    for kind in wanted.kinds:
        if kind not in nodes.columns and kind not in edges.columns:
            raise DataError(f"Neither {nodes.path} nor {edges.path} has a feature column {kind!r}: correct `kinds`")
    node_columns, edge_columns = (Columns(table.path, table.columns, table.lines) for table in (nodes, edges))
    attr: Tensor | None = None
    if schema is None:
        x, node_names = node_columns.features(wanted.kinds)
        edge_names: tuple[str, ...] = ()
        if edges.columns:
            attr, edge_names = edge_columns.features(wanted.kinds)
        node_scale = scale_of(x, node_names)
        edge_scale = () if attr is None else scale_of(attr, edge_names)
    else:
        node_names, edge_names = schema.node_features, schema.edge_features
        x = node_columns.features_of(node_names, schema.node_scale)
        attr = edge_columns.features_of(edge_names, schema.edge_scale) if edge_names else None
        node_scale, edge_scale = schema.node_scale, schema.edge_scale
    x, attr = scaled(x, node_scale), None if attr is None else scaled(attr, edge_scale)
    made = Schema(
        class_names=classes,
        node_features=node_names,
        edge_features=edge_names,
        node_scale=node_scale,
        edge_scale=edge_scale,
    )
    if attr is not None:
        edge_index, attr = _merged(edges, edge_index, attr, len(names), directed)
    network, notes = Network.from_edge_index(
        x, edge_index, edge_attr=attr, y=y, names=names, schema=made, directed=directed
    )
    if split is not None and y is not None and schema is None:
        check_node_split(network, split, f"{nodes.path}: the column {split_column!r}")
    return NetworkData(network, split, [*nodes.notes, *edges.notes, *node_columns.notes, *edge_columns.notes, *notes])


def _merged(edges: _Table, edge_index: Tensor, attr: Tensor, num_nodes: int, directed: bool) -> tuple[Tensor, Tensor]:
    """Edges ``[2, E]`` and their attributes ``[E, D]``, those listed several times with the mean of them."""
    source, target = edge_index.numpy()
    source, target, attr, merged = merged_edges(source, target, num_nodes, attr, directed)
    if merged:
        edges.notes.append(
            f"{merged} edges of {edges.path.name} are listed several times with different attributes: "
            "each has their mean"
        )
        edge_index = torch.from_numpy(np.stack([source, target]))
    return edge_index, attr


def read_pairs(place: Path, network: Network) -> Tensor:
    """The pairs of nodes ``[P, 2]`` in ``pairs.csv`` in the folder of a network, or beside its file; the columns are
    those of ``edges.csv``. Nodes that have no names go by their numbers."""
    path = _file(place if place.is_dir() else place.parent, "pairs")
    if not path.is_file():
        raise DataError(f"{path}: there is no such file: give it the columns source and target, one pair in each row")
    table = _Table(path, "edges")
    number = {network.name(node): node for node in range(len(network))}
    if network.names is None:
        number |= {str(node): node for node in range(len(network))}
    source = place / "nodes.csv" if place.is_dir() else place
    pairs = _edges(table, NetworkColumns(), number, source).t().contiguous()
    same = (pairs[:, 0] == pairs[:, 1]).nonzero()
    if len(same):
        raise DataError(f"{table.where(int(same[0, 0]))}: expected two different nodes: correct or remove the pair")
    return pairs


class _Table:
    """A file by columns; ``lines [R]`` says where each row stands. What is taken is no feature any more."""

    def __init__(self, path: Path, what: str) -> None:
        table = read_table(path)
        header, rows = table.header, table.rows
        for place, name in enumerate(header, 1):
            if not name:
                raise DataError(f"{path} line 1: column {place} has no name: name or remove it")
            if "=" in name:
                raise DataError(f"{path} line 1: the column name {name!r} holds an equals sign: rename it")
            unique_column(path, header, name)
        cells_of: tuple[list[str], ...] = tuple([] for _ in header)
        self.lines = array("q")
        for line, cells in rows:
            if len(cells) != len(header):
                what = f"{len(cells)} of {len(header)} cells" if cells else "an empty row"
                raise DataError(f"{path} line {line}: expected a cell for every column (got {what}): fix or remove it")
            self.lines.append(line)
            if not len(self.lines) % 100_000:
                self.check_rows(path, what)
            for column, cell in zip(cells_of, cells, strict=True):
                column.append(cell)
        self.check_rows(path, what)
        self.path, self.columns, self.notes = path, dict(zip(header, cells_of, strict=True)), table.notes

    def check_rows(self, path: Path, what: str) -> None:
        check_limit(what, len(self.lines) * (2 if what == "edges" else 1), str(path))

    def where(self, row: int) -> str:
        return f"{self.path} line {self.lines[row]}"

    @overload
    def column(self, name: str | None, usual: Sequence[str], option: str, needed: str) -> str: ...
    @overload
    def column(self, name: str | None, usual: Sequence[str], option: str) -> str | None: ...
    def column(self, name: str | None, usual: Sequence[str], option: str, needed: str | None = None) -> str | None:
        """The column of that name, or else the first of a usual name; ``needed`` says what for, if it must exist."""
        header = list(self.columns)
        if name is not None:
            named_column(self.path, header, name, f"`{option}`")
            return name
        found = [column for word in usual for column in header if column.lower() == word]
        if not found and needed is not None:
            raise DataError(
                f"{self.path} line 1: which column holds {needed}? Expected a column `{usual[0]}` "
                f"(got {listed(header)}): rename one to that"
            )
        return found[0] if found else None

    def take(self, column: str) -> list[str]:
        return self.columns.pop(column)


def _file(folder: Path, part: str) -> Path:
    """``nodes.csv``, or ``nodes.tsv`` if only that exists."""
    tabs = folder / f"{part}.tsv"
    comma = folder / f"{part}.csv"
    return tabs if tabs.is_file() and not comma.is_file() else comma


def _numbered(nodes: _Table, names: list[str]) -> dict[str, int]:
    """The number of each node by its id, which must be there and be its own."""
    number: dict[str, int] = {}
    for row, name in enumerate(names):
        check_limit("name_chars", len(name), nodes.where(row))
        if not name:
            raise DataError(f"{nodes.where(row)}: the id is missing: give the node one, or remove the row")
        if number.setdefault(name, row) != row:
            raise DataError(
                f"{nodes.where(row)}: the id {name!r} is that of line {nodes.lines[number[name]]} already: "
                "give every node an id of its own"
            )
    return number


def _classes(
    nodes: _Table, name: str | None, schema: Schema | None, of_nodes: bool
) -> tuple[Tensor | None, tuple[str, ...]]:
    """Classes ``[N]``, ``UNKNOWN`` where the cell is empty, and their names."""
    known = () if schema is None else schema.class_names
    column = nodes.column(name, LABEL_COLUMNS, "label")
    if column is None:
        return None, known
    texts = nodes.take(column)
    rows = [row for row, nothing in enumerate(missing_labels(texts)) if not nothing]
    given = [texts[row] for row in rows]
    notes: list[str] = []
    if not rows:
        if schema is None:
            raise DataError(f"{nodes.path}: the label column {column!r} is empty: give labels, or remove the column")
        return None, known

    def where(place: int) -> str:
        return nodes.where(rows[place])

    try:
        if schema is None:
            given, notes = merged_spellings(given)
            numbers, names = to_classes(given, where)
        else:
            numbers, names = to_known_classes(given, known, where), known
    except DataError:
        if of_nodes or name is not None:
            raise
        nodes.columns[column] = texts  # such as a coordinate y
        return None, known
    nodes.notes += notes
    return torch.full((len(texts),), UNKNOWN).index_put((torch.tensor(rows),), numbers), names


def _split(nodes: _Table, column: str, cells: list[str]) -> Split:
    """Node numbers of each part; a node with an empty cell is in none."""
    parts: tuple[list[int], ...] = ([], [], [])
    for row, cell in enumerate(cells):
        word = cell.strip().lower()
        if word in _PART_OF:
            parts[_PART_OF[word]].append(row)
        elif word:
            raise DataError(
                f"{nodes.where(row)}: expected train, valid, test or nothing in column {column!r} (got {cell!r}): "
                "correct it, or rename the column if it is no split"
            )
    for name, members in zip(PARTS, parts, strict=True):
        if not members:
            raise DataError(f"{nodes.path}: the column {column!r} leaves no node to the part {name}: give it some")
    return Split(*(torch.tensor(members) for members in parts))


def _edges(edges: _Table, wanted: NetworkColumns, number: dict[str, int], nodes_path: Path) -> Tensor:
    """The ends of edges as node numbers, ``[2, E]``."""
    lower = {name.lower() for name in edges.columns}
    usual = next((pair for pair in END_COLUMNS if set(pair) <= lower), END_COLUMNS[0])
    found = []
    for name, word, option in zip((wanted.source, wanted.target), usual, ("source", "target"), strict=True):
        column = edges.column(name, (word,), option, f"the {option} of an edge")
        numbers = array("q", (number.get(cell.strip(), UNKNOWN) for cell in edges.columns[column]))
        ends = torch.frombuffer(numbers, dtype=torch.int64)
        if bool((ends == UNKNOWN).any()):
            row = int((ends == UNKNOWN).nonzero()[0, 0])
            raise DataError(
                f"{edges.where(row)}: the {column} {edges.columns[column][row].strip()!r} is no node of "
                f"{nodes_path.name}: add it there, or remove the edge"
            )
        edges.take(column)
        found.append(ends)
    return torch.stack(found)


def _read(path: Path, label: str | None, directed: bool, task: Task | None) -> NetworkData:
    """To predict links, nodes need no labels and no split."""
    return read_network_folder(path, NetworkColumns(label=label), directed, of_nodes=task != "links")


def _read_new(path: Path, schema: Schema, label: str | None, directed: bool, ignore_labels: bool) -> NetworkData:
    return read_network_folder(path, NetworkColumns(label=label), directed, schema, ignore_labels)


READERS = (
    NetworkReader(
        what="a network folder",
        is_folder=is_network_folder,
        options=frozenset({"label"}),
        read=_read,
        read_new=_read_new,
    ),
)
