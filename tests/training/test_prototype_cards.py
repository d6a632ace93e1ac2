"""The scale of a prototype says how many training graphs are less similar to it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from protgnn.explain.run_data import run_part
from protgnn.training.evaluate import VISIBLE
from protgnn.training.prototype_cards import PrototypeCard, describe_prototypes, scale_of
from protgnn.training.run import load_model
from protgnn.training.run_file import CardFile


def card(similar: torch.Tensor) -> PrototypeCard:
    return PrototypeCard(0, 0, None, [0], 1.0, 1, scale_of(similar))


@given(st.lists(st.floats(0, 9), min_size=1, max_size=300), st.floats(-1, 10))
def test_the_percentile_is_the_share_of_less_similar_training_graphs(values, similarity):
    similar = torch.tensor(values)
    told = card(similar).percentile(similarity)
    share = 100 * float((similar < similarity - 2e-4).float().mean())
    at_most = 100 * float((similar < similarity + 1e-4).float().mean())
    assert share - 100 / len(values) - 1.1 <= told <= max(at_most, 0) + 1.1


def test_more_similar_than_all_is_100_and_the_least_similar_is_0():
    similar = torch.arange(50).float()
    assert card(similar).percentile(60.0) == 100 and card(similar).percentile(0.0) == 0
    assert card(similar).percentile(49.0) < 100


def test_a_graph_that_resembles_no_prototype_supports_none(mined_run):
    model, run = load_model(mined_run)
    train = run_part(run, "train")
    sources = [{"graph": one.graph, "nodes": one.nodes} for one in run.prototypes.cards]
    similar = torch.zeros(len(train), len(sources))
    similar[0, 1], similar[1, 1], similar[2, 0] = 2.0, VISIBLE, VISIBLE / 2
    told = describe_prototypes(model, train, sources, similar)
    assert [one.support for one in told.cards] == [0, 2] + [0] * (len(sources) - 2)


def test_a_card_without_a_scale_opens_and_has_no_percentile():
    stored = {"label": 0, "graph": 0, "name": None, "nodes": [0], "weight": 1.0, "support": 1}
    assert CardFile(**stored).scale is None
    assert PrototypeCard(**stored).percentile(1.0) is None
    assert CardFile(**stored, scale=[0.0] * 101).scale == [0.0] * 101


@pytest.mark.parametrize("scale", [[0.0] * 100, [1.0, *[0.0] * 100], [float("nan")] * 101])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValidationError):
        CardFile(label=0, graph=0, name=None, nodes=[0], weight=1.0, support=1, scale=scale)
