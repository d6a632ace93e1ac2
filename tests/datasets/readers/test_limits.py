"""Every reader keeps the limits of ``io.limits`` and says which one, and how to raise it."""

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from protgnn.datasets.load import read_csv
from protgnn.datasets.readers.conllu import read_conllu
from protgnn.datasets.readers.jsonl import read_jsonl
from protgnn.datasets.readers.network_csv import read_network_folder
from protgnn.datasets.readers.network_tensors import read_network_tensors
from protgnn.datasets.readers.smiles import read_smi
from protgnn.datasets.readers.tu import read_tu
from protgnn.errors import DataError, ProtGNNError
from protgnn.featurizers.smiles_limits import smiles_fault
from protgnn.io.limits import LIMITS_VARIABLE
from protgnn.training.settings import read_config


def few(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, setting)


LONG = {
    "C" * 50_001: "50001 characters in a SMILES",
    "C" * 10_001: "10001 atoms",
    "[Na+]." * 6_000 + "C" * 4_001: "10001 atoms",
    "C(" * 1001 + "C" + ")" * 1001: "1001 branches within branches",
    "C1CC1" * 1001: "1001 rings",
    "C%12CC%12C%(345)CC%(345)" * 501: "1002 rings",
}


@pytest.mark.parametrize("smiles", LONG, ids=LONG.values())
def test_a_smiles_over_a_limit_is_not_given_to_rdkit(tmp_path, smiles):
    fault = smiles_fault(smiles)
    assert fault is not None and LONG[smiles] in fault and "PROTGNN_LIMITS" in fault
    (tmp_path / "a.smi").write_text(f"CCO\n{smiles} title\n")
    with pytest.raises(DataError, match=f"line 2: the SMILES .* has {LONG[smiles]}"):
        read_smi(tmp_path / "a.smi")


@pytest.mark.parametrize("smiles", ["C" * 9_999, "[13C@@H](Cl)" * 900, "C(" * 999 + "C" + ")" * 999, "C1CC1" * 900])
def test_a_large_smiles_within_the_limits_is_read(smiles):
    assert smiles_fault(smiles) is None


def test_nodes_and_edges_of_all_graphs_are_counted_before_any_is_made(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"num_nodes": 1000000, "edges": []}\n' * 30)
    with pytest.raises(DataError, match="up to line 21: 21000000 nodes"):
        read_jsonl(path)
    path.write_text('{"num_nodes": 1000001, "edges": []}\n')
    with pytest.raises(DataError, match="line 1: 1000001 nodes in one graph"):
        read_jsonl(path)


def test_edges_and_names_of_jsonl(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"num_nodes": 2, "edges": [[0, 1], [0, 1]]}\n' * 3)
    few(monkeypatch, "edges=8")
    with pytest.raises(DataError, match="up to line 3, both directions: 12 edges"):
        read_jsonl(path)
    path.write_text(json.dumps({"num_nodes": 1, "edges": [], "name": "a" * 100_001}))
    with pytest.raises(DataError, match="line 1: 100001 characters in a name"):
        read_jsonl(path)


def test_a_class_name_without_measure_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("smiles,label\n" + "C,a\nC,b\n" * 3 + f"C,{'c' * 100_001}\n")
    with pytest.raises(DataError, match="line 8: the label: 100001 characters in a name"):
        read_csv(path)


def test_a_column_name_without_measure_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"smiles,{'c' * 100_001}\nC,a\n")
    with pytest.raises(DataError, match="line 1: a column: 100001 characters in a name"):
        read_csv(path)


def test_a_tu_folder_over_a_limit(tmp_path, monkeypatch):
    for part, text in {"A": "1,2\n2,1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n1\n"}.items():
        (tmp_path / f"T_{part}.txt").write_text(text)
    read_tu(tmp_path)
    for setting, message in {
        "nodes=2": "indicator.txt: 3 nodes",
        "graph_nodes=1": "2 nodes in one",
        "edges=1": "A.txt: 2 edges",
    }.items():
        few(monkeypatch, setting)
        with pytest.raises(DataError, match=message):
            read_tu(tmp_path)


def test_a_conllu_file_over_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "a.conllu.gz"
    row = "1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_bytes(gzip.compress(("# label = a\n" + row).encode() * 3))
    for setting, message in {"nodes=2": "line 7: 3 nodes", "name_chars=3": "line 2: 4 char"}.items():
        few(monkeypatch, setting)
        with pytest.raises(DataError, match=message):
            read_conllu(path)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text("id,kind\nann,red\nbob,green\n")
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\n")
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "message"),
    [("nodes=1", "nodes.csv: 2 nodes"), ("edges=1", "edges.csv: 2 edges"), ("name_chars=2", "characters in a name")],
)
def test_a_network_folder_over_a_limit(network, monkeypatch, setting, message):
    read_network_folder(network)
    few(monkeypatch, setting)
    with pytest.raises(DataError, match=message):
        read_network_folder(network)


def saved(path: Path, **changed: object) -> Path:
    entries = {"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), **changed}
    torch.save(entries, path)
    return path


ODD = {
    "sparse": torch.eye(3).to_sparse(),
    "sparse rows": torch.eye(3).to_sparse_csr(),
    "quantised": torch.quantize_per_tensor(torch.rand(3, 2), 0.1, 0, torch.qint8),
    "nested": torch.nested.nested_tensor([torch.rand(2, 2), torch.rand(1, 2)]),
    "meta": torch.rand(3, 2, device="meta"),
    "complex": torch.rand(3, 2, dtype=torch.complex64),
    "expanded": torch.rand(1, 2).expand(3, 2),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_tensor_that_is_not_a_plain_one_is_refused(tmp_path, kind):
    for key in ("x", "edge_attr", "train_mask"):
        with pytest.raises(DataError, match=r"a\.pt(: `\w+` is | is damaged or holds more)"):
            read_network_tensors(saved(tmp_path / "a.pt", **{key: ODD[kind]}))


def test_a_plain_tensor_with_other_strides_is_read(tmp_path):
    read_network_tensors(saved(tmp_path / "a.pt", x=torch.rand(2, 3).t()))


def test_a_view_of_terabytes_takes_no_memory(tmp_path):
    saved(tmp_path / "a.pt", x=torch.rand(1, 1).expand(10**6, 10**6))
    program = (
        "import resource, sys; from protgnn.datasets.readers.network_tensors import read_network_tensors\n"
        "from protgnn.errors import DataError\n"
        "try: read_network_tensors(sys.argv[1])\n"
        "except DataError as error: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.pt")], capture_output=True, text=True, check=True
    )
    kilobytes, _, message = done.stdout.partition(" ")
    assert int(kilobytes) < 1_500_000 and "expanded view" in message


def test_a_file_that_claims_more_than_it_stores_is_refused(tmp_path):
    """The number of values stands beside the values, and a stranger can write any."""
    path = saved(tmp_path / "a.pt", x=torch.rand(1000, 2))
    torch.save({"x": torch.rand(3, 2), "edge_index": torch.zeros(2, 0).long()}, tmp_path / "b.pt")
    with zipfile.ZipFile(path) as large, zipfile.ZipFile(tmp_path / "b.pt") as few_values:
        records = {name.split("/", 1)[1]: large.read(name) for name in large.namelist()}
        records["data/0"] = next(few_values.read(name) for name in few_values.namelist() if name.endswith("data/0"))
    with zipfile.ZipFile(path, "w") as file:
        for name, content in records.items():
            file.writestr(f"a/{name}", content)
    with pytest.raises(DataError):
        read_network_tensors(path)


def test_entries_are_named_by_texts(tmp_path):
    torch.save({"x": torch.rand(3, 2), "edge_index": torch.tensor([[0], [1]]), (1, 2): 3}, tmp_path / "a.pt")
    with pytest.raises(DataError, match="expected texts as the names of entries"):
        read_network_tensors(tmp_path / "a.pt")


def test_tensors_over_a_limit(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.pt", names=["ann", "bob", "cleopatra"])
    for setting, message in {
        "nodes=2": "`x`: 3 nodes",
        "edges=1": "`edge_index`: 2 edges",
        "name_chars=8": "`names`: 9 |entry: 10",
        "tensor_bytes=100": "bytes of tensors",
    }.items():
        few(monkeypatch, setting)
        with pytest.raises(DataError, match=message):
            read_network_tensors(path)


def test_a_config_that_never_ends_is_left(monkeypatch):
    few(monkeypatch, "file_bytes=1000000")
    with pytest.raises(ProtGNNError, match="/dev/zero: 1000001 bytes"):
        read_config(Path("/dev/zero"))


def packed(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def test_a_workbook_that_would_unpack_to_too_much_or_grow_is_refused(tmp_path, monkeypatch):
    bomb = packed(tmp_path / "bomb.xlsx", {"xl/worksheets/sheet1.xml": b" " * 3_000_000})
    few(monkeypatch, "file_bytes=1000000")
    with pytest.raises(DataError, match=r"bomb\.xlsx, unpacked: 3000000 bytes or more"):
        read_csv(bomb)
    laughs = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><workbook>&b;</workbook>'
    for name, content in (("plain", laughs), ("wide", laughs.decode().encode("utf-16"))):
        path = packed(tmp_path / f"{name}.xlsx", {"xl/workbook.xml": content})
        with pytest.raises(DataError, match="declares a document type"):
            read_csv(path)
    (tmp_path / "garbage.xlsx").write_bytes(bomb.read_bytes()[:-40])
    with pytest.raises(DataError, match="no Excel workbook or a damaged one"):
        read_csv(tmp_path / "garbage.xlsx")
    with pytest.raises(DataError, match=r"no Excel workbook or a damaged one \(KeyError\)"):
        read_csv(packed(tmp_path / "other.xlsx", {"a.txt": b"no workbook"}))


def test_a_structure_of_an_sdf_keeps_the_limits(tmp_path, monkeypatch):
    from rdkit.Chem import MolFromSmiles, MolToMolBlock

    records = [MolToMolBlock(MolFromSmiles("C" * size)) + f"> <y>\n{size % 2}\n\n$$$$\n" for size in (3, 4, 30)]
    (tmp_path / "a.sdf").write_text("".join(records))
    few(monkeypatch, "atoms=20")
    with pytest.raises(DataError, match="line 31: the structure has 30 atoms, and at most 20 are read"):
        read_csv(tmp_path / "a.sdf")
    (tmp_path / "a.sdf").write_text("no structure\nat all\n")
    with pytest.raises(DataError, match="holds no structure"):
        read_csv(tmp_path / "a.sdf")
