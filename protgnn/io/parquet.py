"""Parquet files as tables: their columns of plain values, as the texts that a CSV would have, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from protgnn.errors import DataError
from protgnn.io.limits import check_limit
from protgnn.io.row_formats import NO_PYARROW
from protgnn.io.tables import Table

_AT_ONCE = 4096
_PLAIN = ("int", "uint", "float", "double", "halffloat", "bool", "string", "large_string", "decimal", "date", "time")


def read_parquet(path: Path) -> Table:
    """The rows of a Parquet file, numbered from 1; columns of lists, structures and bytes are left out.

    Raises:
        DataError: pyarrow is not installed, or the file is no Parquet file or a damaged one.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise DataError(f"{path}: {NO_PYARROW}") from None
    notes: list[str] = []
    try:
        file = parquet.ParquetFile(path, memory_map=False)
        schema = file.schema_arrow
        names = [name for name in schema.names if str(_value_type(schema.field(name).type)).startswith(_PLAIN)]
        total = file.metadata.num_rows
    except (ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{path} is no Parquet file or a damaged one ({type(error).__name__}): write it again"
        ) from None
    check_limit("name_chars", max(map(len, schema.names), default=0), f"{path}: a column")
    if not names or not total:
        raise DataError(f"{path} is empty: expected rows with columns of texts or numbers")
    if len(names) < len(schema.names):
        notes.append(f"Left out {len(schema.names) - len(names)} columns of {path.name} that hold no plain values")
    done = [0]

    def rows() -> Iterator[tuple[int, list[str]]]:
        try:
            for batch in file.iter_batches(_AT_ONCE, columns=names, use_threads=False):
                columns = [[_text(value) for value in column.to_pylist()] for column in batch.columns]
                for number, cells in enumerate(zip(*columns, strict=True), done[0] + 1):
                    yield number, list(cells)
                done[0] += batch.num_rows
        except (ArrowException, OSError, ValueError) as error:
            raise DataError(f"{path} is damaged after row {done[0]} ({type(error).__name__}): write it again") from None

    return Table(path, names, rows(), notes, 0, lambda: done[0] / total)


def _value_type(kind: Any) -> Any:
    """The type of the values of a column, also where they are stored as a dictionary."""
    return kind.value_type if str(kind).startswith("dictionary") else kind


def _text(value: Any) -> str:
    """A value as it would stand in a CSV."""
    return "" if value is None else str(value)
