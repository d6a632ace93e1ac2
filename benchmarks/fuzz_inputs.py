"""Inputs for the fuzz run: small real files and runs, and seeded damage to them."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import safetensors.torch
import torch

from protgnn.cli.main import main
from protgnn.training.run import run_checksum

Case = list[str]
FEW = ["epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "refine_steps=2"]
SMALL = [part for setting in FEW for part in ("--set", setting)]
PLAIN = ["--set", "epochs=1", "--set", "hidden=8", "--set", "layers=2", "--set", "head=plain"]

PIECES = [
    *(b",", b"\n", b"\t", b'"', b"[", b"]", b"{", b"}", b"(", b")", b"-", b"=", b"e9", b"NaN", b"null", b"\0", b"\xff"),
    *(b"1e999", b"\\ud800", b"=cmd|' /C calc'!A0", b"\x1b[2J", b"<script>", b"%(99999)", b"[" * 3000, b"C(" * 1500),
    *(b"9" * 5000, b"-1", b"99999999999999999999", b"0.5", b"\r", b"\xe2\x80\xae", b"C1" * 300),
]
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 2, 3.5, -0.0, 1e308, 10**30, 2**53, 2**31, -(2**63), float("nan"), float("inf"), ""),
    *("a", "\x1b[31m", "<script>alert(1)</script>", "=1+1", "x" * 200_000, "\ud800", "../../etc/passwd", "/dev/zero"),
    *([], [[]], [None], [-5], [0, 0], ["a"], {}, {"a": 1}, [1] * 5000, [[[[[[[[]]]]]]]], "C" * 60_000, "C" * 9_000),
]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A few blows: a byte changed, a piece put in, a stretch cut out or repeated, lines shuffled."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(found) + 1)
        blow = chance.randrange(7)
        if blow == 0:
            found[place : place + 1] = bytes([chance.randrange(256)])
        elif blow in (1, 2):
            found[place : place + chance.choice([0, 1])] = chance.choice(PIECES)
        elif blow == 3:
            del found[place : place + chance.choice([1, 3, 20])]
        elif blow == 4:
            del found[place:]
        elif blow == 5:
            found[place:place] = found[place : place + chance.choice([5, 50, 500])] * chance.choice([1, 2, 100])
        else:
            lines = bytes(found).split(b"\n")
            chance.shuffle(lines)
            found = bytearray(b"\n".join(lines))
    return bytes(found)


def damaged_json(content: Any, chance: random.Random) -> Any:
    """The content with one value, somewhere in it, replaced, removed or doubled."""
    place, steps = content, 0
    while True:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return content
        key, steps = chance.choice(keys), steps + 1
        if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
            place = place[key]
            continue
        blow = chance.randrange(5)
        if blow == 0:
            del place[key]
        elif blow == 1 and isinstance(place, list):
            place.append(place[key])
        elif blow == 2 and isinstance(place, dict):
            place[str(chance.choice(ODD))[:50]] = place[key]
        elif blow == 3 and isinstance(place[key], int | float):
            place[key] = place[key] + chance.choice([-1, 1, 0.5, 10**9])
        else:
            place[key] = chance.choice(ODD)
        return content


def damaged_tensor(value: torch.Tensor, chance: random.Random) -> torch.Tensor:
    """A tensor of another shape, type or content."""
    blow = chance.randrange(9)
    if blow == 0:
        return value[:-1].clone() if value.dim() else value[None].clone()
    if blow == 1:
        return value.to(chance.choice([torch.float64, torch.int64, torch.bool, torch.float16, torch.int8]))
    if blow == 2:
        return value.reshape(-1).clone()
    if blow == 3:
        return torch.zeros(0)
    if blow == 4:
        return value[None].clone()
    if blow == 5:
        return torch.cat([value.reshape(-1)] * 2)
    found = value.clone()
    if not found.numel():
        return torch.zeros(3, 3)
    flat = found.reshape(-1)
    odd = [0, 1, -1, 7, 127] if not found.is_floating_point() else [float("nan"), float("inf"), 1e38, -1.0, 0.0]
    with torch.no_grad():
        flat[chance.randrange(len(flat))] = chance.choice(odd)
    return found


class Stock:
    """The undamaged files and runs, made once in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has_sentences = find_spec("wordllama") is not None and find_spec("tokenizers") is not None
        self.kinds: dict[str, Callable[[Path, random.Random], Case]] = {
            "csv": self._csv,
            "jsonl": self._jsonl,
            "tu": self._tu,
            "network": self._network,
            "tensors": self._tensors,
            "config": self._config,
            "run file": self._run_file,
            "run tensors": self._run_tensors,
        }
        if self.has_sentences:
            self.kinds["conllu"] = self._conllu
        self._make()

    def case(self, number: int, seed: int, work: Path) -> tuple[str, Case]:
        """The kind and the command of a damaged input, which is written into ``work``."""
        chance = random.Random(f"{seed}/{number}")
        kind = list(self.kinds)[number % len(self.kinds)]
        return kind, self.kinds[kind](work, chance)

    def _make(self) -> None:
        from protgnn.datasets.dataset import Dataset
        from protgnn.datasets.load import load, read_csv
        from protgnn.datasets.readers.jsonl import write_jsonl

        solubility = load("solubility")
        assert isinstance(solubility, Dataset)
        graphs = solubility.graphs
        assert graphs.names is not None and graphs.y is not None
        small = [number for number in range(len(graphs)) if graphs.node_counts[number] < 10]
        rows = ["id,smiles,label"]
        for label, name in enumerate(graphs.schema.class_names):
            members = [number for number in small if int(graphs.y[number]) == label][:12]
            rows += [f"m{number},{graphs.names[number]},{name}" for number in members]
        (self.folder / "mols.csv").write_text("\n".join(rows) + "\n")
        write_jsonl(read_csv(self.folder / "mols.csv").graphs, self.folder / "graphs.jsonl")
        self._make_tu()
        self._make_network()
        runs = {"molecules": "mols.csv", "plus": "mols.csv", "plain": "mols.csv", "graphs": "TU", "nodes": "network"}
        if self.has_sentences:
            self._make_sentences()
            runs["sentences"] = "reviews.conllu"
        for name, data in runs.items():
            more = ["--plus"] if name == "plus" else ["--encoder", "gcn"] if name == "nodes" else []
            settings = PLAIN if name == "plain" else SMALL
            try:
                main(["train", str(self.folder / data), "--out", str(self.folder / "runs" / name), *more, *settings])
            except SystemExit as end:
                if end.code:
                    raise RuntimeError(f"the undamaged {data} cannot be trained on") from None
        self.runs = list(runs)

    def _make_tu(self) -> None:
        folder = self.folder / "TU"
        folder.mkdir()
        edges: list[str] = []
        indicator: list[int] = []
        labels: list[int] = []
        kinds: list[int] = []
        for graph in range(16):
            first = len(indicator) + 1
            for node in range(3 + graph % 2):
                indicator.append(graph + 1)
                kinds.append((graph + node) % 3)
                if node:
                    edges += [f"{first}, {first + node}", f"{first + node}, {first}"]
            labels.append(graph % 2)
        for part, lines in (
            ("A", edges),
            ("graph_indicator", indicator),
            ("graph_labels", labels),
            ("node_labels", kinds),
        ):
            (folder / f"TU_{part}.txt").write_text("".join(f"{line}\n" for line in lines))

    def _make_network(self) -> None:
        folder = self.folder / "network"
        folder.mkdir()
        rows = [f"n{node},{'ab'[node % 2]},{node % 2 + node / 100},{'xyz'[node % 3]}" for node in range(40)]
        (folder / "nodes.csv").write_text("\n".join(["id,label,size,colour", *rows]) + "\n")
        edges = [f"n{node},n{(node + step) % 40}" for node in range(40) for step in (2, 4)]
        (folder / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")

    def _make_sentences(self) -> None:
        found = []
        for number in range(32):
            label, word = (("positive", "witty"), ("negative", "dull"))[number % 2]
            words = [("a", 3), (word, 3), (("film", "plot", "cast", "tale")[number // 2 % 4], 0), ("indeed", 3)]
            lines = [f"{place}\t{text}\t_\t_\t_\t_\t{head}\tdep\t_\t_" for place, (text, head) in enumerate(words, 1)]
            found.append("\n".join([f"# label = {label}", *lines]) + "\n\n")
        (self.folder / "reviews.conllu").write_text("".join(found))

    def _asks(self, run: str, path: Path, work: Path, chance: random.Random) -> Case:
        """One of the commands that read new input, by a run that is whole."""
        folder = str(self.folder / "runs" / run)
        skip = ["--skip-bad"] if path.suffix in (".csv", ".conllu") and chance.random() < 0.5 else []
        return chance.choice(
            [
                ["predict", folder, str(path), *skip],
                ["predict", folder, str(path), *skip, "-o", str(work / "out.csv")],
                ["evaluate", folder, str(path), *skip],
                ["data", "show", str(path), *skip],
                ["explain", folder, str(path), *skip, "-o", str(work / chance.choice(["why.svg", "why.html"]))],
                ["train", str(path), "--out", str(work / "run"), *skip, *PLAIN],
            ]
        )

    def _written(self, name: str, work: Path, chance: random.Random) -> Path:
        path = work / name
        path.write_bytes(damaged((self.folder / name).read_bytes(), chance))
        return path

    def _csv(self, work: Path, chance: random.Random) -> Case:
        return self._asks(
            chance.choice(["molecules", "plus", "plain"]), self._written("mols.csv", work, chance), work, chance
        )

    def _conllu(self, work: Path, chance: random.Random) -> Case:
        return self._asks("sentences", self._written("reviews.conllu", work, chance), work, chance)

    def _jsonl(self, work: Path, chance: random.Random) -> Case:
        if chance.random() < 0.5:
            return self._asks("molecules", self._written("graphs.jsonl", work, chance), work, chance)
        lines = (self.folder / "graphs.jsonl").read_text().splitlines()
        for _ in range(chance.choice([1, 3])):
            number = chance.randrange(len(lines))
            lines[number] = json.dumps(damaged_json(json.loads(lines[number]), chance))
        (work / "graphs.jsonl").write_text("\n".join(lines), errors="surrogatepass")
        return self._asks("molecules", work / "graphs.jsonl", work, chance)

    def _tu(self, work: Path, chance: random.Random) -> Case:
        shutil.copytree(self.folder / "TU", work / "TU")
        self._written("TU/" + chance.choice(sorted(path.name for path in (work / "TU").iterdir())), work, chance)
        return self._asks("graphs", work / "TU", work, chance)

    def _network(self, work: Path, chance: random.Random) -> Case:
        shutil.copytree(self.folder / "network", work / "network")
        self._written("network/" + chance.choice(["nodes.csv", "edges.csv"]), work, chance)
        return self._asks("nodes", work / "network", work, chance)

    def _tensors(self, work: Path, chance: random.Random) -> Case:
        nodes = torch.arange(40)
        entries: dict[Any, Any] = {
            "x": torch.stack([nodes % 2, nodes / 100, *(nodes % 3 == kind for kind in range(3))], 1).float(),
            "edge_index": torch.stack([nodes, (nodes + 2) % 40]),
            "y": nodes % 2,
        }
        path = work / chance.choice(["net.pt", "net.pt", "net.safetensors"])
        if chance.random() < 0.6:
            key = chance.choice(list(entries))
            entries[key] = damaged_tensor(entries[key], chance)
        if path.suffix == ".safetensors":
            safetensors.torch.save_file(entries, path)
        else:
            if chance.random() < 0.3:
                odd = chance.choice([value for value in ODD if not isinstance(value, dict)])
                entries[chance.choice(["names", "class_names", "train_mask", "edge_attr", "more", 3])] = odd
            torch.save(entries, path)
        if chance.random() < 0.4:
            self._damage_archive(path, chance)
        return self._asks("nodes", path, work, chance)

    def _damage_archive(self, path: Path, chance: random.Random) -> None:
        """Bytes of the file, or of one file within the archive, whose checksum is then made to fit."""
        if path.suffix != ".pt" or chance.random() < 0.5:
            path.write_bytes(damaged(path.read_bytes(), chance))
            return
        with zipfile.ZipFile(path) as file:
            records = {name: file.read(name) for name in file.namelist()}
        name = chance.choice(list(records))
        records[name] = damaged(records[name], chance)
        with zipfile.ZipFile(path, "w", chance.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as file:
            for record, content in records.items():
                file.writestr(record, content)

    def _config(self, work: Path, chance: random.Random) -> Case:
        recipe = json.loads((self.folder / "runs" / "plain" / "run.json").read_text())["recipe"]
        if chance.random() < 0.5:
            path = work / "a.json"
            path.write_text(json.dumps(damaged_json(recipe, chance)), errors="surrogatepass")
        else:
            path = work / "a.toml"
            text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in recipe.items() if value is not None)
            path.write_bytes(damaged(text.encode(), chance))
        return ["train", str(self.folder / "mols.csv"), "--config", str(path), "--out", str(work / "run"), *PLAIN]

    def _run_file(self, work: Path, chance: random.Random) -> Case:
        name, run = self._copy(work, chance)
        content = json.loads((run / "run.json").read_text())
        for _ in range(chance.choice([1, 1, 2])):
            content = damaged_json(content, chance)
        self._seal(run, content)
        return self._uses(name, run, work, chance)

    def _run_tensors(self, work: Path, chance: random.Random) -> Case:
        name, run = self._copy(work, chance)
        path = chance.choice(sorted(run.glob("*.safetensors")))
        tensors = safetensors.torch.load_file(path)
        key = chance.choice(sorted(tensors))
        if chance.random() < 0.1:
            del tensors[key]
        else:
            tensors[key] = damaged_tensor(tensors[key], chance)
        path.write_bytes(safetensors.torch.save({name: value.contiguous() for name, value in tensors.items()}))
        content = json.loads((run / "run.json").read_text())
        content["files"] = {file: hashlib.sha256((run / file).read_bytes()).hexdigest() for file in content["files"]}
        self._seal(run, content)
        return self._uses(name, run, work, chance)

    def _copy(self, work: Path, chance: random.Random) -> tuple[str, Path]:
        name = chance.choice(self.runs)
        return name, Path(shutil.copytree(self.folder / "runs" / name, work / "copy"))

    def _seal(self, run: Path, content: Any) -> None:
        if isinstance(content, dict):
            content.pop("checksum", None)
            content["checksum"] = run_checksum(content)
        (run / "run.json").write_text(json.dumps(content), errors="surrogatepass")

    def _uses(self, name: str, run: Path, work: Path, chance: random.Random) -> Case:
        """A command on a run that was damaged and sealed again."""
        data = {"graphs": "TU", "nodes": "network", "sentences": "reviews.conllu"}.get(name, "mols.csv")
        new = str(self.folder / data)
        return chance.choice(
            [
                ["predict", str(run), new],
                ["predict", str(run), "test"],
                ["explain", str(run), new, "-o", str(work / chance.choice(["why.svg", "why.html", "why.png"]))],
                ["explain", str(run), new],
                ["evaluate", str(run)],
                ["evaluate", str(run), new],
                ["prototypes", str(run)],
                ["prototypes", str(run), "--json"],
                ["report", str(run), "-o", str(work / "report.html")],
            ]
        )
