"""A coverage-guided fuzz run of everything that reads a file: inputs that reach new code are kept and changed further.

``make fuzz-readers`` installs the extra ``fuzz`` (atheris, libFuzzer for Python) and reads for ten minutes. The first
byte of an input chooses the reader, the rest is the file; a NUL ends one file of a folder and begins the next. A reader
may return or raise a ``ProtGNNError``; anything else is a finding, told once for each place in the code, and the input
is kept. Arguments are libFuzzer's, as in ``-max_total_time=60``, and its limits (20 s, 2 GB) end the run.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["protgnn.datasets.readers", "protgnn.io", "protgnn.data.validate"]):
    from protgnn.datasets.load import read_csv
    from protgnn.datasets.readers.conllu import read_conllu
    from protgnn.datasets.readers.jsonl import read_jsonl
    from protgnn.datasets.readers.network_csv import read_network_folder
    from protgnn.datasets.readers.network_tensors import read_network_tensors
    from protgnn.datasets.readers.smiles import read_smi
    from protgnn.datasets.readers.tu import read_tu
    from protgnn.training.run_file import checked_run_file
    from protgnn.training.settings import read_config
    from protgnn.training.state_file import check_numbers

import torch
from rdkit import RDLogger

from protgnn.errors import ProtGNNError

Parts = list[bytes]
WORK = Path(tempfile.mkdtemp(prefix="fuzz-readers-"))
FOUND: set[str] = set()
COUNT = {"inputs": 0, "read": 0}


def single(name: str, read: Callable[[Path], object]) -> Callable[[Parts], object]:
    """A reader of one file."""

    def call(parts: Parts) -> object:
        path = WORK / name
        path.write_bytes(b"\0".join(parts))
        return read(path)

    return call


def folder(name: str, files: tuple[str, ...], read: Callable[[Path], object]) -> Callable[[Parts], object]:
    """A reader of a folder of files."""

    def call(parts: Parts) -> object:
        (WORK / name).mkdir(exist_ok=True)
        for file, content in zip(files, [*parts, *[b""] * len(files)], strict=False):
            (WORK / name / file).write_bytes(content)
        return read(WORK / name)

    return call


def as_json(check: Callable[[object], object]) -> Callable[[Parts], object]:
    """A check of JSON, whose ``ValueError`` becomes a sentence where it is called."""

    def call(parts: Parts) -> object:
        try:
            return check(json.loads(b"\0".join(parts)))
        except (ValueError, RecursionError) as error:
            raise ProtGNNError(str(error)) from None

    return call


TU = ("TU_A.txt", "TU_graph_indicator.txt", "TU_graph_labels.txt", "TU_node_labels.txt")
READERS: dict[str, Callable[[Parts], object]] = {
    "csv": single("a.csv", read_csv),
    "smi": single("a.smi", read_smi),
    "jsonl": single("a.jsonl", read_jsonl),
    "conllu": single("a.conllu", read_conllu),
    "tu": folder("TU", TU, read_tu),
    "network": folder("network", ("nodes.csv", "edges.csv"), read_network_folder),
    "pt": single("a.pt", read_network_tensors),
    "safetensors": single("a.safetensors", read_network_tensors),
    "toml": single("a.toml", read_config),
    "json": single("a.json", read_config),
    "run": as_json(checked_run_file),
    "state": as_json(check_numbers),
}
SEEDS = {
    "csv": b"id,smiles,label\nm1,CCO,a\nm2,c1ccccc1,b\nm3,CC(=O)[O-],a\nm4,CN,b\nm5,CCl,a\nm6,CF,b\n",
    "smi": b"CCO one\nc1ccccc1 two\n",
    "jsonl": b'{"schema": {"kind": "graph", "node_features": ["a", "b"], "class_names": ["x", "y"]}}\n'
    b'{"x": [[1, 0], [0, 1.5]], "edges": [[0, 1]], "y": "x", "name": "g", "node_mask": [true, false]}\n'
    b'{"x": [[1, 0], [0, 1], [1, 1]], "edges": [[0, 2]], "y": "y", "name": "", "node_mask": [true, false, true]}\n',
    "conllu": b"# label = a\n1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n2\tdull\t_\t_\t_\t_\t1\tamod\t_\t_\n\n",
    "tu": b"1, 2\n2, 1\n3, 4\n4, 3\n\x001\n1\n2\n2\n\x000\n1\n\x000\n1\n2\n0\n",
    "network": b"id,label,size,colour\na,x,1,red\nb,y,2.5,blue\nc,x,3,red\n\0source,target\na,b\nb,c\n",
    "toml": b'hidden = 8\nepochs = 3\nhead = "plain"\nlr = 1e-3\n',
    "json": b'{"hidden": 8, "epochs": 3, "plus": true, "evidence": "mined"}',
    "run": b'{"schema_version": 2, "protgnn_version": "0.1.0", "finished": false, "recipe": {}, "data": null, "scores":'
    b' {}, "prototypes": null, "split": null, "labels": null, "files": {}, "schema": {"kind": "graph", "class_names":'
    b' ["a"], "node_features": ["x"], "edge_features": [], "featurizer": "given"}}',
    "state": b'{"epoch": 0, "best_epoch": 0, "best_quality": [0, 0, 0], "stage": "learn", "stage_start": 0,'
    b' "learned_epoch": 0, "learned_accuracy": -1, "sources": [], "rows": [], "average_steps": 0}',
}


def read_one(data: bytes) -> None:
    """Give one input to its reader."""
    if not data:
        return
    name = list(READERS)[data[0] % len(READERS)]
    COUNT["inputs"] += 1
    try:
        READERS[name](data[1:].split(b"\0"))
        COUNT["read"] += 1
    except ProtGNNError:
        pass
    except Exception as error:
        _tell(name, data, error)
    if COUNT["inputs"] % 5000 == 0:
        print(f"{COUNT['inputs']} inputs, {COUNT['read']} read, {len(FOUND)} findings", flush=True)


def _tell(name: str, data: bytes, error: Exception) -> None:
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{name}: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    if place not in FOUND:
        FOUND.add(place)
        kept = WORK / f"finding-{len(FOUND)}"
        kept.write_bytes(data)
        print(f"FINDING {place}: {str(error)[:200]}\n  {kept}", flush=True)


def seeds(where: Path) -> Path:
    """A folder with one undamaged input for each reader, to begin with."""
    where.mkdir()
    torch.save({"x": torch.rand(3, 2), "edge_index": torch.tensor([[0, 1], [1, 2]])}, WORK / "seed.pt")
    contents = {**SEEDS, "pt": (WORK / "seed.pt").read_bytes()}
    for place, name in enumerate(READERS):
        if name in contents:
            READERS[name](contents[name].split(b"\0"))  # an error here is one of the seed
            (where / name).write_bytes(bytes([place]) + contents[name])
    return where


def main() -> None:
    """Fuzz until libFuzzer's limits are reached."""
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    torch.set_num_threads(1)
    limits = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=4096", "-max_total_time=600", "-print_final_stats=1"]
    given = [one for one in sys.argv[1:] if one.startswith("-")]
    atheris.Setup([sys.argv[0], *limits, *given, str(seeds(WORK / "corpus"))], read_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
