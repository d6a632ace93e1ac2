"""A device that is not there: tensors that compute as on the CPU, and refuse to meet tensors that are on the CPU.

Inside ``other_device()`` whatever is made on or moved to ``ELSEWHERE`` is such a tensor. As on a GPU, a CPU tensor with
more than one number may not be computed with it, and it does not become a NumPy array.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

ELSEWHERE = torch.device("meta")
ACROSS = ("aten::copy_", "aten::_to_copy", "aten::index.Tensor", "aten::index_put")
"""Operations that PyTorch allows between devices: copies, and CPU indices into anything."""


class TensorElsewhere(Tensor):
    """A tensor on the other device; what it holds is in ``inner``."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> "TensorElsewhere":
        layout = {}
        if inner.layout == torch.strided:
            layout = {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        made = Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=ELSEWHERE, **layout)
        made.inner = inner
        return made

    def tolist(self):
        return self.inner.tolist()

    def __repr__(self):
        return f"TensorElsewhere({self.inner})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _run(func, args, kwargs):
    given = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, Tensor)]
    away = [value for value in given if isinstance(value, TensorElsewhere)]
    if away and not func._schema.name.startswith(ACROSS) and str(func) not in ("aten.index.Tensor",):
        for value in given:
            assert isinstance(value, TensorElsewhere) or value.dim() == 0, (
                f"{func} was given a tensor of shape {tuple(value.shape)} that is on the CPU"
            )
    moved, device = bool(away), kwargs.get("device")
    if device is not None:
        moved = torch.device(device) == ELSEWHERE
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inner_args, inner_kwargs = tree_map(lambda v: v.inner if isinstance(v, TensorElsewhere) else v, (args, kwargs))
    known = {id(value.inner if isinstance(value, TensorElsewhere) else value): value for value in given}

    def wrapped(value):
        if not isinstance(value, Tensor):
            return value
        if id(value) in known:
            return known[id(value)]
        return TensorElsewhere(value) if moved else value

    return tree_map(wrapped, func(*inner_args, **inner_kwargs))


class _Watch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


@contextmanager
def other_device() -> Iterator[torch.device]:
    """Make the device available; PyTorch does not know whether it has half precision."""
    with _Watch(), patch.object(torch, "is_autocast_enabled", lambda kind=None: False):
        yield ELSEWHERE


def move(module: nn.Module) -> None:
    """Move a module there, in place."""
    for part in module.modules():
        for name, value in part._parameters.items():
            if value is not None:
                part._parameters[name] = nn.Parameter(TensorElsewhere(value.data), value.requires_grad)
        for name, value in part._buffers.items():
            if value is not None:
                part._buffers[name] = TensorElsewhere(value)
