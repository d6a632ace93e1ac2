"""What the numbers of a dataset mean: the part of the data that a trained model must remember."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

MAX_DEGREE = 10
DEGREES = (*(f"degree={count}" for count in range(MAX_DEGREE)), f"degree={MAX_DEGREE}+")
"""The columns of a node's degree."""

CONTEXTUAL = "sentence:contextual:"
"""What the featurizer of sentences begins with whose words have contextual features; a digest of the transformer
follows."""

Kind = Literal["molecule", "sentence", "graph"]
Scale = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Schema:
    """Names of classes and feature columns, and how raw input becomes features.

    ``featurizer`` is ``"molecule"`` where SMILES can be turned into graphs of this schema, ``"sentence:…"`` where
    sentences can, with the name of the word vectors, and ``"given"`` where the numbers came with the graphs.
    ``node_scale`` and ``edge_scale`` are what was taken off each column of a table and what it was then divided by;
    nothing where columns are as they were given. ``standardise`` says that molecules are stripped of salts and charges
    before they become graphs.
    """

    kind: Kind = "graph"
    class_names: tuple[str, ...] = ()
    node_features: tuple[str, ...] = ()
    edge_features: tuple[str, ...] = ()
    featurizer: str = "given"
    node_scale: Scale = ()
    edge_scale: Scale = ()
    standardise: bool = False

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    @property
    def kinds(self) -> list[int]:
        """The columns that say what a node is: all but those of its degree, unless there are no others."""
        return self.seen_in_parts or list(range(len(self.node_features)))

    @property
    def seen_in_parts(self) -> list[int]:
        """The columns that say what a node is where a part is cut out: never its degree in the whole graph."""
        return [number for number, name in enumerate(self.node_features) if name not in DEGREES]

    def to_json(self) -> dict[str, Any]:
        """Ready for JSON; what is not standardised does not say so, as in the first runs that were stored."""
        values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}
        return values if self.standardise else {key: value for key, value in values.items() if key != "standardise"}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Schema:
        return cls(**{key: _frozen(item) for key, item in values.items()})


def _frozen(value: Any) -> Any:
    """Lists as tuples, also within lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
