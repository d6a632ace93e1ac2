"""Three models with one interface: what each is made of and what it refuses."""

import pytest
import torch

from protgnn.datasets.builtin.ba_2motifs import ba_2motifs
from protgnn.model.classifier import GraphClassifier, PlainGNN, ProtGNN, ProtGNNPlus
from protgnn.training.build import build
from protgnn.training.recipe import make_recipe

KINDS = {
    "plain": ({"head": "plain"}, PlainGNN),
    "prototypes": ({}, ProtGNN),
    "plus": ({"plus": True, "evidence": "sampled"}, ProtGNNPlus),
}


@pytest.fixture(scope="module")
def graphs():
    return ba_2motifs(6)


def made(kind: str, graphs) -> GraphClassifier:
    changes, _ = KINDS[kind]
    return build(make_recipe(encoder="gin", hidden=8, prototypes=2, **changes), graphs.schema).eval()


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_builds_the_class_of_its_model_with_the_keys_that_runs_store(kind, graphs):
    model = made(kind, graphs)
    assert type(model) is KINDS[kind][1]
    names = {key.split(".")[0] for key in model.state_dict()}
    assert names == {"encoder", "pooling", "head"} | ({"sampler", "parts"} if kind == "plus" else {"composition"})
    assert (model.sampler is None) == (model.parts is None) == (kind != "plus")
    assert model(graphs.batch()).shape == (6, 2)


def test_what_a_model_does_not_have_is_refused(graphs):
    batch = graphs.batch()
    with pytest.raises(TypeError, match="PlainGNN has no prototypes"):
        made("plain", graphs).distances(batch)
    for kind in ("plain", "prototypes"):
        with pytest.raises(TypeError, match="has no evidence"):
            made(kind, graphs).evidence(batch)
        with pytest.raises(TypeError, match="has no evidence"):
            made(kind, graphs).propose(batch)


def test_a_protgnn_plus_is_a_protgnn_on_whole_graphs(graphs):
    model, batch = made("plus", graphs), graphs.batch()
    whole = model.as_protgnn()
    assert type(whole) is ProtGNN and not whole.training
    with torch.no_grad():
        assert torch.equal(whole(batch), model(batch, whole=True))
        assert torch.equal(whole.similarities(batch), model.similarities(batch, whole=True))
    assert whole.head is model.head and model.sampler is not None
