"""Several processes that do one work: whose share is what, and how they agree.

``torchrun`` starts the processes and numbers them; each number is a *rank*. What sends or receives must be called by
all ranks in the same order. Messages between ranks are bytes, so nothing that arrives is ever executed.
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
    """What one rank does of an epoch.

    Attributes:
        order: The numbers of its graphs, batch after batch.
        size: How many of them are in each batch but the last.
        weight: By how much its gradient counts in each step; 0 where the batch had none for this rank, which then takes
            a graph of another's so as not to fall out of step.
    """

    order: Tensor
    size: int
    weight: list[float]


@dataclass(frozen=True)
class Ranks:
    """This process among all that do the same work. Alone, every method is the identity.

    Attributes:
        number: The rank, from 0; the first one writes.
        count: How many processes there are.
        device: Where tensors are that go from rank to rank.
    """

    number: int = 0
    count: int = 1
    device: str = "cpu"

    @property
    def alone(self) -> bool:
        """Whether there is no other process."""
        return self.count == 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes."""
        return self.number == 0

    def stream(self, concern: str) -> str:
        """The name of a random stream of this rank's own; the first rank draws as a single process does."""
        return concern if self.first else f"{concern} of rank {self.number}"

    def block(self, length: int) -> slice:
        """Which of ``length`` things in a row are this rank's: about as many for each, in the order of the ranks."""
        return slice(length * self.number // self.count, length * (self.number + 1) // self.count)

    def share(self, order: Tensor, size: int) -> Share:
        """This rank's share of every batch, where batches of ``size`` are taken from an order ``[G]``."""
        batches = torch.split(order, size)
        if self.alone:
            return Share(order, size, [1.0] * len(batches))
        if size < self.count:
            raise ProtGNNError(
                f"batch_size={size} cannot be shared by {self.count} processes: use fewer of them or larger batches"
            )
        own = [batch[self.number :: self.count] for batch in batches]
        weight = [len(mine) / len(batch) for mine, batch in zip(own, batches, strict=True)]
        own = [mine if len(mine) else batch[:1] for mine, batch in zip(own, batches, strict=True)]
        return Share(torch.cat(own), len(own[0]), weight)

    def sum(self, values: Tensor) -> Tensor:
        """The sum of a tensor over the ranks, on the device it came from."""
        if self.alone:
            return values
        total = values.detach().to(self.device, copy=True)
        self._add_up(total)
        return total.to(values.device)

    def _add_up(self, values: Tensor) -> None:
        """The sum over the ranks in the place of a tensor on their device."""
        with _answered():
            torch.distributed.all_reduce(values)

    @torch.no_grad()
    def average(self, tensors: Sequence[Tensor], weight: float | None = None) -> None:
        """Set floating-point tensors to their mean over the ranks, in place and in one reduction; this rank's count by
        ``weight``, by default as much as any, and weights add up to 1."""
        if self.alone:
            return
        floats = [tensor for tensor in tensors if tensor.is_floating_point()]
        flat = torch.cat([tensor.reshape(-1).float() for tensor in floats])
        flat *= 1 / self.count if weight is None else weight
        mean = torch.split(self.sum(flat), [tensor.numel() for tensor in floats])
        for tensor, value in zip(floats, mean, strict=True):
            tensor.copy_(value.view_as(tensor))

    @torch.no_grad()
    def average_gradients(self, parameters: Sequence[Tensor], weight: float) -> None:
        """Set gradients to their weighted sum over the ranks, whose weights add up to 1, in one reduction.

        A parameter that had no gradient on any rank has none afterwards.
        """
        if self.alone:
            return
        had = torch.tensor([float(value.grad is not None) for value in parameters], device=parameters[0].device)
        gradients = [torch.zeros_like(value) if value.grad is None else value.grad for value in parameters]
        total = torch.cat([had, *(gradient.reshape(-1) for gradient in gradients)])
        total[len(had) :] *= weight
        self._add_up(total)
        parts = torch.split(total[len(had) :], [value.numel() for value in parameters])
        for value, part, number in zip(parameters, parts, total[: len(had)].tolist(), strict=True):
            value.grad = part.view_as(value) if number else None

    def rows(self, count: int, compute: Callable[[slice], Tensor], start: Tensor) -> Tensor:
        """Rows ``[count, …]`` of which each rank computes a block; ``start`` has their shape and type beyond the first
        dimension."""
        if self.alone:
            return compute(slice(0, count))
        mine, full = self.block(count), start.new_zeros(count, *start.shape[1:])
        if mine.stop > mine.start:
            full[mine] = compute(mine)
        return self.sum(full)

    def first_says(self, message: bytes) -> bytes:
        """The message of the first rank, on all of them."""
        return message if self.alone else self._spoken(message, 0)

    def all_say(self, message: bytes) -> list[bytes]:
        """The messages of all ranks, in their order."""
        return [message] if self.alone else [self._spoken(message, rank) for rank in range(self.count)]

    def agree(self, mark: str, what: str) -> None:
        """Refuse to go on where ranks have another ``mark`` of ``what``."""
        marks = [said.decode() for said in self.all_say(mark.encode())]
        other = [rank for rank, said in enumerate(marks) if said != marks[0]]
        if other:
            raise ProtGNNError(f"Rank {other[0]} has another {what} than rank 0: give all processes the same")

    def _spoken(self, message: bytes, speaker: int) -> bytes:
        length = torch.tensor([len(message)], device=self.device)
        with _answered():
            torch.distributed.broadcast(length, speaker)
            content = torch.empty(int(length), dtype=torch.uint8, device=self.device)
            if speaker == self.number and message:
                content.copy_(torch.frombuffer(bytearray(message), dtype=torch.uint8))
            torch.distributed.broadcast(content, speaker)
        return content.cpu().numpy().tobytes()


ALONE = Ranks()


@contextmanager
def _answered() -> Iterator[None]:
    """Say in a sentence that another rank does not answer; PyTorch tells it by a RuntimeError."""
    try:
        yield
    except RuntimeError as error:
        raise ProtGNNError(
            "Another process of this training has ended or does not answer: start all of them again with --resume"
        ) from error
