"""The sampler against the MLP on concatenated embeddings that Eq. 13 writes."""

from __future__ import annotations

import torch

from protgnn.model.sampler import Sampler, logistic_noise


def test_logits_are_those_of_the_mlp_on_the_concatenation_over_both_directions():
    torch.manual_seed(0)
    sampler, z, prototypes = Sampler(6, (5, 4)), torch.randn(7, 6), torch.randn(3, 6)
    ends = torch.tensor([[0, 2, 5], [1, 6, 3]])
    found = sampler(z, ends, prototypes)
    for edge, (one, other) in enumerate(ends.t().tolist()):
        for number, prototype in enumerate(prototypes):
            both = [
                sampler.third(torch.relu(sampler.second(torch.relu(sampler.first(torch.cat([z[i], z[j], prototype]))))))
                for i, j in ((one, other), (other, one))
            ]
            assert torch.allclose(found[edge, number], (both[0] + both[1]).squeeze() / 2, atol=1e-6)


def test_the_layers_are_the_papers():
    sampler = Sampler(128)
    assert [sampler.first.in_features, sampler.first.out_features] == [384, 64]
    assert [sampler.second.out_features, sampler.third.out_features] == [8, 1]


def test_noise_makes_a_draw_of_the_relaxation_land_above_a_half_as_often_as_the_probability_says():
    logit = torch.full((200_000,), 0.7)
    noise = logistic_noise(logit, torch.Generator().manual_seed(0))
    assert abs(float((logit + noise > 0).float().mean()) - float(logit[0].sigmoid())) < 0.005


def test_gradients_are_those_of_the_plain_layers():
    torch.manual_seed(0)
    sampler = Sampler(6, (5, 4)).double()
    z, prototypes = (torch.randn(count, 6, dtype=torch.float64, requires_grad=True) for count in (7, 3))
    ends = torch.tensor([[0, 2, 5, 5], [1, 6, 3, 4]])
    weight = torch.randn(4, 3, dtype=torch.float64)

    def plain() -> torch.Tensor:
        ways = [
            torch.cat(
                [z[one][:, None].expand(-1, 3, -1), z[other][:, None].expand(-1, 3, -1), prototypes.expand(4, 3, 6)], 2
            )
            for one, other in (ends, ends.flip(0))
        ]
        return sum(sampler.third(sampler.second(sampler.first(way).relu()).relu())[..., 0] for way in ways) / 2

    parameters = [z, prototypes, *sampler.parameters()]
    found = torch.autograd.grad((sampler(z, ends, prototypes) * weight).sum(), parameters)
    expected = torch.autograd.grad((plain() * weight).sum(), parameters)
    for one, other in zip(found, expected, strict=True):
        assert float(other.abs().max()) > 0
        torch.testing.assert_close(one, other)
