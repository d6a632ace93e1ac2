"""Edit prototypes by hand: remove, require, forbid, replace or add them, undo, and retrain with the edits kept.

====================  ================================================================================
``editor``            ``PrototypeEditor``: applies edits to a model and its run
``edit_plan``         validates an edit, and lists the prototypes after it
``named_parts``       finds the part of a training graph that a text names
``part_looks``        a hashable key for how a part looks
``refit``             refits the last layer and the temperature on cached similarities
``retrain``           trains on: required prototypes stay, forbidden parts are never chosen
``estimator_edits``   the same for ``ProtGNNClassifier``
====================  ================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.editing.edit_plan import EditResult
    from protgnn.editing.editor import PrototypeEditor
    from protgnn.editing.named_parts import FoundPart, find_part

__all__ = ["EditResult", "FoundPart", "PrototypeEditor", "find_part"]

_HOME = {
    "EditResult": "edit_plan",
    "FoundPart": "named_parts",
    "PrototypeEditor": "editor",
    "find_part": "named_parts",
}

__getattr__ = lazy_exports(__name__, _HOME)
