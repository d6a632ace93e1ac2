"""From a recipe and data to a trained model in a run directory.

``recipe.py`` holds every knob and ``resolve.py`` settles what it leaves to the data; ``build.py`` makes the model;
``algorithm.py`` is Algorithm 1, with its losses in ``steps.py``, its choices in ``selection.py`` and its ending in
``ending.py``; ``evaluate.py`` scores what came out; ``run.py`` is the directory it is kept in, and ``train.py`` does
all of it in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.training.algorithm import fit
    from protgnn.training.checkpoint import TrainingState
    from protgnn.training.evaluate import predict_logits
    from protgnn.training.recipe import Recipe, make_recipe
    from protgnn.training.run import DataCard, Run, load_model, read_run
    from protgnn.training.train import SplitData, Trained, train_in

__all__ = [
    "DataCard",
    "Recipe",
    "Run",
    "SplitData",
    "Trained",
    "TrainingState",
    "fit",
    "load_model",
    "make_recipe",
    "predict_logits",
    "read_run",
    "train_in",
]

_HOME = {
    "DataCard": "run",
    "Recipe": "recipe",
    "Run": "run",
    "SplitData": "train",
    "Trained": "train",
    "TrainingState": "checkpoint",
    "fit": "algorithm",
    "load_model": "run",
    "make_recipe": "recipe",
    "predict_logits": "evaluate",
    "read_run": "run",
    "train_in": "train",
}

__getattr__ = lazy_exports(__name__, _HOME)
