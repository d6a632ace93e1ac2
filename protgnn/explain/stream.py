"""Tables of any length through a model: read, predicted or explained, and written in chunks, by one process or several.

Memory does not grow with the number of rows. The output has the rows of the input in their order. Killed at any moment,
the same call goes on where it was: a partial output belongs to it if the run, the content of the input, what was asked
for and the version of this package are the same.
"""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import IO, Any

from protgnn.datasets.readers.label_column import lines_named
from protgnn.datasets.readers.options import ReadOptions
from protgnn.datasets.readers.rows import none_usable, refusal
from protgnn.datasets.row_stream import ROWS_AT_ONCE, RowStream, open_rows
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.explanation import PLAIN, EvidenceSource
from protgnn.explain.predictions import refuse_taken_columns
from protgnn.explain.stream_rows import ChunkWorker, StreamedRows, StreamJob, Task, starter
from protgnn.explain.unknown_words import said_of_strange
from protgnn.explain.unseen_elements import said_of_unseen
from protgnn.io.parallel import in_order
from protgnn.io.partial_output import PartialOutput, SpooledOutput, copy_to, is_special
from protgnn.io.progress import RowProgress
from protgnn.io.row_formats import RowFormat, to_parquet
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.training.folder_checks import RUN_FILE
from protgnn.training.run import Run
from protgnn.version import VERSION

LOOKED_AT = 100_000
"""Rows that are still looked at after a first one that cannot be used, so that a message can name them together."""

_NAMED = 20
_TITLES = {"predict": "Predicting", "explain": "Explaining"}


@dataclass
class Tally:
    """What has been written so far, and what is to be said of it: counts, and the first rows of each kind."""

    rows: int = 0
    bad: int = 0
    first_bad: list[tuple[int, str]] = field(default_factory=list)
    unfamiliar: int = 0
    unseen: int = 0
    first_unseen: list[int] = field(default_factory=list)
    strange: int = 0
    first_strange: list[int] = field(default_factory=list)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Tally:
        """What another process has written."""
        found = cls(**{part.name: values[part.name] for part in fields(cls) if part.name in values})
        found.first_bad = [(int(line), str(fault)) for line, fault in found.first_bad]
        return found

    def add(self, made: StreamedRows) -> None:
        """Count the rows of a chunk."""
        self.rows += made.rows
        self.bad += len(made.bad)
        self.first_bad += made.bad[: _NAMED + 1 - len(self.first_bad)]
        self.unfamiliar += made.unfamiliar
        self.unseen += len(made.unseen)
        self.first_unseen += made.unseen[: _NAMED - len(self.first_unseen)]
        self.strange += len(made.strange)
        self.first_strange += made.strange[: _NAMED - len(self.first_strange)]

    def notes(self, path: Path) -> list[str]:
        """What is to be said at the end."""
        said, known = [], self.rows - self.bad
        if self.bad:
            lines = lines_named([line for line, _ in self.first_bad])
            lines += ", …" if self.bad > len(self.first_bad) and "…" not in lines else ""
            said.append(f"Skipped {self.bad} of {self.rows} rows of {path.name} that cannot be used ({lines})")
        if self.unfamiliar:
            said.append(
                f"{self.unfamiliar} of {known} are unlike anything the model knows; the column `familiar` says which"
            )
        if self.unseen:
            said.append(said_of_unseen(self.unseen, known, lines_named(self.first_unseen)))
        if self.strange:
            said.append(said_of_strange(self.strange, lines_named(self.first_strange)))
        return said


class TableStream:
    """A table on its way through a model; :meth:`run` does it all.

    Args:
        model: The model of the run.
        made: The run.
        folder: Its directory, from which other processes load the model.
        path: The table.
        options: What the user says of its columns; with ``skip_bad``, rows that cannot be used have a row that says so.
        task: Predictions, a row for each row of the table; or explanations, a row for each prototype (as JSON lines, a
            reasoning for each row).
        keep: Columns of the table to repeat.
        evidence: See :func:`~protgnn.explain.explanation.explain`.

    Raises:
        DataError: The table cannot be read, or lacks a column.
        ProtGNNError: There is nothing to explain by.
    """

    def __init__(
        self,
        model: GraphClassifier,
        made: Run,
        folder: Path,
        path: Path,
        options: ReadOptions,
        task: Task = "predict",
        keep: tuple[str, ...] = (),
        evidence: EvidenceSource = "model",
    ) -> None:
        if task == "explain" and not isinstance(model, ProtGNN):
            raise ProtGNNError(PLAIN)
        self._model, self._made, self._folder, self._path, self._options = model, made, folder, path, options
        self._table: RowStream = open_rows(path, made.schema, options, keep)
        self._job = StreamJob(
            *(folder, path, task, RowFormat(), keep, options.skip_bad, self._table.is_block, evidence)
        )
        without = ChunkWorker(replace(self._job, keep=()), model, made)
        refuse_taken_columns(str(path), list(keep), without.names())

    def run(
        self,
        out: Path | None,
        show: Callable[[IO[bytes]], None] | None = None,
        row_format: RowFormat | None = None,
        workers: int = 1,
        say: Callable[[str], None] = lambda text: None,
        chunk: int = ROWS_AT_ONCE,
    ) -> Tally:
        """Write all rows to ``out``, or give them to ``show`` when all are there.

        Args:
            out: The file to write; its name says the format.
            show: Called with all rows as a binary file, where they are not written to one.
            row_format: Their format in that case.
            workers: How many processes do the work.
            say: Called with a sentence for each thing to be noted.
            chunk: Rows that are handled at once.

        Raises:
            DataError: Rows cannot be used and may not be skipped, or none can; nothing is written then.
        """
        job = replace(self._job, format=row_format or RowFormat.of(out))
        output = self._output(out, show, job)
        tally = Tally.from_json(output.state)
        if output.began_anew:
            say(f"{out}.partial belongs to another input, run or command: starting over")
        if tally.rows:
            say(f"going on after {tally.rows} rows that are there already")
        for note in self._table.notes:
            say(note)
        gc.freeze()  # what there is stays: looking through it again and again would take longer than the rows
        try:
            self._write(output, job, tally, workers, chunk)
        except DataError:
            output.discard()
            raise
        except BaseException:
            if output.leave():
                say(f"{tally.rows} rows or fewer are kept in {out}.partial: the same command goes on from there")
            raise
        finally:
            gc.unfreeze()
        for note in tally.notes(self._path):
            say(note)
        return tally

    def _write(
        self, output: PartialOutput | SpooledOutput, job: StreamJob, tally: Tally, workers: int, chunk: int
    ) -> None:
        """Write the rows behind those of the tally, which is kept up to date, and finish the output."""
        worker = ChunkWorker(job, self._model, self._made)
        start = starter(job) if workers > 1 else lambda: worker
        made = in_order(start, self._table.chunks(chunk, tally.rows), workers)
        with closing(made), RowProgress(_TITLES[job.task], tally.rows) as progress:
            if not tally.rows:
                output.append(job.format.head(worker.names(), job.keep))
            for rows in self._checked(made):
                if tally.rows:
                    output.commit(asdict(tally))
                output.append(rows.data)
                tally.add(rows)
                progress.update(tally.rows, rows.share_read)
        if tally.bad == tally.rows:
            raise DataError(none_usable(self._path, tally.rows))
        output.finish()

    def _checked(self, made: Iterator[StreamedRows]) -> Iterator[StreamedRows]:
        """The rows, as long as all of them can be used or may be skipped; else an error that names the bad ones."""
        bad: list[tuple[int, str]] = []
        seen, last, ended = 0, 0, True
        for rows in made:
            if not bad and (self._job.errors or not rows.bad):
                yield rows
                continue
            bad += rows.bad
            seen, last = seen + rows.rows, rows.last_line
            if seen > LOOKED_AT:
                ended = False
                break
        if bad:
            more = "" if ended else f"\nThe rows after line {last} were not looked at"
            raise DataError(refusal(self._path, None, bad) + more)

    def _output(
        self, out: Path | None, show: Callable[[IO[bytes]], None] | None, job: StreamJob
    ) -> PartialOutput | SpooledOutput:
        if out is None or is_special(out):
            shown = show if out is None else copy_to(out)
            assert shown is not None
            return SpooledOutput(shown)
        finish = to_parquet if job.format.name == "parquet" else None
        return PartialOutput(out, self._key(job), finish)

    def _key(self, job: StreamJob) -> str:
        """What makes a partial output ours: run, content of the input, columns, task and format, version."""
        asked = {**asdict(job), "folder": _digest(self._folder / RUN_FILE), "path": _digest(self._path)}
        asked |= {"text_at": self._table.found.text_at, "version": VERSION}
        return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()


def _digest(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
