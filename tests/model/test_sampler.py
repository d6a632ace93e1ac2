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
