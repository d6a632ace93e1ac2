"""A PyG ``Data`` that was saved so that opening it runs nobody's code.

Either ``torch.save(data.to_dict(), "mine.pt")``, which is read back as plain tensors and texts, or the same tensors
with ``safetensors``. Known entries are ``x``, ``edge_index``, ``edge_attr``, ``y``, ``motif``, the masks
``train_mask``, ``val_mask`` and ``test_mask`` and, in a ``.pt`` file, the lists of texts ``names`` (of nodes) and
``class_names``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from protgnn.data.labels import renumbered
from protgnn.data.network.network import Network
from protgnn.data.network.node_split import check_node_split
from protgnn.data.schema import Schema
from protgnn.data.split import Split
from protgnn.datasets.readers.reader import NetworkData, NetworkReader, Task
from protgnn.errors import DataError
from protgnn.io.limits import check_limit

_TENSORS = ("x", "edge_index", "edge_attr", "y", "motif")
_MASKS = ("train_mask", "val_mask", "test_mask")
_TEXTS = ("names", "class_names")


def read_network_tensors(
    path: str | Path, directed: bool = False, schema: Schema | None = None, ignore_labels: bool = False
) -> NetworkData:
    """The network of a file; with the ``schema`` of a trained model its columns and classes are taken to be those,
    with ``ignore_labels`` its columns alone."""
    from torch_geometric.data import Data

    path = Path(path)
    entries = _entries(path)
    for key in ("x", "edge_index"):
        if key not in entries:
            raise DataError(f"{path} has no `{key}`: its entries are {', '.join(map(str, entries)) or 'none'}")
    for key in (*_TENSORS, *_MASKS):
        if entries.get(key) is not None and not isinstance(entries[key], Tensor):
            raise DataError(f"{path}: expected a tensor as `{key}` (got {type(entries[key]).__name__})")
    for key in _TEXTS:
        texts = entries.get(key)
        if texts is not None and not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
            raise DataError(f"{path}: expected a list of texts as `{key}` (got {type(texts).__name__})")
    known = {key: entries.get(key) for key in (*_TENSORS, "names") if key != "y" or not ignore_labels}
    names = tuple(entries.get("class_names") or ())
    try:
        if schema is None:
            schema = Schema(class_names=names)
        elif isinstance(y := known.get("y"), Tensor):
            known["y"] = _in_classes_of(schema, y, names)
        network, notes = Network.from_pyg(Data(**known), schema, directed)
        split = _split(entries, len(network))
        if split is not None and network.y is not None:
            check_node_split(network, split, "the split of the masks")
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    unread = [str(key) for key in entries if key not in (*_TENSORS, *_MASKS, *_TEXTS, "num_nodes")]
    if unread:
        notes.append(f"Left out entries of {path.name} that mean nothing here: {', '.join(unread)}")
    return NetworkData(network, split, notes)


def _entries(path: Path) -> dict[str, Any]:
    """What a file holds; nothing in it is executed, and no more memory is taken than the file has bytes."""
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    check_limit("tensor_bytes", path.stat().st_size, str(path))
    entries = _safetensors(path) if path.suffix.lower() == ".safetensors" else _saved_by_torch(path)
    for key in entries:
        if not isinstance(key, str):
            raise DataError(f"{path}: expected texts as the names of entries (got a {type(key).__name__})")
        check_limit("name_chars", len(key), f"{path}: the name of an entry")
    for key in (*_TENSORS, *_MASKS):
        if isinstance(entries.get(key), Tensor):
            fault = _unfit(entries[key])
            if fault:
                raise DataError(f"{path}: `{key}` is {fault}: save it as a plain tensor of numbers")
    for key, limit, axis in (("x", "nodes", 0), ("edge_index", "edges", -1)):
        value = entries.get(key)
        if isinstance(value, Tensor) and value.dim():
            check_limit(limit, value.shape[axis], f"{path}: `{key}`")
    for key in _TEXTS:
        if isinstance(entries.get(key), list):
            longest = max((len(text) for text in entries[key] if isinstance(text, str)), default=0)
            check_limit("name_chars", longest, f"{path}: `{key}`")
    return {key: value.clone() if isinstance(value, Tensor) else value for key, value in _known(entries).items()}


def _known(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries, those that mean nothing here by their names alone."""
    return {key: entries[key] if key in (*_TENSORS, *_MASKS, *_TEXTS) else None for key in entries}


def _safetensors(path: Path) -> dict[Any, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path} is no safetensors file: {error}") from None


def _saved_by_torch(path: Path) -> dict[Any, Any]:
    """What ``torch.save`` wrote. Tensors stay in the file until they are checked: it may claim more than it has."""
    try:
        entries = torch.load(str(path), map_location="cpu", weights_only=True, mmap=True)
    except Exception:  # the errors of a refused file have no common kind
        raise DataError(
            f"{path} is damaged or holds more than tensors and texts, which is not opened since it could run code: "
            "save it with torch.save(data.to_dict(), path)"
        ) from None
    if not isinstance(entries, dict):
        raise DataError(
            f"{path}: expected the entries of a network (got {type(entries).__name__}): "
            "save it with torch.save(data.to_dict(), path)"
        )
    return entries


def _unfit(value: Tensor) -> str | None:
    """What a tensor is that is not a plain one, in a word."""
    if value.is_nested:
        return "a nested tensor"
    if value.layout != torch.strided:
        return "a sparse tensor"
    if value.device.type != "cpu":
        return f"on the device {value.device.type!r}, without numbers"
    if value.is_quantized:
        return "a quantised tensor"
    if value.is_complex():
        return "a tensor of complex numbers"
    if value.numel() * value.element_size() > value.untyped_storage().nbytes():
        return "an expanded view, which is larger than what is stored"
    return None


def _in_classes_of(schema: Schema, y: Tensor, names: tuple[str, ...]) -> Tensor:
    """The labels of a file that names its classes, numbered as a model numbers them."""
    if names and (y.is_floating_point() or int(y.max()) >= len(names)):
        got = f"{y.dtype} up to {y.max()}"
        raise DataError(
            f"expected `y` to number the {len(names)} classes of `class_names` (got {got}): correct one of them"
        )
    made = renumbered(y, names, schema.class_names)
    assert made is not None
    return made


def _split(entries: dict[Any, Any], num_nodes: int) -> Split | None:
    """The split that the masks say, if all three are there."""
    masks: list[Tensor] = [entries[key] for key in _MASKS if entries.get(key) is not None]
    if len(masks) < len(_MASKS):
        return None
    for key, mask in zip(_MASKS, masks, strict=True):
        if mask.shape != (num_nodes,) or mask.dtype != torch.bool:
            raise DataError(
                f"expected `{key}` to say true or false for each of {num_nodes} nodes (got {mask.dtype} of shape "
                f"{tuple(mask.shape)}): choose one split if there are several"
            )
    return Split(*(mask.nonzero().squeeze(1) for mask in masks))


def _read(path: Path, label: str | None, directed: bool, task: Task | None) -> NetworkData:
    return read_network_tensors(path, directed)


def _read_new(path: Path, schema: Schema, label: str | None, directed: bool, ignore_labels: bool) -> NetworkData:
    return read_network_tensors(path, directed, schema, ignore_labels)


READERS = (NetworkReader(what="a saved PyG Data", suffixes=(".pt", ".safetensors"), read=_read, read_new=_read_new),)
