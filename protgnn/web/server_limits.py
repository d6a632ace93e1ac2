"""Limits on what a visitor of the explorer may request, low enough for a shared machine."""

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
"""Limits of the readers (:class:`~protgnn.io.limits.Limits`) in the explorer; ``PROTGNN_LIMITS`` overrides them."""


@dataclass(frozen=True)
class ServerLimits:
    """Upper bounds, each of one request, one visit or the whole server.

    Attributes:
        body_bytes: Bytes of a request that is no upload.
        upload_bytes: Bytes of an uploaded table.
        text_chars: Characters of a molecule or sentence to predict.
        rows: Rows of an uploaded table, and held-out rows that are shown.
        pictured_rows: Rows of a workbook that get a picture.
        pictures: Pictures per request.
        uploads: Uploaded tables per visit; the oldest is dropped first.
        uploaded_rows: Rows of the uploaded tables of all visits together; the oldest table is dropped first.
        visits: Visits; the one that was idle longest is dropped first.
        edits: Edits of the prototypes per visit.
        waiting: Requests that wait for the model; further requests are refused.
        seconds: Seconds until a request is answered with an error.
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
    """A request is refused, with an HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def limit_readers() -> None:
    """Set lower limits for the readers of this process; limits that the user has set remain."""
    ours = ",".join(f"{name}={most}" for name, most in _READING.items())
    given = os.environ.get(LIMITS_VARIABLE, "").strip()
    os.environ[LIMITS_VARIABLE] = f"{ours},{given}" if given else ours
