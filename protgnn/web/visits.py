"""What the explorer remembers of a visitor: uploads and edits, which nobody else sees, and which are forgotten."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from protgnn.editing.editor import PrototypeEditor
from protgnn.web.opened_run import OpenedRun
from protgnn.web.row_set import RowSet
from protgnn.web.server_limits import RefusedError, ServerLimits

HELD_OUT = "held-out"


@dataclass(eq=False)
class View:
    """One model and what has been computed with it: its held-out rows, its map and its sheet of prototypes."""

    opened: OpenedRun
    held_out: RowSet | None = None
    cache: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Visit:
    """A visitor: uploads by key and, once the prototypes were edited, the editor and the model that it made."""

    key: str
    base: View
    uploads: OrderedDict[str, RowSet] = field(default_factory=OrderedDict)
    editor: PrototypeEditor | None = None
    edited: View | None = None
    edit_notes: tuple[str, ...] = ()

    @property
    def view(self) -> View:
        """The model that answers: as edited last, or as the run has it."""
        return self.edited or self.base


class Visits:
    """All visitors; those who were silent longest are forgotten first."""

    def __init__(self, base: View, limits: ServerLimits) -> None:
        self._base, self._limits = base, limits
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._visits)

    def start(self) -> Visit:
        """A new visitor."""
        visit = Visit(secrets.token_urlsafe(24), self._base)
        self._visits[visit.key] = visit
        while len(self._visits) > self._limits.visits:
            self._visits.popitem(last=False)
        return visit

    def find(self, key: str | None) -> Visit | None:
        """The visitor of a cookie; none where it is unknown or has been forgotten."""
        visit = None if key is None else self._visits.get(key)
        if visit is not None:
            self._visits.move_to_end(visit.key)
        return visit

    def keep(self, visit: Visit, rows: RowSet) -> None:
        """Remember an upload; the oldest of the visitor, and then of all, is forgotten where there are too many."""
        visit.uploads[rows.key] = rows
        while len(visit.uploads) > self._limits.uploads:
            visit.uploads.popitem(last=False)
        for other in self._visits.values():
            if self._uploaded() <= self._limits.uploaded_rows:
                break
            if other is not visit:
                other.uploads.clear()

    def _uploaded(self) -> int:
        return sum(len(rows.instances) for visit in self._visits.values() for rows in visit.uploads.values())


def rows_of(visit: Visit, key: str) -> RowSet:
    """The rows that a visitor names: the held-out set as the present model predicts it, or an upload of theirs.

    Raises:
        RefusedError: There is no such upload, or the data of the run is not at hand.
    """
    if key != HELD_OUT:
        if key not in visit.uploads:
            raise RefusedError(404, "This upload is not here any more: upload the file again")
        rows = visit.uploads[key]
        if rows.opened is not visit.view.opened:  # the prototypes have been edited since
            rows = RowSet(rows.key, rows.title, visit.view.opened, rows.instances, rows.skipped, rows.notes)
            visit.uploads[key] = rows
        return rows
    if visit.view.held_out is None:
        raise RefusedError(404, f"The data of this run is not at hand. {visit.view.opened.without_data}")
    return visit.view.held_out
