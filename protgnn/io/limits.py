"""How much input is read before it is refused: one place, generous, changeable.

A file from a stranger may be built to exhaust memory or time: a packed file that unpacks to a thousand times its size,
a graph that claims ten million nodes, a device that never ends. Every reader asks here. A limit is raised by its name,
for one command or for good: ``PROTGNN_LIMITS="nodes=100000000,file_bytes=8000000000"``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import lru_cache

from protgnn.errors import DataError, ProtGNNError

LIMITS_VARIABLE = "PROTGNN_LIMITS"


@dataclass(frozen=True)
class Limits:
    """The most that is accepted.

    Attributes:
        file_bytes: Bytes read from one file of text, after unpacking; a table that is streamed is never held whole.
        tensor_bytes: Bytes of one file of tensors, and of the tensors in it.
        line_chars: Characters of one line of text.
        name_chars: Characters of a name: of a graph, a node, a class, a column.
        nodes: Nodes of all graphs, or of a network.
        edges: Directed edges of all graphs, or of a network.
        graph_nodes: Nodes of one graph, which a model takes whole.
        mined_nodes: Nodes of one graph in which a ProtGNN+ with mined prototypes looks for parts.
        atoms: Atoms of one molecule.
        smiles_chars: Characters of one SMILES.
        nesting: Branches within branches of one SMILES.
        rings: Rings of one molecule, counted as bonds beyond those that hold its atoms together.
        run_bytes: Bytes of one file of a run directory.
        run_file_bytes: Bytes of its ``run.json``.
    """

    file_bytes: int = 2**30
    tensor_bytes: int = 8 * 2**30
    line_chars: int = 10_000_000
    name_chars: int = 100_000
    nodes: int = 20_000_000
    edges: int = 200_000_000
    graph_nodes: int = 1_000_000
    mined_nodes: int = 50_000
    atoms: int = 10_000
    smiles_chars: int = 50_000
    nesting: int = 1_000
    rings: int = 1_000
    run_bytes: int = 8 * 2**30
    run_file_bytes: int = 100_000_000


def limits() -> Limits:
    """The limits in force: the defaults, changed by ``PROTGNN_LIMITS``."""
    return _parsed(os.environ.get(LIMITS_VARIABLE, "").strip())


@lru_cache(maxsize=8)
def _parsed(text: str) -> Limits:
    if not text:
        return Limits()
    known = {field.name for field in fields(Limits)}
    changed: dict[str, int] = {}
    for setting in text.split(","):
        name, _, value = (piece.strip() for piece in setting.partition("="))
        if name not in known or not value.isdecimal():
            raise ProtGNNError(
                f"{LIMITS_VARIABLE}: expected settings such as nodes=1000000 with a name of "
                f"{', '.join(sorted(known))} (got {setting.strip()[:60]!r})"
            )
        changed[name] = int(value)
    return Limits(**changed)


def check_limit(name: str, amount: int, where: str) -> None:
    """Refuse input that is over the limit ``name``.

    Args:
        name: A field of :class:`Limits`.
        amount: How much of it the input has, as far as is known.
        where: What a message calls the input: a file, a line, a graph.

    Raises:
        DataError: It is too much; the message says how to raise the limit.
    """
    fault = over_limit(name, amount)
    if fault is not None:
        raise DataError(f"{where}: {fault}")


def over_limit(name: str, amount: int) -> str | None:
    """Say that ``amount`` is over the limit ``name`` and how to raise it; nothing where it is not."""
    most = getattr(limits(), name)
    if amount <= most:
        return None
    return (
        f"{amount} {_WORDS[name]}, and at most {most} are read. "
        f"If that is meant, raise the limit: {LIMITS_VARIABLE}={name}={amount}"
    )


_WORDS = {
    "file_bytes": "bytes or more",
    "tensor_bytes": "bytes of tensors",
    "line_chars": "characters in a line",
    "name_chars": "characters in a name",
    "nodes": "nodes",
    "edges": "edges",
    "graph_nodes": "nodes in one graph",
    "mined_nodes": "nodes in one graph whose parts are looked at",
    "atoms": "atoms",
    "smiles_chars": "characters in a SMILES",
    "nesting": "branches within branches in a SMILES",
    "rings": "rings in a molecule",
    "run_bytes": "bytes",
    "run_file_bytes": "bytes",
}
