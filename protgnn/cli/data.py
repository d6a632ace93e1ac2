"""``protgnn data``: which datasets there are, and what is in one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from protgnn.cli.console import cell, print_json, print_line, print_table, short, table
from protgnn.cli.options import (
    Bins,
    Dedupe,
    Directed,
    Json,
    Label,
    SkipBad,
    Smiles,
    Standardise,
    Task,
    TextColumn,
    Threshold,
    Words,
)
from protgnn.cli.preflight import check_data

data_app = typer.Typer(help="List and describe datasets.", no_args_is_help=True)


@data_app.command("list")
def data_list(as_json: Json = False) -> None:
    """List the datasets that are known by name.  Example: protgnn data list"""
    from protgnn.datasets.load import catalogue

    entries = catalogue()
    if as_json:
        print_json([vars(entry) for entry in entries])
        return
    listed = table("name", "task", "description", "available")
    listed.columns[0].no_wrap = True
    motifs = []
    for entry in entries:
        name, _, variant = entry.name.partition(":")
        if variant and name == "motif-molecules":
            motifs.append(variant)
        else:
            row = (entry.name, entry.task, entry.description, "yes" if entry.available else "no")
            listed.add_row(*map(cell, row))
    print_table(listed)
    for line in (
        f"\nOther motifs, as in motif-molecules:nitro: {', '.join(motifs)}.",
        "Datasets that are not available are read from the folder that PROTGNN_DATA names, or downloaded (except "
        "benzene and graph-…).",
        "Any other name from TUDataset or MoleculeNet is downloaded if there is a network.",
        "Your own data, by path: a table of SMILES or sentences (CSV, TSV, Excel), an SDF, .smi, CoNLL-U or JSONL "
        "file, or a TU folder;",
        "a network as a folder with nodes.csv and edges.csv, or as a saved PyG Data (.pt, .safetensors).",
    ):
        print_line(line, wrap=True)


@data_app.command("show")
def data_show(
    name: Annotated[str, typer.Argument(metavar="DATA", help="A name or a path.")],
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    task: Task = None,
    directed: Directed = False,
    words: Words = None,
    threshold: Threshold = None,
    bins: Bins = None,
    standardise: Standardise = False,
    dedupe: Dedupe = False,
    as_json: Json = False,
) -> None:
    """Show the statistics and the source of a dataset.  Example: protgnn data show solubility"""
    check_data(name, smiles, text, label)
    from protgnn.datasets.load import load

    data = load(
        name,
        smiles=smiles,
        text=text,
        label=label,
        skip_bad=skip_bad,
        task=task,
        directed=directed,
        threshold=threshold,
        bins=bins,
        standardise=standardise,
        dedupe=dedupe,
        words=words,
    )
    figures = data.statistics()
    if as_json:
        described = {"name": data.name, "description": data.description, "origin": data.origin}
        print_json({**described, **figures, "notes": data.notes})
        return
    print_line(f"{data.name}  {data.description}", bold=len(data.name))
    print_line(f"source: {data.origin}\n")
    print_table(_statistics_table(figures))
    for note in data.notes:
        print_line(f"note: {note}")


def _statistics_table(figures: dict[str, Any]) -> Any:
    shown = table()
    for key, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {short(number)}" for part, number in value.items())
        shown.add_row(cell(key.replace("_", " ")), cell(short(value)))
    return shown
