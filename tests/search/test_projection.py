"""Projection puts every prototype on a training subgraph of its class, and no two of a class on the same."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from torch import Tensor

from protgnn.data.graph_set import GraphSet
from protgnn.data.schema import Schema
from protgnn.data.subgraph import cut
from protgnn.errors import DataError
from protgnn.model.classifier import PlainGNN
from protgnn.model.encoders import Encoder, EncoderName
from protgnn.search import projection
from protgnn.search.pool import Encode
from protgnn.search.projection import Projection, project
from protgnn.search.tree import SearchSettings, search
from tests.search.strategies import WIDTH, encode, graph_sets, pack, prototypes

CLASSES = torch.tensor([0, 1]).repeat_interleave(3)
QUICK = SearchSettings(iterations=4, min_nodes=3, max_nodes=6)


def some_graphs(count: int = 12, size: int = 14) -> GraphSet:
    return pack([nx.connected_watts_strogatz_graph(size, 3, 0.3, seed=seed) for seed in range(count)])


def encode_alone(graphs: GraphSet, number: int, nodes: tuple[int, ...], encode: Encode = encode) -> Tensor:
    mask = torch.zeros(int(graphs.node_counts[number]), dtype=torch.bool)
    mask[list(nodes)] = True
    with torch.no_grad():
        return encode(cut(graphs, torch.tensor([number]), mask).batch())[0]


def assert_no_two_alike(result: Projection, classes: Tensor) -> None:
    for label in set(classes.tolist()):
        own = result.vectors[classes == label]
        apart = (own[:, None] - own).abs().amax(-1) + torch.eye(len(own))
        assert float(apart.min()) > 1e-6


@hypothesis_settings(max_examples=15, deadline=None)
@given(st.integers(0, 2).flatmap(lambda count: graph_sets(count)), st.integers(0, 9))
def test_every_vector_is_the_embedding_of_its_source_cut_out_alone(graphs: GraphSet, seed: int) -> None:
    graphs = replace(graphs, y=torch.zeros(len(graphs), dtype=torch.int64))
    result = project(graphs, prototypes(3, seed), torch.zeros(3, dtype=torch.int64), encode, QUICK)
    for vector, source in zip(result.vectors, result.sources, strict=True):
        assert torch.equal(vector, encode_alone(graphs, source.graph, source.nodes))


@pytest.mark.parametrize("kind", ["gcn", "gin", "gat"])
def test_the_error_of_a_real_encoder_is_below_one_in_a_hundred_thousand(kind: EncoderName) -> None:
    torch.manual_seed(0)
    graphs = replace(some_graphs(4, 10), x=torch.rand(4 * 10, WIDTH))
    model = PlainGNN(Encoder(kind, WIDTH, hidden=16), "max", torch.nn.Linear(16, 2)).eval()
    result = project(graphs, torch.rand(6, 16), CLASSES, model.embed, QUICK)
    for vector, source in zip(result.vectors, result.sources, strict=True):
        assert torch.allclose(vector, encode_alone(graphs, source.graph, source.nodes, model.embed), rtol=0, atol=1e-5)


def test_sources_are_graphs_of_the_prototypes_class() -> None:
    graphs = some_graphs()
    result = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    assert graphs.y is not None
    assert [source.label for source in result.sources] == CLASSES.tolist()
    assert graphs.y[[source.graph for source in result.sources]].tolist() == CLASSES.tolist()


def test_prototypes_in_the_same_place_land_on_different_subgraphs() -> None:
    graphs = some_graphs()
    result = project(graphs, prototypes(1).expand(6, -1), CLASSES, encode, QUICK)
    assert_no_two_alike(result, CLASSES)


def test_copies_of_one_graph_do_not_count_as_different_subgraphs() -> None:
    graphs = some_graphs(1)
    copies = replace(GraphSet.concatenate([graphs] * 6), y=torch.zeros(6, dtype=torch.int64))
    classes = torch.zeros(5, dtype=torch.int64)
    assert_no_two_alike(project(copies, prototypes(1).expand(5, -1), classes, encode, QUICK), classes)


def test_prototypes_repeat_only_where_subgraphs_run_out() -> None:
    graphs = pack([nx.path_graph(3), nx.path_graph(3)])
    graphs = replace(graphs, x=torch.ones_like(graphs.x))
    result = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    assert [len(source.nodes) for source in result.sources] == [3] * 6


def test_a_lone_prototype_takes_the_nearest_subgraph_that_was_explored() -> None:
    graphs = some_graphs()
    wanted = prototypes(2)
    result = project(graphs, wanted, torch.tensor([0, 1]), encode, QUICK)
    for label in (0, 1):
        explored = search(graphs, range(label, len(graphs), 2), wanted[label : label + 1], encode, QUICK)
        nearest = min(float((part.embeddings - wanted[label]).square().sum(1).min()) for part in explored)
        assert result.sources[label].distance == pytest.approx(nearest, rel=1e-9)


def test_only_the_nearest_candidates_are_searched() -> None:
    graphs = some_graphs(40)
    seen: list[tuple[int, int]] = []
    wanted = prototypes(2)
    result = project(
        graphs, wanted, torch.tensor([0, 1]), encode, QUICK, candidates=3, progress=lambda *step: seen.append(step)
    )
    assert seen[-1] == (6, 6)
    whole = encode(graphs.batch())
    for label, source in enumerate(result.sources):
        own = torch.arange(label, 40, 2)
        nearest = own[(whole[own] - wanted[label]).square().sum(1).argsort()[:3]]
        assert source.graph in nearest.tolist()


def test_chunks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = some_graphs()
    whole = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    monkeypatch.setattr(projection, "GRAPHS_AT_ONCE", 2)
    parts = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    assert torch.equal(whole.vectors, parts.vectors)


def test_the_same_seed_gives_the_same_projection() -> None:
    graphs = some_graphs()
    first = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    again = project(graphs, prototypes(6), CLASSES, encode, QUICK)
    assert torch.equal(first.vectors, again.vectors) and first.sources == again.sources


def test_gradients_stay_out_of_it() -> None:
    wanted = torch.nn.Parameter(prototypes(6))
    assert not project(some_graphs(), wanted, CLASSES, encode, QUICK).vectors.requires_grad


def test_a_class_without_graphs_is_refused_by_name() -> None:
    graphs = replace(some_graphs(), schema=Schema(class_names=("no", "yes", "perhaps")))
    with pytest.raises(DataError, match=r"class 2 \(perhaps\)"):
        project(graphs, prototypes(3), torch.tensor([0, 1, 2]), encode, QUICK)


def test_graphs_without_labels_are_refused() -> None:
    with pytest.raises(DataError, match="labels"):
        project(replace(some_graphs(), y=None), prototypes(6), CLASSES, encode, QUICK)


def test_no_candidates_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        project(some_graphs(), prototypes(6), CLASSES, encode, QUICK, candidates=0)
