"""``protgnn explain`` and ``protgnn prototypes``: why a model decides as it does, and what it knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import print_error, print_json, print_prototypes, print_reasoning, prototype_rows, say
from protgnn.cli.options import EvidenceSource, Json, RunFolder, SkipBad, Smiles, TextColumn
from protgnn.cli.preflight import check_input
from protgnn.errors import ProtGNNError

if TYPE_CHECKING:
    from protgnn.data.network.instances import Instances
    from protgnn.explain.explanation import Reasoning


def explain(
    run: RunFolder,
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="One SMILES or sentence, a node's id, a file, or train, valid or test."),
    ],
    row: Annotated[int, typer.Option(help="Which graph of the input, from 0.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write: .svg, .png, .html or .json.")
    ] = None,
    theme: Annotated[str, typer.Option(help="Colours of an SVG or PNG: light or dark.")] = "light",
    rows: Annotated[int, typer.Option(min=1, help="How many prototypes to draw for each class.")] = 3,
    evidence: Annotated[
        EvidenceSource,
        typer.Option(help="model: what was computed; search: for a ProtGNN, the part most like each prototype."),
    ] = "model",
    smiles: Smiles = None,
    text: TextColumn = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Show how a prediction comes about.  Example: protgnn explain runs/demo "CC(=O)Nc1ccc(O)cc1" -o why.svg"""
    check_input(run, source, smiles, text)
    from protgnn.viz.save import check_suffix
    from protgnn.viz.theme import theme_of

    if output is not None:
        check_suffix(output)
    theme_of(theme)
    why = explain_input(run, source, row, {"smiles": smiles, "text": text, "skip_bad": skip_bad}, evidence)
    if as_json:
        print_json(why.to_json())
    elif output is None:
        print_reasoning(why)
    if output is not None:
        why.save(output, theme, rows)
        print_error(f"reasoning written to {output}")


def prototypes(run: RunFolder, as_json: Json = False) -> None:
    """Print what a model knows: each prototype and its subgraph.  Example: protgnn prototypes runs/demo"""
    from protgnn.training.run import read_run

    made = read_run(run)
    if made.prototypes is None:
        raise ProtGNNError(f"{run} has no prototypes: it holds a plain model or training that did not finish")
    if as_json:
        print_json(prototype_rows(made))
    else:
        print_prototypes(made)


def explain_input(
    folder: Path,
    source: str,
    row: int = 0,
    columns: dict[str, Any] | None = None,
    evidence: EvidenceSource = "model",
) -> Reasoning:
    """The reasoning of one instance of an input, by the model of a run directory.

    Raises:
        ProtGNNError: The run or the input cannot be read, or the input has no such row.
    """
    from protgnn.explain.explain_run import explain_run
    from protgnn.explain.explanation import RunContext
    from protgnn.explain.resolve_input import is_part, resolve_input
    from protgnn.explain.run_data import run_data, run_part
    from protgnn.training.run import load_model

    model, run = load_model(folder)
    train = None
    skipped: dict[int, str] = {}
    graphs: Instances
    if is_part(source):  # the data is read anyway, and holds what the prototypes were cut from
        everything = run_data(run)
        graphs, train = run_part(run, source, everything), run_part(run, "train", everything)
    else:
        graphs = resolve_input(run, source, **(columns or {}), say=say, on_skip=skipped.__setitem__)
    row = _place(graphs, row, skipped, source)
    if not 0 <= row < len(graphs):
        raise ProtGNNError(f"{source} has {len(graphs)} rows: choose --row from 0 to {len(graphs) - 1} (got {row})")
    if evidence == "search" and run.recipe.plus:
        say("a ProtGNN+ has evidence of its own, which is what is shown: --evidence search is for a ProtGNN")
    why = explain_run(model, run, graphs[row], RunContext.of(run, train), evidence)[0]
    return replace(why, among=graphs, number=row)


def _place(graphs: Instances, row: int, skipped: dict[int, str], source: str) -> int:
    """Where the graph of a row stands among those that could be read: rows are counted as ``predict`` counts them."""
    from protgnn.data.graph_set import GraphSet

    if not skipped or not isinstance(graphs, GraphSet) or graphs.lines is None:
        return row
    read = graphs.lines.tolist()
    lines = sorted([*read, *skipped])
    if not 0 <= row < len(lines):
        raise ProtGNNError(f"{source} has {len(lines)} rows: choose --row from 0 to {len(lines) - 1} (got {row})")
    if lines[row] in skipped:
        raise ProtGNNError(f"{source} line {lines[row]}: {skipped[lines[row]]}: choose another --row")
    return int(read.index(lines[row]))
