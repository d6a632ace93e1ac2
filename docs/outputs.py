"""Run the commands that the documentation shows and store what they print: ``make docs-outputs``.

Each command's output goes to ``docs/outputs/NAME.txt``, which the pages include; blocks of the README that are marked
``<!-- output: NAME -->`` are replaced by it. ``PROTGNN_DATA`` names a folder with ``bbbp.csv``, the example of a CSV of
one's own, and MUTAG. Names may be given: ``python docs/outputs.py explain predict``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
OUTPUTS, README = DOCS / "outputs", DOCS.parent / "README.md"
WORK = DOCS.parent / "runs" / "docs-outputs"
MOLECULE = "CC(=O)Nc1ccc(O)cc1"
PENICILLIN = "CC1(C)SC2C(NC(=O)Cc3ccccc3)C(=O)N2C1C(=O)O"

OWN_CSV = ["train", "mols.csv", "--smiles", "smiles", "--label", "BBBP"]

OBJECTIONS = ["--forbid", "1"]
"""A prototype of non-mutagens with a nitro group on an aromatic ring, as `prototypes` prints it."""

COMMANDS = {
    "demo": ["demo", "--out", "runs/demo"],
    "explain": ["explain", "runs/demo", MOLECULE],
    "evaluate": ["evaluate", "runs/demo", "--json"],
    "train-refused": [*OWN_CSV, "--plus", "--out", "runs/mine"],
    "train": [*OWN_CSV, "--plus", "--skip-bad", "--out", "runs/mine"],
    "why": ["explain", "runs/mine", PENICILLIN],
    "predict": ["predict", "runs/mine", "new.csv", "--keep", "id"],
    "data-list": ["data", "list"],
    "mutag": ["train", "mutag", "--plus", "--out", "runs/mutag"],
    "prototypes": ["prototypes", "runs/mutag"],
    "edit": ["prototypes", "runs/mutag", *OBJECTIONS, "--out", "runs/edited"],
    "compare": ["compare", "runs/mutag", "runs/edited"],
}
"""Arguments of ``protgnn``, in the order in which they build on each other."""

NEW = "id,smiles\nethanol,CCO\nparacetamol,CC(=O)Nc1ccc(O)cc1\ncaffeine,Cn1cnc2c1c(=O)n(C)c(=O)n2C\n"
"""Molecules to predict."""

BLOCK = re.compile(r"(<!-- output: ([\w-]+) -->\n```text\n).*?(```)", re.DOTALL)


def output_of(arguments: list[str]) -> str:
    """What a command prints, without the progress lines and the spaces at line ends."""
    environment = {**os.environ, "COLUMNS": "80", "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "protgnn", *arguments],
        cwd=WORK,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in done.stdout.splitlines() if not line.startswith("Training ")]
    return "\n".join(lines).strip("\n") + "\n"


def with_outputs(text: str) -> str:
    """The text with every marked block replaced by the stored output."""
    return BLOCK.sub(lambda match: match[1] + (OUTPUTS / f"{match[2]}.txt").read_text() + match[3], text)


def main() -> None:
    if "PROTGNN_DATA" not in os.environ:
        sys.exit("set PROTGNN_DATA to a folder with bbbp.csv")
    chosen = sys.argv[1:] or list(COMMANDS)
    WORK.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(os.environ["PROTGNN_DATA"]) / "bbbp.csv", WORK / "mols.csv")
    (WORK / "new.csv").write_text(NEW)
    for name in chosen:
        out = COMMANDS[name][-1]
        if name in ("demo", "train", "mutag", "edit"):
            shutil.rmtree(WORK / out, ignore_errors=True)
        (OUTPUTS / f"{name}.txt").write_text(output_of(COMMANDS[name]))
    README.write_text(with_outputs(README.read_text()))


if __name__ == "__main__":
    main()
