"""Edits of prototypes by hand, as a run stores them: what must stay, what may never come, and what was done so far."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

MOST_STEPS = 1000
Number = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Nodes = Annotated[list[Number], Field(min_length=1, max_length=100_000)]
Text = Annotated[str, Field(max_length=100_000)]


class _Stored(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TrainingPart(_Stored):
    """Some nodes of a graph of the training set."""

    graph: Number
    nodes: Nodes

    @model_validator(mode="after")
    def _different_nodes(self) -> TrainingPart:
        if len(set(self.nodes)) != len(self.nodes):
            raise ValueError("a node is listed twice")
        return self


class ForbiddenPart(_Stored):
    """A part that shall never be a prototype: what the user wrote, and a training part for each look that it has."""

    text: Text
    parts: Annotated[list[TrainingPart], Field(min_length=1, max_length=1000)]


class StoredSource(TrainingPart):
    """Where a prototype comes from, its class, and whether it counts every place where it is found."""

    label: Number
    counts: bool = False


class Snapshot(_Stored):
    """A model before an edit, as far as edits change it: K prototypes, the last layer ``[C, K]``, the bases ``[C]``
    (none without), the temperature, and what was required and forbidden."""

    sources: Annotated[list[StoredSource], Field(min_length=1)]
    weight: list[list[FiniteFloat]]
    base: list[FiniteFloat] = []
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    required: list[Number] = []
    forbidden: list[ForbiddenPart] = []

    @model_validator(mode="after")
    def _fits(self) -> Snapshot:
        if any(len(row) != len(self.sources) for row in self.weight):
            raise ValueError(f"a row of weights is not of {len(self.sources)} prototypes")
        if self.base and len(self.base) != len(self.weight):
            raise ValueError(f"{len(self.base)} bases for {len(self.weight)} classes")
        if any(source.label >= len(self.weight) for source in self.sources):
            raise ValueError(f"a prototype before an edit is of a class that is not among {len(self.weight)}")
        if any(number >= len(self.sources) for number in self.required):
            raise ValueError("a prototype was required that was not there")
        return self


class EditStep(_Stored):
    """One edit: what was done, the accuracy on the validation set before and after, and what an undo goes back to
    (nothing after training, which cannot be undone)."""

    done: Annotated[list[Text], Field(min_length=1)]
    before: FiniteFloat
    after: FiniteFloat
    snapshot: Snapshot | None


class Edits(_Stored):
    """The numbers of the prototypes that later steps must keep, the parts that are never chosen, and the history."""

    required: list[Number] = []
    forbidden: list[ForbiddenPart] = []
    history: Annotated[list[EditStep], Field(max_length=MOST_STEPS)] = []

    def training_parts(self) -> list[TrainingPart]:
        """All parts of training graphs that are named, now and in the history."""
        snapshots = [step.snapshot for step in self.history if step.snapshot is not None]
        sources: list[TrainingPart] = [source for one in snapshots for source in one.sources]
        forbidden = [*self.forbidden, *(part for one in snapshots for part in one.forbidden)]
        return [*sources, *(part for one in forbidden for part in one.parts)]

    def check(self, prototypes: int, classes: int) -> None:
        """Refuse edits that are not those of a model with so many prototypes and classes.

        Raises:
            ValueError: A sentence on what does not fit.
        """
        if any(number >= prototypes for number in self.required):
            raise ValueError(f"a prototype is required that is not among the {prototypes}")
        for step in self.history:
            if step.snapshot is not None and len(step.snapshot.weight) != classes:
                raise ValueError(
                    f"an edit stores weights of {len(step.snapshot.weight)} classes and there are {classes}"
                )
