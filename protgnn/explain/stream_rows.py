"""A chunk of a table to the rows that are written for it: what every process of a stream does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from protgnn.data.graph_set import GraphSet
from protgnn.datasets.row_stream import ChunkGraphs, RowChunk, chunk_graphs
from protgnn.explain.explain_run import explain_run
from protgnn.explain.explanation import EvidenceSource, Reasoning, RunContext
from protgnn.explain.predictions import familiar_text, prediction_columns, prediction_names
from protgnn.explain.unknown_words import unknown_words
from protgnn.explain.unseen_elements import rows_with_unseen
from protgnn.io.row_formats import Chunk, RowFormat
from protgnn.model.classifier import GraphClassifier
from protgnn.training.resolve import as_model_input
from protgnn.training.run import Run, load_model

Task = Literal["predict", "explain"]

REASON_COLUMNS = (
    *("row", "line", "name", "predicted", "p(predicted)", "familiar", "prototype", "class", "looks like", "similarity"),
    *("weight", "contribution", "evidence", "evidence looks like"),
)
"""One row for each row of the input and each prototype: what it adds to the predicted class."""


@dataclass(frozen=True)
class StreamJob:
    """What is to be made of a table: by the model of which run, which task, and how rows are written.

    ``keep`` are the columns of the table to repeat. With ``errors`` rows that cannot be used have a row of their own.
    """

    folder: Path
    path: Path
    task: Task
    format: RowFormat
    keep: tuple[str, ...] = ()
    errors: bool = False
    is_block: bool = False
    evidence: EvidenceSource = "model"


@dataclass(frozen=True)
class StreamedRows:
    """The rows of a chunk as they are written, and what is to be said of them.

    ``bad`` has the line and the fault of each row that cannot be used; ``unfamiliar`` is how many graphs are unlike
    anything the model knows; ``unseen`` and ``strange`` are the lines with elements or words it was not trained on.
    """

    data: bytes
    rows: int
    last_line: int
    bad: list[tuple[int, str]]
    unfamiliar: int = 0
    unseen: list[int] = field(default_factory=list)
    strange: list[int] = field(default_factory=list)
    share_read: float | None = None


def starter(job: StreamJob) -> Callable[[], ChunkWorker]:
    """What a process begins with; it can be sent to one."""
    return partial(_started, job)


def _started(job: StreamJob) -> ChunkWorker:
    import torch

    torch.set_num_threads(1)  # processes share the processors
    return ChunkWorker(job, *load_model(job.folder))


class ChunkWorker:
    """Makes rows of chunks with the model of a run."""

    def __init__(self, job: StreamJob, model: GraphClassifier, run: Run) -> None:
        self.job, self.model, self.run, self.context = job, model, run, RunContext.of(run)

    def names(self) -> list[str]:
        """The columns that are written."""
        if self.job.task == "predict":
            own = prediction_names(self.model, self.run.schema, self.context)
        else:
            own = list(REASON_COLUMNS)
        return [*own[:2], *self.job.keep, *own[2:], *(["error"] if self.job.errors else [])]

    def __call__(self, chunk: RowChunk) -> StreamedRows:
        found = chunk_graphs(chunk, self.job.path, self.run.schema, self.job.is_block)
        bad = [(chunk.lines[place], fault) for place, fault in sorted(found.faults.items())]
        done = StreamedRows(b"", len(chunk), chunk.lines[-1], bad, share_read=chunk.share_read)
        if bad and not self.job.errors:
            return done
        graphs = None if found.graphs is None else as_model_input(self.run.recipe, found.graphs)
        assert graphs is None or isinstance(graphs, GraphSet)
        made = (
            self._predicted(graphs, found, chunk)
            if self.job.task == "predict"
            else self._explained(graphs, found, chunk)
        )
        data = self.job.format.encode(made, self.job.keep)
        if graphs is None:
            return replace(done, data=data)
        lines = [chunk.lines[place] for place in found.places]
        vocabulary = self.context.vocabulary
        odd = [] if vocabulary is None else [unknown_words(name, vocabulary) for name in graphs.names or ()]
        return replace(
            done,
            data=data,
            unfamiliar=made.get("familiar", []).count("no") if self.job.task == "predict" else 0,
            unseen=[lines[row] for row in rows_with_unseen(graphs, self.run.seen)],
            strange=[lines[row] for row, one in enumerate(odd) if one is not None and one.is_strange],
        )

    def _predicted(self, graphs: GraphSet | None, found: ChunkGraphs, chunk: RowChunk) -> Chunk:
        """A row for every row of the chunk; that of a bad one has nothing but its line and what is wrong."""
        columns = {} if graphs is None else prediction_columns(self.model, graphs, self.context)
        made: Chunk = {}
        for name in self.names():
            cells: list[Any] = [None] * len(chunk)
            for place, cell in zip(found.places, columns.get(name, ()), strict=False):
                cells[place] = cell
            made[name] = cells
        return made | self._frame(chunk, found, range(len(chunk)))

    def _explained(self, graphs: GraphSet | None, found: ChunkGraphs, chunk: RowChunk) -> Chunk:
        """As JSON lines a reasoning for every row of the chunk, else a row for each of its prototypes."""
        reasons: dict[int, Reasoning] = {}
        if graphs is not None:
            made = explain_run(self.model, self.run, graphs, self.context, self.job.evidence)
            reasons = dict(zip(found.places, made, strict=True))
        if self.job.format.name == "jsonl":
            content = [reasons[place].to_json() if place in reasons else {} for place in range(len(chunk))]
            names = list(next((one for one in content if one), {"name": None}))
            places = list(range(len(chunk)))
            body: Chunk = {name: [one.get(name) for one in content] for name in names}
            frame = self._frame(chunk, found, places)
            tail = {"error": frame.pop("error")} if self.job.errors else {}
            return frame | body | tail
        places, rows = [], []
        for place in range(len(chunk)):
            for row in _reason_rows(reasons.get(place)):
                places.append(place)
                rows.append(row)
        own = REASON_COLUMNS[2:]
        cells = {name: [row[number] for row in rows] for number, name in enumerate(own)}
        frame = self._frame(chunk, found, places)
        return {name: frame[name] if name in frame else cells[name] for name in self.names()}

    def _frame(self, chunk: RowChunk, found: ChunkGraphs, places: Any) -> Chunk:
        """What every row of the output repeats of the input: number, line, columns that are kept, and its fault."""
        frame: Chunk = {
            "row": [chunk.first + place for place in places],
            "line": [chunk.lines[place] for place in places],
        }
        for number, name in enumerate(self.job.keep):
            frame[name] = [chunk.kept[place][number] for place in places]
        if self.job.errors:
            frame["error"] = [found.faults.get(place, "") for place in places]
        return frame


def _reason_rows(why: Reasoning | None) -> list[tuple[Any, ...]]:
    """The cells of ``REASON_COLUMNS`` behind number and line for each prototype, those first that add most, and for
    what is added beside them, so that contributions add up to the logit; one row of nothing for a row that cannot be
    used."""
    if why is None:
        return [(None,) * (len(REASON_COLUMNS) - 2)]
    label = why.predicted
    familiar = familiar_text(why.familiar)
    head = (why.name, why.class_names[label], round(why.probabilities[label], 6), familiar)
    rows: list[tuple[Any, ...]] = [
        (
            *head,
            row.prototype,
            why.class_names[row.label],
            why.describe(row),
            round(row.similarity, 6),
            round(row.weights[label], 6),
            round(row.contribution(label), 6),
            " ".join(map(str, (row.evidence if row.is_found else None) or ())),
            why.describe_evidence(row) or "",
        )
        for row in why.decisive()
    ]
    for line in why.beside_lines():
        rows.append((*head, None, "", line.name, None, None, round(line.contributions[label], 6), "", ""))
    return rows
