"""Saved PyG graphs are read back, safely: a file that could run code is refused, not opened."""

import pickle
from pathlib import Path

import pytest
import torch
from hypothesis import given
from safetensors.torch import save_file
from torch_geometric.data import Data

from protgnn.datasets.readers.network_tensors import read_network_tensors
from protgnn.errors import DataError
from tests.data.network.random_networks import networks, random_network
from tests.data.random_graphs import law


def masks(train: list[int], valid: list[int], test: list[int], nodes: int) -> dict[str, torch.Tensor]:
    parts = zip(("train_mask", "val_mask", "test_mask"), (train, valid, test), strict=True)
    return {key: torch.isin(torch.arange(nodes), torch.tensor(members)) for key, members in parts}


@law
@given(networks())
def test_what_is_saved_is_read(tmp_path_factory, network):
    folder = tmp_path_factory.mktemp("saved")
    entries = network.to_pyg().to_dict()
    torch.save(entries, folder / "n.pt")
    save_file({key: value.contiguous() for key, value in entries.items()}, folder / "n.safetensors")
    for path in folder.iterdir():
        found = read_network_tensors(path, directed=network.directed)
        assert found.given_split is None and found.notes == []
        for name in ("x", "ptr", "source", "edge_attr", "y", "motif"):
            one, other = getattr(network, name), getattr(found.network, name)
            assert (one is None) == (other is None) and (one is None or torch.equal(one, other)), name


def test_masks_names_and_classes_come_along(tmp_path):
    data = Data(
        x=torch.ones(4, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([[0], [1], [0], [1]]), time=3
    )
    entries = {
        **data.to_dict(), **masks([0, 1], [2], [3], 4), "names": ["a", "b", "c", "d"], "class_names": ["no", "yes"]
    }  # fmt: skip
    torch.save(entries, tmp_path / "n.pt")
    found = read_network_tensors(tmp_path / "n.pt")
    assert found.network.names == ("a", "b", "c", "d") and found.network.schema.class_names == ("no", "yes")
    assert found.given_split.train.tolist() == [0, 1] and found.given_split.test.tolist() == [3]
    assert any("time" in note for note in found.notes)


class Trap:
    """Touches a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


def test_a_file_that_could_run_code_is_refused_and_does_not_run(tmp_path):
    sprung = tmp_path / "sprung"
    torch.save(Trap(sprung), tmp_path / "torch.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Trap(sprung), protocol=2))
    torch.save(random_network(4, 6, seed=0).to_pyg(), tmp_path / "data.pt")
    for name in ("torch.pt", "plain.pt", "data.pt"):
        with pytest.raises(DataError, match=rf"{name} is damaged or .*torch\.save\(data\.to_dict\(\), path\)"):
            read_network_tensors(tmp_path / name)
    assert not sprung.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, "no node features"),
        ({"x": [[1.0]]}, "expected a tensor as `x`"),
        ({"names": [1, 2]}, "list of texts as `names`"),
        ({"edge_index": torch.tensor([[0], [9]])}, r"n\.pt: Edge 0 is \(0, 9\)"),
        ({"y": torch.tensor([0.5, 0, 0, 1])}, r"n\.pt: node 0 has the label 0.5"),
        (masks([0, 1], [], [3], 4), r"n\.pt: the split of the masks leaves no node to the part valid"),
        (masks([0, 2], [2], [3], 4), r"n\.pt: the split of the masks leaves no node of class 1"),
        ({**masks([0, 1], [2], [3], 4), "train_mask": torch.ones(4, 10) > 0}, "choose one split"),
    ],
)
def test_entries_that_do_not_fit_are_named(tmp_path, change, message):
    entries = {"x": torch.ones(4, 1), "edge_index": torch.tensor([[0], [1]]), "y": torch.tensor([0, 1, 0, 1])}
    torch.save({**entries, **change}, tmp_path / "n.pt")
    with pytest.raises(DataError, match=message):
        read_network_tensors(tmp_path / "n.pt")


def test_files_that_are_no_network_are_refused(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_network_tensors(tmp_path / "n.pt")
    for name in ("n.pt", "n.safetensors"):
        (tmp_path / name).write_bytes(b"not a network")
        with pytest.raises(DataError, match=name):
            read_network_tensors(tmp_path / name)
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DataError, match=name):
            read_network_tensors(tmp_path / name)
    torch.save([torch.ones(1)], tmp_path / "n.pt")
    with pytest.raises(DataError, match="got list"):
        read_network_tensors(tmp_path / "n.pt")
    torch.save({"a": torch.ones(1)}, tmp_path / "n.pt")
    with pytest.raises(DataError, match="has no `x`: its entries are a"):
        read_network_tensors(tmp_path / "n.pt")
