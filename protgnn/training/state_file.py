"""What the stored state of unfinished training may hold, checked before training goes on from it.

A folder to be resumed may come from a stranger as a finished run may: its numbers are checked for type and range, and
its tensors against the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import torch
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.errors import RunError
from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.run_file import Name, Number, check_weights
from protgnn.training.selection import WORST, SelectBy, log_row

if TYPE_CHECKING:
    from protgnn.training.checkpoint import TrainingState

Accuracy = Annotated[float, Field(ge=-1, le=1)]
STAGES = {PlainGNN: ("learn",), ProtGNNMined: ("learn",), ProtGNN: ("learn", "anchored")}


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


def check_rows(state: TrainingState, select_by: SelectBy) -> None:
    """Refuse epochs without the figures that are selected by, or with others.

    Raises:
        RunError: A sentence on the first that is wrong.
    """
    columns = {"epoch", "loss", "accuracy", *log_row(WORST, select_by)}
    for row in state.rows:
        if set(row) != columns:
            raise RunError(f"epoch {row['epoch']} has other figures than {', '.join(sorted(columns))}")


def check_sources(state: TrainingState, train: Instances, model: GraphClassifier) -> None:
    """Refuse a stage that the model does not have, and sources that are not in the training graphs.

    Raises:
        RunError: A sentence on the first that is wrong.
    """
    stages = next(found for kind, found in STAGES.items() if isinstance(model, kind))
    if state.stage not in stages:
        raise RunError(f"a stage of {', '.join(stages)} was expected (got {state.stage[:40]!r})")
    if not state.sources:
        return
    if any(source["graph"] >= len(train) for source in state.sources):
        raise RunError(f"a prototype is of a graph beyond the {len(train)} training graphs")
    counts = train[[source["graph"] for source in state.sources]].ego_graphs().node_counts.tolist()
    for number, (source, count) in enumerate(zip(state.sources, counts, strict=True)):
        if max(source["nodes"]) >= count or len(set(source["nodes"])) != len(source["nodes"]):
            raise RunError(f"prototype {number} has nodes that its graph has not")
    if isinstance(model, ProtGNN) and len(counts) != len(model.head.classes):
        raise RunError(f"there are {len(model.head.classes)} prototypes (got sources of {len(counts)})")


def check_tensors(state: TrainingState, model: GraphClassifier) -> None:
    """Refuse stored tensors that are not those of the model and its optimiser.

    Raises:
        RunError: A sentence on the first difference.
    """
    wanted = model.state_dict()
    check_weights(state.model, wanted)
    for part in (state.average, state.best):
        if part:
            check_weights(part, wanted)
    if state.stage == "anchored":
        check_weights(state.learned, wanted)
    # As the optimiser numbers them: the sampler's are a group of their own, after the others.
    named = sorted(model.named_parameters(), key=lambda one: one[0].startswith("sampler."))
    moments: dict[str, Tensor] = {}
    for number in {key.partition("/")[0] for key in state.optimizer}:
        if not number.isdecimal() or int(number) >= len(named):
            raise RunError(f"the optimiser has no parameter {number[:20]!r}")
        moment = named[int(number)][1].detach()
        moments |= {f"{number}/{name}": moment for name in ("exp_avg", "exp_avg_sq")}
        moments[f"{number}/step"] = torch.zeros(())
    check_weights(state.optimizer, moments)
