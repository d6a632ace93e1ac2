"""How much a visitor of the explorer may ask for: one place, small enough for a shared machine."""

from __future__ import annotations

import os
from dataclasses import dataclass

from protgnn.errors import ProtGNNError
from protgnn.io.limits import LIMITS_VARIABLE

_READING = {
    "atoms": 400,
    "rings": 60,
    "nesting": 60,
    "smiles_chars": 4_000,
    "name_chars": 10_000,
    "line_chars": 100_000,
    "graph_nodes": 2_000,
    "file_bytes": 40_000_000,
}
"""What readers accept from visitors, by the names of ``io.limits``; ``PROTGNN_LIMITS`` raises one."""


@dataclass(frozen=True)
class ServerLimits:
    """The most that is accepted.

    Attributes:
        body_bytes: Bytes of a request that is no upload.
        upload_bytes: Bytes of an uploaded table.
        text_chars: Characters of a molecule or sentence that is asked about.
        rows: Rows of an uploaded table, and held-out rows that are shown.
        pictured_rows: Rows of a workbook that get a picture.
        pictures: Pictures of one request.
        uploads: Tables that are kept of a visit; the oldest goes first.
        uploaded_rows: Rows of all tables of all visits; the oldest table goes first.
        visits: Visits that are remembered; the one that was silent longest goes first.
        edits: Edits of the prototypes that are kept of a visit.
        waiting: Requests that wait for the model; further ones are turned away.
        seconds: How long a request may take until it is answered with an apology.
        mapped: Graphs on the map.
    """

    body_bytes: int = 20_000
    upload_bytes: int = 4_000_000
    text_chars: int = 4_000
    rows: int = 5_000
    pictured_rows: int = 2_000
    pictures: int = 60
    uploads: int = 4
    uploaded_rows: int = 100_000
    visits: int = 256
    edits: int = 30
    waiting: int = 200
    seconds: float = 60.0
    mapped: int = 1_500


class RefusedError(ProtGNNError):
    """A request that is turned away, with the status of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def limit_readers() -> None:
    """Have the readers of this process refuse what is too much for a visitor; what the user has set stays."""
    ours = ",".join(f"{name}={most}" for name, most in _READING.items())
    given = os.environ.get(LIMITS_VARIABLE, "").strip()
    os.environ[LIMITS_VARIABLE] = f"{ours},{given}" if given else ours
