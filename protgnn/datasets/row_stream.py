"""Tables of raw input for a trained model, as a stream of chunks: a few thousand rows are in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.validate import check
from protgnn.datasets.new_input import check_columns_asked, conform
from protgnn.datasets.readers.find_columns import FoundColumns, find_columns
from protgnn.datasets.readers.molecule_rows import load_new_molecules
from protgnn.datasets.readers.open_table import is_table, stream_table
from protgnn.datasets.readers.options import SMILES, TEXT, ReadOptions
from protgnn.datasets.readers.reader import Source, refuse_options, to_predict
from protgnn.datasets.readers.rows import NoSoundRows, check_takes_sentences, check_takes_smiles, wrong_width
from protgnn.datasets.readers.sentence_rows import load_new_sentences
from protgnn.errors import DataError
from protgnn.io.structure_files import MOLBLOCK
from protgnn.io.tables import Table, named_column
from protgnn.io.text import ending

ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class RowChunk:
    """Some rows of a table, numbered from ``first``: their lines, the raw input in each, the columns that are to be
    repeated, and by place what is wrong with rows that are not whole."""

    first: int
    lines: list[int]
    texts: list[str]
    kept: list[tuple[str, ...]]
    faults: dict[int, str] = field(default_factory=dict)
    share_read: float | None = None

    def __len__(self) -> int:
        return len(self.lines)


@dataclass(frozen=True)
class ChunkGraphs:
    """The graphs of a chunk, nothing where no row can be used, the places of their rows, and what is wrong with the
    others, by place."""

    graphs: GraphSet | None
    places: list[int]
    faults: dict[int, str]


@dataclass(frozen=True)
class RowStream:
    """A table of raw input that is being read: its columns were found, its rows are to come, once."""

    path: Path
    found: FoundColumns
    keep: tuple[str, ...]
    is_block: bool

    @property
    def notes(self) -> list[str]:
        """What is to be said of the table and its columns."""
        return [*self.found.table.notes, *self.found.notes]

    def chunks(self, size: int = ROWS_AT_ONCE, skip: int = 0) -> Iterator[RowChunk]:
        """The rows but for the first ``skip``, ``size`` at a time; rows without content count nowhere."""
        table, width = self.found.table, len(self.found.table.header)
        places = [named_column(table.path, table.header, name, "--keep") for name in self.keep]
        empty = ("",) * len(places)
        chunk, number = RowChunk(skip, [], [], []), 0
        for line, cells in table.rows:
            if not any(map(str.strip, cells)):
                continue
            number += 1
            if number <= skip:
                continue
            whole = len(cells) == width
            if not whole:
                chunk.faults[len(chunk)] = wrong_width(width, len(cells))
            chunk.lines.append(line)
            chunk.texts.append(cells[self.found.text_at] if whole else "")
            chunk.kept.append(tuple(cells[place] for place in places) if whole else empty)
            if len(chunk) == size:
                yield replace(chunk, share_read=_share(table))
                chunk = RowChunk(number, [], [], [])
        if len(chunk):
            yield replace(chunk, share_read=_share(table))
        if not number:
            raise DataError(f"{table.path} has a header ({', '.join(table.header)}) but no rows: add some")


def is_streamed(path: Path, schema: Schema) -> bool:
    """Whether a file is read as a stream by a model of that schema: tables, and texts with a SMILES in each line."""
    return path.is_file() and (is_table(path) or (ending(path) == ".txt" and schema.kind == "molecule"))


def open_rows(path: Path, schema: Schema, options: ReadOptions, keep: Sequence[str] = ()) -> RowStream:
    """Open a table for a model of that schema.

    Raises:
        DataError: The model takes no such input, a column is missing, or the file cannot be read.
    """
    check_columns_asked(schema, options.smiles, options.text)
    refuse_options(path, options)
    kind = TEXT if to_predict(path, schema).kind == "sentence" else SMILES
    (check_takes_smiles if kind == SMILES else check_takes_sentences)(str(path), schema)
    found = find_columns(stream_table(path), kind, options, "ignored")
    for name in keep:
        if keep.count(name) > 1:
            raise DataError(f"--keep names the column {name!r} twice: name it once")
        named_column(found.table.path, found.table.header, name, "--keep")
    is_block = found.table.header[found.text_at] == MOLBLOCK and options.smiles is None
    return RowStream(path, found, tuple(keep), is_block)


def chunk_graphs(chunk: RowChunk, path: Path, schema: Schema, is_block: bool = False) -> ChunkGraphs:
    """The graphs of a chunk for a model of that schema, by what reads tables of its kind."""
    kind, faults = TEXT if schema.kind == "sentence" else SMILES, dict(chunk.faults)
    column = MOLBLOCK if is_block else kind.columns[0]
    place_of = {line: place for place, line in enumerate(chunk.lines)}

    def on_skip(line: int, fault: str) -> None:
        faults[place_of[line]] = fault

    # A second cell, so that a row whose input is missing is not taken for a blank line.
    rows = [
        (line, [text, str(place)])
        for place, (line, text) in enumerate(zip(chunk.lines, chunk.texts, strict=True))
        if place not in faults
    ]
    if not rows:
        return ChunkGraphs(None, [], faults)
    options = ReadOptions(skip_bad=True, on_skip=on_skip)
    if not is_block:
        options = replace(options, smiles=column) if kind == SMILES else replace(options, text=column)
    source = Source(path, options)
    source.__dict__["table"] = Table(path, [column, "place"], iter(rows))
    read = load_new_molecules if kind == SMILES else load_new_sentences
    try:
        graphs, _ = read(source, schema, "ignored")
    except NoSoundRows as none:
        for line, fault in none.bad:
            on_skip(line, fault)
        return ChunkGraphs(None, [], faults)
    graphs, _ = check(conform(graphs, schema), training=False)
    assert graphs.lines is not None
    return ChunkGraphs(graphs, [place_of[line] for line in graphs.lines.tolist()], faults)


def _share(table: Table) -> float | None:
    share: Callable[[], float] | None = table.share_read
    return None if share is None else share()
