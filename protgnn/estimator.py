"""The scikit-learn style estimator: ``fit``, ``predict``, ``score``, ``save``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted
from torch import nn

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.schema import Schema
from protgnn.data.split import set_aside
from protgnn.data.validate import check, check_class_sizes
from protgnn.datasets.copies import copy_groups
from protgnn.datasets.given_graphs import GivenGraphs, given_graphs, is_list
from protgnn.datasets.new_input import conform, conform_network
from protgnn.editing.estimator_edits import EditablePrototypes
from protgnn.errors import DataError, ProtGNNError, ScoreWarning
from protgnn.explain.explain_run import explain_run
from protgnn.training.checkpoint import TrainingState
from protgnn.training.evaluate import predict_logits
from protgnn.training.recipe import Recipe, make_recipe, total_epochs
from protgnn.training.resolve import as_model_input, resolve
from protgnn.training.run import Run, load_model, read_rows
from protgnn.training.run_folder import save_run
from protgnn.training.scores import score, score_warnings
from protgnn.training.train import SplitData, Trained, train

__all__ = ["ProtGNNClassifier"]


class ProtGNNClassifier(EditablePrototypes, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A graph classifier that follows scikit-learn: ``get_params``, ``clone`` and ``cross_val_score`` work.

    Graphs are a :class:`~protgnn.data.graph_set.GraphSet`, a list of PyG ``Data``, of RDKit molecules or of SMILES.
    Instead of graphs there may be nodes or pairs of a network,
    :class:`~protgnn.data.network.instances.NetworkInstances`, as in ``protgnn.load("ba-shapes").train``.

    >>> model = ProtGNNClassifier(plus=True, settings={"epochs": 40, "class_weight": "balanced"})
    >>> model.fit(["CCO", "c1ccccc1", ...], ["soluble", "insoluble", ...]).predict(["CCN"])

    Args:
        encoder: gcn, gin, gat, a PyG model by name (``"pyg:GraphSAGE"``) or a PyG module of your own. By default the
            recipe's, and a GCN for links, as on the command line.
        plus: Whether it is ProtGNN+, which classifies from the part of a graph most like each prototype.
        recipe: ``"default"`` or ``"paper"``.
        settings: Changes to keys of the recipe, such as ``{"epochs": 40}``.
        seed: The one seed of the training.
        validation_fraction: How much of the training graphs to set aside where ``fit`` gets no validation graphs.
        verbose: Whether to show progress.

    Attributes:
        classes_: The classes in the order of the columns of ``predict_proba``: their names or, where ``fit`` was given
            ``y``, the values in it.
        model_: The trained model.
        run_: Everything that a run directory holds beside the weights.
        history_: A row for each epoch.
    """

    def __init__(
        self,
        encoder: str | nn.Module | None = None,
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
        """Train on labelled graphs.

        Args:
            graphs: Graphs, nodes or pairs.
            y: A label for each, in place of those that came with them; any values that scikit-learn takes for classes.
            validation: Labelled graphs to stop and choose by; without them a part of the training graphs is set aside.

        Returns:
            The fitted estimator itself.

        Raises:
            DataError: The graphs or labels cannot be learned from.
            ProtGNNError: A parameter or setting is wrong.

        Warns:
            ScoreWarning: A part has no example of a class, a class is never predicted on the validation graphs, or
                their accuracy is not above that of always predicting one class.
        """
        recipe = self._recipe()
        module = self.encoder if isinstance(self.encoder, nn.Module) else None
        labelled, self.classes_ = _labelled(graphs, y)
        if validation is None:
            kept, held = self._hold_out(labelled)
        else:
            kept, held = labelled, self._validation(validation, labelled.schema)
        trained = self._train(self._remembered(SplitData(kept, held)), recipe, module)
        _warn(trained.scores, trained.recipe)
        self.model_, self.history_ = trained.model, trained.state.rows
        self.run_ = Run(
            trained.recipe,
            labelled.schema,
            finished=True,
            scores=trained.scores,
            prototypes=trained.prototypes,
            labels=None if y is None else self.classes_.tolist(),
            seen=trained.seen,
            vocabulary=trained.vocabulary,
        )
        return self

    def _recipe(self) -> Recipe:
        """The recipe that the parameters describe."""
        settings = self.settings or {}
        if not isinstance(settings, Mapping):
            raise ProtGNNError(f"Expected `settings` to be a dictionary of recipe keys (got {settings!r})")
        for key in {"encoder", "plus", "seed"} & set(settings):
            raise ProtGNNError(f"Expected `{key}` as a parameter of its own (got it in `settings`)")
        name = "custom" if isinstance(self.encoder, nn.Module) else self.encoder
        chosen = {} if name is None else {"encoder": name}
        return make_recipe(self.recipe, **chosen, plus=self.plus, seed=self.seed, **settings)

    def _train(self, parts: SplitData, recipe: Recipe, module: nn.Module | None) -> Trained:
        if not self.verbose:
            return train(parts, recipe, module)
        from protgnn.io.progress import ProgressBar

        with ProgressBar("Training", total_epochs(resolve(recipe, parts.train, module))) as bar:
            return train(parts, recipe, module, lambda state: bar.update(state.epoch, state.summary()))

    def _hold_out(self, graphs: GivenGraphs) -> tuple[GivenGraphs, GivenGraphs]:
        assert graphs.y is not None
        if not 0 < self.validation_fraction < 1:
            raise ProtGNNError(f"Expected validation_fraction between 0 and 1 (got {self.validation_fraction})")
        groups = copy_groups(graphs) if isinstance(graphs, GraphSet) else None
        kept, held = set_aside(graphs.y.numpy(), self.validation_fraction, self.seed, groups)
        return graphs[torch.from_numpy(kept)], graphs[torch.from_numpy(held)]

    def _validation(self, graphs: Any, schema: Schema) -> GivenGraphs:
        held = _conformed(_checked(given_graphs(graphs, schema), training=False), schema)
        if held.y is None:
            raise DataError("Expected labelled validation graphs (got graphs without labels)")
        return held

    def predict_logits(self, graphs: Any) -> np.ndarray:
        """Compute the model's logits, ``[G, C]``, in the order of ``classes_``."""
        new = self._new(graphs)
        return predict_logits(self.model_, new).numpy()

    def _new(self, graphs: Any) -> Instances:
        """Graphs to predict, as the model knows them; what they are labelled with does not matter."""
        check_is_fitted(self, "model_")
        bare = _checked(replace(given_graphs(graphs, self.run_.schema), y=None), training=False)
        return as_model_input(self.run_.recipe, _conformed(bare, self.run_.schema))

    def predict_proba(self, graphs: Any) -> np.ndarray:
        """Compute class probabilities, ``[G, C]``, in the order of ``classes_``."""
        return torch.from_numpy(self.predict_logits(graphs)).softmax(1).numpy()

    def predict(self, graphs: Any) -> np.ndarray:
        """Predict the class of each graph, ``[G]``.

        Returns:
            Values of ``classes_``. Where ``fit`` was given ``y``, they are values as in that and of its type. Otherwise
            they are names of classes, texts even where a file said 0 and 1: compare them with ``graphs.labels``, not
            with the numbers in ``graphs.y``.
        """
        best = self.predict_logits(graphs).argmax(1)
        return np.asarray(self.classes_[best])

    def explain(self, graphs: Any) -> Any:
        """Explain why each graph is predicted to be what it is.

        Returns:
            A :class:`~protgnn.explain.explanation.Reasoning` for one graph, and a list of them for several; for a
            list, of however many, always a list.

        Raises:
            DataError: The graphs are not of the kind that the model was trained on.
            ProtGNNError: The model is a plain one, without prototypes to explain by.
        """
        found = explain_run(self.model_, self.run_, self._new(graphs))
        return found[0] if len(found) == 1 and not is_list(graphs) else found

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy on labelled graphs; ``evaluate`` says more.

        Args:
            graphs: Graphs, nodes or pairs.
            y: A label for each, as in ``classes_``; without it, those that came with the graphs count.
            sample_weight: How much each counts.

        Raises:
            DataError: There are no labels, or ``y`` has numbers where ``classes_`` are names, or names for numbers.
        """
        check_is_fitted(self, "model_")
        packed = given_graphs(graphs, self.run_.schema)
        return float(super().score(packed, self._labels(packed, y), sample_weight))

    def evaluate(self, graphs: Any, y: Any = None) -> dict[str, Any]:
        """Compute the scores that ``protgnn evaluate`` prints, on labelled graphs as in ``score``.

        Returns:
            ``accuracy``, ``majority_baseline``, ``balanced_accuracy``, ``roc_auc``, ``average_precision``, ``mcc``,
            ``brier``, ``ece``, ``loss``, ``n``, ``per_class``, and 95 % ``intervals`` by the bootstrap.

        Warns:
            ScoreWarning: As in ``fit``, on these graphs.
        """
        check_is_fitted(self, "model_")
        packed = given_graphs(graphs, self.run_.schema)
        number = {value: place for place, value in enumerate(self.classes_.tolist())}
        labels = self._labels(packed, y).tolist()
        unknown = [value for value in labels if value not in number]
        if unknown:
            raise DataError(f"Expected labels among {', '.join(map(repr, number))} (got {unknown[0]!r})")
        truth = torch.tensor([number[value] for value in labels])
        names, link = tuple(map(str, number)), 1 if packed.num_targets == 2 else None
        logits = torch.from_numpy(self.predict_logits(packed))
        found = score(logits, truth, names, link, with_intervals=True)
        _warn(found, self.run_.recipe)
        return found

    def _labels(self, packed: GivenGraphs, y: Any) -> np.ndarray:
        """A label for each graph, as in ``classes_``."""
        labels = self._own_labels(packed) if y is None else np.asarray(y)
        if labels.size and _is_text(labels) != _is_text(self.classes_):
            known, got = self.classes_.tolist(), labels.ravel().tolist()[0]
            what = "texts" if _is_text(self.classes_) else "numbers"
            raise DataError(
                f"Expected labels as in `classes_`, {', '.join(map(repr, known))} (got {got!r}): give {what} such as "
                f"{known[0]!r}, or leave `y` out to score on the labels that came with the graphs"
            )
        return labels

    def _own_labels(self, graphs: GivenGraphs) -> np.ndarray:
        """The labels that came with the graphs, matched by name to the classes of the model."""
        labelled = _conformed(_checked(graphs, training=False), self.run_.schema)
        if labelled.y is None:
            raise DataError("Expected labelled graphs to score on (got graphs without labels)")
        return np.asarray(self.classes_[labelled.y.numpy()])

    def save(self, folder: str | Path) -> None:
        """Write a run directory that ``from_run`` and the command line open; a finished run there is replaced.

        Raises:
            RunError: The folder holds something else, or training that did not finish.
        """
        check_is_fitted(self, "model_")
        save_run(Path(folder), self.run_, self.model_, TrainingState(rows=getattr(self, "history_", [])))

    @classmethod
    def from_run(cls, folder: str | Path, encoder: nn.Module | None = None) -> ProtGNNClassifier:
        """Open a run directory as a fitted estimator.

        Args:
            folder: What ``save`` or ``protgnn train`` wrote.
            encoder: The encoder, where it was a module of your own.

        Raises:
            RunError: The folder is no finished run, or a file in it is missing or damaged.
        """
        model, run = load_model(Path(folder), encoder)
        settings = run.recipe.model_dump(exclude={"encoder", "plus", "seed"})
        own = encoder if encoder is not None else run.recipe.encoder
        loaded = cls(own, plus=run.recipe.plus, settings=settings, seed=run.recipe.seed)
        loaded.model_, loaded.run_ = model, run
        loaded.history_ = read_rows(Path(folder))
        loaded.classes_ = np.asarray(run.schema.class_names if run.labels is None else run.labels)
        return loaded


def _warn(scores: dict[str, Any], recipe: Recipe) -> None:
    for text in score_warnings(scores, recipe.class_weight):
        warnings.warn(text, ScoreWarning, stacklevel=3)


def _is_text(values: np.ndarray) -> bool:
    return values.dtype.kind in "UST" or (values.dtype.kind == "O" and all(isinstance(one, str) for one in values.flat))


def _checked(data: GivenGraphs, training: bool) -> GivenGraphs:
    """Graphs after the checks at the door; a network has passed all but that of its classes when it was made."""
    if isinstance(data, GraphSet):
        return check(data, training=training)[0]
    if training and data.y is None:
        raise DataError("Expected labelled nodes or pairs to learn from (got some without a label)")
    if training and data.y is not None:
        check_class_sizes(data.y, data.schema.class_names, "node" if data.num_targets == 1 else "pair", least=1)
    return data


def _conformed(data: GivenGraphs, schema: Schema) -> GivenGraphs:
    """As a model of that schema knows them."""
    return conform(data, schema) if isinstance(data, GraphSet) else conform_network(data, schema)


def _labelled(graphs: Any, y: Any) -> tuple[GivenGraphs, np.ndarray]:
    """Checked graphs with class numbers, and what each number stands for: a name, or a value of ``y``."""
    packed = given_graphs(graphs)
    if y is None:
        packed = _checked(packed, training=True)
        return packed, np.asarray(packed.schema.class_names)
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
