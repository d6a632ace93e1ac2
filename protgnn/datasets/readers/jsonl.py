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
node_mask  true/false per node: whether it belongs to the known motif; all graphs or none. Files
           of older versions call it ``node_truth``
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
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import torch
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor

from protgnn.data.batch import offsets
from protgnn.data.graph_set import GraphSet
from protgnn.data.label_texts import is_empty
from protgnn.data.labels import to_classes, to_known_classes
from protgnn.data.schema import Kind, Schema
from protgnn.datasets.readers.reader import Labels, Loaded, Reader, Source
from protgnn.errors import DataError
from protgnn.io.limits import check_limit, over_limit
from protgnn.io.text import read_text

_LARGEST = 1e38  # what a float32 can hold, about; JSON would read 1e999 as infinity
_MOST_NODES = 10**7  # of one graph: a larger `num_nodes` is a slip, and would fill the memory
_OPTIONAL = ("y", "edge_attr", "name", "targets", "node_mask")
_SHOWN = 40  # characters of a wrong value in a message

Number = Annotated[float, Field(gt=-_LARGEST, lt=_LARGEST)]
Row = Annotated[list[Number], Field(min_length=1)]
Node = Annotated[int, Field(gt=-(2**31), lt=2**31)]


class _Strict(BaseModel):
    """No text is taken for a number, no unknown key is passed over."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class JsonGraph(_Strict):
    """One graph, one line. The description of a field is what a message says that it should be."""

    x: list[Row] | None = Field(None, description="a list with a list of finite numbers for every node")
    num_nodes: Annotated[int, Field(le=_MOST_NODES)] | None = Field(
        None, description=f"a whole number up to {_MOST_NODES}"
    )
    edges: list[tuple[Node, Node]] = Field(description="a list of pairs of node numbers, [] if there are none")
    y: str | int | float | bool | None = Field(None, description="a class, a text or whole number")
    edge_attr: list[Row] | None = Field(None, description="a list of finite numbers for each of the edges")
    name: str | None = Field(None, description="a text")
    targets: Annotated[list[Node], Field(min_length=1, max_length=2)] | None = Field(
        None, description="a list of one or two node numbers"
    )
    node_mask: list[bool | Literal[0, 1]] | None = Field(
        None,
        description="true or false for each of the nodes",
        validation_alias=AliasChoices("node_mask", "node_truth"),
    )

    @property
    def count(self) -> int:
        """How many nodes."""
        return len(self.x) if self.x is not None else self.num_nodes or 0


class JsonSchema(_Strict):
    """What the columns and classes of a file are called."""

    kind: Kind = "graph"
    class_names: list[str] = []
    node_features: list[str] = []
    edge_features: list[str] = []
    featurizer: str = "given"


class _SchemaLine(_Strict):
    schema_: JsonSchema = Field(validation_alias="schema")


def read_jsonl(path: str | Path, classes: tuple[str, ...] | None = None) -> GraphSet:
    """The graphs of a file, before the checks of ``data.validate``.

    With ``classes`` (those of a trained model) labels are optional and must be among them, unless the file says itself
    what its classes are; with none at all, ``()``, labels are passed over.
    """
    path = Path(path)
    schema = Schema()
    graphs: list[JsonGraph] = []
    lines: list[int] = []
    nodes = edges = 0
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if not text.strip():
            continue
        if not graphs and (named := _schema(path, line, text)) is not None:
            schema = named
            continue
        graphs.append(_graph(path, line, text))
        lines.append(line)
        nodes, edges = nodes + graphs[-1].count, edges + len(graphs[-1].edges)
        check_limit("nodes", nodes, f"{path} up to line {line}")
        check_limit("edges", 2 * edges, f"{path} up to line {line}, both directions")
    if not graphs:
        raise DataError(f"{path} has no graphs: write one JSON object per line")
    for key in ("x", *_OPTIONAL):
        _all_or_none(path, lines, graphs, key)
    return _packed(path, lines, graphs, schema, classes)


def write_jsonl(graphs: GraphSet, path: str | Path) -> None:
    """Write the graphs and what their columns are called; the file appears whole or not at all."""
    path = Path(path)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
        try:
            schema = {key: value for key, value in graphs.schema.to_json().items() if key in JsonSchema.model_fields}
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
        if graph.node_mask is not None:
            item["node_mask"] = graph.node_mask.tolist()
        yield item


def _packed(
    path: Path, lines: list[int], graphs: list[JsonGraph], schema: Schema, classes: tuple[str, ...] | None
) -> GraphSet:
    first = graphs[0]
    y, class_names = None, schema.class_names
    if classes != ():
        y, class_names = _classes(path, lines, graphs, schema.class_names or classes or ())
    edges = list(chain.from_iterable(graph.edges for graph in graphs))
    mask = None
    if first.node_mask is not None:
        mask = torch.tensor(list(chain.from_iterable(graph.node_mask or () for graph in graphs)), dtype=torch.bool)
    return GraphSet(
        x=_rows(path, lines, graphs, "x", schema.node_features),
        edge_index=torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T,
        node_ptr=offsets(torch.tensor([graph.count for graph in graphs])),
        edge_ptr=offsets(torch.tensor([len(graph.edges) for graph in graphs])),
        edge_attr=None if first.edge_attr is None else _rows(path, lines, graphs, "edge_attr", schema.edge_features),
        y=y,
        targets=None if first.targets is None else _targets(path, lines, graphs),
        node_mask=mask,
        names=None if first.name is None else tuple(graph.name or "" for graph in graphs),
        schema=Schema(schema.kind, class_names, schema.node_features, schema.edge_features, schema.featurizer),
    )


def _schema(path: Path, line: int, text: str) -> Schema | None:
    """The schema that a line says; nothing if the line is a graph."""
    if '"schema"' not in text:
        return None
    try:
        said = _SchemaLine.model_validate_json(text).schema_
    except ValidationError as error:
        wrong = [found for found in error.errors(include_url=False) if found["loc"][:1] == ("schema",)]
        if len(wrong) < error.error_count() or not wrong:
            return None  # what is wrong with it as a graph is said there
        where, value = wrong[0]["loc"], str(wrong[0]["input"])[:60]
        if len(where) > 1 and where[1] in JsonSchema.model_fields and where[1] != "kind":
            _refuse(path, line, f"the schema's {where[1]!r} is not what it should be (got {value})")
        _refuse(path, line, f"expected a schema of {', '.join(JsonSchema.model_fields)} (got {value})")
    return Schema.from_json(said.model_dump())


def _graph(path: Path, line: int, text: str) -> JsonGraph:
    """One graph, its types checked and its numbers of nodes."""
    try:
        graph = JsonGraph.model_validate_json(text)
    except ValidationError as error:
        _refuse(path, line, _told(error))
    fault = _fault(graph)
    if fault is not None:
        _refuse(path, line, fault)
    return graph


def _told(error: ValidationError) -> str:
    """What is wrong with a line, from the first thing that the model found."""
    found = error.errors(include_url=False)[0]
    reason, where, value = found["type"], found["loc"], found["input"]
    if reason == "json_invalid":
        if "surrogate" in found["msg"] or "hex escape" in found["msg"]:
            return "holds half a character (a lone \\ud…): write the text as UTF-8"
        return f"not a JSON object ({found['ctx']['error']}): write one graph per line"
    if not where:
        return f"expected a JSON object {{…}} (got {type(value).__name__})"
    if reason == "extra_forbidden":
        keys = ("x", "num_nodes", "edges", *_OPTIONAL)
        return f"unknown key {where[0]!r}: the keys are {', '.join(keys)}"
    name = "node_mask" if where[0] == "node_truth" else str(where[0])
    shown = "" if reason == "missing" else f" (got {str(value)[:_SHOWN]})"
    return f"expected `{name}` to be {JsonGraph.model_fields[name].description}{shown}"


def _fault(graph: JsonGraph) -> str | None:
    """What does not fit together in a graph whose types are right."""
    if graph.x is None and graph.num_nodes is None:
        return "expected `x`, a list of numbers for every node (or at least `num_nodes`)"
    count = graph.count
    if graph.num_nodes not in (None, count):
        return f"`num_nodes` is {graph.num_nodes} but `x` has {count} rows: make them equal"
    if count < 1:
        return "the graph has no nodes: remove it"
    for limit, amount in (
        ("graph_nodes", count),
        ("name_chars", len(graph.name or "")),
        ("name_chars", len(str(graph.y))),
    ):
        if over := over_limit(limit, amount):
            return over
    number_them = f"but the nodes are 0 to {count - 1}: number the nodes from 0"
    for source, target in graph.edges:
        if not (0 <= source < count and 0 <= target < count):
            return f"edge [{source}, {target}] {number_them}"
    if graph.edge_attr is not None and len(graph.edge_attr) != len(graph.edges):
        return f"expected `edge_attr` to be a list of finite numbers for each of the {len(graph.edges)} edges"
    if graph.y is not None and is_empty(str(graph.y)):
        return f"the label `y` is missing (got {graph.y!r}): give a class, or leave `y` out of all graphs"
    if graph.targets is not None and not all(0 <= target < count for target in graph.targets):
        return f"targets {graph.targets} {number_them}"
    if graph.node_mask is not None and len(graph.node_mask) != count:
        return f"expected `node_mask` to be true or false for each of the {count} nodes"
    return None


def _refuse(path: Path, line: int, what: str) -> NoReturn:
    raise DataError(f"{path} line {line}: {what}")


def _all_or_none(path: Path, lines: list[int], graphs: list[JsonGraph], key: str) -> None:
    wanted = getattr(graphs[0], key) is not None
    for line, graph in zip(lines, graphs, strict=True):
        if (getattr(graph, key) is not None) != wanted:
            has, other = ("has no", "has one") if wanted else ("has", "has none")
            raise DataError(f"{path} line {line} {has} `{key}`, line {lines[0]} {other}: give it to all graphs or none")


def _rows(path: Path, lines: list[int], graphs: list[JsonGraph], key: str, names: tuple[str, ...]) -> Tensor:
    """All rows of ``x`` or ``edge_attr``, which must have one width."""
    tables: list[list[list[float]]] = [getattr(graph, key) for graph in graphs]
    if tables[0] is None:
        return torch.ones(sum(graph.count for graph in graphs), 1)
    width = len(names) or next((len(row) for table in tables for row in table), 1)
    for line, table in zip(lines, tables, strict=True):
        for row in table:
            if len(row) != width:
                _refuse(path, line, f"expected {width} numbers in every row of `{key}` (got {len(row)})")
    values = torch.tensor(list(chain.from_iterable(tables)), dtype=torch.float64)
    return values.reshape(-1, width).to(torch.float32)


def _targets(path: Path, lines: list[int], graphs: list[JsonGraph]) -> Tensor:
    found = [graph.targets or [] for graph in graphs]
    for line, targets in zip(lines, found, strict=True):
        if len(targets) != len(found[0]):
            _refuse(path, line, f"expected as many `targets` as in line {lines[0]}")
    return torch.tensor(found)


def _classes(
    path: Path, lines: list[int], graphs: list[JsonGraph], names: tuple[str, ...]
) -> tuple[Tensor | None, tuple[str, ...]]:
    if graphs[0].y is None:
        return None, names
    texts = [str(graph.y) for graph in graphs]

    def where(place: int) -> str:
        return f"{path} line {lines[place]}"

    return (to_known_classes(texts, names, where), names) if names else to_classes(texts, where)


def _read(source: Source) -> Loaded:
    return Loaded(read_jsonl(source.path))


def _read_new(source: Source, schema: Schema, labels: Labels) -> tuple[GraphSet, list[str]]:
    return read_jsonl(source.path, () if labels == "ignored" else schema.class_names), []


READERS = (Reader(what="a JSONL file", suffixes=(".jsonl",), read=_read, read_new=_read_new, rank=2),)
