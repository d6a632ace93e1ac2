"""Edits of the prototypes by a visitor. They change a copy of the model that belongs to the visit, never the run."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from protgnn.editing.edit_plan import EditResult
from protgnn.editing.editor import PrototypeEditor
from protgnn.errors import ProtGNNError
from protgnn.web.answer import clean
from protgnn.web.requests import Edit
from protgnn.web.row_set import RowSet
from protgnn.web.server_limits import RefusedError, ServerLimits
from protgnn.web.visits import View, Visit

UNSEEN = (
    "These rows are held out: judge edits by the validation accuracy under Prototypes. "
    "A score on rows by which edits were chosen says nothing of new ones."
)
"""The note above held-out rows after an edit."""


def apply_edit(visit: Visit, edit: Edit, limits: ServerLimits) -> dict[str, Any]:
    """Edit the prototypes of a visitor's model and refit its last layer.

    Returns:
        A description of each change, and the validation accuracy before and after.

    Raises:
        ProtGNNError: The edit is impossible; nothing was changed.
    """
    editor = _editor(visit)
    if len(editor.history) - _stored_steps(visit) >= limits.edits:
        raise RefusedError(400, f"At most {limits.edits} edits are kept: undo some, or download the edited run")
    numbers = [] if edit.prototype is None else [edit.prototype]
    parts = [] if edit.part is None or not edit.part.strip() else [edit.part.strip()]
    if edit.action == "add":
        _expect(bool(parts), "the part to add")
        result = editor.edit(add=parts)
    elif edit.action == "replace":
        _expect(bool(parts and numbers), "the part to put in its place")
        result = editor.edit(replace={numbers[0]: parts[0]})
    elif edit.action == "forbid":
        _expect(bool(parts or numbers), "a prototype or a part to forbid")
        result = editor.edit(forbid=[*numbers, *parts])
    else:
        _expect(bool(numbers), "the number of a prototype")
        result = editor.edit(remove=numbers) if edit.action == "remove" else editor.edit(require=numbers)
    return _accepted(visit, editor, result)


def undo(visit: Visit) -> dict[str, Any]:
    """Undo the last edit of this visit. Edits that the run was saved with cannot be undone here.

    Raises:
        ProtGNNError: This visit has made no edit.
    """
    if visit.editor is None or len(visit.editor.history) <= _stored_steps(visit):
        raise ProtGNNError("There is nothing to undo: the prototypes were not edited here")
    return _accepted(visit, visit.editor, visit.editor.undo())


def edits_of(visit: Visit) -> dict[str, Any] | None:
    """The history of a visitor's edits with the validation accuracy; ``None`` if the model cannot be edited."""
    run, base = visit.view.opened.run, visit.base.opened
    if base.data is None or "valid" not in base.run.scores:
        return None
    steps = [] if visit.editor is None else visit.editor.history[_stored_steps(visit) :]
    return {
        "n": run.scores["valid"]["n"],
        "original": base.run.scores["valid"]["accuracy"],
        "now": run.scores["valid"]["accuracy"],
        "history": [
            {"done": [clean(one) for one in step.done], "before": step.before, "after": step.after} for step in steps
        ],
        "required": [] if visit.editor is None else list(visit.editor.edits.required),
        "notes": [clean(note) for note in visit.edit_notes],
    }


def edited_run(visit: Visit) -> bytes:
    """The edited model as a zip archive of a run directory.

    Raises:
        ProtGNNError: This visit has made no edit.
    """
    if visit.editor is None or visit.edited is None:
        raise RefusedError(404, "Nothing was edited: the run is as it was")
    content = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="protgnn-") as folder:
        made = Path(folder) / "edited-run"
        visit.editor.save(made)
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(made.rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
    return content.getvalue()


def _editor(visit: Visit) -> PrototypeEditor:
    if visit.editor is None:
        opened = visit.base.opened
        visit.editor = PrototypeEditor(opened.model, opened.run, opened.part("train"), opened.part("valid"))
    return visit.editor


def _stored_steps(visit: Visit) -> int:
    """The number of edits that the run was saved with."""
    edits = visit.base.opened.run.edits
    return 0 if edits is None else len(edits.history)


def _accepted(visit: Visit, editor: PrototypeEditor, result: EditResult) -> dict[str, Any]:
    """Let the edited model answer this visit from now on; after the last undo, the model of the run again."""
    held_out = visit.base.held_out
    visit.edit_notes = result.notes
    if len(editor.history) == _stored_steps(visit):
        visit.edited = None
    else:
        opened = visit.base.opened.edited(editor.model, editor.run)
        rows = None
        if held_out is not None:
            notes = [*held_out.notes, UNSEEN]
            rows = RowSet(held_out.key, held_out.title, opened, held_out.instances, notes=notes)
        visit.edited = View(opened, rows)
    return {
        "done": [clean(one) for one in result.done],
        "before": result.before["accuracy"],
        "after": result.after["accuracy"],
        "numbers": list(result.numbers),
        "notes": [clean(note) for note in result.notes],
    }


def _expect(given: bool, what: str) -> None:
    if not given:
        raise RefusedError(400, f"Expected {what}")
