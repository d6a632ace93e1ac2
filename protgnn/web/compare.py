"""Two models side by side: two runs, or a run before and after a visitor's edits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from protgnn.explain.compare_runs import RunComparison, compare_runs, held_out_in_both
from protgnn.web.answer import clean
from protgnn.web.requests import Of
from protgnn.web.server_limits import RefusedError
from protgnn.web.visits import View, Visit

MOST_DISAGREEMENTS = 500
SHOWN_SCORES = ("accuracy", "balanced_accuracy", "roc_auc", "mcc", "brier", "ece")
NOTHING_TO_COMPARE = (
    "There is nothing to compare yet: start `protgnn explore RUN RUN2` with two runs, or edit the prototypes"
)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two models: their names on the page, and the value of ``of`` that addresses each in a request."""

    views: tuple[View, View]
    names: tuple[str, str]
    of: tuple[Of, Of]
    is_edit: bool


def pair_of(visit: Visit, second: View | None) -> Pair:
    """The models that a visitor compares: the two open runs or, if there is only one, the run and the edited model.

    Raises:
        RefusedError: Only one run is open, and it was not edited.
    """
    name = visit.base.opened.name
    if second is not None:
        mine = name if visit.edited is None else f"{name}, edited"
        other = second.opened.name
        if mine == other:
            mine, other = str(visit.base.opened.folder), str(second.opened.folder)
        return Pair((visit.view, second), (mine, other), ("first", "second"), False)
    if visit.edited is None:
        raise RefusedError(404, NOTHING_TO_COMPARE)
    return Pair((visit.base, visit.edited), (name, f"{name}, edited"), ("original", "first"), True)


def comparison(pair: Pair) -> dict[str, Any]:
    """Compare scores, predictions and prototypes of two models.

    Two runs are compared on graphs that neither was trained or selected on. Edits are compared on the validation set,
    so that the test set stays unseen while a visitor tries edits.

    Raises:
        ProtGNNError: The data is missing, or the two models have different data or classes.
    """
    one, two = (view.opened for view in pair.views)
    notes: tuple[str, ...] = ()
    if pair.is_edit:
        graphs, others = one.part("valid"), two.part("valid")
    else:
        graphs, others, notes = held_out_in_both(one.run, two.run)
    found = compare_runs((one.model, one.run), (two.model, two.run), graphs, others, notes)
    return {
        "names": [clean(name) for name in pair.names],
        "of": pair.of,
        "part": "validation part" if pair.is_edit else "test part",
        "n": found.n,
        "notes": [clean(note) for note in found.notes],
        "scores": _scores(found),
        "only_first": found.mcnemar.only_first,
        "only_second": found.mcnemar.only_second,
        "p_value": found.mcnemar.p_value,
        "disagreement_count": len(found.disagreements),
        **_classes_by_number(found, one.run.schema.class_names, one.noun),
    }


def _scores(found: RunComparison) -> list[dict[str, Any]]:
    """Scores that both models have, and the difference (second minus first) with its confidence interval."""
    one, two = found.scores
    return [
        {
            "name": key,
            "first": one[key],
            "second": two[key],
            "difference": found.differences[key].difference,
            "between": [found.differences[key].low, found.differences[key].high],
        }
        for key in SHOWN_SCORES
        if key in found.differences and None not in (one.get(key), two.get(key))
    ]


def _classes_by_number(found: RunComparison, names: tuple[str, ...], noun: str) -> dict[str, Any]:
    """Disagreements and prototypes as JSON, in which a class is a number."""
    disagreements = [
        {
            "name": clean(one.name or f"{noun} {one.number}")[:400],
            "text": one.name,
            "truth": names.index(one.truth),
            "first": [names.index(one.first.predicted), one.first.probability],
            "second": [names.index(one.second.predicted), one.second.probability],
        }
        for one in found.disagreements[:MOST_DISAGREEMENTS]
    ]
    prototypes = [
        {**asdict(both), "label": names.index(both.label), "description": clean(both.description)}
        for both in found.prototypes
    ]
    return {"disagreements": disagreements, "prototypes": prototypes}
