"""Two runs side by side: their scores, the graphs on which they disagree, and their prototypes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.data.resemblance import look_of
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.explanation import RunContext
from protgnn.explain.run_data import run_part
from protgnn.featurizers.kinds import kinds_of
from protgnn.model.classifier import GraphClassifier
from protgnn.training.evaluate import check_outputs, predict_logits
from protgnn.training.paired import Difference, McNemar, mcnemar, paired_differences
from protgnn.training.run import Run
from protgnn.training.scores import score


@dataclass(frozen=True)
class Opinion:
    """What a model says of a graph: the class and its probability."""

    predicted: str
    probability: float


@dataclass(frozen=True)
class Disagreement:
    """A graph that two models classify differently: its number among those compared, its name and its class."""

    number: int
    name: str | None
    truth: str
    first: Opinion
    second: Opinion


@dataclass(frozen=True)
class PrototypePair:
    """Prototypes of one class that look the same, by number in each run; none where a run has no such prototype."""

    label: str
    description: str
    first: int | None
    second: int | None
    first_weight: float | None
    second_weight: float | None


@dataclass(frozen=True)
class RunComparison:
    """How two runs differ on the same labelled graphs.

    Attributes:
        n: How many graphs.
        scores: The scores of the first and of the second, as :func:`~protgnn.training.scores.score` gives them.
        differences: For each score the second's less the first's, with a 95 % interval by the paired bootstrap.
        mcnemar: How many graphs only one of them gets right, and the exact test.
        disagreements: The graphs that they classify differently.
        prototypes: Their prototypes side by side.
        notes: What is to be said of the comparison.
    """

    n: int
    scores: tuple[dict[str, Any], dict[str, Any]]
    differences: dict[str, Difference]
    mcnemar: McNemar
    disagreements: tuple[Disagreement, ...]
    prototypes: tuple[PrototypePair, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


def held_out_in_both(first: Run, second: Run) -> tuple[Instances, Instances, tuple[str, ...]]:
    """The graphs that neither run was trained or chosen on, as the model of each takes them, and notes on them.

    Raises:
        ProtGNNError: The runs are not of the same data, or have no test graph in common.
    """
    same = first.data is not None and second.data is not None and first.data.fingerprint == second.data.fingerprint
    if not same:
        raise ProtGNNError("The two runs were trained on different data: name the data to compare them on")
    one, two = run_part(first, "test"), run_part(second, "test")
    if isinstance(one, NetworkInstances) and isinstance(two, NetworkInstances) and one.num_targets == 2:
        mine, theirs = _pairs(one), _pairs(two)
    elif first.split is not None and second.split is not None:
        mine, theirs = first.split.test.tolist(), second.split.test.tolist()
    else:
        if len(one) != len(two) or (one.y is not None and two.y is not None and not torch.equal(one.y, two.y)):
            raise ProtGNNError("The test parts of the two runs differ: name the data to compare them on")
        return one, two, ()
    place = {number: position for position, number in enumerate(theirs)}
    common = [(position, place[number]) for position, number in enumerate(mine) if number in place]
    if not common:
        raise ProtGNNError("No graph was held out from both runs: name the data to compare them on")
    notes: tuple[str, ...] = ()
    if len(common) < max(len(mine), len(theirs)):
        notes = (f"compared on the {len(common)} that both runs held out, of {len(mine)} and {len(theirs)}",)
    return one[[position for position, _ in common]], two[[position for _, position in common]], notes


def _pairs(instances: NetworkInstances) -> list[Hashable]:
    """The two nodes of every instance: pairs are drawn by the seed of a run, and have no number."""
    return [tuple(pair) for pair in instances.targets.tolist()]


def compare_runs(
    first: tuple[GraphClassifier, Run],
    second: tuple[GraphClassifier, Run],
    graphs: Instances,
    second_graphs: Instances | None = None,
    notes: tuple[str, ...] = (),
) -> RunComparison:
    """Compare two models on the same labelled graphs.

    Args:
        first: A model and its run, as :func:`~protgnn.training.run.load_model` gives them.
        second: Another.
        graphs: The graphs as the first model takes them.
        second_graphs: The same graphs as the second model takes them, where that differs.
        notes: What is to be said of the graphs.

    Raises:
        DataError: There are no labels, or the models have different classes, or the graphs are not the same.
    """
    others = graphs if second_graphs is None else second_graphs
    names = first[1].schema.class_names
    if graphs.y is None or others.y is None:
        raise DataError("Expected labelled graphs to compare on (got some without labels)")
    if sorted(names) != sorted(second[1].schema.class_names):
        told = ", ".join(second[1].schema.class_names)
        raise DataError(f"The two runs have different classes: {', '.join(names)} and {told}")
    order = [second[1].schema.class_names.index(name) for name in names]
    if len(graphs) != len(others) or graphs.y.tolist() != [order.index(label) for label in others.y.tolist()]:
        raise DataError("The two models do not see the same graphs: give data that both can read")
    logits = predict_logits(first[0], graphs), predict_logits(second[0], others)[:, order]
    for found in logits:
        check_outputs(found)
    link = 1 if graphs.num_targets == 2 else None
    said = logits[0].argmax(1), logits[1].argmax(1)
    return RunComparison(
        n=len(graphs),
        scores=(score(logits[0], graphs.y, names, link), score(logits[1], graphs.y, names, link)),
        differences=paired_differences(*logits, graphs.y, link),
        mcnemar=mcnemar(*said, graphs.y),
        disagreements=_disagreements(graphs, *logits, names),
        prototypes=pair_prototypes(first[1], second[1]),
        notes=notes,
    )


def _disagreements(
    graphs: Instances, first: Tensor, second: Tensor, names: tuple[str, ...]
) -> tuple[Disagreement, ...]:
    assert graphs.y is not None
    one, two, called = first.softmax(1), second.softmax(1), graphs.names
    found = []
    for number in (first.argmax(1) != second.argmax(1)).nonzero().squeeze(1).tolist():
        opinions = [Opinion(names[int(chance[number].argmax())], float(chance[number].max())) for chance in (one, two)]
        name = None if called is None else called[number]
        found.append(Disagreement(number, name, names[int(graphs.y[number])], *opinions))
    return tuple(found)


def pair_prototypes(first: Run, second: Run) -> tuple[PrototypePair, ...]:
    """The prototypes of two runs, those of one class that look the same in one row; none of plain models."""
    mine, theirs = _by_look(first), _by_look(second)
    found = []
    for key in {**mine, **theirs}:
        ours, others = mine.get(key, []), theirs.get(key, [])
        for place in range(max(len(ours), len(others))):
            one = ours[place] if place < len(ours) else None
            two = others[place] if place < len(others) else None
            label, description = key[0], (one or two or (0, "", 0.0))[1]
            numbers = (None if one is None else one[0]), (None if two is None else two[0])
            weights = (None if one is None else one[2]), (None if two is None else two[2])
            found.append(PrototypePair(label, description, *numbers, *weights))
    classes = first.schema.class_names
    return tuple(sorted(found, key=lambda pair: classes.index(pair.label) if pair.label in classes else len(classes)))


def _by_look(run: Run) -> dict[tuple[str, Hashable], list[tuple[int, str, float]]]:
    """Number, description and weight of each prototype by its class and look."""
    found: dict[tuple[str, Hashable], list[tuple[int, str, float]]] = {}
    if run.prototypes is None:
        return found
    for number, (card, text) in enumerate(zip(run.prototypes.cards, RunContext.of(run).descriptions, strict=True)):
        subgraph = run.prototypes.subgraphs[number]
        look: Hashable = text.lower()  # words say all of a phrase
        if run.schema.kind != "sentence":
            look = frozenset(look_of(kinds_of(subgraph), range(len(subgraph.x))).items())
        found.setdefault((run.schema.class_names[card.label], look), []).append((number, text, card.weight))
    return found
