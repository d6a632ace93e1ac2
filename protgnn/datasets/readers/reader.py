"""What a format is to the rest of the package: one :class:`Reader` in one file of this folder.

A new format is a new file here with a tuple ``READERS``. Names of endings, which options a file takes and the messages
about them all follow from what its readers say of themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.network import Network
from protgnn.data.schema import Kind, Schema
from protgnn.data.split import Split
from protgnn.datasets.readers.find_columns import LOOKED_AT, guess_smiles
from protgnn.datasets.readers.open_table import open_table
from protgnn.datasets.readers.options import SMILES, Labels, OnSkip, Option, RawKind, ReadOptions
from protgnn.errors import DataError
from protgnn.io.tables import Table, listed, option
from protgnn.io.text import ending

__all__ = [
    "Labels",
    "Loaded",
    "NetworkData",
    "NetworkReader",
    "OnSkip",
    "Option",
    "RawKind",
    "ReadOptions",
    "Reader",
    "Source",
    "Table",
    "Task",
    "endings",
    "network_reader",
    "readers",
    "refuse_options",
    "to_predict",
    "to_train",
]

Task = Literal["nodes", "links"]


@dataclass(frozen=True)
class Source:
    """A file or folder that is being read, and what the user says of it; a table is opened once."""

    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)

    @cached_property
    def table(self) -> Table:
        return open_table(self.path)


@dataclass(frozen=True)
class Loaded:
    """What a reader brings home, before the checks; a split that is the standard is used unless another is chosen."""

    graphs: GraphSet
    notes: list[str] = field(default_factory=list)
    given_split: Split | None = None
    standard_split: bool = False
    settled: dict[str, str] = field(default_factory=dict)
    """Columns and ranges that were found, by the options that choose them."""


@dataclass(frozen=True, eq=False)
class NetworkData:
    """A network with the split that came with it, and a sentence for each thing that was repaired."""

    network: Network
    given_split: Split | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Format:
    """What every format says of itself: its name in messages, the endings of its files, whether a folder is one, and
    the options it takes."""

    what: str
    suffixes: tuple[str, ...] = ()
    is_folder: Callable[[Path], bool] | None = None
    options: frozenset[Option] = frozenset()

    def recognises(self, path: Path) -> bool:
        """Whether a path is of this format, by its ending or by what a folder holds."""
        if path.is_dir():
            return self.is_folder is not None and self.is_folder(path)
        return ending(path) in self.suffixes


@dataclass(frozen=True, kw_only=True)
class Reader(_Format):
    """A format of graphs.

    ``read`` reads graphs to learn from, nothing where the format has no place for labels. ``read_new`` reads graphs
    for a trained model of a schema. ``raw`` is the kind of raw input in a column, and ``kind`` what it becomes: they
    tell apart formats of one ending. Those of lower ``rank`` are tried, and named in messages, first.
    """

    read: Callable[[Source], Loaded] | None = None
    read_new: Callable[[Source, Schema, Labels], tuple[GraphSet, list[str]]]
    raw: RawKind | None = None
    kind: Kind | None = None
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class NetworkReader(_Format):
    """A format of networks.

    ``read`` takes the path, the label column, whether edges have a direction, and the task. ``read_new`` takes the
    path, the schema of a trained model, the label column, the direction, and whether labels are passed over.
    """

    read: Callable[[Path, str | None, bool, Task | None], NetworkData]
    read_new: Callable[[Path, Schema, str | None, bool, bool], NetworkData]


def readers() -> list[Reader]:
    """The formats of graphs, those that are tried first in front."""
    return sorted((found for found in _all() if isinstance(found, Reader)), key=lambda reader: reader.rank)


def network_reader(path: Path) -> NetworkReader | None:
    """The format of a network; nothing if the path holds none."""
    found = (reader for reader in _all() if isinstance(reader, NetworkReader) and reader.recognises(path))
    return next(found, None)


def endings(training: bool) -> list[str]:
    """How files of graphs may end, to learn from or in all."""
    found = [suffix for reader in readers() if reader.read or not training for suffix in reader.suffixes]
    return list(dict.fromkeys(found))


def to_train(source: Source) -> Reader:
    """The reader of graphs to learn from; of several that read such files, that whose column there is."""
    found = [reader for reader in readers() if reader.read and reader.recognises(source.path)]
    if not found:
        raise DataError(
            f"{source.path}: expected a file that ends in {', '.join(endings(training=True))}, {_folders()} "
            f"or a network (got {ending(source.path) or 'none'})"
        )
    return found[0] if len(found) == 1 else _by_column(source, found)


def to_predict(path: Path, schema: Schema) -> Reader:
    """The reader of graphs for a trained model; of several that read such files, that of the model's kind."""
    found = [reader for reader in readers() if reader.recognises(path)]
    if not found:
        raise DataError(
            f"{path}: expected a file that ends in {', '.join(endings(training=False))}, or {_folders()} "
            f"(got {ending(path) or 'no ending'})"
        )
    return next((reader for reader in found if reader.kind == schema.kind), found[0])


def refuse_options(path: Path, options: ReadOptions, also: frozenset[Option] = frozenset()) -> None:
    """Refuse what a user says of columns and rows that a file or folder of this kind does not have; ``also`` are
    options that it takes beside those of its format."""
    taken = {*also, *(name for reader in _all() if reader.recognises(path) for name in reader.options)}
    for name in options.given():
        if name not in taken:
            *others, last = dict.fromkeys(
                reader.what for reader in (*readers(), *_networks()) if name in reader.options
            )
            of = f"{', '.join(others)} or {last}" if others else last
            raise DataError(f"{path}: leave --{name} out, which is for {of}")


def _networks() -> list[NetworkReader]:
    return [reader for reader in _all() if isinstance(reader, NetworkReader)]


def _folders() -> str:
    return " or ".join(reader.what for reader in readers() if reader.is_folder)


def _by_column(source: Source, found: list[Reader]) -> Reader:
    """The reader whose column the user names, or the first whose column can be guessed from the header."""
    kinds = {reader.raw: reader for reader in found if reader.raw is not None}
    named = [kind for kind in kinds if source.options.column(kind) is not None]
    ways = " or ".join(option(kind.option) for kind in named or kinds)
    if len(named) > 1:
        raise DataError(f"{source.path}: choose the column with one of {ways}")
    if named:
        return kinds[named[0]]
    header = source.table.header
    for kind, reader in kinds.items():
        if any(name.lower() in kind.columns for name in header):
            return reader
    cells = [row for row in source.table.peek(LOOKED_AT) if len(row) == len(header)]
    if SMILES in kinds and guess_smiles(header, cells) is not None:
        return kinds[SMILES]
    wanted = " or ".join(kind.what for kind in kinds)
    raise DataError(
        f"{source.path} line {source.table.header_line}: which column holds the {wanted}? Expected a header with a "
        f"column {' or '.join(f'`{kind.columns[0]}`' for kind in kinds)} (got the columns {listed(header)}): "
        f"choose one with {ways}"
    )


@cache
def _all() -> tuple[Reader | NetworkReader, ...]:
    """Every reader of the modules in this folder."""
    package = import_module(__name__.rpartition(".")[0])
    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    return tuple(reader for module in modules for reader in getattr(module, "READERS", ()))
