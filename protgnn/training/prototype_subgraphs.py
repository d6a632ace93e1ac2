"""The training subgraphs behind prototypes: where prototypes start, their projection, and what is cut out for them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from protgnn.data.batch import Batch
from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.data.subgraph import cut
from protgnn.errors import DataError
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.io.seeding import generator_for
from protgnn.model.classifier import ProtGNN
from protgnn.search.projection import project
from protgnn.training.recipe import Recipe, search_settings
from protgnn.training.session import Session


def cut_subgraphs(graphs: Instances, sources: list[dict[str, Any]]) -> GraphSet:
    """Cut the subgraph of each source (graph number and node numbers) out: K graphs in the order of the sources."""
    around = graphs[[source["graph"] for source in sources]].ego_graphs()
    counts = around.node_counts
    first = (counts.cumsum(0) - counts).tolist()
    mask = torch.zeros(int(counts.sum()), dtype=torch.bool)
    for start, source in zip(first, sources, strict=True):
        mask[start + torch.tensor(source["nodes"])] = True
    return cut(around, torch.arange(len(around)), mask)


def random_graphs(graphs: Instances, classes: Tensor, generator: torch.Generator) -> Tensor:
    """A random graph of each class in ``classes [K]``, as different ones as there are: ``[K]`` numbers."""
    assert graphs.y is not None
    chosen = torch.empty_like(classes)
    for label in sorted(set(classes.tolist())):
        members, places = (graphs.y == label).nonzero().squeeze(1), (classes == label).nonzero().squeeze(1)
        if not len(members):
            raise DataError(f"There is no training graph of class {graphs.schema.class_names[label]}: split otherwise")
        order = members[torch.randperm(len(members), generator=generator)]
        chosen[places] = order.repeat(-(-len(places) // len(order)))[: len(places)]
    return chosen


@torch.no_grad()
def start_on_graphs(model: ProtGNN, train: Instances, recipe: Recipe) -> None:
    """Start the prototypes on the embeddings of random training graphs of their class."""
    chosen = random_graphs(train, model.head.classes, generator_for(recipe.seed, "prototypes"))
    batches = train[chosen].batches(len(chosen))
    model.eval().head.vectors.copy_(torch.cat([model.embed(batch) for batch in batches]))


@torch.no_grad()
def nearest_subgraphs(session: Session[ProtGNN], candidates: int) -> list[dict[str, Any]]:
    """Eq. 7 by MCTS: for every prototype the nearest subgraph of a training graph of its class, whole if asked to;
    ranks share this."""
    model, head = session.exported.eval(), session.exported.head
    found = project(
        session.train,
        head.vectors.detach().cpu(),
        head.classes.cpu(),
        lambda batch: model.embed(batch.to(session.device)).cpu(),
        search_settings(session.recipe),
        candidates=candidates or None,
        units=BatchUnits.of(session.train.schema) if session.recipe.whole_parts else None,
        ranks=session.ranks,
    )
    return [asdict(source) for source in found.sources]


@torch.no_grad()
def set_prototypes(session: Session[ProtGNN], subgraphs: Batch) -> None:
    """Set every prototype to the embedding of its subgraph, for the exported and for the learning model."""
    for model in dict.fromkeys((session.model, session.exported)):  # in an order that all ranks share
        embed = model.eval().embed_parts if session.anchored else model.eval().embed
        model.head.vectors.copy_(embed(subgraphs))
        session.ranks.average([model.head.vectors], float(session.ranks.first))
