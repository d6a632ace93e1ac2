"""``protgnn predict``: the class of every row of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import noun_of, print_csv, print_error, print_json, say, show_csv, show_json
from protgnn.cli.options import Json, Neighbours, RunFolder, SkipBad, Smiles, TextColumn, Workers
from protgnn.cli.preflight import check_input
from protgnn.cli.signals import stoppable
from protgnn.errors import DataError

if TYPE_CHECKING:
    from protgnn.explain.stream import Tally
    from protgnn.model.classifier import GraphClassifier
    from protgnn.training.run import Run


def predict(
    run: RunFolder,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="CSV or text file of SMILES or sentences, a single one, Parquet, JSONL, CoNLL-U, TU folder, network.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File to write: .csv or .jsonl (also .gz), or .parquet; by default it is printed."
        ),
    ] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="A column of the table to copy to the output, such as an id.")
    ] = None,
    skip_bad: SkipBad = False,
    workers: Workers = 1,
    neighbours: Neighbours = "trained",
    as_json: Json = False,
) -> None:
    """Predict the class of every row.  Example: protgnn predict runs/solubility mols.csv -o out.csv"""
    check_input(run, source, smiles, text)
    from protgnn.datasets.new_input import existing_path
    from protgnn.datasets.readers.options import ReadOptions
    from protgnn.datasets.row_stream import is_streamed
    from protgnn.explain.resolve_input import is_part
    from protgnn.explain.stream import TableStream
    from protgnn.io.row_formats import RowFormat

    form = RowFormat.of(output)  # a format that cannot be written is told at once
    model, made = _opened(run)
    path = None if is_part(source) else existing_path(source)
    if path is None or not is_streamed(path, made.schema):
        if keep:
            raise DataError(f"{source}: leave --keep out, which is for the columns of a table")
        columns = {"smiles": smiles, "text": text, "skip_bad": skip_bad}
        return _predict_at_once(run, source, output, columns, neighbours == "all", as_json)
    if neighbours == "all":
        raise DataError(f"{source}: leave --neighbours out, which is for networks")
    options = ReadOptions(smiles, text, skip_bad=skip_bad, remembered={} if made.data is None else made.data.options)

    def stream() -> TableStream:
        return TableStream(model, made, run, path, options, keep=tuple(keep or ()))

    tally: Tally | None = None
    with stoppable():
        if output is not None:
            tally = stream().run(output, workers=workers, say=say)
            without = f", and {tally.bad} rows without one: the column `error` says why" if tally.bad else ""
            print_error(f"{tally.rows - tally.bad} predictions written to {output}{without}")
        if as_json:
            stream().run(None, show_json, RowFormat("jsonl"), workers, say if tally is None else _silent)
        elif output is None:
            stream().run(None, show_csv, form, workers, say)


def _opened(run: Path) -> tuple[GraphClassifier, Run]:
    """The model of a run; says what the column ``looks like`` means where whole graphs are compared."""
    from protgnn.model.classifier import ProtGNN
    from protgnn.training.run import load_model

    model, made = load_model(run)
    if isinstance(model, ProtGNN) and not model.compares_evidence:
        whole = {"node": "the neighbourhood of a node", "pair": "the neighbourhood of a pair"}
        what = whole.get(noun_of(made), f"a whole {noun_of(made)}")
        say(f"the column `looks like` names the prototype that {what} is close to in the eyes of the model")
    return model, made


def _silent(text: str) -> None:
    """All was said before."""


def _predict_at_once(
    run: Path, source: str, output: Path | None, columns: dict[str, Any], all_neighbours: bool, as_json: bool
) -> None:
    """Predict what is no table: graphs, sentences that are parsed, a network, a dataset, or a single one."""
    from protgnn.explain.explanation import RunContext
    from protgnn.explain.predictions import predictions, with_errors
    from protgnn.explain.resolve_input import from_all_neighbours, is_slow, resolve_input
    from protgnn.explain.unknown_words import strange_among, unknown_words
    from protgnn.explain.unseen_elements import unseen_among
    from protgnn.io.atomic_files import csv_text
    from protgnn.io.partial_output import write_rows
    from protgnn.training.run import load_model

    model, made = load_model(run)
    skipped: list[tuple[int, str]] = []
    graphs = resolve_input(
        made,
        source,
        **columns,
        labels="ignored",
        say=say,
        on_skip=lambda line, fault: skipped.append((line, fault)),
    )
    graphs = from_all_neighbours(graphs, source) if all_neighbours else graphs
    if is_slow(graphs):
        say(f"each of {len(graphs)} needs a sample of the network of its own: --neighbours all takes one pass for all")
    rows = predictions(model, graphs, RunContext.of(made))
    rows = with_errors(rows, skipped) if columns["skip_bad"] else rows
    if as_json:
        print_json(rows)
    elif output is None:
        print_csv(csv_text(rows))
    if output is not None:
        write_rows(output, rows)
        without = f", and {len(skipped)} rows without one: the column `error` says why" if skipped else ""
        print_error(f"{len(rows) - len(skipped)} predictions written to {output}{without}")
    strange = sum(row.get("familiar") == "no" for row in rows)
    if strange:
        known = len(rows) - len(skipped)
        say(f"{strange} of {known} are unlike anything the model knows; the column `familiar` says which")
    if unseen := unseen_among(graphs, made):
        say(unseen)
    if strange_words := strange_among(unknown_words(name, made.vocabulary) for name in graphs.names or ()):
        say(strange_words)
