"""Monte Carlo tree search for the connected subgraph nearest to a prototype (section Prototype Projection).

A tree node is a subgraph; an action prunes one node and keeps the rest connected (of a large graph without targets the
first action prunes all but a neighbourhood). In graphs with units the action prunes the units that the node is in, so
that no ring and no functional group is ever cut: ours, not the paper's. Each action carries

- ``C`` how often it was taken, ``W`` the similarities of the leaves it led to, ``Q = W / C``,
- ``R = sim(p, h)`` of the subgraph it leads to (Eq. 2).

An iteration walks from the root to a leaf by ``argmax Q + U``, ``U = λ R √(Σ C) / (1 + C)``, ties going to the
higher R, and adds the leaf's similarity to every action on its way. All (graph, prototype) trees walk in lockstep: one
step of all trees is a few array operations and at most one round of encoder calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.units import Units, members
from protgnn.errors import DataError
from protgnn.search.bitsets import BitGraph, tie_order
from protgnn.search.pool import Encode, Pool, grown
from protgnn.search.unit_graph import UnitGraph

UnitsOf = Callable[[Batch], list[Units] | None]
"""Says what belongs together in the graphs of a batch; nothing where every node stands for itself."""


@dataclass(frozen=True)
class SearchSettings:
    """The knobs of the search; the defaults are the paper's, ``max_nodes`` is its budget B.

    Of a graph with more than ``whole_nodes`` nodes the first actions lead to neighbourhoods of as many nodes, since
    pruning node by node takes a time that grows with the square of the size.
    """

    iterations: int = 20
    exploration: float = 5.0
    children: int = 10
    min_nodes: int = 5
    max_nodes: int = 10
    epsilon: float = 1e-4
    seed: int = 0
    whole_nodes: int = 64

    def __post_init__(self) -> None:
        for name in ("iterations", "children", "min_nodes"):
            if getattr(self, name) < 1:
                raise ValueError(f"Expected {name} of at least 1 (got {getattr(self, name)})")
        if self.max_nodes < self.min_nodes:
            raise ValueError(f"Expected max_nodes of at least min_nodes = {self.min_nodes} (got {self.max_nodes})")

    @property
    def largest_pruned(self) -> int:
        """The size up to which a graph is pruned node by node."""
        return max(self.whole_nodes, self.max_nodes)


@dataclass(frozen=True, eq=False)
class Explored:
    """What was explored of one graph and is small enough to be an answer.

    ``node_sets`` are S bit masks (see ``data/units.py``), ``embeddings [S, H]``, ``similarity [S, K]`` to the K
    prototypes, ``best [K]`` the row of the most similar subgraph for each.
    """

    graph: int
    node_sets: list[int]
    embeddings: Tensor
    similarity: Tensor
    best: list[int]

    def nodes(self, prototype: int) -> list[int]:
        """The nodes of the subgraph most similar to a prototype."""
        return members(self.node_sets[self.best[prototype]])


@torch.no_grad()
def search(
    graphs: Instances,
    index: Sequence[int],
    prototypes: Tensor,
    encode: Encode,
    settings: SearchSettings | None = None,
    wanted: Tensor | None = None,
    tie_breaker: int | None = None,
    units: UnitsOf | None = None,
) -> list[Explored]:
    """Search every graph of ``index`` for every prototype of ``[K, H]``; results come in the order of ``index``.

    With ``wanted [G, K]`` only those pairs have a tree, though all prototypes are scored on what was explored.
    ``encode`` maps a batch of S graphs to embeddings ``[S, H]`` and must be in evaluation mode. The prototypes of
    a graph share what was explored, so that with more of them each answer is at least as similar as alone. Ties are
    broken by seed and graph number or, where an answer must not depend on that number, by ``tie_breaker``. With
    ``units`` subgraphs are unions of them, of more than ``max_nodes`` nodes where nothing smaller was met.
    """
    settings = settings or SearchSettings()
    if not len(index):
        return []
    chosen = graphs[list(index)].ego_graphs()
    for number, size in zip(index, chosen.node_counts.tolist(), strict=True):
        if not size:
            raise DataError(f"Expected graphs with nodes to search in (got graph {number} without any)")
    pool = Pool(chosen, prototypes, encode, settings.epsilon, settings.max_nodes)
    pairs = torch.ones(len(index), len(prototypes), dtype=torch.bool) if wanted is None else wanted
    numbers = index if tie_breaker is None else [tie_breaker] * len(index)
    bit_graphs = _bit_graphs(chosen, numbers, settings, None if units is None else units(chosen.batch()))
    forest = _Forest(bit_graphs, pairs.numpy(), pool, settings)
    forest.grow()
    return _results(pool, index, settings.max_nodes)


def _bit_graphs(
    graphs: GraphSet, numbers: Sequence[int], settings: SearchSettings, units: list[Units] | None
) -> list[BitGraph]:
    edges = graphs.edge_index.t().tolist()
    edge_ptr, sizes = graphs.edge_ptr.tolist(), graphs.node_counts.tolist()
    targets = [[]] * len(graphs) if graphs.targets is None else graphs.targets.tolist()
    made: list[BitGraph] = []
    for at, (number, size) in enumerate(zip(numbers, sizes, strict=True)):
        own, order = edges[edge_ptr[at] : edge_ptr[at + 1]], tie_order(size, int(number), settings.seed)
        if units is None:
            made.append(BitGraph(size, own, targets[at], order))
        else:
            made.append(UnitGraph(units[at], own, targets[at], order, settings.min_nodes))
    return made


class _Forest:
    """One tree per wanted (graph, prototype); the shape of the trees of a graph is shared, their statistics are not.

    A row of the pool becomes a *slot* when it is expanded: ``kids [slots, A]`` are the rows of its children, and
    ``visits`` and ``total [slots, K, A]`` the C and W of the actions that lead there.
    """

    def __init__(self, bit_graphs: list[BitGraph], wanted: np.ndarray, pool: Pool, settings: SearchSettings) -> None:
        self.bit_graphs, self.pool, self.settings = bit_graphs, pool, settings
        width, num_prototypes = settings.children, wanted.shape[1]
        self.slots = 0
        self.kids = np.zeros((256, width), dtype=np.int64)
        self.visits = np.zeros((256, num_prototypes, width))
        self.total = np.zeros((256, num_prototypes, width))
        self.slot = np.zeros(1024, dtype=np.int64)  # of a row
        self.num_kids = np.zeros(1024, dtype=np.int64)  # of a row; -1 before it is expanded

        roots = [pool.row(graph, bits.root()) for graph, bits in enumerate(bit_graphs)]
        self._evaluate(0)
        graph, self.prototype = np.nonzero(wanted)
        self.root = np.array(roots)[graph]
        self.at = self.root.copy()
        self.left = np.full(len(self.root), settings.iterations)
        depth = max(pool.sizes)
        self.depth = np.zeros(len(self.root), dtype=np.int64)
        self.path = np.zeros((2, len(self.root), depth), dtype=np.int64)  # slots and actions

    def grow(self) -> None:
        """Walk all trees to the end of their last iteration."""
        walking = np.arange(len(self.at))
        while len(walking):
            at = self.at[walking]
            self._expand(np.unique(at[self.num_kids[at] < 0]))
            at_leaf = self.num_kids[at] == 0
            self._back_up(walking[at_leaf])
            self._select(walking[~at_leaf])
            walking = walking[self.left[walking] > 0]

    def _evaluate(self, start: int) -> None:
        """Score the new rows of the pool; those of ``min_nodes`` or fewer are leaves."""
        self.pool.evaluate(start)
        self.slot, self.num_kids = grown(self.slot, len(self.pool)), grown(self.num_kids, len(self.pool))
        sizes = np.array(self.pool.sizes[start:])
        self.num_kids[start : len(self.pool)] = np.where(sizes <= self.settings.min_nodes, 0, -1)

    def _expand(self, rows: np.ndarray) -> None:
        pool, start = self.pool, len(self.pool)
        needed = self.slots + len(rows)
        self.kids, self.visits, self.total = (grown(array, needed) for array in (self.kids, self.visits, self.total))
        for slot, row in enumerate(rows.tolist(), self.slots):
            graph = pool.owners[row]
            kids = [pool.row(graph, nodes) for nodes in self._children(self.bit_graphs[graph], pool.node_sets[row])]
            self.kids[slot, : len(kids)] = kids
            self.slot[row], self.num_kids[row] = slot, len(kids)
        self.slots = needed
        self._evaluate(start)

    def _children(self, bits: BitGraph, nodes: int) -> list[int]:
        limit, largest = self.settings.children, self.settings.largest_pruned
        if nodes.bit_count() > largest and not bits.targets:
            return bits.neighbourhoods(nodes, limit, largest)
        return bits.children(nodes, limit)

    def _select(self, trees: np.ndarray) -> None:
        """Take one action in each tree: ``argmax Q + U``, of equals the one with the higher R, then the first."""
        at, prototype = self.at[trees], self.prototype[trees]
        slot = self.slot[at]
        kids = self.kids[slot]
        visits, total = self.visits[slot, prototype], self.total[slot, prototype]
        reward = self.pool.scores[kids, prototype[:, None]]
        bonus = self.settings.exploration * reward * np.sqrt(visits.sum(1, keepdims=True)) / (1 + visits)
        value = total / np.maximum(visits, 1) + bonus
        value[np.arange(kids.shape[1]) >= self.num_kids[at][:, None]] = -1
        reward[value < value.max(1, keepdims=True)] = -1
        action = reward.argmax(1)
        self.path[:, trees, self.depth[trees]] = slot, action
        self.depth[trees] += 1
        self.at[trees] = kids[np.arange(len(trees)), action]

    def _back_up(self, trees: np.ndarray) -> None:
        """Add the leaf's similarity to all actions on the way to it, and start again at the root."""
        prototype = self.prototype[trees]
        gain = self.pool.scores[self.at[trees], prototype]
        on_path = np.arange(self.path.shape[2]) < self.depth[trees][:, None]
        tree, step = np.nonzero(on_path)
        slot, action = self.path[:, trees[tree], step]
        self.visits[slot, prototype[tree], action] += 1
        self.total[slot, prototype[tree], action] += gain[tree]
        self.depth[trees] = 0
        self.left[trees] -= 1
        self.at[trees] = self.root[trees]


def _results(pool: Pool, numbers: Sequence[int], max_nodes: int) -> list[Explored]:
    """The pool by graph, without the subgraphs that are too large to be an answer."""
    small = np.flatnonzero(np.array(pool.sizes) <= max_nodes)
    owner = np.array(pool.owners)[small]
    embeddings, order = pool.embeddings(), np.argsort(owner, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(owner, minlength=len(numbers)))[:-1])
    results = []
    for at, part in enumerate(parts):
        if len(part):
            rows, h = small[part], embeddings[torch.from_numpy(part)]
        else:  # units, or the way between two targets, may be larger than max_nodes
            own = [row for row, graph in enumerate(pool.owners) if graph == at]
            smallest = min(pool.sizes[row] for row in own)
            rows = np.array([row for row in own if pool.sizes[row] == smallest])
            h = pool.encode(rows.tolist())
        node_sets = [pool.node_sets[row] for row in rows.tolist()]
        scores = pool.scores[rows]
        best = [_best(scores[:, prototype], node_sets) for prototype in range(scores.shape[1])]
        results.append(Explored(int(numbers[at]), node_sets, h, torch.from_numpy(scores), best))
    return results


def _best(scores: np.ndarray, node_sets: list[int]) -> int:
    """The row with the highest score; of equals the one with the fewest nodes, then the lowest bitset."""
    highest = np.flatnonzero(scores == scores.max()).tolist()
    return min(highest, key=lambda row: (node_sets[row].bit_count(), node_sets[row]))
