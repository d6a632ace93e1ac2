"""A hand on the prototypes: remove, require, forbid, replace and add them, undo it, and train on with the edits kept.

====================  ================================================================================
``editor``            ``PrototypeEditor``: a model, its run and what is done to its prototypes
``edit_plan``         which prototypes a model has after an edit
``named_parts``       from what a user writes to a part of a training graph
``part_looks``        when two parts look the same
``refit``             the last layer and the temperature, on similarities that are kept
``retrain``           training on, required prototypes kept and forbidden parts never chosen
``estimator_edits``   the same for ``ProtGNNClassifier``
====================  ================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.editing.editor import EditResult, PrototypeEditor
    from protgnn.editing.named_parts import FoundPart, find_part

__all__ = ["EditResult", "FoundPart", "PrototypeEditor", "find_part"]

_HOME = {
    "EditResult": "editor",
    "FoundPart": "named_parts",
    "PrototypeEditor": "editor",
    "find_part": "named_parts",
}

__getattr__ = lazy_exports(__name__, _HOME)
