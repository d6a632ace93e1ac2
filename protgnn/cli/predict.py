"""``protgnn predict``: the class of every row of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protgnn.cli.console import print_csv, print_error, print_json, say
from protgnn.cli.options import Json, RunFolder, SkipBad, Smiles, TextColumn
from protgnn.cli.preflight import check_input


def predict(
    run: RunFolder,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="CSV or text of SMILES or sentences, a single one, JSONL, CoNLL-U, TU folder, network.",
        ),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="CSV to write; else printed.")] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="A column of the CSV to repeat in the output, such as an id.")
    ] = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Predict the class of every row.  Example: protgnn predict runs/solubility mols.csv -o out.csv"""
    check_input(run, source, smiles, text)
    from protgnn.explain.explanation import RunContext
    from protgnn.explain.predictions import predictions, with_columns, with_errors
    from protgnn.explain.resolve_input import resolve_input
    from protgnn.explain.unknown_words import strange_among, unknown_words
    from protgnn.explain.unseen_elements import unseen_among
    from protgnn.io.atomic_files import csv_text, write_text
    from protgnn.training.run import load_model

    model, made = load_model(run)
    skipped: list[tuple[int, str]] = []
    graphs = resolve_input(
        made,
        source,
        smiles=smiles,
        text=text,
        skip_bad=skip_bad,
        labels="ignored",
        say=say,
        on_skip=lambda line, fault: skipped.append((line, fault)),
    )
    rows = predictions(model, graphs, RunContext.of(made))
    rows = with_errors(rows, skipped) if skip_bad else rows
    if keep:
        rows = with_columns(rows, source, keep)
    if as_json:
        print_json(rows)
    elif output is None:
        print_csv(csv_text(rows))
    if output is not None:
        write_text(output, csv_text(rows))
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
