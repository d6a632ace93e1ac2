"""ProtGNN+ with mined prototypes: parts that recur, compared by how they look and by what was learned of them.

A prototype is a part of a training graph. A graph is classified from its own parts (``data/parts.py``): each prototype
takes the part of the graph nearest to it, its evidence, and every further place that looks alike.

====================  =============================================================================================
distance              ``d = (1 - exp(-‖h - p‖² / H)) + s (1 - T)``: learned, bounded, and the resemblance T of the two
similarity            Eq. 2 of that distance, less what a part has that shares nothing to be seen: 0 for nothing alike
evidence              the part of highest similarity, less a small cost per node
value                 the similarity of the evidence, or for prototypes that *count* the sum over all places
base of a class       what it has in any case, and what the composition of the graph adds (``model/composition.py``)
logit of a class      base + Σ weight · value over the prototypes of the class
====================  =============================================================================================

Both terms of the distance are computed of the part alone, cut out, so what is shown is what was compared. The base of a
class is what speaks for it without any evidence: a class that is the absence of something needs no prototypes, and
what depends on the size of a graph is not pretended to be in a part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.parts import PartSet, all_parts, grown_parts, part_set
from protgnn.data.units import Units, members
from protgnn.featurizers.part_rule import PartRule
from protgnn.io.limits import check_limit
from protgnn.model.batch_norm_stats import SubgraphBatchNormStats
from protgnn.model.classifier import PlainGNN, ProtGNN
from protgnn.model.composition import Composition
from protgnn.model.encoders import Encoder
from protgnn.model.part_cache import PartCache
from protgnn.model.places import Places, find_places
from protgnn.model.prototype_layer import PrototypeHead, similarity, squared_distances
from protgnn.model.pyg_encoder import PyGEncoder
from protgnn.model.readout import ReadoutName

MOST_PARTS = 200
"""Candidate parts of a molecule at most."""

MOST_GROWN = 100
"""Candidate parts of a graph without units, about."""

ALIKE = 0.2
"""A part whose resemblance to a prototype is within this of 1 is a further place where it is found."""

EPSILON, STRUCTURE = 0.05, 2.0
"""ε of the similarity, and how much a wholly different look counts in the distance."""

FLOOR = math.log1p((1 - EPSILON) / (STRUCTURE + EPSILON))
HIGHEST = math.log(1 / EPSILON) - FLOOR
"""The similarity of a part that is the prototype itself."""

ENCODED_AT_ONCE = 4096
PREDICTED_AT_ONCE = 1024
"""Parts that are encoded together in training, where the statistics of a batch depend on it, and otherwise, where what
fits into the cache is faster."""

STEPS = 8
"""Points of the path over which the guide's gradients are integrated."""


class MinedHead(PrototypeHead):
    """Prototypes with their looks, a weight for each in its own class, and a base per class.

    ``counts [K]`` says which prototypes count every place; ``base [C]`` is what each class has in any case.
    """

    counts: Tensor

    def __init__(self, width: int, classes: Tensor, num_classes: int) -> None:
        super().__init__(width, classes, num_classes, EPSILON)
        self.base = nn.Parameter(torch.zeros(num_classes))
        self.register_buffer("counts", torch.zeros(len(classes), dtype=torch.bool))
        self.looks: list[tuple[np.ndarray, np.ndarray]] = []

    def part_distances(self, h: Tensor, prototypes: Tensor, unlike: Tensor) -> Tensor:
        """``[D, H], [K, H], [D, K] → [D, K]``; ``unlike`` is 1 - T."""
        learned = squared_distances(h, prototypes) / h.shape[1]
        return -torch.expm1(-learned) + STRUCTURE * unlike

    def similarity(self, distance: Tensor) -> Tensor:
        """Eq. 2, shifted so that what looks wholly different has similarity 0, whatever was learned of it."""
        return (similarity(distance, self.epsilon) - FLOOR).clamp(min=0)

    @torch.no_grad()
    def divide_logits(self, temperature: float) -> None:
        super().divide_logits(temperature)
        self.base.div_(temperature)

    def replace(self, classes: Tensor, counts: Tensor, looks: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Begin anew with K other prototypes; their vectors and weights are to be set."""
        width, num_classes = self.vectors.shape[1], len(self.base)
        device = self.base.device
        self.classes, self.counts, self.looks = classes.to(device), counts.to(device), looks
        self.vectors = nn.Parameter(torch.zeros(len(classes), width, device=device))
        self.last = nn.Linear(len(classes), num_classes, bias=False, device=device)

    @torch.no_grad()
    def constrain(self) -> None:
        """Keep weights positive and in the own class alone."""
        own = nn.functional.one_hot(self.classes, len(self.base)).t().to(self.last.weight)
        self.last.weight.clamp_(min=0).mul_(own)

    def own_class_weights(self, weight: Tensor) -> Tensor:
        """Weights ``[K]`` of prototypes in their own classes as ``[C, K]``."""
        own = nn.functional.one_hot(self.classes, len(self.base)).to(weight)
        return (own * weight[:, None]).t()


@dataclass(frozen=True, eq=False)
class MinedEvidence:
    """What every prototype is compared with: parts, their similarities ``[P, K]``, places, values ``[B, K]``, and the
    ``resemblance [B, K]`` of prototype and evidence."""

    parts: PartSet
    similar: Tensor
    places: Places
    value: Tensor
    resemblance: Tensor

    def nodes(self) -> dict[tuple[int, int], list[tuple[int, ...]]]:
        """The nodes of all places of each graph and prototype, the best place first."""
        found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        columns = (self.places.graph.tolist(), self.places.column.tolist(), self.places.row.tolist())
        for graph, column, row in zip(*columns, strict=True):
            found.setdefault((graph, column), []).append(tuple(members(self.parts.masks[row])))
        return found


class ProtGNNMined(ProtGNN):
    """Classifies a graph from its parts that look like mined prototypes.

    ``guide`` is the plain GNN of the warm-up, kept as it was: it says where to look in graphs without units.
    """

    compares_evidence = True
    head: MinedHead
    parts: SubgraphBatchNormStats

    def __init__(
        self,
        encoder: Encoder | PyGEncoder,
        readout: ReadoutName,
        head: MinedHead,
        guide: PlainGNN,
        rule: PartRule,
        budget: int = 10,
        layers: int = 3,
        composition: Composition | None = None,
    ) -> None:
        super().__init__(encoder, readout, head)
        self.guide, self.rule, self.budget, self.layers = guide, rule, budget, layers
        self.composition = composition
        self.parts = SubgraphBatchNormStats(encoder)
        self._found = PartCache()

    @property
    def subgraphs_per_graph(self) -> int:
        return 40

    def embed_parts(self, batch: Batch) -> Tensor:
        with self.parts.in_use():
            return self.embed(batch)

    def embed_all(self, graphs: GraphSet) -> Tensor:
        """Embeddings ``[D, H]`` of many parts."""
        device = self.head.base.device
        at_once = ENCODED_AT_ONCE if self.training else PREDICTED_AT_ONCE
        return torch.cat([self.embed_parts(batch.to(device)) for batch in graphs.batches(at_once)])

    def candidates(self, batch: Batch) -> PartSet:
        """The candidate parts of a batch; those of the last batches are remembered."""
        batch = batch.to("cpu")
        check_limit("mined_nodes", int(batch.node_counts.max()), "a graph")  # masks of parts are as long as a graph
        given = [batch.x, batch.edge_index, batch.batch, *([] if batch.targets is None else [batch.targets])]
        key = (batch.num_graphs, *map(_digest, given))
        known = self._found.get(key)
        if known is not None:
            return known
        units = self.rule.units(batch)
        targets = [None] * len(units) if batch.targets is None else self._targets(batch)
        if self.rule.has_units:
            masks = [self._whole_parts(*one) for one in zip(units, targets, strict=True)]
        else:
            scores = np.split(self.node_attributions(batch), np.cumsum(batch.node_counts.numpy())[:-1])
            masks = [self._parts_by_score(*one) for one in zip(units, targets, scores, strict=True)]
        found = part_set(batch, masks, self.rule.kinds(batch), self.layers)
        self._found.put(key, found)
        return found

    @staticmethod
    def _targets(batch: Batch) -> list[int]:
        """The target of each graph, numbered within it."""
        assert batch.targets is not None
        first = batch.node_counts.cumsum(0) - batch.node_counts
        found: list[int] = (batch.targets.squeeze(1) - first).tolist()
        return found

    def _whole_parts(self, units: Units, target: int | None) -> list[int]:
        """All whole parts of a graph with units; those that hold the target, if it has one."""
        found = all_parts(units, self.budget, MOST_PARTS)
        if target is None:
            return found
        return [part for part in found if part >> target & 1] or [units.closure(1 << target)]

    def _parts_by_score(self, units: Units, target: int | None, score: np.ndarray) -> list[int]:
        """Cycles, and parts that grow from where the guide points, by node scores ``[n]``; around a target those that
        hold it, and what grows from it by the scores and by closing cycles alone."""
        found = self.rule.cycles(units, self.budget, target)
        if target is None:
            found += grown_parts(units, score, self.budget, MOST_GROWN)
        else:
            for by in (score, np.zeros_like(score)):
                found += grown_parts(units, by, self.budget, MOST_GROWN, [target])
        parts = list(dict.fromkeys(found))
        # Where nothing is seen of a node, a node by itself is no part.
        return parts if self.rule.visible else [part for part in parts if part.bit_count() > 1] or parts

    def node_attributions(self, batch: Batch) -> np.ndarray:
        """How much each node adds to what the guide says, ``[N]``: integrated gradients from features of zero."""
        device = self.head.base.device
        batch = batch.to(device)
        with torch.no_grad():
            said = self.guide(batch).argmax(1, keepdim=True)
        total = torch.zeros_like(batch.x)
        with torch.enable_grad():
            for step in range(STEPS):
                x = (batch.x * ((step + 0.5) / STEPS)).requires_grad_()
                moved = replace(batch, x=x)
                moved.__dict__["adjacency"] = batch.adjacency
                total += torch.autograd.grad(self.guide(moved).gather(1, said).sum(), x)[0]
        score: np.ndarray = (total / STEPS * batch.x).sum(1).cpu().numpy()
        return score

    def begin_anchored_stage(self) -> None:
        self.parts.begin()
        self._found.clear()

    def set_looks(self, subgraphs: GraphSet) -> None:
        """Remember how the prototypes look, given their subgraphs in order."""
        found = self._whole(subgraphs)
        self.head.looks = found.looks.of_parts(found.distinct)

    def _whole(self, graphs: GraphSet) -> PartSet:
        """Graphs, each as its own only part."""
        batch = graphs.batch()
        everything = [[(1 << count) - 1] for count in graphs.node_counts.tolist()]
        return part_set(batch, everything, self.rule.kinds(batch), self.layers)

    def unlike(self, parts: PartSet) -> Tensor:
        """``1 - T`` of every different part and every prototype, ``[D, K]``."""
        return torch.from_numpy(1 - parts.looks.resemblance(self.head.looks))

    def evidence(self, batch: Batch) -> MinedEvidence:  # type: ignore[override]
        parts = self.candidates(batch)
        return self.compare(parts, self.embed_all(parts.graphs).cpu(), self.unlike(parts))

    def compare(self, parts: PartSet, h: Tensor, unlike: Tensor) -> MinedEvidence:
        """The evidence among parts with embeddings ``[D, H]``."""
        head = self.head
        near = head.similarity(head.part_distances(h, head.vectors.detach().cpu(), unlike))
        distinct = torch.from_numpy(parts.distinct)
        similar = near[distinct]
        places = find_places(similar, (unlike <= ALIKE)[distinct], parts)
        value = places.values(similar, head.counts.cpu())
        return MinedEvidence(parts, similar, places, value, 1 - unlike[distinct].gather(0, places.best))

    def similarities_of_parts(self, parts: GraphSet) -> Tensor:
        found = self._whole(parts)
        h = self.embed_all(found.graphs).cpu()
        distance = self.head.part_distances(h, self.head.vectors.detach().cpu(), self.unlike(found))
        return self.head.similarity(distance)[torch.from_numpy(found.distinct)]

    def similarities(self, batch: Batch, whole: bool = False) -> Tensor:
        return self.evidence(batch).value

    def forward(self, batch: Batch, whole: bool = False) -> Tensor:
        """Logits ``[B, C]``; those of the guide for ``whole`` graphs."""
        if whole:
            result: Tensor = self.guide(batch)
            return result
        device = self.head.base.device
        return self.head.logits_of(self.evidence(batch).value.to(device)) + self.base(batch)

    def base(self, batch: Batch) -> Tensor:
        return self.head.base.expand(batch.num_graphs, -1) + self.added(batch.to(self.head.base.device))

    def distances(self, batch: Batch, whole: bool = False) -> Tensor:
        raise TypeError("Prototypes that count places have no single distance: use similarities")


def _digest(tensor: Tensor) -> int:
    return hash(tensor.contiguous().numpy().tobytes())
