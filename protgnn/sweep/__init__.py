"""Tuning with Optuna: many workers, on one machine or on several, try recipes of one study.

``space.py`` says which recipe keys are tried, ``study.py`` where trials are recorded, ``claims.py`` who works on which,
``trials.py`` runs them, and ``best.py`` exports the best and tests it once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.sweep.best import Best, export_best
    from protgnn.sweep.space import SearchSpace, read_space
    from protgnn.sweep.trials import SweepTask, work

__all__ = ["Best", "SearchSpace", "SweepTask", "export_best", "read_space", "work"]

_HOME = {
    "Best": "best",
    "SearchSpace": "space",
    "SweepTask": "trials",
    "export_best": "best",
    "read_space": "space",
    "work": "trials",
}

__getattr__ = lazy_exports(__name__, _HOME)
