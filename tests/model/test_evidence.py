"""What a ProtGNN+ computes is what its evidence, cut out and alone, gives."""

from __future__ import annotations

from dataclasses import replace

import networkx
import pytest
import torch
from torch_geometric.nn.models import GraphSAGE

from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.data.units import mask_of
from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.featurizers.batch_units import BatchUnits
from protgnn.featurizers.molecule import from_smiles
from protgnn.model.classifier import ProtGNNPlus
from protgnn.model.encoders import Encoder
from protgnn.model.evidence import EvidenceOptions, Exploration, imitation, nearest, propose
from protgnn.model.prototype_layer import PrototypeHead, squared_distances
from protgnn.model.pyg_encoder import PyGEncoder
from protgnn.model.sampler import Sampler

CLASSES = torch.tensor([0, 0, 1, 1])


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    made = ba_2motifs(12)
    lonely = GraphSet.concatenate([made[0]])
    lonely = cut(lonely, torch.tensor([0]), torch.arange(len(lonely.x)) == 3)  # one node, no edge
    return GraphSet.concatenate([made, lonely])


def model_of(name: str) -> ProtGNNPlus:
    torch.manual_seed(0)
    encoder = PyGEncoder(GraphSAGE(10, 16, 2)) if name == "sage" else Encoder(name, 10, 16, 2)
    model = ProtGNNPlus(encoder, "mean", PrototypeHead(16, CLASSES, 2), Sampler(16), EvidenceOptions(7, 3))
    with torch.no_grad():
        model.head.vectors.mul_(0.1)
    return model


@pytest.mark.parametrize("name", ["gcn", "gin", "gat", "sage"])
def test_evidence_cut_out_and_encoded_alone_has_the_distance_that_was_used(graphs, name):
    model = model_of(name)
    with model.parts.in_use():  # other statistics than those of whole graphs
        model.train().encoder(graphs.batch())
    model.eval()
    batch = graphs.batch()
    with torch.no_grad():
        evidence = model.evidence(batch)
        for prototype, inside in enumerate(evidence.member(batch).t()):
            for number, part in enumerate(cut(graphs, torch.arange(len(graphs)), inside)):
                expected = squared_distances(model.embed_parts(part.batch()), model.head.vectors)[0, prototype]
                assert torch.allclose(evidence.distance[number, prototype], expected, atol=1e-5)
                assert part.edge_index.shape[1] // 2 <= 7
                drawn = networkx.Graph(part.edge_index.t().tolist())
                drawn.add_nodes_from(range(len(part.x)))
                assert networkx.is_connected(drawn)


def test_every_prototype_takes_the_nearest_of_its_graphs_proposals(graphs):
    model = model_of("gin").eval()
    batch = graphs.batch()
    with torch.no_grad():
        parts = model.propose(batch).candidates
        distance = squared_distances(model.embed_parts(parts.batch), model.head.vectors)
        evidence = nearest(distance, parts)
    for number in range(len(graphs)):
        for prototype in range(len(CLASSES)):
            offered = {int(row) for row in parts.row[number]}
            least = min(float(distance[row, prototype]) for row in offered)
            assert float(evidence.distance[number, prototype]) == pytest.approx(least, rel=1e-4, abs=1e-7)
            assert int(evidence.row[number, prototype]) in offered


def test_predictions_do_not_depend_on_the_batch(graphs):
    model = model_of("gcn").eval()
    with torch.no_grad():
        together = model(graphs.batch())
        alone = torch.cat([model(graph.batch()) for graph in graphs])
    assert torch.allclose(together, alone, atol=1e-4)


def test_on_whole_graphs_it_is_a_protgnn(graphs):
    model = model_of("gin").eval()
    with torch.no_grad():
        assert torch.equal(model(graphs.batch(), whole=True), model.head(model.embed(graphs.batch())))


def test_imitation_is_the_balanced_cross_entropy_to_the_evidence_plus_the_budget(graphs):
    model = model_of("gin").eval()
    batch = graphs.batch()
    with torch.no_grad():
        z, proposals = model.encoder(batch), model.propose(batch)
        evidence = model.evidence(batch)
        member = evidence.member(batch)
        found = imitation(proposals, batch, evidence, 0.5, 2)
        chances, targets, sizes = [], [], torch.zeros(len(graphs), len(CLASSES))
        for source, target in batch.edge_index.t().tolist():
            if source < target:
                logits = model.sampler(z, torch.tensor([[source], [target]]), model.head.vectors)[0]
                sizes[batch.batch[source]] += logits.sigmoid()
                chances.append(logits.sigmoid())
                targets.append((member[source] & member[target]).float())
    chance, wanted = torch.stack(chances), torch.stack(targets)
    entropy = -(chance[wanted == 1].log().mean() + (1 - chance[wanted == 0]).log().mean()) / 2
    assert float(found) == pytest.approx(float(entropy + 0.5 * (sizes - 2).clamp(min=0).mean()), abs=1e-5)


def test_a_sampler_that_imitates_proposes_nearer_parts(graphs):
    """Eq. 13 is maximised: under a fixed encoder the proposals come nearer to the prototypes."""
    model = model_of("gin").eval()
    marked = graphs.x.clone()
    marked[:, 0] = graphs.node_mask.float()  # so that nodes of motifs can be told from others
    graphs = replace(graphs, x=marked)
    batch = graphs.batch()
    with torch.no_grad():
        for _ in range(50):  # statistics, so that embeddings have a spread
            model.train().encoder(batch)
        model.eval().parts.begin()
        houses = cut(graphs, torch.arange(len(graphs) - 1), graphs.node_mask[: int(graphs.node_ptr[-2])])
        model.head.vectors.copy_(model.embed_parts(houses.batch(torch.tensor([0, 1, 6, 7]))))
    optimizer = torch.optim.Adam(model.sampler.parameters(), 0.01)
    generator = torch.Generator().manual_seed(0)

    def own_proposals() -> float:
        with torch.no_grad():
            parts = model.propose(batch).candidates
            distance = squared_distances(model.embed_parts(parts.batch), model.head.vectors)
        own = distance[parts.row[:, : len(CLASSES)], torch.arange(len(CLASSES))]  # [B, K]
        return float(own[:6, :2].mean() + own[6:12, 2:].mean()) / 2  # where the graph has what the prototype is

    before = own_proposals()
    for _ in range(120):
        z = model.encoder(batch).detach()
        known = model.head.vectors.detach()
        proposals = propose(model.sampler, z, batch, known, model.options, Exploration(1.0, generator))
        with torch.no_grad():
            evidence = nearest(
                squared_distances(model.embed_parts(proposals.candidates.batch), known), proposals.candidates
            )
        optimizer.zero_grad()
        imitation(proposals, batch, evidence, 0.01, 7).backward()
        optimizer.step()
    assert own_proposals() < 0.5 * before


def test_proposals_do_not_depend_on_the_order_of_the_nodes(graphs):
    """Viewpoints are directions of embeddings, so a renumbered graph is offered the same parts."""
    model = model_of("gin").eval()
    one = graphs[0]
    one = replace(one, x=torch.randn(one.x.shape, generator=torch.Generator().manual_seed(0)))
    order = torch.randperm(len(one.x), generator=torch.Generator().manual_seed(1))  # new number of each node
    edges = order[one.edge_index]
    edges = edges[:, (edges[1] * len(order) + edges[0]).argsort()]
    other = replace(one, x=one.x[order.argsort()], edge_index=edges)
    with torch.no_grad():
        mine, theirs = model.evidence(one.batch()), model.evidence(other.batch())
    assert torch.allclose(mine.distance, theirs.distance, atol=1e-5)
    assert torch.equal(mine.member(one.batch()), theirs.member(other.batch())[order])


@pytest.mark.parametrize("name", ["gin", "sage"])
def test_evidence_of_molecules_is_whole_and_still_exact(name):
    molecules = from_smiles(["CC(=O)Nc1ccc(O)cc1", "c1ccc2c(c1)Cc1ccccc12", "[Na+].[Cl-]", "O=C1CCCCO1", "CCCCCCCC"])
    torch.manual_seed(0)
    width = molecules.num_features
    encoder = PyGEncoder(GraphSAGE(width, 16, 2)) if name == "sage" else Encoder(name, width, 16, 2)
    units = BatchUnits.of(molecules.schema)
    head = PrototypeHead(16, CLASSES, 2)
    model = ProtGNNPlus(encoder, "mean", head, Sampler(16), EvidenceOptions(7, 3), units).eval()
    batch = molecules.batch()
    with torch.no_grad():
        evidence = model.evidence(batch)
        for prototype, inside in enumerate(evidence.member(batch).t()):
            for number, part in enumerate(cut(molecules, torch.arange(len(molecules)), inside)):
                nodes = inside[batch.batch == number].nonzero().squeeze(1).tolist()
                assert units(batch)[number].is_whole(mask_of(nodes))
                expected = squared_distances(model.embed_parts(part.batch()), head.vectors)[0, prototype]
                assert torch.allclose(evidence.distance[number, prototype], expected, atol=1e-5)
