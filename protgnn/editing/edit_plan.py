"""Plan an edit: validate the whole request before anything changes, and list the prototypes after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protgnn.data.network.instances import Instances
from protgnn.editing.named_parts import FoundPart, PartText, describe_training_part, find_looks, find_part
from protgnn.editing.part_looks import LookKey, forbidden_looks, training_look
from protgnn.errors import ProtGNNError
from protgnn.model.classifier import ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.edits import Edits, ForbiddenPart, StoredSource, TrainingPart

MOST_FORBIDDEN = 100
"""The most looks that one forbidden text may have."""


@dataclass(frozen=True)
class EditRequest:
    """The changes that a user requests; prototype numbers are those before the edit.

    Attributes:
        remove: Prototypes to remove; retraining may choose them again.
        require: Prototypes that later edits and retraining must keep.
        forbid: Parts that may never be prototypes, each a text or the number of a prototype.
        replace: The part that replaces each of these prototypes.
        add: Parts to add as prototypes.
    """

    remove: Sequence[int] = ()
    require: Sequence[int] = ()
    forbid: Sequence[int | PartText] = ()
    replace: Mapping[int, PartText] = field(default_factory=dict)
    add: Sequence[PartText] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no change is requested."""
        return not (self.remove or self.require or self.forbid or self.replace or self.add)


@dataclass(frozen=True)
class EditPlan:
    """The prototypes after an edit.

    Attributes:
        before: The number of prototypes before the edit.
        sources: Where each prototype after the edit comes from.
        came_from: For each of them the old prototype whose weights it inherits: itself, or the one that it replaces;
            ``None`` for an added one.
        is_new: Whether each of them is new: replaced or added.
        edits: Required prototypes and forbidden parts after the edit.
        done: A phrase on each change.
        notes: Remarks for the user.
    """

    before: int
    sources: list[StoredSource]
    came_from: list[int | None]
    is_new: list[bool]
    edits: Edits
    done: list[str]
    notes: list[str]

    @property
    def changes_prototypes(self) -> bool:
        """Whether the last layer must be refitted."""
        return any(self.is_new) or self.before != len(self.sources)

    @property
    def numbers(self) -> list[int | None]:
        """The new number of each old prototype; ``None`` if it was removed or replaced."""
        kept = {old: new for new, old in enumerate(self.came_from) if not self.is_new[new]}
        return [kept.get(number) for number in range(self.before)]


@dataclass(frozen=True)
class EditResult:
    """What an edit did.

    Attributes:
        done: A phrase on each change: ``"removed 3 (CCO)"``.
        before: The scores on the validation set before the edit (:func:`~protgnn.training.scores.score`).
        after: The scores after it.
        numbers: The new number of each old prototype; ``None`` if it is gone.
        notes: Remarks for the user.
    """

    done: tuple[str, ...]
    before: dict[str, Any]
    after: dict[str, Any]
    numbers: tuple[int | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def gain(self) -> float:
        """The gain in validation accuracy."""
        return float(self.after["accuracy"] - self.before["accuracy"])

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "done": list(self.done),
            "before": self.before,
            "after": self.after,
            "numbers": list(self.numbers),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Two lines: the changes, and the validation accuracy before and after."""
        accuracy = f"validation accuracy {self.before['accuracy']:.1%} → {self.after['accuracy']:.1%}"
        return f"{'; '.join(self.done)}\n{accuracy} of {self.after['n']}"


def plan_edit(
    model: ProtGNN, train: Instances, sources: list[StoredSource], edits: Edits, request: EditRequest
) -> EditPlan:
    """Validate a request and list the prototypes after it.

    Args:
        model: The model before the edit.
        train: Its training set, as model input.
        sources: Where its prototypes come from.
        edits: The required prototypes and forbidden parts so far.
        request: The changes.

    Raises:
        ProtGNNError: The edit is impossible; the message says why.
    """
    plan = _Planner(model, train, sources, edits)
    plan.forbid(request.forbid)
    plan.remove(request.remove)
    plan.replace(request.replace)
    plan.add(request.add)
    plan.require(request.require)
    return plan.finished()


class _Planner:
    """Builds a plan: one method for each kind of change, called in a fixed order."""

    def __init__(self, model: ProtGNN, train: Instances, sources: list[StoredSource], edits: Edits) -> None:
        self.model, self.train, self.before, self.edits = model, train, sources, edits
        self.kept: dict[int, StoredSource] = dict(enumerate(sources))
        self.replaced: set[int] = set()
        self.added: list[StoredSource] = []
        self.required, self.forbidden = set(edits.required), list(edits.forbidden)
        self.done: list[str] = []
        self.notes: list[str] = []
        self.looks: dict[LookKey, str] = forbidden_looks(train, edits.forbidden)

    def forbid(self, wanted: Sequence[int | PartText]) -> None:
        """Forbid parts, and remove the prototypes that look like them."""
        for one in wanted:
            if isinstance(one, int):
                source = self._source(one)
                found = {self._look(source): (source.graph, tuple(source.nodes))}
                text = self._describe(source)
            else:
                found = find_looks(self.model, self.train, one)
                text = one if isinstance(one, str) else f"#{one[0]}:{','.join(map(str, one[1]))}"
            if len(found) > MOST_FORBIDDEN:
                raise ProtGNNError(f"{text} has more than {MOST_FORBIDDEN} looks in the training part: say it closer")
            self.looks |= dict.fromkeys(found, text)
            parts = [TrainingPart(graph=graph, nodes=list(nodes)) for graph, nodes in found.values()]
            self.forbidden.append(ForbiddenPart(text=text, parts=parts))
            self.done.append(f"forbade {text}")
        if wanted:
            for number in [number for number, source in self.kept.items() if self._look(source) in self.looks]:
                self._drop(number)

    def remove(self, wanted: Sequence[int]) -> None:
        """Remove prototypes by number."""
        for number in wanted:
            self._source(number)
            if number in self.kept:  # it may just have been forbidden
                self._drop(number)

    def replace(self, wanted: Mapping[int, PartText]) -> None:
        """Put parts in the place of prototypes, in the same classes."""
        for number, part in wanted.items():
            source = self._source(number)
            self._refuse_required(number, "replaced")
            found = find_part(self.model, self.train, part, source.label)
            self.kept.pop(number, None)
            self._refuse_taken(found)
            self.kept[number] = self._as_source(found)
            self.replaced.add(number)
            self.done.append(f"replaced {number} ({self._describe(source)}) by {found.description}")
        self.kept = dict(sorted(self.kept.items()))

    def add(self, wanted: Sequence[PartText]) -> None:
        """Add parts after the prototypes that are there."""
        for part in wanted:
            found = find_part(self.model, self.train, part)
            self._refuse_taken(found)
            self.added.append(self._as_source(found))
            self.done.append(f"added {found.description} to class {self.train.schema.class_names[found.label]}")

    def require(self, wanted: Sequence[int]) -> None:
        """Mark prototypes that later edits and retraining must keep."""
        for number in wanted:
            source = self._source(number)
            if number not in self.kept or number in self.replaced:
                raise ProtGNNError(f"Prototype {number} cannot be required and removed or replaced in one edit")
            self.required.add(number)
            self.done.append(f"required {number} ({self._describe(source)})")

    def finished(self) -> EditPlan:
        """The plan, if the remaining prototypes can classify."""
        sources = [*self.kept.values(), *self.added]
        if not sources:
            raise ProtGNNError("No prototype would be left: keep one, or add one in the same edit")
        if not isinstance(self.model, ProtGNNMined):  # there, a class without prototypes still has a base
            had, has = (Counter(source.label for source in some) for some in (self.before, sources))
            for label in had:
                if not has[label]:
                    name = self.train.schema.class_names[label]
                    raise ProtGNNError(f"Class {name} would have no prototype left: replace the last one instead")
        numbers = {before: after for after, before in enumerate(self.kept)}
        edits = Edits(
            required=sorted(numbers[number] for number in self.required),
            forbidden=self.forbidden,
            history=self.edits.history,
        )
        came_from = [*self.kept, *(None for _ in self.added)]
        is_new = [number is None or number in self.replaced for number in came_from]
        return EditPlan(len(self.before), sources, came_from, is_new, edits, self.done, self.notes)

    def _drop(self, number: int) -> None:
        self._refuse_required(number, "removed")
        self.done.append(f"removed {number} ({self._describe(self.kept.pop(number))})")

    def _source(self, number: int) -> StoredSource:
        if isinstance(number, bool) or not 0 <= number < len(self.before):
            raise ProtGNNError(f"There is no prototype {number}: they are numbered 0 to {len(self.before) - 1}")
        return self.before[number]

    def _refuse_required(self, number: int, what: str) -> None:
        if number in self.required:
            raise ProtGNNError(f"Prototype {number} is required and cannot be {what}: undo that first")

    def _refuse_taken(self, found: FoundPart) -> None:
        """Refuse a part that is forbidden or is already a prototype of the class."""
        look = training_look(self.train, found.graph, found.nodes)
        if look in self.looks:
            raise ProtGNNError(f"{found.description} is forbidden ({self.looks[look]}): undo that first")
        for number, source in self.kept.items():
            if source.label == found.label and self._look(source) == look:
                raise ProtGNNError(f"{found.description} is prototype {number} of its class already")
        if any(source.label == found.label and self._look(source) == look for source in self.added):
            raise ProtGNNError(f"{found.description} is added twice to one class")
        self.notes += found.notes

    def _as_source(self, found: FoundPart) -> StoredSource:
        return StoredSource(graph=found.graph, nodes=list(found.nodes), label=found.label)

    def _look(self, source: StoredSource) -> LookKey:
        return training_look(self.train, source.graph, source.nodes)

    def _describe(self, source: StoredSource) -> str:
        return describe_training_part(self.train, source.graph, source.nodes)
