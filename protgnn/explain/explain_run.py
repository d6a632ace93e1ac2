"""Reasonings as a run gives them: with the warnings about the input that its training set calls for.

The command line, the report and the estimator explain through this one function, so that they warn alike.
"""

from __future__ import annotations

from dataclasses import replace

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances, NetworkInstances
from protgnn.explain.explanation import EvidenceSource, Reasoning, RunContext, explain
from protgnn.explain.resolve_input import is_run_data
from protgnn.explain.unseen_elements import unseen_notes
from protgnn.model.classifier import GraphClassifier
from protgnn.training.run import Run


def explain_run(
    model: GraphClassifier,
    run: Run,
    graphs: Instances,
    context: RunContext | None = None,
    evidence: EvidenceSource = "model",
) -> list[Reasoning]:
    """Explain the prediction for every graph, and warn of elements and words that nothing in the training set has.

    Args:
        model: The model of the run.
        run: What the model was made from.
        graphs: Graphs, nodes or pairs as the model takes them.
        context: What the run knows beside its weights; read from ``run`` if not given.
        evidence: See :func:`~protgnn.explain.explanation.explain`.

    Returns:
        One reasoning for each graph, in their order.

    Raises:
        ProtGNNError: The model is a plain one, without prototypes to explain by.
    """
    context = RunContext.of(run) if context is None else context
    if context.network is None and isinstance(graphs, NetworkInstances) and is_run_data(run, graphs):
        context = replace(context, network=graphs.network)
    found = explain(model, graphs, context, evidence=evidence)
    if not isinstance(graphs, GraphSet):
        return found
    notes = unseen_notes(graphs, run)
    return [replace(why, notes=(*notes.get(why.number, ()), *_on_words(why), *why.notes)) for why in found]


def _on_words(why: Reasoning) -> tuple[str, ...]:
    """What is to be said of the words of a sentence."""
    note = None if why.unknown_words is None else why.unknown_words.note
    return () if note is None else (note,)
