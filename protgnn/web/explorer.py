"""What the explorer can do, without HTTP: ask, list rows, upload, map, download, compare; each for one visit."""

from __future__ import annotations

import secrets
import tempfile
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protgnn.data.network.instances import Instances
from protgnn.datasets.new_input import read_for_prediction
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.explanation import Reasoning
from protgnn.training.resolve import as_model_input
from protgnn.web import export
from protgnn.web.answer import answer
from protgnn.web.compare import comparison, pair_of
from protgnn.web.embedding_map import compared_vectors, map_points, tsne_positions
from protgnn.web.opened_run import OpenedRun
from protgnn.web.prototype_sheet import occurrences, prototype_sheet
from protgnn.web.requests import Edit, Question
from protgnn.web.row_set import AT_ONCE, RowSet
from protgnn.web.server_limits import RefusedError, ServerLimits
from protgnn.web.visitor_edits import apply_edit, edited_run, edits_of, undo
from protgnn.web.visits import HELD_OUT, View, Visit, Visits, rows_of
from protgnn.web.what_changed import what_changed
from protgnn.web.work import Workers

_ANSWERS_KEPT = 256


@dataclass(eq=False)
class Explorer:
    """One run that is explored, and perhaps a second one beside it."""

    first: View
    second: View | None
    limits: ServerLimits
    workers: Workers
    visits: Visits
    _answers: OrderedDict[tuple[OpenedRun, str], Reasoning] = field(default_factory=OrderedDict)

    @classmethod
    def open(cls, folder: Path, other: Path | None = None, limits: ServerLimits | None = None) -> Explorer:
        """Open one run, or two to compare.

        Raises:
            ProtGNNError: A folder is no finished run with prototypes.
        """
        limits = limits or ServerLimits()
        first = _view(OpenedRun.open(folder), limits)
        second = None if other is None else _view(OpenedRun.open(other), limits)
        return cls(first, second, limits, Workers(limits), Visits(first, limits))

    async def ask(self, visit: Visit, question: Question) -> dict[str, Any]:
        """The prediction for a text or a row, its reasoning, and what changed since ``before``."""
        return await self.workers.model.run(self._ask, visit, question)

    def _ask(self, visit: Visit, question: Question) -> dict[str, Any]:
        view = self.view_of(visit, question.of)
        if (question.text is None) == (question.place is None):
            raise RefusedError(400, "Expected a text or a row to ask about")
        if question.place is not None:
            if view is not visit.view:
                raise RefusedError(400, "Rows of the table are asked about by the model that predicted them")
            return answer(rows_of(visit, question.place.rows).reasoning(question.place.row))
        assert question.text is not None
        why = self._reasoning(view.opened, question.text)
        shown = answer(why)
        if question.before is not None and question.before.strip() != question.text.strip():
            try:
                shown["changed"] = what_changed(self._reasoning(view.opened, question.before), why)
            except ProtGNNError:
                shown["changed"] = None  # what was asked before cannot be read: there is nothing to compare with
        return shown

    def view_of(self, visit: Visit, of: str) -> View:
        """The model that a visitor means: ``first``, ``second`` or ``original``.

        Raises:
            RefusedError: There is no such model.
        """
        view = {"first": visit.view, "original": visit.base, "second": self.second}.get(of)
        if view is None:
            raise RefusedError(404, "There is no second run: start `protgnn explore` with two")
        return view

    async def compare(self, visit: Visit) -> dict[str, Any]:
        """Two runs, or a run and its edits, side by side."""
        pair = pair_of(visit, self.second)
        kept = pair.views[0 if self.second is not None else 1].cache
        if "comparison" not in kept:
            kept["comparison"] = await self.workers.model.run(comparison, pair)
        result: dict[str, Any] = kept["comparison"]
        return result

    def _reasoning(self, opened: OpenedRun, text: str) -> Reasoning:
        """The reasoning for a text; the last few are kept, as what was asked last is compared with what is now."""
        key = (opened, text.strip())
        if key not in self._answers:
            self._answers[key] = opened.explain(opened.read(text))[0]
            while len(self._answers) > _ANSWERS_KEPT:
                self._answers.popitem(last=False)
        self._answers.move_to_end(key)
        return self._answers[key]

    async def predicted(self, rows: RowSet) -> RowSet:
        """The rows once all are predicted; others have their turn in between."""
        while not rows.finished:
            await self.workers.model.run(rows.predict_more)
        return rows

    async def upload(self, visit: Visit, name: str, content: bytes) -> RowSet:
        """Predict a table of a visitor's; it is read in a temporary folder, which is gone afterwards."""
        rows = await self.workers.model.run(self._read_upload, visit, name, content)
        await self.predicted(rows)
        self.visits.keep(visit, rows)
        return rows

    def _read_upload(self, visit: Visit, name: str, content: bytes) -> RowSet:
        opened = visit.view.opened
        if opened.targets:
            raise DataError("Nodes of the run's own network are asked about: there is nothing to upload")
        most = self.limits.rows
        if content.count(b"\n") > most + 1:
            raise DataError(f"{content.count(bytes([10]))} lines, and at most {most} rows are predicted at once")
        skipped: list[tuple[int, str]] = []
        notes: list[str] = []
        with tempfile.TemporaryDirectory(prefix="protgnn-") as folder:
            path = Path(folder) / f"upload{_ending(name)}"
            path.write_bytes(content)
            try:
                graphs = read_for_prediction(
                    path,
                    opened.run.schema,
                    skip_bad=True,
                    say=notes.append,
                    on_skip=lambda line, fault: skipped.append((line, fault)),
                    remembered=None if opened.run.data is None else opened.run.data.options,
                )
            except ProtGNNError as error:
                raise DataError(_without_folder(str(error), folder, name)) from None
        if len(graphs) > most:
            raise DataError(f"{len(graphs)} rows, and at most {most} are predicted at once")
        instances: Instances = as_model_input(opened.run.recipe, graphs)
        notes = [_without_folder(note, folder, name) for note in notes]
        return RowSet(secrets.token_urlsafe(8), name, opened, instances, skipped, notes)

    async def prototypes(self, visit: Visit) -> dict[str, Any]:
        """The sheet of prototypes of the present model, where each occurs, and what was edited."""
        sheet, edits = await self.sheet_of(visit.view), edits_of(visit)
        missing = "The prototypes cannot be edited: the data of this run is not at hand."
        return {**sheet, "edits": edits, "cannot_edit": "" if edits is not None else missing}

    async def edit(self, visit: Visit, edit: Edit) -> dict[str, Any]:
        """Edit the prototypes; what was done, and validation accuracy before and after."""
        return await self.workers.model.run(apply_edit, visit, edit, self.limits)

    async def undo(self, visit: Visit) -> dict[str, Any]:
        """Take the last edit back."""
        return await self.workers.model.run(undo, visit)

    async def edited_run(self, visit: Visit) -> bytes:
        """The edited model as a run directory, packed."""
        return await self.workers.model.run(edited_run, visit)

    async def sheet_of(self, view: View) -> dict[str, Any]:
        """The sheet of prototypes of a model."""
        if "sheet" not in view.cache:
            sheet = await self.workers.model.run(prototype_sheet, view.opened)
            if view.held_out is not None:
                rows = await self.predicted(view.held_out)
                found = occurrences(rows, len(sheet["prototypes"]))
                sheet["prototypes"] = [card | one for card, one in zip(sheet["prototypes"], found, strict=True)]
            view.cache["sheet"] = sheet
        result: dict[str, Any] = view.cache["sheet"]
        return result

    async def map(self, visit: Visit, key: str) -> dict[str, Any]:
        """Where the rows and the prototypes lie beside each other."""
        rows, view = rows_of(visit, key), visit.view
        kept = f"map {key}"
        if kept not in view.cache:
            count = min(len(rows.instances), self.limits.mapped)
            chosen = rows.instances[list(range(count))]
            vectors = await self.workers.model.run(compared_vectors, view.opened, chosen)
            points = await self.workers.long.run(tsne_positions, vectors)
            classes = view.opened.model.head.classes.tolist()
            made = map_points(points, count, classes) | {"left_out": len(rows.instances) - count}
            if key != HELD_OUT:
                return made
            view.cache[kept] = made
        result: dict[str, Any] = view.cache[kept]
        return result

    async def csv(self, rows: RowSet) -> bytes:
        """Predictions and explanations of all rows."""
        return export.as_csv([row for row, _ in await self._explained(rows, 0)])

    async def workbook(self, rows: RowSet) -> bytes:
        """The same with pictures; of very many rows the first have one."""
        found = await self._explained(rows, self.limits.pictured_rows)
        content = [row for row, _ in found], [png for _, png in found], rows.title
        return await self.workers.long.run(export.as_workbook, *content)

    async def _explained(self, rows: RowSet, pictured: int) -> list[tuple[dict[str, Any], bytes | None]]:
        found: list[tuple[dict[str, Any], bytes | None]] = []
        while len(found) < len(rows.instances):
            found += await self.workers.model.run(_some_explained, rows, len(found), pictured)
        return found


def _some_explained(rows: RowSet, start: int, pictured: int) -> list[tuple[dict[str, Any], bytes | None]]:
    draws = start < pictured
    return [(row, export.row_png(why) if draws else None) for row, why in rows.explained(start, AT_ONCE)]


def _view(opened: OpenedRun, limits: ServerLimits) -> View:
    """A model with its held-out rows, where its data is at hand: the test set, or the validation set without one."""
    view = View(opened)
    for part, title in (("test", "test part"), ("valid", "validation part")):
        try:
            instances = opened.part(part)  # type: ignore[arg-type]
        except ProtGNNError:
            continue
        notes = []
        if len(instances) > limits.rows:
            notes.append(f"The first {limits.rows} of {len(instances)} are shown")
            instances = instances[list(range(limits.rows))]
        view.held_out = RowSet(HELD_OUT, title, opened, instances, notes=notes)
        break
    return view


def _ending(name: str) -> str:
    """The ending of a visitor's file name, if it is one of a table; the name itself is not used for anything."""
    ending = Path(name).suffix.lower()
    return ending if ending in (".csv", ".tsv", ".txt", ".smi", ".xlsx", ".sdf", ".jsonl", ".conllu") else ".csv"


def _without_folder(text: str, folder: str, name: str) -> str:
    """A message that names the visitor's file, and no folder of this machine."""
    shown = Path(name).name or "the file"
    ending = _ending(name)
    return text.replace(f"{folder}/upload{ending}", shown).replace(f"upload{ending}", shown).replace(folder, "")
