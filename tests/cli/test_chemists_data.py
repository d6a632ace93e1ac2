"""What was said of a file when a model was trained counts for the files that it predicts; mistakes are told at once."""

import json
import subprocess
import sys

import pytest

from protgnn.cli.main import main
from tests.conftest import TINY

FEW = [*TINY[:4], "--set", "prototypes=1", "--set", "anchored_epochs=0", "--set", "search_iterations=1"]


@pytest.fixture(scope="module")
def measured_run(tmp_path_factory):
    """A run on salts with measured values in columns that no one would guess."""
    folder = tmp_path_factory.mktemp("measured")
    rows = [f"{n};{'C' * n}C(=O)[O-].[Na+];{3 + n % 7},5" for n in range(1, 41)]
    (folder / "mine.csv").write_text("\n".join(["no;Struktur;pKi [M]", *rows]))
    options = ["--smiles", "Struktur", "--label", "pKi [M]", "--bins", "2", "--standardise", "--dedupe"]
    with pytest.raises(SystemExit) as end:
        main(["train", str(folder / "mine.csv"), *options, "--out", str(folder / "run"), *FEW])
    assert not end.value.code
    return folder


def test_columns_ranges_and_standardising_are_remembered(protgnn_command, measured_run):
    stored = json.loads((measured_run / "run" / "run.json").read_text())
    assert stored["data"]["options"] == {
        "smiles": "Struktur",
        "label": "pKi [M]",
        "skip_bad": False,
        "threshold": "6.5",
        "standardise": True,
        "dedupe": True,
    }
    new = measured_run / "new.csv"
    new.write_text("Struktur,smiles,pKi [M],mood\nCCCC(=O)[O-].[K+],1,5.5,x\nCCCCC(=O)O,2,8,y\nCCO,3,n.d.,y\n")
    predicted = protgnn_command("predict", measured_run / "run", new, "--json")
    assert [row["name"] for row in json.loads(predicted.out)] == ["CCCC(=O)O", "CCCCC(=O)O", "CCO"]
    scored = json.loads(protgnn_command("evaluate", measured_run / "run", new, "--json").out)
    assert {name: one["n"] for name, one in scored["per_class"].items()} == {"< 6.5": 1, ">= 6.5": 1}
    told = [
        json.loads(protgnn_command("explain", measured_run / "run", smiles, "--json").out)["logits"]
        for smiles in ("CCCC(=O)[O-].[Na+]", "CCCC(=O)O")
    ]
    assert told[0] == told[1]
    assert protgnn_command("evaluate", measured_run / "run").status == 0


def test_the_estimator_standardises_as_its_run_did(measured_run):
    import protgnn

    model = protgnn.ProtGNNClassifier.from_run(measured_run / "run")
    salt, acid = model.predict_logits(["CCCC(=O)[O-].[Na+]", "CCCC(=O)O"])
    assert salt.tolist() == pytest.approx(acid.tolist(), abs=1e-6)


def test_mistakes_are_told_before_anything_heavy_is_imported(measured_run):
    csv, run = measured_run / "mine.csv", measured_run / "run"
    commands = {
        ("train", "none.csv", "--out", "new"): "none.csv: there is no such file or folder",
        ("train", str(csv), "--out", str(run)): "holds a run already",
        ("train", str(csv), "--label", "x", "--smiles", "y", "--out", "new"): "has no column 'x'",
        ("train", str(csv), "--out", "new", "--smiles", "Struktur"): "which column holds the label?",
        ("predict", str(run), "none.csv"): "none.csv: there is no such file",
        ("predict", "nothing", "CCO"): "There is no run directory nothing",
        ("evaluate", str(run), str(csv), "--label", "x"): "has no column 'x'",
    }
    program = (
        "import json, sys, io, contextlib\n"
        "from protgnn.cli.main import main\n"
        "for arguments in json.loads(sys.argv[1]):\n"
        "    try: main(arguments)\n"
        "    except SystemExit as end: assert end.code == 1, end.code\n"
        "print(*(name for name in ('torch', 'sklearn', 'scipy') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(list(commands))], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
    said = done.stderr.split("error: ")[1:]
    assert len(said) == len(commands)
    for message, words in zip(said, commands.values(), strict=True):
        assert words in message.replace("\n", " ")
    assert "has no column 'y'" in said[2]
