"""Editing for the estimator: ``model.edit(remove=[3])``, ``model.undo()``, ``model.retrain()``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from protgnn.data.network.instances import Instances
from protgnn.editing.edit_plan import EditResult
from protgnn.editing.editor import PrototypeEditor
from protgnn.editing.named_parts import PartText
from protgnn.errors import ProtGNNError
from protgnn.explain.run_data import run_data, run_part
from protgnn.model.classifier import GraphClassifier
from protgnn.training.edits import EditStep
from protgnn.training.run import Run
from protgnn.training.train import SplitData


class EditablePrototypes:
    """What an estimator with prototypes can do to them. Edits change the estimator; ``save`` stores them with it."""

    model_: GraphClassifier
    run_: Run
    history_: list[dict[str, float]]
    _editor: PrototypeEditor | None = None
    _parts: SplitData | None = None

    @property
    def edits_(self) -> list[EditStep]:
        """What was done to the prototypes so far, the oldest first."""
        check_is_fitted(self, "model_")
        return [] if self.run_.edits is None else list(self.run_.edits.history)

    def edit(
        self,
        *,
        remove: Sequence[int] = (),
        require: Sequence[int] = (),
        forbid: Sequence[int | PartText] = (),
        replace: Mapping[int, PartText] | None = None,
        add: Sequence[PartText] = (),
    ) -> EditResult:
        """Change prototypes by hand and refit the last layer, all in one step that :meth:`undo` takes back.

        A part is a text, such as ``"O=[N+][O-]"`` or ``"not … good"``, or a training graph and nodes of it,
        ``(12, [0, 3, 4])``; :mod:`protgnn.editing.named_parts` says more.

        Args:
            remove: Numbers of prototypes to remove; training may choose them again.
            require: Numbers of prototypes that later steps must keep.
            forbid: Parts that shall never be prototypes, or numbers of prototypes that show them.
            replace: For prototypes the part to put in their place, of the same class.
            add: Parts to add, ``"class: part"`` or of the class that has the part most often.

        Returns:
            What was done, and the scores on the validation set before and after.

        Raises:
            ProtGNNError: It cannot be done, and nothing was changed.
        """
        editor = self._open_editor()
        return self._take(editor, editor.edit(remove=remove, require=require, forbid=forbid, replace=replace, add=add))

    def undo(self) -> EditResult:
        """Take the last edit back.

        Raises:
            ProtGNNError: There is nothing to undo, or the last step was training.
        """
        editor = self._open_editor()
        return self._take(editor, editor.undo())

    def retrain(self, epochs: int | None = None) -> EditResult:
        """Train on with the edits kept: required prototypes stay, forbidden parts are never chosen.

        Args:
            epochs: How many at most; by default the recipe's ``anchored_epochs``.
        """
        editor = self._open_editor()
        return self._take(editor, editor.retrain(epochs))

    def _remembered(self, parts: SplitData) -> SplitData:
        """Remember what is trained on, for edits; nothing of it is copied."""
        self._editor, self._parts = None, parts
        return parts

    def _open_editor(self) -> PrototypeEditor:
        check_is_fitted(self, "model_")
        if self._editor is None or self._editor.model is not self.model_:
            self._editor = PrototypeEditor(self.model_, self.run_, *self._training_parts(), self.history_)
        return self._editor

    def _training_parts(self) -> tuple[Instances, Instances]:
        """The training and the validation set, as the model takes them."""
        if self._parts is not None:
            seen = self._parts.as_model_input(self.run_.recipe)
            return seen.train, seen.valid
        if self.run_.data is None:
            raise ProtGNNError(
                "This run does not say what it was trained on: edit the model that `fit` made, before it is saved"
            )
        data = run_data(self.run_)
        return run_part(self.run_, "train", data), run_part(self.run_, "valid", data)

    def _take(self, editor: PrototypeEditor, result: EditResult) -> EditResult:
        self.model_, self.run_, self.history_ = editor.model, editor.run, editor.rows
        return result

    def __getstate__(self) -> Any:
        """What is pickled: the data that a model was trained on is not part of it."""
        state: Any = super().__getstate__()
        return {key: value for key, value in state.items() if key not in ("_editor", "_parts")}
