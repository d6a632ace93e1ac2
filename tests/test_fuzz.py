"""Hundreds of malformed inputs: each ends in one clear message, none in a traceback or a half-written output.

Inputs are made from small real files by seeded damage. Damage that happens to leave an input valid does not count:
its twin, the undamaged file, is accepted by the same command, and what counts is only what is refused. Each test says
how many inputs it must refuse at least, so that damage that damages nothing is noticed.
"""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import protgnn
from protgnn.datasets.readers.jsonl import write_jsonl
from tests.conftest import TINY, Outcome
from tests.sentences import block, needs_spacy, needs_vectors, reviews

Command = Callable[..., Outcome]

BAD_SMILES = [
    "C1CC",
    "xyz",
    "C(C",
    "[Zz]",
    "c1cccc1",
    "C=(",
    "N#N#N",
    "(((",
    "1",
    "[",
    "C%%",
    "F(C)C",
    "%",
    "@@",
    "C)C",
]
TU = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n6, 7\n7, 6\n8, 9\n9, 8\n10, 11\n11, 10\n12, 13\n13, 12\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n3\n4\n4\n5\n5\n6\n6\n",
    "graph_labels": "-1\n1\n1\n-1\n1\n-1\n",
    "node_labels": "0\n3\n0\n3\n3\n0\n0\n0\n0\n0\n0\n0\n0\n",
}
PIECES = [b",", b"\n", b'"', b"[", b"]", b"{", b"}", b"-", b"e9", b"NaN", b"null", b"\0", b"\xff", b"1e999", b"\\ud800"]

WRONG_SETTINGS = [
    *("epochs", "epochs=", "=3", "epochs=-1", "epoch=3", "epochs=1e9", "lr=nan", "norm=x", "name=x", "hidden=0"),
    *("split=given", "split=x", "seed=-1", "dropout=1", "encoder=custom", "encoder=x", "encoder=pyg:x"),
    *("encoder=pyg:PNA", "precision=8", "search_min_nodes=99", f"epochs={'9' * 5000}"),
]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A few random blows: a byte changed, a piece put in, a stretch or the end cut off, lines shuffled."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 2, 5])):
        place = chance.randrange(len(found) + 1)
        blow = chance.randrange(6)
        if blow == 0:
            found[place : place + 1] = bytes([chance.randrange(256)])
        elif blow == 1:
            found[place:place] = chance.choice(PIECES)
        elif blow == 2:
            del found[place : place + chance.choice([1, 3, 20])]
        elif blow == 3:
            del found[place:]
        elif blow == 4:
            found[place : place + 1] = chance.choice([b"9", b"-1", b"99999999999999999999", b"0.5"])
        else:
            lines = bytes(found).split(b"\n")
            chance.shuffle(lines)
            found = bytearray(b"\n".join(lines))
    return bytes(found)


@pytest.fixture(scope="module")
def originals(molecules_csv: Path, molecules: protgnn.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The undamaged files: a CSV, a JSONL file and a TU folder."""
    folder = tmp_path_factory.mktemp("originals")
    rows = molecules_csv.read_text().splitlines()
    (folder / "mols.csv").write_text("\n".join([rows[0], *rows[1::6]]) + "\n")
    graphs = protgnn.read_csv(folder / "mols.csv").graphs
    small = graphs[[number for number in range(len(graphs)) if graphs.node_counts[number] < 12]]
    write_jsonl(small, folder / "graphs.jsonl")
    (folder / "TU").mkdir()
    for part, text in TU.items():
        (folder / "TU" / f"TU_{part}.txt").write_text(text)
    return folder


class Trial:
    """Runs damaged inputs through every command that reads them and keeps count of the refused."""

    def __init__(self, command: Command, folder: Path) -> None:
        self.command, self.folder = command, folder
        self.refused: set[str] = set()
        self.accepted: set[str] = set()

    def reads(self, *arguments: object, output: Path | None = None, must_refuse: bool = True, what: str = "") -> None:
        """One command on one input; it is refused with one message, or (where it may be) accepted.

        ``what`` tells inputs apart: one that several commands refuse counts once, one that any accepts never.
        """
        what = what or " ".join(map(str, arguments))
        before = _listing(self.folder)
        ended = self.command(*arguments)
        shown = f"{what} {[str(argument) for argument in arguments]}: {ended}"
        assert "Traceback" not in ended.err + ended.out, shown
        if ended.status == 0:
            assert not must_refuse, f"accepted: {shown}"
            self.accepted.add(what)
            if output is not None:
                shutil.rmtree(output) if output.is_dir() else output.unlink(missing_ok=True)
            assert _listing(self.folder) == before, shown
            return
        assert ended.status in (1, 2), shown
        messages = [line for line in ended.err.splitlines() if not line.startswith("note: ")]
        assert messages and messages[0].startswith(("error: ", "Usage: ")), shown
        assert sum(line.startswith("error: ") for line in messages) <= 1, shown
        assert len(messages[0]) > len("error: ") + 10, shown
        assert ended.out == "", shown
        assert _listing(self.folder) == before, f"half-written output: {shown}"
        self.refused.add(what)

    def refuses(self, at_least: int) -> None:
        """So many different inputs were refused, by every command that read them."""
        assert len(self.refused - self.accepted) >= at_least, (len(self.refused), len(self.accepted))


def _listing(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


@pytest.fixture
def trial(protgnn_command: Command, tmp_path: Path) -> Trial:
    return Trial(protgnn_command, tmp_path)


def test_the_undamaged_inputs_are_accepted(originals, protgnn_command, tmp_path):
    """Else every refusal below would be worth nothing."""
    for name in ("mols.csv", "graphs.jsonl", "TU"):
        assert protgnn_command("data", "show", originals / name).status == 0
        assert protgnn_command("train", originals / name, "--out", tmp_path / name, *TINY).status == 0


@pytest.mark.slow
def test_random_damage_to_files(originals, run_folder, trial, tmp_path):
    chance = random.Random(2)
    for number in range(260):
        kind = ("mols.csv", "graphs.jsonl", "TU")[number % 3]
        target = tmp_path / kind
        if kind == "TU":
            shutil.copytree(originals / kind, target, dirs_exist_ok=True)
            victim = target / f"TU_{chance.choice(list(TU))}.txt"
        else:
            victim = target
        source = originals / kind / victim.name if kind == "TU" else originals / kind
        victim.write_bytes(damaged(source.read_bytes(), chance))
        what = f"number {number}: {victim.read_bytes()[:400]!r}"
        trial.reads("data", "show", target, must_refuse=False, what=what)
        if number % 4 == 0:
            out = tmp_path / "out"
            trial.reads("train", target, "--out", out, *TINY, output=out, must_refuse=False, what=what)
        if number % 4 == 1 and kind == "mols.csv":
            out = tmp_path / "out.csv"
            trial.reads("predict", run_folder, target, "-o", out, output=out, must_refuse=False, what=what)
    trial.refuses(at_least=200)


def test_damaged_smiles_are_predicted_or_refused_but_never_crash(originals, run_folder, trial, tmp_path):
    rows = (originals / "mols.csv").read_text().splitlines()
    for number, smiles in enumerate(BAD_SMILES):
        path, out = tmp_path / "bad.csv", tmp_path / "out"
        place = 1 + number % (len(rows) - 1)
        path.write_text("\n".join([*rows[:place], f"{smiles},low", *rows[place:]]))
        trial.reads("train", path, "--out", out, *TINY, what=f"row {smiles}")
        trial.reads("predict", run_folder, path, "-o", out, what=f"row {smiles}")
        trial.reads("predict", run_folder, smiles, "-o", out, what=smiles)
        ended = trial.command("data", "show", path)
        assert f"line {place + 1}" in ended.err, "the message names the line"
    trial.refuses(at_least=30)


def test_csv_that_is_cut_short_or_has_other_columns(originals, run_folder, trial, tmp_path):
    text = (originals / "mols.csv").read_text()
    rows = [row.split(",") for row in text.splitlines()]
    path, out = tmp_path / "bad.csv", tmp_path / "out"
    contents = {
        "no rows": "smiles,label\n",
        "one column": "\n".join(row[0] for row in rows),
        "labels only": "\n".join(row[1] for row in rows),
        "empty labels": "\n".join([",".join(rows[0]), *(f"{row[0]}," for row in rows[1:])]),
        "one class": "\n".join([",".join(rows[0]), *(f"{row[0]},low" for row in rows[1:])]),
        "measurements": "\n".join([",".join(rows[0]), *(f"{row[0]},{n / 7}" for n, row in enumerate(rows[1:]))]),
        "all different": "\n".join([",".join(rows[0]), *(f"{row[0]},k{n}" for n, row in enumerate(rows[1:]))]),
        "a row too short": text + "CCO\n",
        "an open quote": text + '"CCO,low\n',
        "two headers of one name": text.replace("smiles,label", "smiles,smiles"),
        "a class with one row": text + "CCO,lonely\n",
    }
    for what, content in contents.items():
        path.write_text(content)
        trial.reads("train", path, "--out", out, *TINY, what=what)
        trial.reads("data", "show", path, what=what)
    for length in range(0, len(text) // 4, 23):
        path.write_text(text[:length])
        trial.reads("train", path, "--out", out, *TINY, must_refuse=False, output=out, what=f"first {length}")
    path.write_text(text)
    for wrong in ("nothing", "SMILE", "", "label"):
        trial.reads("train", path, "--smiles", wrong, "--out", out, *TINY, what=f"--smiles {wrong!r}")
        trial.reads("predict", run_folder, path, "--smiles", wrong, "-o", out, what=f"--smiles {wrong!r}")
    for wrong in ("nothing", "LABELS", "smiles"):
        trial.reads("train", path, "--label", wrong, "--out", out, *TINY, what=f"--label {wrong!r}")
    trial.refuses(at_least=20)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".txt", ".smi", ".xyz", ""])
def test_empty_binary_and_wrongly_encoded_files(originals, run_folder, trial, tmp_path, suffix):
    text = (originals / "mols.csv").read_text()
    chance = random.Random(5)
    path, out = tmp_path / f"bad{suffix}", tmp_path / "out"
    contents = {
        "0 bytes": b"",
        "a newline": b"\n",
        "garbage": chance.randbytes(3000),
        "zeros": bytes(1000),
        "latin-1": text.replace("label", "größe").encode("latin-1"),
        "utf-16": text.encode("utf-16"),
        "gzip": b"\x1f\x8b\x08" + chance.randbytes(300),
    }
    guessed = {"latin-1", "utf-16"} if suffix in (".csv", ".tsv", ".smi") else set()
    for what, content in contents.items():
        path.write_bytes(content)
        strict = what not in guessed
        trial.reads("train", path, "--out", out, *TINY, must_refuse=strict, output=out, what=what)
        trial.reads("predict", run_folder, path, "-o", out, must_refuse=strict, output=out, what=what)
    trial.refuses(at_least=7 - len(guessed))


def test_jsonl_with_impossible_graphs(originals, trial, tmp_path):
    lines = [{"x": [[float(n)], [1.0]], "edges": [[0, 1]], "y": n % 2} for n in range(12)]
    path, out = tmp_path / "bad.jsonl", tmp_path / "out"
    wrong: list[object] = [
        {"edges": [[0, 2]]},
        {"edges": [[-1, 0]]},
        {"edges": [[0]]},
        {"edges": [[0, 1, 1]]},
        {"edges": [[0, 0.5]]},
        {"edges": [["0", "1"]]},
        {"edges": "01"},
        {"edges": {"0": 1}},
        {"edges": [[0, 10**30]]},
        {"edges": None},
        {"x": []},
        {"x": [[1.0], [1.0, 2.0]]},
        {"x": [[1.0, 2.0], [1.0, 2.0]]},
        {"x": [["a"], ["b"]]},
        {"x": [[None], [1]]},
        {"x": [[1e39], [1]]},
        {"x": "x"},
        {"x": [1, 2]},
        {"x": [[True], [{}]]},
        {"y": 0.5},
        {"y": None},
        {"y": [0]},
        {"y": {}},
        {"y": ""},
        {"num_nodes": 7},
        {"num_nodes": -1},
        {"num_nodes": "two"},
        {"edge_attr": [[1.0]]},
        {"targets": [5]},
        {"node_mask": [True]},
        {"name": 5},
        {"colour": "red"},
    ]
    for change in wrong:
        path.write_text("\n".join(json.dumps(line) for line in [*lines[:5], {**lines[5], **change}, *lines[6:]]))
        trial.reads("train", path, "--out", out, *TINY, what=str(change))
    for line in ("[]", "1", '"x"', "{", "{}", "null", '{"x": [[NaN], [1]], "edges": [], "y": 0}', "nonsense"):
        path.write_text("\n".join([*(json.dumps(line) for line in lines), line]))
        trial.reads("train", path, "--out", out, *TINY, what=line)
    trial.refuses(at_least=40)


def test_tu_folders_with_missing_or_short_files(originals, trial, tmp_path):
    folder, out = tmp_path / "TU", tmp_path / "out"

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(originals / "TU", folder)

    for part in ("A", "graph_indicator", "graph_labels"):
        fresh()
        (folder / f"TU_{part}.txt").unlink()
        trial.reads("train", folder, "--out", out, *TINY, what=f"without {part}")
    for part, text in TU.items():
        for what, content in {
            "empty": "",
            "short": "\n".join(text.splitlines()[:-1]) if part != "A" else "1, 2\n2",
            "long": text + text if part != "A" else text + "1, 99\n",
            "texts": text.replace("1", "one").replace("0", "nought"),
            "half numbers": text.replace("1", "1.5").replace("0", "0.5"),
            "far too large": text.replace("1", "9" * 25).replace("0", "9" * 25),
        }.items():
            fresh()
            (folder / f"TU_{part}.txt").write_text(content)
            allowed = part == "A" and what == "empty"  # graphs without edges are graphs
            out_ = out if allowed else None
            trial.reads(
                "train", folder, "--out", out, *TINY, must_refuse=not allowed, output=out_, what=f"{part} {what}"
            )
    shutil.rmtree(folder)
    folder.mkdir()
    trial.reads("train", folder, "--out", out, *TINY, what="an empty folder")
    trial.refuses(at_least=27)


@pytest.mark.parametrize("which", ["run_folder", "prototype_run"])
def test_run_directories_with_a_missing_flipped_or_truncated_file(request, trial, tmp_path, molecules_csv, which):
    original = request.getfixturevalue(which)
    chance = random.Random(3)
    folder, out = tmp_path / "run", tmp_path / "out.csv"
    names = [path.name for path in original.iterdir() if path.is_file()]
    for name in names:
        content = (original / name).read_bytes()
        kinds: list[bytes | None] = [None, b"", content[:-1], content[: len(content) // 2], content + b"x"]
        for _ in range(8):
            flipped = bytearray(content)
            flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            kinds.append(bytes(flipped))
        for number, kind in enumerate(kinds):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(original, folder)
            (folder / name).unlink()
            if kind is not None:
                (folder / name).write_bytes(kind)
            if name == "run.json" and kind is not None and _same_json(kind, content):
                continue
            what = f"{name}, damage {number}"
            if name == "log.csv":  # only curves need it
                assert trial.command("predict", folder, molecules_csv).status == 0
                if which == "prototype_run" and 0 < number < 6:
                    trial.reads("report", folder, "-o", tmp_path / "report.html", what=what)
                continue
            trial.reads("predict", folder, molecules_csv, "-o", out, what=what)
            if number % 3 == 0:
                trial.reads("evaluate", folder, what=what)
    trial.refuses(at_least=24)


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def test_wrong_configs_and_settings(originals, trial, tmp_path):
    data, out = originals / "mols.csv", tmp_path / "out"
    configs = {
        "a.toml": ["epochs = ", "epoch = 3", "epochs = 'x'", "[model]\nhidden = 3", "epochs = 0", "lr = nan", "x"],
        "a.json": [
            "{",
            "[]",
            "3",
            '{"epochs": null}',
            '{"epochs": [1]}',
            '{"name": "x"}',
            '{"lr": NaN}',
            '{"": 1}',
            "",
        ],
    }
    for name, contents in configs.items():
        for content in contents:
            (tmp_path / name).write_text(content)
            trial.reads("train", data, "--config", tmp_path / name, "--out", out, what=content)
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    trial.reads("train", data, "--config", tmp_path / "a.toml", "--out", out)
    trial.reads("train", data, "--config", tmp_path / "none.toml", "--out", out)
    trial.reads("train", data, "--config", tmp_path, "--out", out)
    for setting in WRONG_SETTINGS:
        trial.reads("train", data, "--set", setting, "--out", out, what=setting[:40])
    for arguments in (["--encoder", "x"], ["--seed", "x"], ["--seed", "-1"], ["--recipe", "x"], ["--nonsense"]):
        trial.reads("train", data, *arguments, "--out", out)
    trial.refuses(at_least=45)


def test_inputs_that_are_not_there_and_outputs_that_cannot_be(originals, run_folder, trial, tmp_path):
    data, out = originals / "mols.csv", tmp_path / "out"
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thing").write_text("mine")
    for name in (
        "nosuch",
        "nosuch.csv",
        "a/b/c.jsonl",
        "MUTAGG",
        "\0",
        "x" * 5000,
        "motif-molecules:x",
        "-",
        "...",
    ):
        trial.reads("train", name, "--out", out, *TINY, what=name[:30])
        trial.reads("data", "show", name, what=name[:30])
        trial.reads("predict", run_folder, name, what=name[:30])
        trial.reads("predict", name, data, what=name[:30])
        trial.reads("evaluate", name, what=name[:30])
    trial.reads("train", data, "--out", tmp_path / ("x" * 300), *TINY)
    trial.reads("train", data, "--out", tmp_path / ("x" * 300), "--resume", *TINY)
    trial.reads("train", data, "--out", tmp_path / "file", *TINY)
    trial.reads("train", data, "--out", tmp_path / "file" / "below", *TINY)
    trial.reads("train", data, "--out", tmp_path / "full", *TINY)
    trial.reads("predict", run_folder, data, "-o", tmp_path / "full")
    trial.reads("predict", run_folder, data, "-o", tmp_path / "file" / "below.csv")
    assert (tmp_path / "file").read_text() == (tmp_path / "full" / "thing").read_text() == "mine"
    trial.refuses(at_least=16)


@needs_vectors
def test_random_damage_to_sentences(sentence_run, trial, tmp_path):
    chance = random.Random(4)
    text = reviews(split=True).encode()
    out = tmp_path / "out"
    for number in range(80):
        path = tmp_path / ("a.conllu", "a.conllu.gz")[number % 2]
        if number % 4 == 3:
            path.write_bytes(damaged(gzip.compress(text, mtime=0), chance))
        else:
            found = damaged(text, chance)
            path.write_bytes(gzip.compress(found) if number % 2 else found)
        what = f"sentences {number}: {path.read_bytes()[:400]!r}"
        trial.reads("data", "show", path, must_refuse=False, what=what)
        if number % 5 == 0:
            trial.reads("train", path, "--out", out, *TINY, output=out, must_refuse=False, what=what)
            trial.reads("predict", sentence_run, path, "-o", out, output=out, must_refuse=False, what=what)
    trial.refuses(at_least=60)


@needs_vectors
def test_sentences_that_are_no_trees_or_no_sentences(sentence_run, trial, tmp_path):
    path, out = tmp_path / "bad.conllu", tmp_path / "out"
    row = "1\tfilm\t_\t_\t_\t_\t0\troot\t_\t_\n"
    wrong = {
        "head out of range": block(["a", "b"], [3, 0], label="positive"),
        "its own head": block(["a", "b"], [1, 0], label="positive"),
        "a circle": block(["a", "b", "c"], [0, 3, 2], label="positive"),
        "no root": block(["a", "b"], [2, 1], label="positive"),
        "no words": "# label = positive\n\n",
        "only a range": "# label = positive\n1-2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
        "an id that is a text": "# label = positive\n" + row.replace("1", "one", 1),
        "ids from 0": "# label = positive\n" + row.replace("1", "0", 1),
        "an id twice": "# label = positive\n" + row + row,
        "no head": "# label = positive\n" + row.replace("\t0\t", "\t_\t"),
        "no word": "# label = positive\n" + row.replace("film", ""),
        "too few columns": "# label = positive\n1\tfilm\t0\n",
        "plain text": "A gripping film.\n",
        "an unknown label": "# label = sad\n" + row,
    }
    for what, content in wrong.items():
        path.write_text(reviews() + content)
        trial.reads("train", path, "--out", out, *TINY, what=what)
        if what == "an unknown label":  # predictions look at none
            trial.reads("evaluate", sentence_run, path, what=what)
        else:
            trial.reads("predict", sentence_run, path, "-o", out, what=what)
    for what, content in {
        "no label": row,
        "a split here and there": "# label = positive\n# split = test\n" + row,
    }.items():
        path.write_text(reviews() + content)
        trial.reads("train", path, "--out", out, *TINY, what=what)
    for what, raw in {"latin-1": reviews().replace("film", "für").encode("latin-1"), "nothing": b""}.items():
        path.write_bytes(raw)
        trial.reads("train", path, "--out", out, *TINY, what=what)
        trial.reads("predict", sentence_run, path, "-o", out, what=what)
    packed = gzip.compress(reviews().encode())
    path = tmp_path / "bad.conllu.gz"
    for what, raw in {"half": packed[: len(packed) // 2], "not packed": reviews().encode(), "nothing": b""}.items():
        path.write_bytes(raw)
        trial.reads("train", path, "--out", out, *TINY, what=f"{what} gz")
        trial.reads("predict", sentence_run, path, "-o", out, what=f"{what} gz")
    trial.refuses(at_least=21)


@needs_vectors
@needs_spacy
def test_raw_sentences_that_are_none(sentence_run, run_folder, parser, trial, tmp_path):
    out = tmp_path / "out"
    for text in (
        "",
        " ",
        "\n\t",
        "\0",
        "C1=CC=CC=C1",
        "CC(=O)O",
        "film " * 5000,
        "\ud800 film",
        "none.csv",
        "none.conllu.gz",
    ):
        trial.reads("explain", sentence_run, text, what=f"sentence {text[:20]!r}")
        trial.reads("predict", sentence_run, text, "-o", out, what=f"sentence {text[:20]!r}")
    trial.reads("predict", run_folder, "a gripping film", "-o", out)
    path = tmp_path / "bad.csv"
    rows = [f"a film number {number},{'ab'[number % 2]}" for number in range(12)]
    contents = {
        "an empty sentence": "\n".join(["text,label", *rows, ",a"]),
        "a blank sentence": "\n".join(["text,label", *rows, "  ,a"]),
        "a row too long": "\n".join(["text,label", *rows, "a film, fine,a"]),
        "no label": "\n".join(["text", *(row.partition(",")[0] for row in rows)]),
        "one class": "\n".join(["text,label", *(row[:-1] + "a" for row in rows)]),
        "other header": "\n".join(["said,by", *rows]),
    }
    for what, content in contents.items():
        path.write_text(content)
        trial.reads("train", path, "--out", out, *TINY, what=f"csv with {what}")
    path.write_text(contents["an empty sentence"])
    trial.reads("predict", sentence_run, path, "-o", out, what="csv with an empty sentence")
    assert "line 14" in trial.command("predict", sentence_run, path).err, "the message names the line"
    trial.refuses(at_least=17)
