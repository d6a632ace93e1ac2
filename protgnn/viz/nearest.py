"""Which nodes are drawn of a graph that is too large to be seen: those nearest to what matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def nearest_nodes(count: int, pairs: np.ndarray, focus: Sequence[int], most: int) -> np.ndarray:
    """All nodes if there are at most ``most`` of them, else those fewest steps from the focus.

    Args:
        count: How many nodes there are.
        pairs: The ends of edges ``[E, 2]``; a direction does not matter.
        focus: The nodes to see; the node with most neighbours where there is none.
        most: How many nodes can be shown. A focus of more is shown in part.

    Returns:
        Node numbers, ascending.
    """
    if count <= most:
        return np.arange(count)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    wanted = np.array(list(dict.fromkeys(focus))[:most], dtype=np.int64)
    if not len(wanted):
        wanted = np.array([np.bincount(pairs.reshape(-1), minlength=count).argmax()])
    # The search starts at one node more, which is joined to the focus.
    source = np.concatenate([np.full(len(wanted), count), pairs[:, 0]])
    target = np.concatenate([wanted, pairs[:, 1]])
    joined = coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=(count + 1, count + 1)).tocsr()
    order = breadth_first_order(joined, count, directed=False, return_predecessors=False)
    found: np.ndarray = np.sort(order[1 : most + 1])
    return found
