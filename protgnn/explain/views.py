"""What a reasoning can be turned into for other tools: a table for pandas, masks for PyG, a picture for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor


class ReasoningViews:
    """The views of a :class:`~protgnn.explain.explanation.Reasoning`."""

    def to_frame(self) -> Any:
        """The rows as a pandas ``DataFrame``, one per prototype; :func:`~protgnn.explain.frames.to_frame` takes many.

        Raises:
            ProtGNNError: pandas is not installed.
        """
        from protgnn.explain.frames import to_frame

        return to_frame([self._self()])

    def node_mask(self, label: int | None = None) -> Tensor:
        """How much each node of the graph speaks for a class, ``[N, 1]`` from 0 to 1, as PyG's ``Explanation`` has it.

        Args:
            label: The class; the predicted one if none.
        """
        from protgnn.explain.masks import node_mask

        return node_mask(self._self(), label)

    def edge_mask(self, label: int | None = None) -> Tensor:
        """The same of each edge, ``[E]``."""
        from protgnn.explain.masks import edge_mask

        return edge_mask(self._self(), label)

    def _repr_html_(self) -> str:
        """The figure and the table of its rows, for notebooks."""
        from protgnn.viz.notebook import reasoning_fragment

        return reasoning_fragment(self._self())

    def _self(self) -> Reasoning:
        from protgnn.explain.explanation import Reasoning

        assert isinstance(self, Reasoning)
        return self


if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning
