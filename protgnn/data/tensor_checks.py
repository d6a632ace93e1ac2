"""Checks of single tensors that sets of graphs and networks share."""

from __future__ import annotations

import torch
from torch import Tensor

from protgnn.errors import DataError


def first_not_finite(values: Tensor) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity of ``[rows, columns]``, or nothing if all are finite."""
    if not values.numel() or all(bool(extreme.isfinite()) for extreme in values.aminmax()):
        return None  # found without a mask as large as the values
    bad = (~values.isfinite()).nonzero()
    return int(bad[0, 0]), int(bad[0, 1])


def column_names(values: Tensor, names: tuple[str, ...], letter: str, what: str) -> tuple[str, ...]:
    """The names of the columns of ``[rows, columns]``: those of the schema, or the letter and a number.

    Raises ``DataError`` if the schema names another number of columns; ``what`` is what the message calls them.
    """
    names = names or tuple(f"{letter}{column}" for column in range(values.shape[1]))
    if len(names) != values.shape[1]:
        raise DataError(f"Expected {len(names)} {what}, as named in the schema (got {values.shape[1]})")
    return names


def whole_numbers(edge_index: Tensor) -> Tensor:
    """Edges as int64; refused if they are no whole numbers."""
    if edge_index.is_floating_point() or edge_index.dtype == torch.bool:
        raise DataError(f"Expected whole numbers in the edges (got {edge_index.dtype}): number the nodes from 0")
    return edge_index.to(torch.int64)
