"""The options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

EvidenceSource = Literal["model", "search"]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Smiles = Annotated[str | None, typer.Option(help="Column with the SMILES.")]
TextColumn = Annotated[str | None, typer.Option("--text", help="Column with the sentences.")]
Label = Annotated[str | None, typer.Option(help="Column, or comment of a CoNLL-U file, with the class.")]
Threshold = Annotated[
    str | None, typer.Option(help="Cut measured values into two classes: below this value, and the rest.")
]
Bins = Annotated[
    str | None, typer.Option(help='Cut measured values into this many classes of about equal size, or at "1,2.5".')
]
Standardise = Annotated[bool, typer.Option("--standardise", help="Strip molecules of salts and charges.")]
Dedupe = Annotated[
    bool, typer.Option("--dedupe", help="Count each molecule once; leave out those whose rows disagree on the label.")
]
Task = Annotated[
    Literal["nodes", "links"] | None, typer.Option(help="For a network: classify its nodes, or predict its links.")
]
Directed = Annotated[bool, typer.Option("--directed", help="The edges of a network have a direction.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip molecules and sentences that cannot be read, and count them.")
]
Workers = Annotated[int, typer.Option(min=1, help="How many processes read, predict and explain the rows of a table.")]
Neighbours = Annotated[
    Literal["trained", "all"],
    typer.Option(
        help="For a network: trained (as many neighbours of a node as in training) or all (one pass for all nodes)."
    ),
]
Words = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help="For sentences: static word vectors (the default), contextual words, or a Hugging Face model folder.",
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
