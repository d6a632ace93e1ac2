"""The scikit-learn style estimator: ``fit``, ``predict``, ``score``, ``save``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted
from torch import nn

from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.reasoning import Known, Reasoning, explain
from protgnn.explain.unseen import unseen_notes
from protgnn.graphs.checks import check
from protgnn.graphs.datasets import Dataset
from protgnn.graphs.instances import Instances, NetworkInstances
from protgnn.graphs.molecules import from_smiles
from protgnn.graphs.network_datasets import NetworkDataset
from protgnn.graphs.new_input import conform, conform_network
from protgnn.graphs.packed import GraphSet
from protgnn.graphs.schema import Schema
from protgnn.graphs.splits import hold_out
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import make_recipe, total_epochs
from protgnn.training.run import Run, load_model, read_rows, save_run
from protgnn.training.state import TrainingState
from protgnn.training.task import seen_by
from protgnn.training.train import Parts, Trained, train

Labelled = GraphSet | NetworkInstances


class ProtGNNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A graph classifier that follows scikit-learn: ``get_params``, ``clone`` and ``cross_val_score`` work.

    ``encoder`` is gcn, gin, gat, a PyG model by name (``"pyg:GraphSAGE"``) or a PyG module of your own; ``plus``
    makes it ProtGNN+, which classifies from the part of a graph most like each prototype; ``recipe`` is default or
    paper, and ``settings`` changes any of its keys (``{"epochs": 40}``). Graphs are a
    :class:`~protgnn.graphs.packed.GraphSet`, a list of PyG ``Data`` or of SMILES, or instead of graphs there are nodes
    or pairs of a network, :class:`~protgnn.graphs.instances.NetworkInstances`, as in
    ``protgnn.load("ba-shapes").train``.
    """

    def __init__(
        self,
        encoder: str | nn.Module = "gin",
        plus: bool = False,
        recipe: str = "default",
        settings: dict[str, Any] | None = None,
        seed: int = 0,
        validation_fraction: float = 0.1,
        verbose: bool = False,
    ) -> None:
        self.encoder = encoder
        self.plus = plus
        self.recipe = recipe
        self.settings = settings
        self.seed = seed
        self.validation_fraction = validation_fraction
        self.verbose = verbose

    def fit(self, graphs: Any, y: Any = None, *, validation: Any = None) -> ProtGNNClassifier:
        """Train on labelled graphs; ``y`` replaces their labels.

        Without ``validation`` graphs, a part of the training graphs is set aside to stop and choose by.
        """
        name, module = ("custom", self.encoder) if isinstance(self.encoder, nn.Module) else (self.encoder, None)
        settings = self.settings or {}
        if not isinstance(settings, Mapping):
            raise ProtGNNError(f"Expected `settings` to be a dictionary of recipe keys (got {settings!r})")
        for key in {"encoder", "plus", "seed"} & set(settings):
            raise ProtGNNError(f"Expected `{key}` as a parameter of its own (got it in `settings`)")
        recipe = make_recipe(self.recipe, encoder=name, plus=self.plus, seed=self.seed, **settings)
        labelled, self.classes_ = _labelled(graphs, y)
        if validation is None:
            kept, held = self._hold_out(labelled)
        else:
            kept, held = labelled, self._validation(validation, labelled.schema)
        trained = self._train(Parts(kept, held), recipe, module)
        self.model_, self.history_ = trained.model, trained.state.rows
        self.run_ = Run(
            trained.recipe,
            labelled.schema,
            finished=True,
            scores=trained.scores,
            prototypes=trained.prototypes,
            labels=None if y is None else self.classes_.tolist(),
            seen=trained.seen,
        )
        return self

    def _train(self, parts: Parts, recipe: Any, module: nn.Module | None) -> Trained:
        if not self.verbose:
            return train(parts, recipe, module)
        from protgnn.progress import ProgressBar

        with ProgressBar("Training", total_epochs(recipe)) as bar:
            return train(parts, recipe, module, lambda state: bar.update(state.epoch, state.summary()))

    def _hold_out(self, graphs: Labelled) -> tuple[Labelled, Labelled]:
        assert graphs.y is not None
        if not 0 < self.validation_fraction < 1:
            raise ProtGNNError(f"Expected validation_fraction between 0 and 1 (got {self.validation_fraction})")
        members = np.arange(len(graphs))
        kept, held = hold_out(members, graphs.y.numpy(), self.validation_fraction * len(graphs), self.seed)
        return graphs[torch.from_numpy(kept)], graphs[torch.from_numpy(held)]

    def _validation(self, graphs: Any, schema: Schema) -> Labelled:
        held = _conformed(_checked(_packed(graphs), training=False), schema)
        if held.y is None:
            raise DataError("Expected labelled validation graphs (got graphs without labels)")
        return held

    def predict_logits(self, graphs: Any) -> np.ndarray:
        """The model's logits, ``[G, C]``."""
        new = self._new(graphs)
        return predict_logits(self.model_, new).numpy()

    def _new(self, graphs: Any) -> Instances:
        """Graphs to predict, as the model knows them; what they are labelled with does not matter."""
        check_is_fitted(self, "model_")
        bare = _checked(replace(_packed(graphs), y=None), training=False)
        return seen_by(self.run_.recipe, _conformed(bare, self.run_.schema))

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Class probabilities, ``[G, C]``."""
        logits = torch.from_numpy(self.predict_logits(graphs))
        return logits.softmax(1).numpy()

    def predict(self, graphs: Any) -> np.ndarray:
        """The predicted class of each graph, ``[G]``, as in the labels it was fitted with."""
        best = self.predict_logits(graphs).argmax(1)
        return np.asarray(self.classes_[best])

    def explain(self, graphs: Any) -> Reasoning | list[Reasoning]:
        """Why each graph is predicted to be what it is: one reasoning for one graph, a list for several."""
        new = self._new(graphs)
        found = explain(self.model_, new, Known.of(self.run_))
        if isinstance(new, GraphSet):
            notes = unseen_notes(new, self.run_)
            found = [replace(why, notes=notes.get(why.number, ())) for why in found]
        return found[0] if len(found) == 1 else found

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on labelled graphs; ``y`` replaces their labels."""
        packed = _packed(graphs)
        return float(super().score(packed, self._own_labels(packed) if y is None else np.asarray(y), sample_weight))

    def _own_labels(self, graphs: Labelled) -> np.ndarray:
        """The labels that came with the graphs, matched by name to the classes of the model."""
        check_is_fitted(self, "model_")
        labelled = _conformed(_checked(graphs, training=False), self.run_.schema)
        if labelled.y is None:
            raise DataError("Expected labelled graphs to score on (got graphs without labels)")
        return np.asarray(self.classes_[labelled.y.numpy()])

    def save(self, folder: str | Path) -> None:
        """Write a run directory that ``from_run`` and the command line open; a finished run there is replaced."""
        check_is_fitted(self, "model_")
        save_run(Path(folder), self.run_, self.model_, TrainingState(rows=getattr(self, "history_", [])))

    @classmethod
    def from_run(cls, folder: str | Path, encoder: nn.Module | None = None) -> ProtGNNClassifier:
        """A fitted estimator from a run directory; an encoder of your own must be given again."""
        model, run = load_model(Path(folder), encoder)
        settings = run.recipe.model_dump(exclude={"encoder", "plus", "seed"})
        own = encoder if encoder is not None else run.recipe.encoder
        loaded = cls(own, plus=run.recipe.plus, settings=settings, seed=run.recipe.seed)
        loaded.model_, loaded.run_ = model, run
        loaded.history_ = read_rows(Path(folder))
        loaded.classes_ = np.arange(run.schema.num_classes) if run.labels is None else np.asarray(run.labels)
        return loaded


def _packed(graphs: Any) -> Labelled:
    if isinstance(graphs, GraphSet | NetworkInstances):
        return graphs
    if isinstance(graphs, Dataset | NetworkDataset):
        raise DataError("Expected graphs (got a dataset with its parts): give data.train, data.test or data.graphs")
    if isinstance(graphs, str):
        return from_smiles([graphs])
    if isinstance(graphs, Sequence | np.ndarray) and len(graphs) and all(isinstance(graph, str) for graph in graphs):
        return from_smiles(list(graphs))
    if isinstance(graphs, Sequence) and len(graphs) and all(isinstance(graph, GraphSet) for graph in graphs):
        return GraphSet.concatenate(list(graphs))
    return GraphSet.from_pyg(graphs)


def _checked(data: Labelled, training: bool) -> Labelled:
    """Graphs after the checks at the door; a network has passed them when it was made."""
    if isinstance(data, GraphSet):
        return check(data, training=training)[0]
    if training and data.y is None:
        raise DataError("Expected labelled nodes or pairs to learn from (got some without a label)")
    return data


def _conformed(data: Labelled, schema: Schema) -> Labelled:
    """As a model of that schema knows them."""
    return conform(data, schema) if isinstance(data, GraphSet) else conform_network(data, schema)


def _labelled(graphs: Any, y: Any) -> tuple[Labelled, np.ndarray]:
    """Checked graphs with class numbers, and what each number stands for."""
    packed = _packed(graphs)
    if y is None:
        packed = _checked(packed, training=True)
        return packed, np.arange(packed.schema.num_classes)
    labels = np.asarray(y)
    if not labels.ndim:
        raise DataError(f"Expected a list of labels (got {y!r})")
    if len(labels) != len(packed):
        raise DataError(f"Expected a label for each of {len(packed)} graphs (got {len(labels)})")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"Expected classes as labels: {error}") from None
    classes, numbers = np.unique(labels, return_inverse=True)
    names, own = packed.schema.class_names, packed.y
    if len(names) != len(classes) or own is None or not np.array_equal(labels, own.numpy()):
        names = tuple(str(value) for value in classes)
    named = replace(packed.schema, class_names=names)
    return _checked(replace(packed, y=torch.from_numpy(numbers), schema=named), training=True), classes
