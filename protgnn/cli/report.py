"""``protgnn report``: one page on what a model knows and how it decides."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from protgnn.cli.console import print_line, say
from protgnn.cli.options import Label, RunFolder, SkipBad, Smiles, TextColumn
from protgnn.errors import ProtGNNError


def report(
    run: RunFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Graphs to explain; by default the run's test part.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The HTML file to write; by default report.html in the run.")
    ] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write one HTML page on what a model knows and how it decides.  Example: protgnn report runs/demo -o demo.html"""
    path = write_report(run, data, output, {"smiles": smiles, "text": text, "label": label, "skip_bad": skip_bad})
    print_line(f"report: {path}")


def write_report(
    folder: Path, data: str | None = None, output: Path | None = None, columns: dict[str, Any] | None = None
) -> Path:
    """Write the report of a run directory, on its test part or on other data, and return where it is.

    Raises:
        ProtGNNError: The run or the data cannot be read, or the page cannot be written there.
    """
    from protgnn.explain.resolve_input import resolve_input
    from protgnn.explain.run_data import run_data, run_part
    from protgnn.io.atomic_files import write_text
    from protgnn.training.run import load_model
    from protgnn.training.run_folder import report_path
    from protgnn.viz.report import report_page

    path = report_path(folder) if output is None else output
    if path.suffix.lower() not in (".html", ".htm"):
        raise ProtGNNError(f"{path}: a report is a web page, expected a name that ends in .html")
    model, run = load_model(folder)
    graphs, train = None, None
    try:
        everything = run_data(run)
        graphs, train = run_part(run, "test", everything), run_part(run, "train", everything)
    except ProtGNNError as problem:
        if data is None:
            say(f"no explanations in the report: {problem}")
    if data is not None:
        graphs = resolve_input(run, data, **(columns or {}), say=say)
    write_text(path, report_page(model, run, folder, graphs, "given" if data else "test", train))
    return path
