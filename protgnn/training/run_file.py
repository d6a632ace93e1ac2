"""What ``run.json`` may hold, checked at the door.

A run may come from a stranger, who can write any JSON and seal it with a checksum that fits. Every field is therefore
checked for type and range, and against the others and the stored tensors, before anything is built from it.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.labels import MAX_CLASSES
from protgnn.data.schema import Kind, Schema
from protgnn.errors import RunError
from protgnn.io.limits import over_limit
from protgnn.training.edits import Edits

MODEL_FILE, PROTOTYPE_FILE, LOG_FILE = "model.safetensors", "prototypes.safetensors", "log.csv"
RUN_VERSION, OLDEST_VERSION = 2, 1

Name = Annotated[str, Field(max_length=100_000)]
Number = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_TAG = r"(\.[0-9a-f]{8})?"
LOG_NAME = rf"log{_TAG}\.csv"
FILE_NAME = rf"(model|prototypes){_TAG}\.safetensors|{LOG_NAME}"
FileName = Annotated[str, Field(pattern=rf"^({FILE_NAME})$")]
Option = Literal[
    "smiles", "text", "label", "skip_bad", "task", "directed", "threshold", "bins", "standardise", "dedupe", "words"
]
Scale = list[Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SchemaFile(_Part):
    """The stored schema; see :class:`protgnn.data.schema.Schema`."""

    kind: Kind
    class_names: Annotated[list[Name], Field(min_length=1, max_length=MAX_CLASSES)]
    node_features: Annotated[list[Name], Field(min_length=1, max_length=1_000_000)]
    edge_features: Annotated[list[Name], Field(max_length=1_000_000)]
    featurizer: Name
    node_scale: Scale = []
    edge_scale: Scale = []
    standardise: bool = False

    @model_validator(mode="after")
    def _fits(self) -> SchemaFile:
        if len(set(self.class_names)) != len(self.class_names):
            raise ValueError("two classes have one name")
        for scale, columns in ((self.node_scale, self.node_features), (self.edge_scale, self.edge_features)):
            if scale and len(scale) != len(columns):
                raise ValueError(f"{len(scale)} columns are scaled and there are {len(columns)}")
            if any(divisor == 0 for _, divisor in scale):
                raise ValueError("a column is divided by 0")
        return self


class DataFile(_Part):
    """Where the data came from."""

    source: Name
    fingerprint: Name
    options: dict[Option, Annotated[str, Field(max_length=1000)] | bool | None] = {}

    @model_validator(mode="after")
    def _words_by_digest(self) -> DataFile:
        words = self.options.get("words")
        if words is not None and not str(words).startswith("sentence:"):
            raise ValueError("words are named by a featurizer: a run may not name a folder or a place to fetch them")
        return self


class CardFile(_Part):
    """One prototype."""

    label: Number
    graph: Number
    name: Name | None
    nodes: Annotated[list[Number], Field(min_length=1)]
    weight: FiniteFloat
    support: Number
    scale: Annotated[list[FiniteFloat], Field(min_length=101, max_length=101)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> CardFile:
        if len(set(self.nodes)) != len(self.nodes):
            raise ValueError("a node is listed twice")
        if self.scale is not None and sorted(self.scale) != self.scale:
            raise ValueError("the scale of similarities does not ascend")
        return self


class ClassScores(_Part):
    """Figures of one class."""

    n: Number
    recall: Share | None
    precision: Share | None
    average_precision: Share | None = None


class PartScores(BaseModel):
    """Figures of one part of the data; others than these are numbers or nothing."""

    model_config = ConfigDict(extra="allow", strict=True)

    accuracy: Share
    loss: FiniteFloat
    n: Number
    per_class: dict[Name, ClassScores]
    intervals: dict[Name, Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]] = {}

    @model_validator(mode="after")
    def _numbers(self) -> PartScores:
        for key, value in (self.model_extra or {}).items():
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value)
            ):
                raise ValueError(f"expected a number at {key[:40]} (got {str(value)[:40]!r})")
        return self


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


class ScoresFile(BaseModel):
    """How good the model is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    train: PartScores | None = None
    valid: PartScores | None = None
    test: PartScores | None = None
    familiarity: FiniteFloat | None = None
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    warm_up_accuracy: Share | Literal[-1] | None = None
    epochs: Number | None = None
    best_epoch: Number | None = None


class SplitFile(_Part):
    """Graph numbers of each part."""

    train: list[Number]
    valid: list[Number]
    test: list[Number]

    @model_validator(mode="after")
    def _apart(self) -> SplitFile:
        everything = [*self.train, *self.valid, *self.test]
        if len(set(everything)) != len(everything):
            raise ValueError("a graph is listed twice")
        return self


class RunFile(_Part):
    """All of ``run.json``."""

    schema_version: Number
    protgnn_version: Name
    finished: bool
    recipe: dict[str, Any]
    data_schema: SchemaFile = Field(alias="schema")
    data: DataFile | None
    scores: ScoresFile
    prototypes: Annotated[list[CardFile], Field(min_length=1)] | None
    split: SplitFile | None
    labels: list[str | int | float | bool] | None
    seen: list[Number] | None = None
    vocabulary: str | None = None
    edits: Edits | None = None
    files: dict[FileName, Checksum]

    @model_validator(mode="after")
    def _consistent(self) -> RunFile:
        classes, columns = len(self.data_schema.class_names), len(self.data_schema.node_features)
        for number, card in enumerate(self.prototypes or ()):
            if card.label >= classes:
                raise ValueError(f"prototype {number} is of class {card.label} and there are {classes} classes")
        if self.labels is not None and len(self.labels) != classes:
            raise ValueError(f"{len(self.labels)} labels for {classes} classes")
        if self.seen is not None and any(column >= columns for column in self.seen):
            raise ValueError(f"`seen` names a column that is not among the {columns}")
        for part in (self.scores.train, self.scores.valid, self.scores.test):
            unknown = set() if part is None else set(part.per_class) - set(self.data_schema.class_names)
            if unknown:
                raise ValueError(f"scores of the class {min(unknown)[:40]!r}, which is not in the schema")
        if self.edits is not None:
            self.edits.check(len(self.prototypes or ()), classes)
        stored = [name.partition(".")[0] for name in self.files]
        if len(set(stored)) != len(stored):
            raise ValueError("two files of one kind")
        if self.finished and "model" not in stored:
            raise ValueError(f"it is finished and {MODEL_FILE} is not among its files")
        if ("prototypes" in stored) != (self.prototypes is not None):
            raise ValueError(f"prototypes and {PROTOTYPE_FILE} go together")
        return self


def checked_run_file(content: Any) -> RunFile:
    """The content of ``run.json`` (without its checksum), checked.

    Raises:
        ValueError: A sentence that names the first field that is wrong.
    """
    try:
        return RunFile.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])[:100]
        message = problem["msg"].removeprefix("Value error, ")
        raise ValueError(f"{place}: {message}" if place else message) from None


def checked_subgraphs(tensors: dict[str, Tensor], cards: list[CardFile], schema: Schema) -> GraphSet:
    """The stored subgraphs of the prototypes, checked against their cards and the schema.

    Raises:
        ValueError: The tensors do not describe these prototypes.
    """
    unknown = set(tensors) - _SUBGRAPH_TENSORS
    if unknown:
        raise ValueError(f"an unknown tensor {min(unknown)[:40]!r}")
    for name in ("x", "edge_index", "node_ptr", "edge_ptr"):
        if name not in tensors:
            raise ValueError(f"the tensor {name} is missing")
    x, edge_index, node_ptr, edge_ptr = (tensors[name] for name in ("x", "edge_index", "node_ptr", "edge_ptr"))
    _expect(x.dtype in (torch.float32, torch.float16) and x.shape[1:] == (len(schema.node_features),), "x")
    _expect(bool(x.isfinite().all()), "x, which must be finite numbers,")
    _expect(_points(node_ptr, len(cards), len(x)), "node_ptr")
    _expect(edge_index.dtype == torch.int64 and edge_index.dim() == 2 and len(edge_index) == 2, "edge_index")
    _expect(_points(edge_ptr, len(cards), edge_index.shape[1]), "edge_ptr")
    counts = node_ptr.diff()
    _expect(counts.tolist() == [len(card.nodes) for card in cards], "node_ptr, as the cards have other nodes,")
    limit = counts.repeat_interleave(edge_ptr.diff())
    _expect(bool(((edge_index >= 0) & (edge_index < limit)).all()), "edge_index")
    attr = tensors.get("edge_attr")
    if attr is None:
        _expect(not schema.edge_features, "edge_attr")
    else:
        _expect(
            attr.dtype == torch.float32 and attr.shape == (edge_index.shape[1], len(schema.edge_features)), "edge_attr"
        )
        _expect(bool(attr.isfinite().all()), "edge_attr, which must be finite numbers,")
    for name, per_node in (
        ("y", False),
        ("lines", False),
        ("node_mask", True),
        ("missing_degree", True),
        ("n_id", True),
    ):
        if name in tensors:
            rows = len(x) if per_node else len(cards)
            _expect(tensors[name].shape == (rows,) and _whole_numbers(tensors[name]), name)
            _expect(not per_node or bool((tensors[name] >= 0).all()), name)
    bound = tensors.get("bound")
    _expect(bound is None or (bound.dtype == torch.bool and bound.shape == edge_index.shape[1:]), "bound")
    targets = tensors.get("targets")
    if targets is not None:
        _expect(targets.dtype == torch.int64 and targets.dim() == 2 and targets.shape[0] == len(cards), "targets")
        _expect(targets.shape[1] in (1, 2) and bool(((targets >= 0) & (targets < counts[:, None])).all()), "targets")
    names = tuple(card.name or "" for card in cards)
    return GraphSet(**tensors, names=names, schema=schema)


_SUBGRAPH_TENSORS = {
    *("x", "edge_index", "node_ptr", "edge_ptr", "edge_attr", "y", "targets"),
    *("node_mask", "lines", "missing_degree", "n_id", "bound"),
}


def _expect(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"the tensor {what} does not fit the prototypes")


_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _points(pointer: Tensor, parts: int, rows: int) -> bool:
    """Whether a pointer cuts ``rows`` rows into so many parts."""
    if pointer.dtype != torch.int64 or pointer.shape != (parts + 1,):
        return False
    return int(pointer[0]) == 0 and int(pointer[-1]) == rows and bool((pointer.diff() >= 0).all())


def _whole_numbers(values: Tensor) -> bool:
    return not (values.is_floating_point() or values.is_complex())


def check_weights(weights: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    """Refuse weights that are not those of the model, or no numbers.

    Args:
        weights: The stored tensors.
        wanted: What the model of the recipe has; shapes and types alone are looked at.

    Raises:
        RunError: A sentence on the first difference.
    """
    missing, unknown = sorted(set(wanted) - set(weights)), sorted(set(weights) - set(wanted))
    if missing or unknown:
        raise RunError(f"it has {'no ' + missing[0] if missing else 'an unknown tensor ' + unknown[0][:60]}")
    for name, weight in weights.items():
        expected = wanted[name]
        if weight.shape != expected.shape:
            raise RunError(f"{name} has shape {tuple(weight.shape)} and the recipe wants {tuple(expected.shape)}")
        if weight.dtype != expected.dtype and not (weight.dtype in _FLOATS and expected.is_floating_point()):
            raise RunError(f"{name} has type {weight.dtype} and the recipe wants {expected.dtype}")
        if expected.is_floating_point() and not bool(weight.to(expected.dtype).isfinite().all()):
            raise RunError(f"{name} holds NaN or infinity")
        if name.endswith("running_var") and bool((weight < 0).any()):
            raise RunError(f"{name} holds a variance below 0")


def check_size(size: int, what: str, limit: str) -> None:
    """Refuse a file of a run that is larger than any run's."""
    if over := over_limit(limit, size):
        raise RunError(f"{what}: {over}")
