"""The prototype layer: Eq. 2 and the last layer against plain Python."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.model.prototype_layer import PrototypeHead, similarity, squared_distances
from tests.data.random_graphs import law

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**31)
epsilons = st.sampled_from([1e-4, 1e-3, 1e-1, 0.5])


@law
@given(graphs=sizes, prototypes=sizes, width=sizes, seed=seeds)
def test_distances_are_the_sums_of_squared_differences(graphs, prototypes, width, seed):
    generator = torch.Generator().manual_seed(seed)
    h, p = torch.randn(graphs, width, generator=generator), torch.randn(prototypes, width, generator=generator)
    found = squared_distances(h, p)
    for b, k in torch.cartesian_prod(torch.arange(graphs), torch.arange(prototypes)).tolist():
        expected = sum((one - other) ** 2 for one, other in zip(h[b].tolist(), p[k].tolist(), strict=True))
        assert math.isclose(found[b, k], expected, rel_tol=1e-5, abs_tol=1e-6)


@law
@given(scale=st.sampled_from([1.0, 1e3, 1e6]), seed=seeds)
def test_distances_are_never_negative_and_zero_to_oneself_however_large_the_vectors(scale, seed):
    generator = torch.Generator().manual_seed(seed)
    h = torch.randn(20, 64, generator=generator) * scale
    near = h * (1 + 1e-6 * torch.randn(20, 64, generator=generator))
    assert (squared_distances(h, near) >= 0).all()
    assert (squared_distances(h, h).diagonal() == 0).all()


@law
@given(distance=st.floats(0, 1e6), epsilon=epsilons)
def test_similarity_is_equation_2(distance, epsilon):
    found = float(similarity(torch.tensor(distance, dtype=torch.float64), epsilon))
    assert math.isclose(found, math.log((distance + 1) / (distance + epsilon)), rel_tol=1e-6, abs_tol=1e-9)


@law
@given(epsilon=epsilons)
def test_similarity_starts_at_log_one_over_epsilon_falls_and_stays_positive(epsilon):
    distance = torch.cat([torch.zeros(1), torch.logspace(-5, 6, 200)])
    found = similarity(distance, epsilon)
    assert math.isclose(found[0], math.log(1 / epsilon), rel_tol=1e-6)
    assert (found.diff() < 0).all()
    assert (found > 0).all()


@law
@given(classes=st.integers(2, 4), per_class=st.integers(1, 4), seed=seeds)
def test_logits_are_sums_of_weight_times_similarity(classes, per_class, seed):
    torch.manual_seed(seed)
    head = prototype_head(5, classes, per_class)
    torch.nn.init.normal_(head.last.weight)
    h = torch.randn(3, 5)
    logits, shown = head(h).detach(), similarity(head.distances(h), head.epsilon).detach()
    for b, c in torch.cartesian_prod(torch.arange(3), torch.arange(classes)).tolist():
        expected = sum(float(head.last.weight.detach()[c, k]) * float(shown[b, k]) for k in range(classes * per_class))
        assert math.isclose(logits[b, c], expected, rel_tol=1e-4, abs_tol=1e-4)


def prototype_head(width: int, num_classes: int, per_class: int) -> PrototypeHead:
    return PrototypeHead(width, torch.arange(num_classes).repeat_interleave(per_class), num_classes)


def test_every_class_has_its_prototypes_and_votes_for_itself_alone_at_the_start():
    head = prototype_head(5, 3, per_class=2)
    assert head.classes.tolist() == [0, 0, 1, 1, 2, 2]
    assert head.last.bias is None
    for c in range(3):
        for k in range(6):
            assert float(head.last.weight.detach()[c, k]) == (1.0 if head.classes[k] == c else 0.0)


def test_a_graph_that_is_a_prototype_gets_the_class_of_that_prototype():
    torch.manual_seed(0)
    head = prototype_head(16, 3, per_class=1)
    assert head(head.vectors.detach()).argmax(1).tolist() == [0, 1, 2]


def test_an_embedding_on_a_prototype_has_finite_gradients():
    head = prototype_head(4, 2, per_class=1)
    h = head.vectors.detach().clone().requires_grad_()
    head(h).sum().backward()
    assert h.grad.isfinite().all() and head.vectors.grad.isfinite().all()
