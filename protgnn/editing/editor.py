"""``PrototypeEditor``: edit the prototypes of a trained model by hand.

>>> editor = PrototypeEditor.of_run("runs/bbbp")
>>> result = editor.edit(remove=[3], forbid=["CCCC"], add=["1: c1ccncc1"])
>>> result.before["accuracy"], result.after["accuracy"]  # on the validation set
>>> editor.undo()
>>> editor.save("runs/bbbp-edited")
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from protgnn.data.network.instances import Instances
from protgnn.editing.edit_plan import EditPlan, EditRequest, EditResult, plan_edit
from protgnn.editing.named_parts import FoundPart, PartText, find_part
from protgnn.editing.part_looks import forbidden_looks
from protgnn.editing.refit import (
    KeptSimilarities,
    choose_counting,
    first_weights,
    recalibrate,
    refit,
    replace_prototypes,
    restore,
)
from protgnn.editing.retrain import retrain
from protgnn.errors import ProtGNNError, RunError
from protgnn.explain.explanation import PLAIN
from protgnn.explain.run_data import run_data, run_part
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.model.mined import ProtGNNMined
from protgnn.training.checkpoint import OnEpoch, TrainingState
from protgnn.training.edits import Edits, EditStep, Snapshot, StoredSource
from protgnn.training.evaluate import Outcome, assess, check_outputs, faithfulness, familiarity
from protgnn.training.folder_checks import RUN_FILE
from protgnn.training.prototype_cards import describe_prototypes
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import criterion_of
from protgnn.training.run import Run, load_model, read_rows
from protgnn.training.run_folder import save_run
from protgnn.training.scores import score

IDLE_WEIGHT = 0.01
"""A prototype with less weight than this is reported as idle."""


class PrototypeEditor:
    """Edits the prototypes of a model; each edit refits the last layer and the temperature.

    Scores are computed on the validation set only. The first edit drops the test scores of the run; compute them with
    `protgnn evaluate` once editing is finished.

    Args:
        model: A trained model with prototypes. It is copied, not changed.
        run: The run that it belongs to.
        train: Its training set, as model input (:func:`~protgnn.explain.run_data.run_part`).
        valid: Its validation set, likewise.
        rows: The training log.

    Attributes:
        model: The model as edited so far.
        run: Its run: prototypes, scores, and the history in ``run.edits``.

    Raises:
        ProtGNNError: The model is a plain one, without prototypes.
    """

    def __init__(
        self,
        model: GraphClassifier,
        run: Run,
        train: Instances,
        valid: Instances,
        rows: list[dict[str, float]] | None = None,
    ) -> None:
        if not isinstance(model, ProtGNN) or run.prototypes is None:
            raise ProtGNNError(PLAIN)
        if train.y is None or valid.y is None:
            raise ProtGNNError("Expected labelled training and validation graphs (got some without labels)")
        _check_parts(run, train)
        self.model: ProtGNN = copy.deepcopy(model).cpu().eval()
        self.run, self.rows = run, rows or []
        self.train, self.valid = KeptSimilarities(train), KeptSimilarities(valid)
        self.criterion = criterion_of(run.recipe, train)

    @classmethod
    def of_run(cls, folder: str | Path, encoder: nn.Module | None = None) -> PrototypeEditor:
        """Open a run directory and read its data again.

        Raises:
            ProtGNNError: The run has no prototypes, or its data is gone or has changed.
        """
        model, run = load_model(Path(folder), encoder)
        if run.data is None:
            raise RunError(f"{folder} does not say what it was trained on: edit it in Python, with PrototypeEditor")
        data = run_data(run)
        parts = run_part(run, "train", data), run_part(run, "valid", data)
        return cls(model, run, *parts, read_rows(Path(folder)))

    @property
    def edits(self) -> Edits:
        """Required prototypes, forbidden parts and the history."""
        return self.run.edits or Edits()

    @property
    def history(self) -> list[EditStep]:
        """All edits so far, oldest first."""
        return list(self.edits.history)

    @property
    def temperature(self) -> float:
        """The temperature by which all logits are divided; 1 without calibration."""
        return float(self.run.scores.get("temperature") or 1.0)

    def find(self, part: PartText, label: int | None = None) -> FoundPart:
        """Find the part of a training graph that a text names; see :mod:`~protgnn.editing.named_parts`."""
        return find_part(self.model, self.train.graphs, part, label)

    def edit(
        self,
        *,
        remove: Sequence[int] = (),
        require: Sequence[int] = (),
        forbid: Sequence[int | PartText] = (),
        replace: Mapping[int, PartText] | None = None,
        add: Sequence[PartText] = (),
    ) -> EditResult:
        """Change prototypes, all in one step, and refit the last layer.

        Args:
            remove: Numbers of prototypes to remove; training may choose them again.
            require: Numbers of prototypes that later steps must keep.
            forbid: Parts that shall never be prototypes, by text or by the number of a prototype that shows it.
            replace: For prototypes the part to put in their place, of the same class.
            add: Parts to add, ``"class: part"`` or of the class that has the part most often.

        Returns:
            What was done, and the scores on the validation set before and after.

        Raises:
            ProtGNNError: It cannot be done, and nothing was changed.
        """
        request = EditRequest(remove, require, forbid, replace or {}, add)
        if request.is_empty:
            raise ProtGNNError("Nothing to edit: name prototypes to remove, require, forbid, replace or add")
        plan = plan_edit(self.model, self.train.graphs, self.sources(), self.edits, request)
        before, snapshot = self.run.scores["valid"], self.snapshot()
        if plan.changes_prototypes:
            self._accept(*self._carried_out(plan))
        step = EditStep(
            done=plan.done, before=before["accuracy"], after=self.run.scores["valid"]["accuracy"], snapshot=snapshot
        )
        self._set_edits(plan.edits, [*self.history, step])
        notes = (*plan.notes, *self._idle_notes(plan))
        return EditResult(tuple(plan.done), before, self.run.scores["valid"], tuple(plan.numbers), notes)

    def undo(self) -> EditResult:
        """Undo the last edit: restore prototypes and weights.

        Raises:
            ProtGNNError: There is nothing to undo, or the last step was training.
        """
        history = self.history
        if not history:
            raise ProtGNNError("There is nothing to undo: the prototypes were not edited")
        step = history[-1]
        if step.snapshot is None:
            raise ProtGNNError(f"{step.done[0]} cannot be undone: open the run from before it")
        before, now, old = self.run.scores["valid"], self.sources(), step.snapshot
        if now != old.sources:
            model = copy.deepcopy(self.model)
            restore(model, self.train.graphs, old, self.temperature)
            self._accept(model, old.sources, old.temperature)
        self._set_edits(Edits(required=old.required, forbidden=old.forbidden), history[:-1])
        numbers = tuple(old.sources.index(source) if source in old.sources else None for source in now)
        return EditResult((f"took back: {'; '.join(step.done)}",), before, self.run.scores["valid"], numbers)

    def retrain(self, epochs: int | None = None, on_epoch: OnEpoch | None = None) -> EditResult:
        """Train on with the edits kept: required prototypes stay, forbidden parts are never chosen.

        See :mod:`~protgnn.editing.retrain`. It cannot be undone; the run from before it is still there.

        Args:
            epochs: How many at most; by default the recipe's ``anchored_epochs``. Mining takes none.
            on_epoch: Called after every epoch with the state of training.

        Returns:
            What was done, and the scores on the validation set before and after.
        """
        recipe, train = self.run.recipe, self.train.graphs
        if epochs is not None:
            recipe = make_recipe(**{**recipe.model_dump(), "anchored_epochs": epochs})
        model, now, before = copy.deepcopy(self.model), self.sources(), self.run.scores["valid"]
        model.divide_logits(1 / self.temperature)
        looks = set(forbidden_looks(train, self.edits.forbidden))
        found = retrain(model, train, self.valid.graphs, recipe, now, self.edits.required, looks, on_epoch)
        self.train.forget()
        self.valid.forget()
        self.rows = found.rows
        self._accept(model, found.sources, recalibrate(model, self.valid) if recipe.calibrate else None)
        done = f"trained on for {len(found.rows)} epochs" if found.rows else "mined prototypes again"
        after = self.run.scores["valid"]
        step = EditStep(done=[done], before=before["accuracy"], after=after["accuracy"], snapshot=None)
        self._set_edits(Edits(required=found.required, forbidden=self.edits.forbidden), [*self.history, step])
        numbers = tuple(found.sources.index(source) if source in found.sources else None for source in now)
        return EditResult((done,), before, after, numbers)

    def sources(self) -> list[StoredSource]:
        """The source of each prototype: graph, nodes and class."""
        assert self.run.prototypes is not None
        model, cards = self.model, self.run.prototypes.cards
        counts = model.head.counts.tolist() if isinstance(model, ProtGNNMined) else [False] * len(cards)
        return [
            StoredSource(graph=card.graph, nodes=list(card.nodes), label=card.label, counts=one)
            for card, one in zip(cards, counts, strict=True)
        ]

    def snapshot(self) -> Snapshot:
        """The state that an undo restores."""
        head, edits = self.model.head, self.edits
        return Snapshot(
            sources=self.sources(),
            weight=head.last.weight.detach().tolist(),
            base=self.model.head.base.detach().tolist() if isinstance(self.model, ProtGNNMined) else [],
            temperature=self.run.scores.get("temperature"),
            required=edits.required,
            forbidden=edits.forbidden,
        )

    def save(self, folder: str | Path) -> None:
        """Write the edited model as a run of its own.

        Raises:
            RunError: There is something in that folder.
        """
        path = Path(folder)
        if (path / RUN_FILE).exists():
            raise RunError(f"{path} holds a run already: choose another folder for the edited one")
        save_run(path, self.checked_run(), self.model, TrainingState(rows=self.rows))

    def checked_run(self) -> Run:
        """The run with the faithfulness of the evidence of validation graphs, which takes longer than an edit."""
        if not self.model.compares_evidence or self.run.prototypes is None:
            return self.run
        found = assess(self.model, self.valid.graphs, check_evidence=True)
        valid = self.run.scores["valid"] | faithfulness(self.model, found, self.run.prototypes.subgraphs)
        return dataclasses.replace(self.run, scores={**self.run.scores, "valid": valid})

    def _carried_out(self, plan: EditPlan) -> tuple[ProtGNN, list[StoredSource], float | None]:
        """Apply a plan to a copy of the model: the copy with a refitted last layer, its sources and its temperature."""
        model, recipe, sources = copy.deepcopy(self.model), self.run.recipe, list(plan.sources)
        model.divide_logits(1 / self.temperature)
        mined, before = isinstance(model, ProtGNNMined), model.head.classes.tolist()
        share = self.train.share_of_parts(model, self.criterion)
        weight = model.head.last.weight.detach()
        weight = first_weights(weight, before, [source.label for source in sources], plan.came_from, mined)
        replace_prototypes(model, self.train.graphs, sources, weight)
        new = [number for number, one in enumerate(plan.is_new) if one]
        if isinstance(model, ProtGNNMined):
            for number, counts in zip(new, choose_counting(model, self.train, new), strict=True):
                sources[number] = sources[number].model_copy(update={"counts": counts})
                model.head.counts[number] = counts
        refit(model, self.train, self.valid, recipe.refine_steps, self.criterion, bool(new), share)
        return model, sources, recalibrate(model, self.valid) if recipe.calibrate else None

    def _accept(self, model: ProtGNN, sources: list[StoredSource], temperature: float | None) -> None:
        """Make ``model`` the current one: describe its prototypes, and score it on the training and validation sets."""
        train, valid = self.train, self.valid
        learned, held = self._outcome(model, train), self._outcome(model, valid)
        prototypes = describe_prototypes(
            model, train.graphs, [source.model_dump() for source in sources], learned.similar
        )
        scores = {name: value for name, value in self.run.scores.items() if name not in ("test", "temperature")}
        scores["train"] = self._scores(learned, train)
        scores["valid"] = self._scores(held, valid) | faithfulness(model, held, prototypes.subgraphs)
        assert held.similar is not None
        scores["familiarity"] = familiarity(held.similar)
        if temperature is not None:
            scores["temperature"] = temperature
        self.model, self.run = model, dataclasses.replace(self.run, scores=scores, prototypes=prototypes)

    @staticmethod
    def _outcome(model: ProtGNN, kept: KeptSimilarities) -> Outcome:
        """Logits and similarities of graphs, checked to be finite."""
        found = kept.outcome(model)
        check_outputs(found.logits)
        return found

    def _scores(self, outcome: Outcome, kept: KeptSimilarities) -> dict[str, Any]:
        y, link = kept.graphs.y, 1 if kept.graphs.num_targets == 2 else None
        assert y is not None
        return score(outcome.logits, y, self.run.schema.class_names, link)

    def _set_edits(self, kept: Edits, history: list[EditStep]) -> None:
        edits = Edits(required=kept.required, forbidden=kept.forbidden, history=history)
        self.run = dataclasses.replace(self.run, edits=edits)

    def _idle_notes(self, plan: EditPlan) -> list[str]:
        """Notes on new prototypes to which the refitted last layer gives no weight."""
        assert self.run.prototypes is not None
        return [
            f"prototype {number} got weight {card.weight:.2f}: the training graphs do without it"
            for number, (card, new) in enumerate(zip(self.run.prototypes.cards, plan.is_new, strict=True))
            if new and card.weight < IDLE_WEIGHT
        ]


def _check_parts(run: Run, train: Instances) -> None:
    """Refuse a run whose prototypes or edits name graphs or nodes that the training set does not have."""
    assert run.prototypes is not None
    sizes = train.ego_graphs().node_counts.tolist()
    named = [(card.graph, card.nodes) for card in run.prototypes.cards]
    named += [(part.graph, part.nodes) for part in (run.edits or Edits()).training_parts()]
    for graph, nodes in named:
        if graph >= len(sizes) or max(nodes) >= sizes[graph]:
            raise RunError(f"This run names node {max(nodes)} of graph {graph}, which its training part has not")
