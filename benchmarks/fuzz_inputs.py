"""Inputs for the fuzz run: small real files and runs, and seeded damage to them."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import safetensors
import safetensors.torch
import torch

from benchmarks.fuzz_damage import ODD, damaged, damaged_json, damaged_tensor
from protgnn.cli.main import main
from protgnn.training.checkpoint import STATE_FILE, state_checksum
from protgnn.training.run import run_checksum

Case = list[str]
FEW = ["epochs=2", "hidden=8", "prototypes=1", "anchored_epochs=1", "search_iterations=2", "refine_steps=2"]
SMALL = [part for setting in FEW for part in ("--set", setting)]
MINED = ["--plus", "--set", "evidence=mined", "--set", "warm_up=2", *SMALL]
PLAIN = ["--set", "epochs=1", "--set", "hidden=8", "--set", "layers=2", "--set", "head=plain"]


@dataclass(frozen=True)
class Trained:
    """A run of the stock, the data that it is trained on, and whether it is there half trained as well."""

    name: str
    data: str
    options: list[str]
    unfinished: bool = False


RUNS = (
    Trained("molecules", "mols.csv", SMALL, unfinished=True),
    Trained("plus", "mols.csv", ["--plus", *SMALL], unfinished=True),
    Trained("mined", "mols.csv", MINED, unfinished=True),
    Trained("plain", "mols.csv", PLAIN, unfinished=True),
    Trained("graphs", "TU", SMALL),
    Trained("mined graphs", "TU", MINED),
    Trained("nodes", "network", ["--encoder", "gcn", *SMALL], unfinished=True),
    Trained("sentences", "reviews.conllu", SMALL),
    Trained("mined sentences", "reviews.conllu", MINED),
)


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
            "run log": self._run_log,
            "state": self._state,
        }
        if self.has_sentences:
            self.kinds["conllu"] = self._conllu
        self.trained = [run for run in RUNS if self.has_sentences or "sentences" not in run.name]
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
        if self.has_sentences:
            self._make_sentences()
        for run in self.trained:
            self._train(run, "runs")
            if run.unfinished:
                with patch("protgnn.training.train.finish", side_effect=KeyboardInterrupt):
                    self._train(run, "unfinished", status=130)

    def _train(self, run: Trained, where: str, status: int = 0) -> None:
        try:
            main(["train", str(self.folder / run.data), "--out", str(self.folder / where / run.name), *run.options])
        except SystemExit as end:
            if (end.code or 0) != status:
                raise RuntimeError(f"the undamaged {run.data} cannot be trained on") from None

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
            chance.choice(["molecules", "plus", "mined", "plain"]),
            self._written("mols.csv", work, chance),
            work,
            chance,
        )

    def _conllu(self, work: Path, chance: random.Random) -> Case:
        return self._asks(
            chance.choice(["sentences", "mined sentences"]), self._written("reviews.conllu", work, chance), work, chance
        )

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
        return self._asks(chance.choice(["graphs", "mined graphs"]), work / "TU", work, chance)

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
        made, run = self._copy(work, chance)
        content = json.loads((run / "run.json").read_text())
        for _ in range(chance.choice([1, 1, 2])):
            content = damaged_json(content, chance)
        self._seal(run, content)
        return self._uses(made, run, work, chance)

    def _run_tensors(self, work: Path, chance: random.Random) -> Case:
        made, run = self._copy(work, chance)
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
        return self._uses(made, run, work, chance)

    def _run_log(self, work: Path, chance: random.Random) -> Case:
        _, run = self._copy(work, chance)
        (run / "log.csv").write_bytes(damaged((run / "log.csv").read_bytes(), chance))
        content = json.loads((run / "run.json").read_text())
        content["files"]["log.csv"] = hashlib.sha256((run / "log.csv").read_bytes()).hexdigest()
        self._seal(run, content)
        return ["report", str(run), "-o", str(work / "report.html")]

    def _state(self, work: Path, chance: random.Random) -> Case:
        """Training that is to go on from a state that was damaged and sealed again."""
        made = chance.choice([run for run in self.trained if run.unfinished])
        run = Path(shutil.copytree(self.folder / "unfinished" / made.name, work / "copy"))
        with safetensors.safe_open(run / STATE_FILE, "pt") as file:  # type: ignore[no-untyped-call]
            numbers = json.loads(file.metadata()["state"])
            tensors = {name: file.get_tensor(name) for name in list(file.keys())}
        if chance.random() < 0.6:
            numbers = damaged_json(numbers, chance)
        else:
            key = chance.choice(sorted(tensors))
            tensors[key] = damaged_tensor(tensors[key], chance).contiguous()
        text = json.dumps(numbers)
        metadata = {"state": text, "checksum": state_checksum(text, tensors)}
        (run / STATE_FILE).write_bytes(safetensors.torch.save(tensors, metadata))
        return ["train", str(self.folder / made.data), "--out", str(run), "--resume", *made.options]

    def _copy(self, work: Path, chance: random.Random) -> tuple[Trained, Path]:
        made = chance.choice(self.trained)
        return made, Path(shutil.copytree(self.folder / "runs" / made.name, work / "copy"))

    def _seal(self, run: Path, content: Any) -> None:
        if isinstance(content, dict):
            content.pop("checksum", None)
            content["checksum"] = run_checksum(content)
        (run / "run.json").write_text(json.dumps(content), errors="surrogatepass")

    def _uses(self, made: Trained, run: Path, work: Path, chance: random.Random) -> Case:
        """A command on a run that was damaged and sealed again."""
        new = str(self.folder / made.data)
        return chance.choice(
            [
                ["predict", str(run), new],
                ["predict", str(run), "test"],
                ["explain", str(run), new, "-o", str(work / chance.choice(["why.svg", "why.html", "why.png"]))],
                ["explain", str(run), new],
                ["evaluate", str(run)],
                ["evaluate", str(run), new],
                ["evaluate", str(run), "--json"],
                ["explain", str(run), new, "--json"],
                ["prototypes", str(run)],
                ["prototypes", str(run), "--json"],
                ["report", str(run), "-o", str(work / "report.html")],
            ]
        )
