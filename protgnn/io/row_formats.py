"""Rows in chunks, as bytes that can be appended to a file: CSV, JSON lines, Parquet, and the first two packed.

A chunk is a dictionary of columns of equal length. CSV and JSON lines are appended as they are, and packed each as a
gzip member of its own, which readers take as one file. Parquet has its index at the end and cannot be appended to, so
its chunks are staged as an Arrow stream, of which the Parquet file is made when all are there.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from protgnn.errors import ProtGNNError
from protgnn.io.atomic_files import spreadsheet_cell
from protgnn.io.text import PACKED, ending

Chunk = dict[str, list[Any]]
FormatName = Literal["csv", "jsonl", "parquet"]

PARQUET = ".parquet"
WRITTEN = ("", ".csv", ".txt", ".jsonl", ".csv.gz", ".txt.gz", ".jsonl.gz", PARQUET)
"""The endings of files that rows are written to; texts are CSV."""
NO_PYARROW = "Parquet files need pyarrow: pip install 'protgnn[parquet]', or use CSV"


@dataclass(frozen=True)
class RowFormat:
    """How rows are written: ``name``, and whether they are ``packed`` with gzip."""

    name: FormatName = "csv"
    packed: bool = False

    @classmethod
    def of(cls, path: Path | None) -> RowFormat:
        """The format that the name of a file asks for; CSV if it has no ending.

        Raises:
            ProtGNNError: The name ends in that of a format that is not written.
        """
        found = "" if path is None else ending(path)
        if found not in WRITTEN:
            raise ProtGNNError(f"{path}: expected a name that ends in .csv, .jsonl (also with .gz) or .parquet")
        if found == PARQUET:
            _arrow()
            return cls("parquet")
        return cls("jsonl" if found.startswith(".jsonl") else "csv", found.endswith(PACKED))

    def head(self, columns: Sequence[str], texts: Sequence[str] = ()) -> bytes:
        """What comes before the first row; ``texts`` are columns that hold texts whatever they are called."""
        if self.name == "csv":
            return self._packed(_csv([list(map(spreadsheet_cell, columns))]))
        if self.name == "parquet":
            return bytes(_schema(columns, texts).serialize())
        return b""

    def encode(self, chunk: Chunk, texts: Sequence[str] = ()) -> bytes:
        """The rows of a chunk."""
        if not chunk or not next(iter(chunk.values())):
            return b""
        if self.name == "csv":
            cells = ([spreadsheet_cell(cell) for cell in column] for column in chunk.values())
            return self._packed(_csv(zip(*cells, strict=True)))
        if self.name == "parquet":
            schema = _schema(list(chunk), texts)
            return bytes(_arrow().record_batch(list(chunk.values()), schema=schema).serialize())
        names = list(chunk)
        lines = (json.dumps(dict(zip(names, row, strict=True))) for row in zip(*chunk.values(), strict=True))
        return self._packed(("\n".join(lines) + "\n").encode())

    def _packed(self, content: bytes) -> bytes:
        return gzip.compress(content, 6, mtime=0) if self.packed else content


def is_rows_file(path: Path) -> bool:
    """Whether the name of a file asks for rows."""
    return ending(path) in (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", PARQUET)


def to_parquet(staged: Path, path: Path) -> None:
    """Make a Parquet file of an Arrow stream, a chunk at a time."""
    arrow = _arrow()
    from pyarrow import parquet

    with (
        arrow.OSFile(str(staged), "rb") as file,
        arrow.ipc.open_stream(file) as stream,
        parquet.ParquetWriter(str(path), stream.schema) as writer,
    ):
        for batch in stream:
            writer.write_batch(batch)


def _csv(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


_WHOLE = ("row", "line", "prototype")
_MEASURED = ("similarity", "unknown words", "weight", "contribution", "probability", "logit")


def _schema(columns: Sequence[str], texts: Sequence[str]) -> Any:
    arrow = _arrow()

    def kind(name: str) -> Any:
        if name in texts:
            return arrow.string()
        if name in _WHOLE:
            return arrow.int64()
        return arrow.float64() if name in _MEASURED or name.startswith("p(") else arrow.string()

    return arrow.schema([(name, kind(name)) for name in columns])


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ProtGNNError(NO_PYARROW) from None
    return pyarrow
