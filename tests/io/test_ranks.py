"""Ranks share every batch between them, and alone nothing changes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from protgnn.errors import ProtGNNError
from protgnn.io.ranks import ALONE, Ranks
from protgnn.io.torchrun import launched_rank

sizes = st.integers(1, 9).flatmap(lambda count: st.tuples(st.just(count), st.integers(count, 40), st.integers(1, 150)))


@given(sizes)
def test_the_shares_of_a_batch_are_the_batch_and_their_weights_add_up_to_one(drawn):
    count, size, graphs = drawn
    order = torch.randperm(graphs)
    shares = [Ranks(number, count).share(order, size) for number in range(count)]
    for step, batch in enumerate(order.split(size)):
        parts = [share.order.split(share.size)[step] for share in shares]
        counted = [part for part, share in zip(parts, shares, strict=True) if share.weight[step]]
        assert sorted(torch.cat(counted).tolist()) == sorted(batch.tolist())
        assert [len(part) / len(batch) for part in counted] == [w for w in (s.weight[step] for s in shares) if w]
        assert sum(share.weight[step] for share in shares) == pytest.approx(1)
    assert all(len(share.weight) == len(share.order.split(share.size)) == len(order.split(size)) for share in shares)


@given(st.integers(0, 100), st.integers(1, 9))
def test_the_blocks_of_all_ranks_are_the_whole_in_order(length, count):
    blocks = [Ranks(number, count).block(length) for number in range(count)]
    assert [place for block in blocks for place in range(length)[block]] == list(range(length))
    assert max(block.stop - block.start for block in blocks) - min(block.stop - block.start for block in blocks) <= 1


def test_a_batch_smaller_than_the_ranks_is_refused():
    with pytest.raises(ProtGNNError, match="batch_size=3 cannot be shared by 4 processes"):
        Ranks(0, 4).share(torch.arange(12), 3)


def test_with_a_single_process_every_operation_is_the_identity():
    order = torch.randperm(10)
    share = ALONE.share(order, 4)
    assert share.order is order and share.size == 4 and share.weight == [1.0, 1.0, 1.0]
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.tensor([1.0, 2.0])
    ALONE.average_gradients([weight], 1.0)
    ALONE.average([weight.data])
    assert weight.grad.tolist() == [1, 2] and weight.tolist() == [1, 1]
    assert ALONE.all_gather(b"word") == [b"word"] and ALONE.broadcast(b"word") == b"word"


def test_only_torchrun_makes_ranks(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    assert launched_rank() == (0, 1)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert launched_rank() == (1, 2)
