"""``protgnn demo``: training, scores, prototypes, a reasoning and a report in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protgnn.cli.console import print_line, print_prototypes, print_reasoning, print_scores, warn
from protgnn.cli.explain import explain_input
from protgnn.cli.report import write_report
from protgnn.cli.train import recipe_from_options, train_run
from protgnn.errors import ProtGNNError

KNOWN = {
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",
    "aspirin": "CC(=O)Oc1ccccc1C(=O)O",
    "ibuprofen": "CC(C)Cc1ccc(C(C)C(=O)O)cc1",
    "caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
}
"""Molecules that everybody knows; the first in which a part speaks for what is predicted is shown."""
DATA = "solubility"


def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="The run directory to write.")] = Path("runs/demo"),
) -> None:
    """Train on the built-in molecules and show the result.  Example: protgnn demo"""
    from protgnn.training.scores import score_warnings

    # Enough epochs to be good, few enough to wait for.
    recipe = recipe_from_options("default", None, None, ["epochs=120", "plus=true"], None)
    _refuse_to_replace(out_folder, DATA)
    print_line("Water solubility of real molecules: low, medium or high?", bold=True)
    columns = {"smiles": None, "label": None, "skip_bad": False}
    run = train_run(DATA, columns, recipe, out_folder, overwrite=True)
    print_scores(run.scores["test"], run)
    warn(score_warnings(run.scores))
    print_line("\nWhat it learned: parts of training molecules, and how much each counts", bold=True)
    print_prototypes(run)
    whys = {name: explain_input(out_folder, smiles) for name, smiles in KNOWN.items()}
    shown = next((name for name, why in whys.items() if why.winning() is not None), next(iter(KNOWN)))
    print_line(f"\nHow it decides: {shown}", bold=True)
    print_reasoning(whys[shown])
    path = write_report(out_folder)
    print_line(f"\nThe same with pictures: open {path} in a browser.")
    print_line(f"The model is in {out_folder}. Ask it about a molecule of your own:")
    print_line(f'  protgnn explain {out_folder} "{KNOWN[shown]}" -o why.svg')
    print_line("Or explore it in the browser: draw and change molecules, and edit its prototypes:")
    print_line(f"  protgnn explore {out_folder}")


def _refuse_to_replace(folder: Path, source: str) -> None:
    """The demo may replace an earlier demo, not somebody's work."""
    from protgnn.training.folder_checks import RUN_FILE
    from protgnn.training.run import read_run

    if (folder / RUN_FILE).exists():
        data = read_run(folder).data
        if data is None or data.source != source:
            raise ProtGNNError(f"{folder} holds a run on other data: choose another --out")
