"""The one exception a user may cause: it carries a message that says what to do, never a traceback."""

from __future__ import annotations


class ProtGNNError(Exception):
    """Something the user can fix: the message names the file, row or graph and says how."""


class DataError(ProtGNNError):
    """Input that cannot be trained on or predicted for."""


class RunError(ProtGNNError):
    """A run directory that is missing, damaged or made for something else."""


class ScoreWarning(UserWarning):
    """Scores that look better than they are, or that say nothing about a class."""
