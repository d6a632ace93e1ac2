"""Graphs with labels as data to train on: their story, their figures, and a split into parts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.split import Split, missing_classes
from protgnn.data.stats import fingerprint, statistics
from protgnn.datasets.copies import torn_copies
from protgnn.datasets.splits import SplitKind, folds, split
from protgnn.errors import DataError

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Checked graphs with their story and a split.

    ``split_`` is the split in use; until ``with_split`` chose one it is stratified, 80/10/10, seed 0, or the one that
    came with the data where that is the standard, which everybody scores on.
    """

    name: str
    graphs: GraphSet
    description: str = ""
    origin: str = ""
    given_split: Split | None = None
    notes: list[str] = field(default_factory=list)
    chosen_split: Split | None = None
    standard_split: bool = False
    split_notes: tuple[str, ...] = ()
    """Those of ``notes`` that are about ``chosen_split``."""
    settled: dict[str, str] = field(default_factory=dict)
    """Columns and ranges that were found when the data was read, by the options that choose them."""

    def __repr__(self) -> str:
        """In a line: tensors would fill the screen."""
        return f"Dataset({self.name!r}, {self.graphs!r})"

    @property
    def schema(self) -> Schema:
        """What a model of this data must remember."""
        return self.graphs.schema

    @property
    def instances(self) -> GraphSet:
        """Everything that can be learned from or scored."""
        return self.graphs

    def fingerprint(self) -> str:
        """A mark that changes with the data."""
        return fingerprint(self.graphs)

    def statistics(self) -> dict[str, Any]:
        """Counts and sizes, ready for JSON."""
        figures, given = statistics(self.graphs), self.given_split
        if given is not None:
            figures["own_split"] = {"train": len(given.train), "valid": len(given.valid), "test": len(given.test)}
        return figures

    @cached_property
    def split_(self) -> Split:
        """The split in use."""
        standard = self.given_split if self.standard_split else None
        return self.chosen_split or standard or split(self.graphs, "stratified", 0)

    @property
    def train(self) -> GraphSet:
        """The graphs to learn from."""
        return self.graphs[self.split_.train]

    @property
    def valid(self) -> GraphSet:
        """The graphs to choose and stop by."""
        return self.graphs[self.split_.valid]

    @property
    def test(self) -> GraphSet:
        """The graphs to report on."""
        return self.graphs[self.split_.test]

    def uses_given_split(self, chosen: Collection[str]) -> bool:
        """Whether the split that came with the data is meant, given the recipe keys that a user has chosen."""
        return self.standard_split and self.given_split is not None and "split" not in chosen

    def with_split(self, kind: SplitKind | Literal["given"], seed: int = 0) -> Dataset:
        """The same dataset split otherwise; ``given`` is the split that came with the data."""
        if kind != "given":
            chosen = split(self.graphs, kind, seed)
        elif self.given_split is not None:
            chosen = self.given_split
        else:
            raise DataError(f"{self.name} comes without a split of its own: use a random or stratified one")
        about = missing_classes(self.graphs, chosen)
        torn = torn_copies(self.graphs, chosen) if kind == "given" else 0
        if torn:
            about.append(f"{torn} molecules of the given split have copies in another part of it")
        notes = [*(note for note in self.notes if note not in self.split_notes), *about]
        return replace(self, chosen_split=chosen, notes=notes, split_notes=tuple(about))

    def with_folds(self, k: int, kind: str = "stratified", seed: int = 0) -> list[Dataset]:
        """The same dataset split ``k`` times, so that every graph is tested on once."""
        made = folds(self.graphs, k, kind, seed)
        notes = [note for note in self.notes if note not in self.split_notes]
        return [replace(self, chosen_split=one, notes=notes, split_notes=()) for one in made]
