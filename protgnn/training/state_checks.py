"""Check a stored state of unfinished training against the model and the training graphs before training continues."""

from __future__ import annotations

import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.errors import RunError
from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.checkpoint import TrainingState
from protgnn.training.run_file import check_weights
from protgnn.training.selection import WORST, SelectBy, log_row

STAGES = {PlainGNN: ("learn",), ProtGNNMined: ("learn",), ProtGNN: ("learn", "anchored")}


def check_rows(state: TrainingState, select_by: SelectBy) -> None:
    """Refuse a log that does not have exactly the columns of training that selects by ``select_by``.

    Raises:
        RunError: The first row with other columns.
    """
    columns = {"epoch", "loss", "accuracy", *log_row(WORST, select_by)}
    for row in state.rows:
        if set(row) != columns:
            raise RunError(f"epoch {row['epoch']} has other figures than {', '.join(sorted(columns))}")


def check_sources(state: TrainingState, train: Instances, model: GraphClassifier) -> None:
    """Refuse a stage that the model does not have, and prototype sources that are not in the training graphs.

    Raises:
        RunError: What does not fit.
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
    """Refuse tensors whose names or shapes are not those of the model and its optimiser.

    Raises:
        RunError: The first difference.
    """
    wanted = model.state_dict()
    check_weights(state.model, wanted)
    for part in (state.average, state.best):
        if part:
            check_weights(part, wanted)
    if state.stage == "anchored":
        check_weights(state.learned, wanted)
    # The order in which the optimiser numbers parameters: the sampler's are a second group.
    named = sorted(model.named_parameters(), key=lambda one: one[0].startswith("sampler."))
    moments: dict[str, Tensor] = {}
    for number in {key.partition("/")[0] for key in state.optimizer}:
        if not number.isdecimal() or int(number) >= len(named):
            raise RunError(f"the optimiser has no parameter {number[:20]!r}")
        moment = named[int(number)][1].detach()
        moments |= {f"{number}/{name}": moment for name in ("exp_avg", "exp_avg_sq")}
        moments[f"{number}/step"] = torch.zeros(())
    check_weights(state.optimizer, moments)
