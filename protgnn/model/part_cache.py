"""The candidate parts of the last batches, so that asking for evidence and for a reasoning finds them once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from protgnn.data.parts import PartSet

KEPT = 8


class PartCache:
    """The candidate parts of the last batches; copies of a model share it, as they share its guide."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, PartSet] = OrderedDict()

    def __deepcopy__(self, memo: Any) -> PartCache:
        return self

    def get(self, key: Any) -> PartSet | None:
        """What is known of a batch."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: Any, found: PartSet) -> None:
        """Remember it, and forget the oldest."""
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
