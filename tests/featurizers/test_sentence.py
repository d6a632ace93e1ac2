"""Parsed sentences as graphs: one tree each, its words in its name, and the checks find nothing to repair."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.data.graph_set import GraphSet
from protgnn.data.subgraph import cut
from protgnn.data.units import members
from protgnn.data.validate import check
from protgnn.featurizers.graph_units import units_of
from protgnn.featurizers.sentence import Sentence, from_sentences, word_in_a_circle
from tests.sentences import needs_vectors


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Heads of words in any order in which every word leads to a root."""
    size = draw(st.integers(1, 12))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order):
        if place:
            heads[word] = draw(st.sampled_from([-1, *order[:place]]))
    return heads


@given(forests())
def test_where_every_word_leads_to_a_root_there_is_no_circle(heads):
    assert word_in_a_circle(heads) is None


@given(forests(), st.data())
def test_a_root_that_hangs_on_its_own_dependent_makes_a_circle(heads, data):
    below = [word for word in range(len(heads)) if heads[word] < 0]
    root = data.draw(st.sampled_from(below))
    family = [word for word in range(len(heads)) if _root(heads, word) == root]
    closed = [*heads]
    closed[root] = data.draw(st.sampled_from(family))
    found = word_in_a_circle(closed)
    assert found in family
    word = closed[found]
    while word != found:
        word = closed[word]


def _root(heads: list[int], word: int) -> int:
    while heads[word] >= 0:
        word = heads[word]
    return word


@needs_vectors
@given(st.lists(forests(), min_size=1, max_size=4))
def test_every_sentence_becomes_one_tree_that_needs_no_mending(several):
    sentences = [Sentence(tuple(f"w{word}" for word in range(len(heads))), tuple(heads)) for heads in several]
    graphs, notes = check(from_sentences(sentences), training=False)
    assert notes == [] and graphs.x.dtype == torch.float16
    for graph, sentence in zip(graphs, sentences, strict=True):
        assert graph.edge_index.shape[1] == 2 * (len(sentence.words) - 1)
        reached, more = {0}, True
        while more:
            near = {b for a, b in graph.edge_index.t().tolist() if a in reached}
            more = not near <= reached
            reached |= near
        assert reached == set(range(len(sentence.words)))
        assert graph.names == (" ".join(sentence.words),)


@needs_vectors
def test_a_word_is_the_same_node_wherever_it_stands():
    graphs = from_sentences([Sentence(("A", "fine", "film"), (2, 2, -1)), Sentence(("film", "a", "x"), (-1, 0, 0))])
    assert torch.equal(graphs.x[0], graphs.x[4]) and torch.equal(graphs.x[2], graphs.x[3])
    assert not torch.equal(graphs.x[1], graphs.x[2]) and graphs.x.isfinite().all()


@needs_vectors
def test_a_word_with_a_space_in_it_stays_one_word_of_the_name():
    graphs = from_sentences([Sentence(("10 000", "people"), (1, -1))])
    odd = from_sentences([Sentence(("a\x01b", "👩\u200d🔬"), (1, -1))]).names
    assert odd == ("a\ufffdb 👩\u200d🔬",), "what an SVG could not hold is replaced, what joins letters stays"
    assert graphs.names == ("10\u00a0000 people",) and len(graphs.names[0].split(" ")) == 2


@needs_vectors
def test_batches_are_float32_however_features_are_kept():
    graphs, _ = check(from_sentences([Sentence(("a", "film"), (1, -1))] * 3), training=False)
    for batch in (graphs.batch(), graphs.batch(torch.tensor([2, 0])), graphs[1:].slice_batch(0, 1)):
        assert batch.x.dtype == torch.float32
    assert graphs.to_pyg()[0].x.dtype == torch.float32
    most, few = graphs[:2], graphs[:1]
    assert most.x.data_ptr() == graphs.x.data_ptr() and torch.equal(most.x, graphs.x[:4])
    assert few.x.data_ptr() != graphs.x.data_ptr()


@needs_vectors
@pytest.mark.parametrize(
    ("words", "heads", "relations", "together"),
    [
        (("new", "york", "shines"), (1, 2, -1), ("compound", "nsubj", "root"), [[0, 1]]),
        (("give", "up", "now"), (-1, 0, 0), ("root", "compound:prt", "advmod"), [[0, 1]]),
        (("as", "well", "as", "him"), (3, 0, 0, -1), ("cc", "fixed", "fixed", "root"), [[0, 1, 2]]),
        (("John", "Smith", "left"), (2, 0, -1), ("nsubj", "flat:name", "root"), [[0, 1]]),
        (("not", "a", "good", "film"), (3, 3, 3, -1), (), [[0, 3]]),
        (("a", "good", "film"), (2, 2, -1), ("det", "amod", "root"), []),
        (("one", "two"), (-1, -1), ("root", "compound"), []),
    ],
)
def test_words_that_belong_together_are_bound(words, heads, relations, together):
    graph = from_sentences([Sentence(words, heads, relations)])
    bound = {tuple(sorted(pair)) for pair in graph.edge_index[:, graph.bound].t().tolist()}
    groups = [list(members(group)) for group in units_of(graph).groups]
    assert groups == together
    assert all(any(set(pair) <= set(group) for group in groups) for pair in bound)


@needs_vectors
def test_what_is_bound_comes_along_when_graphs_are_chosen_joined_checked_and_batched():
    one = from_sentences([Sentence(("new", "york", "shines"), (1, 2, -1), ("compound", "nsubj", "root"))])
    two = GraphSet.concatenate([one, one])
    assert two.bound.tolist() == one.bound.tolist() * 2 == two.batch().bound.tolist()
    assert two[1].bound.tolist() == one.bound.tolist() == two.slice_batch(1, 2).bound.tolist()
    assert two.batch().joined(one.batch()).bound.tolist() == one.bound.tolist() * 3
    shuffled = replace(one, edge_index=one.edge_index.flip(1), bound=one.bound.flip(0))
    assert check(shuffled, training=False)[0].bound.tolist() == one.bound.tolist()
    assert GraphSet.from_pyg(two.to_pyg()).bound.tolist() == two.bound.tolist()
    kept = cut(one, torch.tensor([0]), torch.tensor([True, True, False]))
    assert kept.bound.tolist() == [True, True]
