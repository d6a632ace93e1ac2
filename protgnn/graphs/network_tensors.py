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

from protgnn.errors import DataError
from protgnn.graphs.labels import renumbered
from protgnn.graphs.network_checks import from_pyg
from protgnn.graphs.network_files import NetworkData
from protgnn.graphs.node_splits import check_node_split
from protgnn.graphs.schema import Schema
from protgnn.graphs.splits import Split

SUFFIXES = (".pt", ".safetensors")
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
        network, notes = from_pyg(Data(**known), schema, directed)
        split = _split(entries, len(network))
        if split is not None and network.y is not None:
            check_node_split(network, split, "the split of the masks")
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    unread = [str(key) for key in entries if key not in (*_TENSORS, *_MASKS, *_TEXTS, "num_nodes")]
    if unread:
        notes.append(f"Left out entries of {path.name} that mean nothing here: {', '.join(unread)}")
    return NetworkData(network, split, notes)


def _entries(path: Path) -> dict[Any, Any]:
    """What a file holds; nothing in it is executed."""
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.suffix.lower() == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return dict(load_file(path))
        except (SafetensorError, OSError) as error:
            raise DataError(f"{path} is no safetensors file: {error}") from None
    try:
        entries = torch.load(path, map_location="cpu", weights_only=True)
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


def _in_classes_of(schema: Schema, y: Tensor, names: tuple[str, ...]) -> Tensor:
    """The labels of a file that names its classes, numbered as a model numbers them."""
    if names and (y.is_floating_point() or int(y.max()) >= len(names)):
        got = f"{y.dtype} up to {y.max()}"
        raise DataError(
            f"expected `y` to number the {len(names)} classes of `class_names` (got {got}): mend one of them"
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
