"""Two sets of statistics for one encoder."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from protgnn.model.batch_norm_stats import SubgraphBatchNormStats


def test_training_on_subgraphs_leaves_the_statistics_of_whole_graphs_alone():
    encoder = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    parts = SubgraphBatchNormStats(encoder)
    before = copy.deepcopy(encoder.state_dict())
    with parts.in_use():
        encoder(torch.randn(50, 3) + 5)
    assert all(torch.equal(before[name], value) for name, value in encoder.state_dict().items())
    in_parts = {name: value.clone() for name, value in parts.state_dict().items()}
    encoder(torch.randn(50, 3) - 5)
    assert all(torch.equal(in_parts[name], value) for name, value in parts.state_dict().items())
    assert not torch.equal(encoder[1].running_mean, parts.get_buffer("0_running_mean"))


def test_an_error_inside_still_puts_the_statistics_back():
    encoder = nn.BatchNorm1d(4)
    parts, own = SubgraphBatchNormStats(encoder), encoder.running_mean
    with pytest.raises((RuntimeError, ValueError)), parts.in_use():
        encoder(torch.randn(2, 3))
    assert encoder.running_mean is own


def test_a_copy_has_statistics_of_its_own():
    model = nn.ModuleDict({"encoder": nn.BatchNorm1d(4)})
    model["parts"] = SubgraphBatchNormStats(model["encoder"])
    other = copy.deepcopy(model)
    with other["parts"].in_use():
        other["encoder"](torch.randn(20, 4) + 3)
    assert torch.equal(model["parts"].get_buffer("0_running_mean"), torch.zeros(4))
    assert not torch.equal(other["parts"].get_buffer("0_running_mean"), torch.zeros(4))
    assert torch.equal(other["encoder"].running_mean, torch.zeros(4))


def test_begin_starts_from_the_statistics_of_whole_graphs():
    encoder = nn.BatchNorm1d(4)
    parts = SubgraphBatchNormStats(encoder)
    encoder(torch.randn(20, 4) + 3)
    parts.begin()
    assert torch.equal(parts.get_buffer("0_running_mean"), encoder.running_mean)
