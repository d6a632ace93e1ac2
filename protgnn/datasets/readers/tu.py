"""Folders of the TUDataset collection: ``DS_A.txt`` and its companions (https://chrsmrrs.github.io/datasets/docs/format).

Node and edge labels become one-hot columns, attributes follow as they are, and then, for nodes, the degree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.degree import one_hot_degrees
from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import to_classes
from protgnn.data.schema import DEGREES, Schema
from protgnn.datasets.readers.reader import Labels, Loaded, Reader, Source
from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.text import read_text

_MAX_ONE_HOT = 1000  # more different labels than this are numbers, not kinds

# What the label numbers of MUTAG stand for: they are the same in every copy of it.
_MUTAG_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
_MUTAG_BONDS = ("aromatic", "single", "double", "triple")
_MUTAG_CLASSES = {"-1": "non-mutagen", "1": "mutagen"}


@dataclass(frozen=True)
class _Columns:
    """A block of feature columns ``[rows, names]``."""

    names: tuple[str, ...]
    values: Tensor


def find_tu(folder: str | Path) -> Path | None:
    """The ``DS_A.txt`` of a TU folder, in it or in its ``raw`` folder; nothing if it is no TU folder."""
    for place in (Path(folder), Path(folder) / "raw"):
        found = sorted(place.glob("*_A.txt")) if place.is_dir() else []
        if len(found) > 1:
            raise DataError(f"{place} holds several TU datasets ({', '.join(path.name for path in found)}): keep one")
        if found:
            return found[0]
    return None


def read_tu(folder: str | Path, schema: Schema | None = None) -> tuple[GraphSet, list[str]]:
    """Graphs of a TU folder and notes. With the ``schema`` of a trained model, columns are those of the schema."""
    adjacency = find_tu(folder)
    if adjacency is None:
        raise DataError(f"{folder} is no TU folder: expected a file DS_A.txt in it or in its `raw` folder")
    base, dataset = adjacency.parent, adjacency.name.removesuffix("_A.txt")

    def path(part: str) -> Path:
        return base / f"{dataset}_{part}.txt"

    indicator = _whole(path("graph_indicator"), width=1)[:, 0]
    num_nodes = len(indicator)
    check_limit("nodes", num_nodes, str(path("graph_indicator")))
    labels_path = path("graph_labels")
    if not labels_path.exists() and schema is None:
        raise DataError(f"{labels_path}: there is no such file; expected one class per graph in it")
    raw_labels = _whole(labels_path, width=1)[:, 0] if labels_path.exists() else None
    num_graphs = min(int(indicator.max()), num_nodes) if raw_labels is None else len(raw_labels)
    outside = (indicator < 1) | (indicator > num_graphs)
    if outside.any():
        line = int(outside.argmax()) + 1
        raise DataError(
            f"{path('graph_indicator')} line {line}: graph {indicator[line - 1]} but the graphs are 1 to {num_graphs}: "
            "one of the files is short or from another dataset"
        )
    check_limit("graph_nodes", int(np.bincount(indicator).max()), str(path("graph_indicator")))
    edges = _edges(adjacency, indicator)
    check_limit("edges", len(edges), str(adjacency))

    notes: list[str] = []
    node_blocks = _blocks(path("node_labels"), path("node_attributes"), num_nodes, "nodes")
    edge_blocks = _blocks(path("edge_labels"), path("edge_attributes"), len(edges), "edges")
    if dataset == "MUTAG":
        node_blocks, edge_blocks = _named(node_blocks, _MUTAG_ATOMS), _named(edge_blocks, _MUTAG_BONDS)
    degrees = schema is None or set(DEGREES) <= set(schema.node_features)
    if not node_blocks and not degrees:
        raise DataError(f"{base}: it has neither node labels nor attributes, and the model was trained with some")
    if not node_blocks:
        notes.append(f"{dataset} has no node labels or attributes: nodes are described by their degree (one-hot)")
    if degrees:
        node_blocks.append(_Columns(DEGREES, one_hot_degrees(edges, num_nodes)))
    x = _joined(node_blocks, schema.node_features if schema else None, adjacency)
    attributes = _joined(edge_blocks, schema.edge_features if schema else None, adjacency) if edge_blocks else None

    y, class_names = None, schema.class_names if schema else ()
    if raw_labels is not None:
        y, class_names = to_classes([str(label) for label in raw_labels], lambda row: f"{labels_path} line {row + 1}")
        if dataset == "MUTAG":
            class_names = tuple(_MUTAG_CLASSES.get(name, name) for name in class_names)

    made = Schema(
        kind="molecule" if dataset == "MUTAG" else "graph",
        class_names=class_names,
        node_features=x.names,
        edge_features=() if attributes is None else attributes.names,
    )
    return _packed(indicator, edges, num_graphs, x, attributes, y, made), notes


def _packed(
    indicator: np.ndarray,
    edges: np.ndarray,
    num_graphs: int,
    x: _Columns,
    attributes: _Columns | None,
    y: Tensor | None,
    schema: Schema,
) -> GraphSet:
    """Graphs side by side, from nodes and edges that are numbered over all graphs in any order."""
    order = np.argsort(indicator, kind="stable")  # nodes of a graph need not stand together
    position = np.empty(len(indicator), dtype=np.int64)
    position[order] = np.arange(len(indicator))
    owner = indicator[edges[:, 0]] - 1
    edge_order = np.argsort(owner, kind="stable")
    node_ptr = offsets(torch.from_numpy(np.bincount(indicator - 1, minlength=num_graphs)))
    first = node_ptr.numpy()[owner[edge_order]]
    return GraphSet(
        x=x.values[torch.from_numpy(order)],
        edge_index=torch.from_numpy(position[edges[edge_order]].T - first),
        node_ptr=node_ptr,
        edge_ptr=offsets(torch.from_numpy(np.bincount(owner, minlength=num_graphs))),
        edge_attr=None if attributes is None else attributes.values[torch.from_numpy(edge_order)],
        y=y,
        schema=schema,
    )


def _edges(path: Path, indicator: np.ndarray) -> np.ndarray:
    """Pairs of nodes ``[E, 2]``, numbered from 0 over all graphs."""
    edges = _whole(path, width=2, may_be_empty=True) - 1
    outside = ((edges < 0) | (edges >= len(indicator))).any(axis=1)
    if outside.any():
        line = int(outside.argmax()) + 1
        raise DataError(
            f"{path} line {line}: edge {tuple((edges[line - 1] + 1).tolist())} but the nodes are 1 to {len(indicator)}"
            ": one of the files is short or from another dataset"
        )
    across = indicator[edges[:, 0]] != indicator[edges[:, 1]]
    if across.any():
        line = int(across.argmax()) + 1
        raise DataError(
            f"{path} line {line}: edge {tuple((edges[line - 1] + 1).tolist())} joins two graphs: "
            "its ends must belong to one graph"
        )
    return edges


def _blocks(labels: Path, attributes: Path, rows: int, what: str) -> list[_Columns]:
    """One-hot labels and attributes, those of the two that exist."""
    found = []
    if labels.exists():
        values = _whole(labels, may_be_empty=not rows)
        _same_length(labels, values, rows, what)
        for column in range(values.shape[1]):
            kinds, place = np.unique(values[:, column], return_inverse=True)
            if len(kinds) > _MAX_ONE_HOT:
                raise DataError(f"{labels}: {len(kinds)} different labels are too many: give them as attributes")
            prefix = "label" if values.shape[1] == 1 else f"label{column}"
            one_hot = torch.eye(len(kinds))[torch.from_numpy(place.reshape(-1))]
            found.append(_Columns(tuple(f"{prefix}={kind}" for kind in kinds), one_hot))
    if attributes.exists():
        numbers = _numbers(attributes, may_be_empty=not rows)
        _same_length(attributes, numbers, rows, what)
        names = tuple(f"attribute{column}" for column in range(numbers.shape[1]))
        found.append(_Columns(names, torch.from_numpy(numbers).to(torch.float32)))
    return found


def _named(blocks: list[_Columns], names: tuple[str, ...]) -> list[_Columns]:
    """Label columns by their meaning, all of them even where a kind does not occur."""
    words = {f"label={number}": name for number, name in enumerate(names)}
    if len(blocks) != 1 or not set(blocks[0].names) <= set(words):
        return blocks
    return [_placed(_Columns(tuple(words[name] for name in blocks[0].names), blocks[0].values), names)]


def _joined(blocks: list[_Columns], wanted: tuple[str, ...] | None, path: Path) -> _Columns:
    """The blocks side by side; where a model wants certain columns, in its order, kinds that do not occur as zeros."""
    names = tuple(name for block in blocks for name in block.names)
    whole = _Columns(names, torch.cat([block.values for block in blocks], dim=1))
    if wanted is None:
        return whole
    unknown = [name for name in names if name not in wanted]
    families = {name.partition("=")[0] for name in names if "=" in name}
    missing = [name for name in wanted if name not in names and name.partition("=")[0] not in families]
    if unknown or missing:
        raise DataError(
            f"{path.parent}: its features do not fit the model: "
            f"unknown {', '.join(unknown[:5]) or 'none'}; missing {', '.join(missing[:5]) or 'none'}. "
            "Use data of the kind the model was trained on"
        )
    return _placed(whole, wanted)


def _placed(columns: _Columns, wanted: tuple[str, ...]) -> _Columns:
    values = torch.zeros(len(columns.values), len(wanted))
    values[:, [wanted.index(name) for name in columns.names]] = columns.values
    return _Columns(wanted, values)


def _same_length(path: Path, values: np.ndarray, rows: int, what: str) -> None:
    if len(values) != rows:
        raise DataError(f"{path}: expected {rows} lines, one for each of the {what} (got {len(values)})")


def _whole(path: Path, width: int | None = None, may_be_empty: bool = False) -> np.ndarray:
    """Whole numbers ``[lines, columns]``."""
    numbers = _numbers(path, width, may_be_empty)
    wrong = ~((np.abs(numbers) < 2**53) & (numbers == np.trunc(numbers))).all(axis=1)
    if wrong.any():
        line = int(wrong.argmax()) + 1
        raise DataError(f"{path} line {line}: expected whole numbers (got {', '.join(map(str, numbers[line - 1]))})")
    return numbers.astype(np.int64)


def _numbers(path: Path, width: int | None = None, may_be_empty: bool = False) -> np.ndarray:
    """Numbers separated by commas ``[lines, columns]``; an error names the line that has none."""
    text = read_text(path, may_be_empty).rstrip()
    if not text:
        return np.zeros((0, width or 1))
    lines = text.split("\n")
    width = width or lines[0].count(",") + 1
    try:
        numbers = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
        if numbers.shape == (len(lines), width):
            return numbers
    except ValueError:
        pass
    for number, line in enumerate(lines, 1):
        cells = line.split(",")
        if len(cells) != width or not all(_is_number(cell) for cell in cells):
            raise DataError(f"{path} line {number}: expected {width} numbers separated by commas (got {line[:60]!r})")
    raise DataError(f"{path}: expected {width} numbers separated by commas in every line")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _read(source: Source) -> Loaded:
    return Loaded(*read_tu(source.path))


def _read_new(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    graphs, notes = read_tu(source.path, schema)
    return (replace(graphs, y=None) if labels == "ignored" else graphs), notes


# Any folder that is no network is taken for one, so that the message says what is missing in it.
READERS = (Reader(what="a TU folder", is_folder=Path.is_dir, read=_read, read_new=_read_new),)
