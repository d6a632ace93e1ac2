"""Eq. 4, 5 and 6 against loops that read like the paper."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from protgnn.model.objective import cluster, diversity, separation
from tests.data.random_graphs import law


@st.composite
def cases(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Distances ``[B, K]``, labels ``[B]``, classes of the prototypes ``[K]``, prototypes ``[K, H]``."""
    num_classes, per_class, graphs = draw(st.integers(2, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    classes = torch.arange(num_classes).repeat_interleave(per_class)
    distance = torch.rand(graphs, len(classes), generator=generator) * 10
    y = torch.randint(0, num_classes, (graphs,), generator=generator)
    return distance, y, classes, torch.randn(len(classes), 3, generator=generator)


def nearest(distance: Tensor, y: Tensor, classes: Tensor, own: bool) -> list[float]:
    """For each graph the least distance to a prototype of its own class, or of the others."""
    return [
        min(d for d, c in zip(row, classes.tolist(), strict=True) if (c == label) == own)
        for row, label in zip(distance.tolist(), y.tolist(), strict=True)
    ]


@law
@given(case=cases())
def test_cluster_is_equation_4(case):
    distance, y, classes, _ = case
    least = nearest(distance, y, classes, own=True)
    assert math.isclose(cluster(distance, y, classes), sum(least) / len(y), rel_tol=1e-5)


@law
@given(case=cases())
def test_separation_without_a_margin_is_equation_5(case):
    distance, y, classes, _ = case
    least = nearest(distance, y, classes, own=False)
    assert math.isclose(separation(distance, y, classes), -sum(least) / len(y), rel_tol=1e-5)


@law
@given(case=cases(), margin=st.floats(0.1, 20))
def test_separation_with_a_margin_counts_no_distance_beyond_it(case, margin):
    distance, y, classes, _ = case
    least = [min(d, margin) for d in nearest(distance, y, classes, own=False)]
    found = separation(distance, y, classes, margin)
    assert math.isclose(found, -sum(least) / len(y), rel_tol=1e-5)
    assert -margin - 1e-5 <= found <= 0


def test_separation_runs_away_without_a_margin_and_stops_with_one():
    far = torch.full((1, 2), 1e9, requires_grad=True)
    y, classes = torch.tensor([0]), torch.tensor([0, 1])
    assert separation(far, y, classes) < -1e8
    bounded = separation(far, y, classes, margin=4.0)
    bounded.backward()
    assert float(bounded.detach()) == -4.0
    assert (far.grad == 0).all()


@law
@given(case=cases(), threshold=st.floats(-0.5, 0.9))
def test_diversity_is_equation_6_over_ordered_pairs_of_a_class(case, threshold):
    _, _, classes, prototypes = case
    expected = 0.0
    for i, p in enumerate(prototypes.double()):
        for j, q in enumerate(prototypes.double()):
            if i != j and classes[i] == classes[j]:
                expected += max(0.0, float(p @ q / (p.norm() * q.norm())) - threshold)
    assert math.isclose(diversity(prototypes, classes, threshold), expected, rel_tol=1e-4, abs_tol=1e-5)


def test_two_equal_prototypes_of_one_class_are_charged_twice_and_of_two_classes_never():
    twins = torch.ones(2, 3)
    assert math.isclose(diversity(twins, torch.tensor([0, 0]), 0.3), 1.4, rel_tol=1e-5)
    assert float(diversity(twins, torch.tensor([0, 1]), 0.3)) == 0.0


def test_a_prototype_at_the_origin_is_no_trouble():
    prototypes = torch.zeros(2, 3, requires_grad=True)
    diversity(prototypes, torch.tensor([0, 0]), -0.1).backward()
    assert prototypes.grad.isfinite().all()


@law
@given(case=cases())
def test_only_the_nearest_prototype_of_a_graph_feels_its_pull(case):
    distance, y, classes, _ = case
    distance.requires_grad_()
    cluster(distance, y, classes).backward()
    assert ((distance.grad != 0).sum(1) == 1).all()
    own = classes[None] == y[:, None]
    assert (distance.grad[~own] == 0).all()


def test_the_gradient_of_the_diversity_is_the_written_one():
    classes = torch.tensor([0, 0, 0, 1, 1])
    prototypes = torch.randn(5, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64) + 0.5
    assert float(diversity(prototypes, classes, 0.1)) > 0
    assert torch.autograd.gradcheck(lambda p: diversity(p, classes, 0.1), prototypes.requires_grad_())
