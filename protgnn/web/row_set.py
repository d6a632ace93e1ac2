"""Rows of the table: graphs of one source, the held-out set or an upload, and a line on each prediction.

Only the lines are kept. A reasoning is computed again when it is looked at: that takes milliseconds, and thousands of
reasonings would take a gigabyte.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from protgnn.data.network.instances import Instances
from protgnn.explain.explanation import Reasoning
from protgnn.explain.predictions import prediction_row
from protgnn.explain.render_text import difference, places_counted, whole_of
from protgnn.viz.picture import Sheet
from protgnn.viz.theme import PAGE
from protgnn.web.answer import clean, thumb
from protgnn.web.opened_run import OpenedRun
from protgnn.web.server_limits import RefusedError

AT_ONCE = 32
"""Rows that are explained in one turn of the model; after each, others have theirs."""


@dataclass(eq=False)
class RowSet:
    """Graphs with a line on each, as far as they have been predicted.

    ``skipped`` are lines of the file that could not be read, with what is wrong; ``notes`` is what a reader must know.
    """

    key: str
    title: str
    opened: OpenedRun
    instances: Instances
    skipped: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        return len(self.rows) >= len(self.instances)

    def predict_more(self) -> bool:
        """Predict the next few rows; whether all are done."""
        start = len(self.rows)
        if start < len(self.instances):
            self.rows += [_line(why, start) for why in self._explain(start, AT_ONCE)]
        return self.finished

    def reasoning(self, number: int) -> Reasoning:
        """The reasoning of one row.

        Raises:
            RefusedError: There is no such row.
        """
        if not 0 <= number < len(self.instances):
            raise RefusedError(404, f"There are {len(self.instances)} rows (row {number} was asked for)")
        return self.opened.explain(self.instances[number])[0]

    def pictures(self, numbers: list[int]) -> dict[str, Any]:
        """Small pictures of some rows, by number, with the bodies that they share."""
        sheet = Sheet(PAGE)
        drawn = {number: thumb(self.reasoning(number), sheet) for number in numbers}
        return {"pictures": drawn, "defs": sheet.defs()}

    def explained(self, start: int, count: int = AT_ONCE) -> list[tuple[dict[str, Any], Reasoning]]:
        """Some rows for a download: prediction and explanation, as ``protgnn predict`` writes them and a few more."""
        lines = self.opened.lines(self.instances)
        made = []
        for why in self._explain(start, count):
            number = start + why.number
            truth = None if why.truth is None else why.class_names[why.truth]
            row = prediction_row(why, number, None if lines is None else lines[number])
            winning = why.winning()
            extra = {
                "labelled": "" if truth is None else truth,
                "contribution": None if winning is None else round(winning.contribution(why.predicted), 6),
                "evidence looks like": "" if winning is None else why.describe_evidence(winning) or whole_of(why),
                "why": difference(why),
                "warnings": "; ".join(why.notes),
            }
            made.append((row | extra, why))
        return made

    def _explain(self, start: int, count: int) -> list[Reasoning]:
        return self.opened.explain(self.instances[list(range(start, min(start + count, len(self.instances))))])


def _line(why: Reasoning, start: int) -> dict[str, Any]:
    """One row of the table; what it says of a prototype is None where the class is predicted without any evidence."""
    row = why.winning()
    return {
        "row": start + why.number,
        "name": clean(why.title)[:400],
        "truth": why.truth,
        "predicted": why.predicted,
        "probability": round(why.probabilities[why.predicted], 6),
        "familiar": why.familiar,
        "notes": [clean(note) for note in why.notes],
        "prototype": None if row is None else row.prototype,
        "similarity": None if row is None else round(row.similarity, 6),
        "counted": None if row is None else places_counted(row),
        "contribution": None if row is None else round(row.contribution(why.predicted), 6),
    }
