"""Graphs as JSON, one per line.

Each line is an object::

    {"x": [[0.1, 2.0], [0.3, 1.0]], "edges": [[0, 1]], "y": "active"}

========== =====================================================================================
x          a list of numbers per node, all of one length. May be left out with ``num_nodes``, and
           then every node gets the single feature 1
num_nodes  how many nodes; only needed without ``x``
edges      pairs of nodes, numbered from 0. One direction is enough
y          the class: a text, whole number or true/false. All graphs have one, or none (to predict)
edge_attr  a list of numbers per edge, in the order of ``edges``; all graphs or none
name       a text that names the graph in messages and reports; all graphs or none
targets    one node (node tasks) or two (link tasks); all graphs or none
node_truth true/false per node: whether it belongs to the known motif; all graphs or none
========== =====================================================================================

The first line may instead say what the columns and classes are called::

    {"schema": {"kind": "graph", "node_features": ["mass", "size"], "class_names": ["inactive", "active"]}}

``NaN`` and ``Infinity`` are no JSON and are refused.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, get_args

import torch
from torch import Tensor

from protgnn.errors import DataError
from protgnn.graphs.labels import is_missing, to_classes, to_known_classes
from protgnn.graphs.packed import GraphSet, offsets
from protgnn.graphs.schema import Kind, Schema
from protgnn.graphs.text_files import read_text

_LARGEST = 1e38  # what a float32 can hold, about; JSON would read 1e999 as infinity
_MOST_NODES = 10**7  # of one graph: a larger `num_nodes` is a slip, and would fill the memory
_OPTIONAL = ("y", "edge_attr", "name", "targets", "node_truth")
_KEYS = ("x", "num_nodes", "edges", *_OPTIONAL)
_SCHEMA_KEYS = ("kind", "class_names", "node_features", "edge_features", "featurizer")


def read_jsonl(path: str | Path, classes: tuple[str, ...] | None = None) -> GraphSet:
    """The graphs of a file, before the checks of ``graphs.checks``.

    With ``classes`` (those of a trained model) labels are optional and must be among them, unless the file says itself
    what its classes are; with none at all, ``()``, labels are passed over.
    """
    path = Path(path)
    schema = Schema()
    items: list[dict[str, Any]] = []
    lines: list[int] = []
    for line, item in _objects(path):
        if not items and set(item) == {"schema"}:
            schema = _schema(path, line, item["schema"])
            continue
        items.append(_graph(path, line, item))
        lines.append(line)
    if not items:
        raise DataError(f"{path} has no graphs: write one JSON object per line")
    for key in ("x", *_OPTIONAL):
        _all_or_none(path, lines, items, key)

    y, class_names = None, schema.class_names
    if classes != ():
        y, class_names = _classes(path, lines, items, schema.class_names or classes or ())
    attr, targets, truth = (_flat(items, key) for key in ("edge_attr", "targets", "node_truth"))
    node_counts = torch.tensor([item["num_nodes"] for item in items])
    return GraphSet(
        x=_rows(path, lines, items, "x", schema.node_features),
        edge_index=torch.tensor([edge for item in items for edge in item["edges"]], dtype=torch.int64).reshape(-1, 2).T,
        node_ptr=offsets(node_counts),
        edge_ptr=offsets(torch.tensor([len(item["edges"]) for item in items])),
        edge_attr=None if attr is None else _rows(path, lines, items, "edge_attr", schema.edge_features),
        y=y,
        targets=None if targets is None else _targets(path, lines, items),
        node_truth=None if truth is None else torch.tensor(truth, dtype=torch.bool),
        names=tuple(item["name"] for item in items) if "name" in items[0] else None,
        schema=Schema(schema.kind, class_names, schema.node_features, schema.edge_features, schema.featurizer),
    )


def write_jsonl(graphs: GraphSet, path: str | Path) -> None:
    """Write the graphs and what their columns are called; the file appears whole or not at all."""
    path = Path(path)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
        try:
            schema = {key: value for key, value in graphs.schema.to_json().items() if key in _SCHEMA_KEYS}
            print(json.dumps({"schema": schema}, ensure_ascii=False), file=file)
            for item in _as_objects(graphs):
                print(json.dumps(item, ensure_ascii=False, allow_nan=False), file=file)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _as_objects(graphs: GraphSet) -> Iterator[dict[str, Any]]:
    names = graphs.schema.class_names
    for number, graph in enumerate(graphs):
        item: dict[str, Any] = {"x": graph.x.tolist(), "edges": graph.edge_index.T.tolist()}
        if graphs.y is not None:
            label = int(graphs.y[number])
            item["y"] = names[label] if names else label
        if graph.edge_attr is not None:
            item["edge_attr"] = graph.edge_attr.tolist()
        if graph.names is not None:
            item["name"] = graph.names[0]
        if graph.targets is not None:
            item["targets"] = graph.targets[0].tolist()
        if graph.node_truth is not None:
            item["node_truth"] = graph.node_truth.tolist()
        yield item


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} line {number}: not a JSON object ({error}): write one graph per line") from None
        if "\\ud" in line.lower() and _has_surrogate(json.dumps(item, ensure_ascii=False)):
            raise DataError(f"{path} line {number}: holds half a character (a lone \\ud…): write the text as UTF-8")
        if not isinstance(item, dict):
            raise DataError(f"{path} line {number}: expected a JSON object {{…}} (got {type(item).__name__})")
        yield number, item


def _has_surrogate(text: str) -> bool:
    return any(0xD800 <= ord(letter) < 0xE000 for letter in text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _schema(path: Path, line: int, values: Any) -> Schema:
    known = isinstance(values, dict) and set(values) <= set(_SCHEMA_KEYS)
    if not known or values.get("kind", "graph") not in get_args(Kind):
        raise DataError(f"{path} line {line}: expected a schema of {', '.join(_SCHEMA_KEYS)} (got {str(values)[:60]})")
    for key, value in values.items():
        if key in ("kind", "featurizer"):
            ok = isinstance(value, str)
        else:
            ok = isinstance(value, list) and all(isinstance(name, str) for name in value)
        if not ok:
            raise DataError(
                f"{path} line {line}: the schema's {key!r} is not what it should be (got {str(value)[:60]})"
            )
    return Schema.from_json(values)


def _graph(path: Path, line: int, item: dict[str, Any]) -> dict[str, Any]:
    """One graph, its types checked; ``num_nodes`` filled in."""

    def refuse(what: str) -> NoReturn:
        raise DataError(f"{path} line {line}: {what}")

    unknown = set(item) - set(_KEYS)
    if unknown:
        refuse(f"unknown key {min(unknown)!r}: the keys are {', '.join(_KEYS)}")
    item = {key: value for key, value in item.items() if value is not None}
    count = item.get("num_nodes")
    if count is not None and not (_is_whole(count) and count <= _MOST_NODES):
        refuse(f"expected a whole number up to {_MOST_NODES} as `num_nodes` (got {str(count)[:40]})")
    if "x" in item:
        if not _is_table(item["x"]):
            refuse("expected `x` to be a list with a list of finite numbers for every node")
        if count is not None and count != len(item["x"]):
            refuse(f"`num_nodes` is {count} but `x` has {len(item['x'])} rows: make them equal")
        count = len(item["x"])
    if count is None:
        refuse("expected `x`, a list of numbers for every node (or at least `num_nodes`)")
    if count < 1:
        refuse("the graph has no nodes: remove it")
    edges = item.get("edges")
    if not isinstance(edges, list) or not all(
        isinstance(edge, list) and len(edge) == 2 and all(map(_is_whole, edge)) for edge in edges
    ):
        refuse("expected `edges` to be a list of pairs of node numbers, [] if there are none")
    for source, target in edges:
        if not (0 <= source < count and 0 <= target < count):
            refuse(f"edge [{source}, {target}] but the nodes are 0 to {count - 1}: number the nodes from 0")
    if "edge_attr" in item and not (_is_table(item["edge_attr"]) and len(item["edge_attr"]) == len(edges)):
        refuse(f"expected `edge_attr` to be a list of finite numbers for each of the {len(edges)} edges")
    if "y" in item and not isinstance(item["y"], (str, int, float)):
        refuse(f"expected `y` to be a class, a text or whole number (got {str(item['y'])[:40]})")
    if "y" in item and is_missing(str(item["y"])):
        refuse(f"the label `y` is missing (got {item['y']!r}): give a class, or leave `y` out of all graphs")
    if "name" in item and not isinstance(item["name"], str):
        refuse(f"expected `name` to be a text (got {str(item['name'])[:40]})")
    targets = item.get("targets", [0])
    if not isinstance(targets, list) or len(targets) not in (1, 2) or not all(map(_is_whole, targets)):
        refuse("expected `targets` to be a list of one or two node numbers")
    if any(not 0 <= target < count for target in targets):
        refuse(f"targets {targets} but the nodes are 0 to {count - 1}: number the nodes from 0")
    truth = item.get("node_truth", [False] * count)
    if not isinstance(truth, list) or len(truth) != count or not all(value in (0, 1) for value in truth):
        refuse(f"expected `node_truth` to be true or false for each of the {count} nodes")
    return {**item, "num_nodes": count}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, list) and row and all(isinstance(cell, (int, float)) and abs(cell) < _LARGEST for cell in row)
        for row in value
    )


def _all_or_none(path: Path, lines: list[int], items: list[dict[str, Any]], key: str) -> None:
    for line, item in zip(lines, items, strict=True):
        if (key in item) != (key in items[0]):
            has, other = ("has", "has none") if key in item else ("has no", "has one")
            raise DataError(f"{path} line {line} {has} `{key}`, line {lines[0]} {other}: give it to all graphs or none")


def _flat(items: list[dict[str, Any]], key: str) -> list[Any] | None:
    return [value for item in items for value in item[key]] if key in items[0] else None


def _rows(path: Path, lines: list[int], items: list[dict[str, Any]], key: str, names: tuple[str, ...]) -> Tensor:
    """All rows of ``x`` or ``edge_attr``, which must have one width."""
    if key not in items[0]:
        return torch.ones(sum(item["num_nodes"] for item in items), 1)
    width = len(names) or next((len(row) for item in items for row in item[key]), 1)
    for line, item in zip(lines, items, strict=True):
        for row in item[key]:
            if len(row) != width:
                raise DataError(
                    f"{path} line {line}: expected {width} numbers in every row of `{key}` (got {len(row)})"
                )
    values = torch.tensor([[float(cell) for cell in row] for item in items for row in item[key]], dtype=torch.float64)
    return values.reshape(-1, width).to(torch.float32)


def _targets(path: Path, lines: list[int], items: list[dict[str, Any]]) -> Tensor:
    for line, item in zip(lines, items, strict=True):
        if len(item["targets"]) != len(items[0]["targets"]):
            raise DataError(f"{path} line {line}: expected as many `targets` as in line {lines[0]}")
    return torch.tensor([item["targets"] for item in items])


def _classes(
    path: Path, lines: list[int], items: list[dict[str, Any]], names: tuple[str, ...]
) -> tuple[Tensor | None, tuple[str, ...]]:
    if "y" not in items[0]:
        return None, names
    texts = [str(item["y"]) for item in items]

    def where(place: int) -> str:
        return f"{path} line {lines[place]}"

    return (to_known_classes(texts, names, where), names) if names else to_classes(texts, where)
