"""``protgnn explain``: why a model decides as it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import print_error, print_json, print_reasoning, say
from protgnn.cli.options import EvidenceSource, Json, RunFolder, SkipBad, Smiles, TextColumn, Workers
from protgnn.cli.preflight import check_input
from protgnn.cli.signals import stoppable
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
    row: Annotated[
        int | None, typer.Option(help="Which row of the input, counted from 0; by default the first.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write: .svg, .png, .html or .json; all rows of a table as .csv, .jsonl or .parquet.",
        ),
    ] = None,
    theme: Annotated[str, typer.Option(help="Colours of an SVG or PNG: light or dark.")] = "light",
    rows: Annotated[int, typer.Option(min=1, help="How many prototypes to draw for each class.")] = 3,
    arcs: Annotated[bool, typer.Option("--arcs", help="Draw the dependencies of a sentence above its words.")] = False,
    evidence: Annotated[
        EvidenceSource,
        typer.Option(help="model: what was computed; search: for a ProtGNN, the part most like each prototype."),
    ] = "model",
    smiles: Smiles = None,
    text: TextColumn = None,
    skip_bad: SkipBad = False,
    workers: Workers = 1,
    as_json: Json = False,
) -> None:
    """Explain a prediction.  Example: protgnn explain runs/demo "CC(=O)Nc1ccc(O)cc1" -o why.svg"""
    check_input(run, source, smiles, text)
    from protgnn.io.row_formats import is_rows_file
    from protgnn.viz.save import check_suffix
    from protgnn.viz.theme import theme_of

    columns = {"smiles": smiles, "text": text, "skip_bad": skip_bad}
    if output is not None and is_rows_file(output):
        if row is not None or as_json:
            raise ProtGNNError(f"{output} gets all rows: leave --row and --json out, or choose another kind of file")
        return explain_table(run, source, output, columns, evidence, workers)
    if output is not None:
        check_suffix(output)
    theme_of(theme)
    why = explain_input(run, source, row or 0, columns, evidence)
    if as_json:
        print_json(why.to_json())
    elif output is None:
        print_reasoning(why)
    if output is not None:
        why.save(output, theme, rows, arcs)
        print_error(f"explanation written to {output}")


def explain_table(
    folder: Path, source: str, output: Path, columns: dict[str, Any], evidence: EvidenceSource, workers: int
) -> None:
    """Explain every row of a table: as JSON lines a reasoning for each, else a row for each of its prototypes.

    Raises:
        ProtGNNError: The run, the input or the output is none.
    """
    from protgnn.datasets.new_input import existing_path
    from protgnn.datasets.readers.options import ReadOptions
    from protgnn.datasets.row_stream import is_streamed
    from protgnn.explain.stream import TableStream
    from protgnn.io.row_formats import RowFormat
    from protgnn.training.run import load_model

    RowFormat.of(output)  # a format that cannot be written is told at once
    model, run = load_model(folder)
    path = existing_path(source)
    if path is None or not is_streamed(path, run.schema):
        raise ProtGNNError(f"{source} is not a table: explain one row with --row N -o why.json, or give a CSV")
    options = ReadOptions(**columns, remembered={} if run.data is None else run.data.options)
    with stoppable():
        stream = TableStream(model, run, folder, path, options, "explain", evidence=evidence)
        tally = stream.run(output, workers=workers, say=say)
    print_error(f"explanations of {tally.rows - tally.bad} rows written to {output}")


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
        say("a ProtGNN+ has evidence of its own, which is shown: --evidence search is only for a ProtGNN")
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
