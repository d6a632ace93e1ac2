"""The schema of the stored state of unfinished training: its numbers, with their types and ranges.

A folder to resume may come from a stranger, just as a finished run may. ``state_checks`` compares what passes the
schema with the model and its training graphs.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from protgnn.training.run_file import Name, Number

Accuracy = Annotated[float, Field(ge=-1, le=1)]


class _StatePart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SourceFile(_StatePart):
    """Where the subgraph of a prototype comes from."""

    graph: Number
    nodes: Annotated[list[Number], Field(min_length=1)]
    label: Number
    counts: bool = False
    distance: float = 0.0


class StateFile(_StatePart):
    """The numbers of :class:`~protgnn.training.checkpoint.TrainingState`."""

    epoch: Number
    best_epoch: Number
    best_quality: Annotated[list[float], Field(min_length=3, max_length=3)]
    stage: str
    stage_start: Number
    learned_epoch: Number
    learned_accuracy: Accuracy
    sources: list[SourceFile]
    rows: list[dict[Name, Number | FiniteFloat]]
    average_steps: Number

    @model_validator(mode="after")
    def _consistent(self) -> StateFile:
        if len(self.rows) != self.epoch or any(row.get("epoch") != place for place, row in enumerate(self.rows, 1)):
            raise ValueError(f"the rows are not those of {self.epoch} epochs")
        if max(self.best_epoch, self.stage_start, self.learned_epoch) > self.epoch:
            raise ValueError(f"it names an epoch after the last, {self.epoch}")
        if (self.stage == "learn") == bool(self.sources):
            raise ValueError("prototypes have sources from the second stage on, and not before")
        return self


def check_numbers(content: Any) -> None:
    """Check the numbers of a stored state.

    Raises:
        ValueError: A sentence that names the first one that is wrong.
    """
    try:
        StateFile.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])[:100]
        raise ValueError(f"{place}: {problem['msg'].removeprefix('Value error, ')}".removeprefix(": ")) from None
