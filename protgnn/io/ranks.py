"""Distributed training: how processes divide the work, and collective operations between them.

``torchrun`` starts the processes and numbers them; each number is a *rank*. All ranks must call collective operations
in the same order. Messages between ranks are bytes and never unpickled, so nothing that arrives is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from protgnn.errors import ProtGNNError


@dataclass(frozen=True, eq=False)
class Share:
    """The graphs of one rank in an epoch.

    Attributes:
        order: The numbers of its graphs, batch after batch.
        size: The number of graphs in each of its batches but the last.
        weight: The weight of its gradient in each step. It is 0 if the batch has no graph for this rank; the rank then
            computes a graph of another rank, because all ranks must take part in every step.
    """

    order: Tensor
    size: int
    weight: list[float]


@dataclass(frozen=True)
class Ranks:
    """This process among all processes of a training. With a single process every method is the identity.

    Attributes:
        rank: The number of this process, from 0; rank 0 writes.
        world_size: The number of processes.
        device: The device of tensors that are exchanged.
    """

    rank: int = 0
    world_size: int = 1
    device: str = "cpu"

    @property
    def alone(self) -> bool:
        """Whether this is the only process."""
        return self.world_size == 1

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes."""
        return self.rank == 0

    def stream(self, concern: str) -> str:
        """The name of this rank's own random stream; rank 0 draws what a single process would draw."""
        return concern if self.first else f"{concern} of rank {self.rank}"

    def block(self, length: int) -> slice:
        """This rank's block of ``length`` items: contiguous, of about equal size, in the order of the ranks."""
        return slice(length * self.rank // self.world_size, length * (self.rank + 1) // self.world_size)

    def share(self, order: Tensor, size: int) -> Share:
        """This rank's share of every batch of ``size`` graphs in the order ``[G]``."""
        batches = torch.split(order, size)
        if self.alone:
            return Share(order, size, [1.0] * len(batches))
        if size < self.world_size:
            raise ProtGNNError(
                f"batch_size={size} cannot be shared by {self.world_size} processes: "
                "use fewer of them or larger batches"
            )
        own = [batch[self.rank :: self.world_size] for batch in batches]
        weight = [len(mine) / len(batch) for mine, batch in zip(own, batches, strict=True)]
        own = [mine if len(mine) else batch[:1] for mine, batch in zip(own, batches, strict=True)]
        return Share(torch.cat(own), len(own[0]), weight)

    def sum(self, values: Tensor) -> Tensor:
        """The sum of a tensor over the ranks, on the device it came from."""
        if self.alone:
            return values
        total = values.detach().to(self.device, copy=True)
        self._all_reduce(total)
        return total.to(values.device)

    def _all_reduce(self, values: Tensor) -> None:
        """All-reduce a tensor on :attr:`device` in place: the sum over the ranks."""
        with _lost_ranks_reported():
            torch.distributed.all_reduce(values)

    @torch.no_grad()
    def average(self, tensors: Sequence[Tensor], weight: float | None = None) -> None:
        """Set floating-point tensors to their weighted mean over the ranks, in place and in one reduction.

        The weights of all ranks must add up to 1; by default they are equal.
        """
        if self.alone:
            return
        floats = [tensor for tensor in tensors if tensor.is_floating_point()]
        flat = torch.cat([tensor.reshape(-1).float() for tensor in floats])
        flat *= 1 / self.world_size if weight is None else weight
        mean = torch.split(self.sum(flat), [tensor.numel() for tensor in floats])
        for tensor, value in zip(floats, mean, strict=True):
            tensor.copy_(value.view_as(tensor))

    @torch.no_grad()
    def average_gradients(self, parameters: Sequence[Tensor], weight: float) -> None:
        """Set gradients to their weighted mean over the ranks in one reduction; weights must add up to 1.

        A parameter without a gradient on every rank has none afterwards.
        """
        if self.alone:
            return
        had = torch.tensor([float(value.grad is not None) for value in parameters], device=parameters[0].device)
        gradients = [torch.zeros_like(value) if value.grad is None else value.grad for value in parameters]
        total = torch.cat([had, *(gradient.reshape(-1) for gradient in gradients)])
        total[len(had) :] *= weight
        self._all_reduce(total)
        parts = torch.split(total[len(had) :], [value.numel() for value in parameters])
        for value, part, number in zip(parameters, parts, total[: len(had)].tolist(), strict=True):
            value.grad = part.view_as(value) if number else None

    def gather_rows(self, count: int, compute: Callable[[slice], Tensor], like: Tensor) -> Tensor:
        """Rows ``[count, …]``, of which each rank computes one block. ``like [0, …]`` has their dtype and row shape."""
        if self.alone:
            return compute(slice(0, count))
        mine, full = self.block(count), like.new_zeros(count, *like.shape[1:])
        if mine.stop > mine.start:
            full[mine] = compute(mine)
        return self.sum(full)

    def broadcast(self, message: bytes) -> bytes:
        """The message of rank 0, on all ranks."""
        return message if self.alone else self._broadcast_from(0, message)

    def all_gather(self, message: bytes) -> list[bytes]:
        """The messages of all ranks, in their order."""
        return [message] if self.alone else [self._broadcast_from(rank, message) for rank in range(self.world_size)]

    def check_equal(self, value: str, what: str) -> None:
        """Refuse to go on if the ranks have different values of ``what``.

        Raises:
            ProtGNNError: Some rank has another value than rank 0.
        """
        values = [message.decode() for message in self.all_gather(value.encode())]
        other = [rank for rank, theirs in enumerate(values) if theirs != values[0]]
        if other:
            raise ProtGNNError(f"Rank {other[0]} has another {what} than rank 0: give all processes the same")

    def _broadcast_from(self, source: int, message: bytes) -> bytes:
        length = torch.tensor([len(message)], device=self.device)
        with _lost_ranks_reported():
            torch.distributed.broadcast(length, source)
            content = torch.empty(int(length), dtype=torch.uint8, device=self.device)
            if source == self.rank and message:
                content.copy_(torch.frombuffer(bytearray(message), dtype=torch.uint8))
            torch.distributed.broadcast(content, source)
        return content.cpu().numpy().tobytes()


ALONE = Ranks()


@contextmanager
def _lost_ranks_reported() -> Iterator[None]:
    """Turn PyTorch's RuntimeError about a rank that does not answer into a message for the user."""
    try:
        yield
    except RuntimeError as error:
        raise ProtGNNError(
            "Another process of this training has ended or does not answer: start all of them again with --resume"
        ) from error
