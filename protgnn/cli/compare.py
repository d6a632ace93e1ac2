"""``protgnn compare``: two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import SCORES, cell, noun_of, print_json, print_line, print_table, said_of_known, say, table
from protgnn.cli.options import Json, Label, RunFolder, SkipBad, Smiles, TextColumn
from protgnn.cli.preflight import check_data, check_run

if TYPE_CHECKING:
    from protgnn.explain.compare_runs import PrototypePair, RunComparison


def compare(
    run: RunFolder,
    second: Annotated[Path, typer.Argument(metavar="RUN2", help="Another run directory.")],
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Labelled data; by default what both runs held out.")
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="How many disagreements to print.")] = 20,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Compare two runs: scores, disagreements, prototypes.  Example: protgnn compare runs/demo runs/edited"""
    check_run(run)
    check_run(second)
    if data is not None:
        check_data(data, smiles, text, label, to_learn=False)
    from protgnn.explain.compare_runs import compare_runs, held_out_in_both
    from protgnn.explain.describe import count
    from protgnn.explain.resolve_input import is_run_data, learned_from, resolve_input
    from protgnn.training.run import load_model

    one, two = load_model(run), load_model(second)
    if data is None:
        graphs, others, notes = held_out_in_both(one[1], two[1])
    else:
        columns: dict[str, Any] = {"smiles": smiles, "text": text, "label": label, "skip_bad": skip_bad}
        graphs = resolve_input(one[1], data, **columns, labels="needed", say=say)
        others, notes = resolve_input(two[1], data, **columns, labels="needed"), ()
        if is_run_data(one[1], graphs) or is_run_data(two[1], others):
            notes = ("a model was trained on part of this data: leave out DATA to compare on what was held out",)
        elif known := max(learned_from(one[1], graphs), learned_from(two[1], others)):
            notes = (said_of_known(known, count(len(graphs), noun_of(one[1]))),)
    found = compare_runs(one, two, graphs, others, notes)
    if as_json:
        return print_json({"first": str(run), "second": str(second), **found.to_json()})
    for note in found.notes:
        say(note)
    noun = noun_of(one[1])
    print_line(f"{count(found.n, noun)}; first: {run}, second: {second}", bold=True)
    _print(found, noun, rows)


def _print(found: RunComparison, noun: str, rows: int) -> None:
    """Scores, then what they disagree on, then prototypes."""
    shown = table("score", "first", "second", "difference", "95% interval", padding=False)
    for key, name in SCORES.items():
        gap, values = found.differences.get(key), [scores.get(key) for scores in found.scores]
        if gap is not None and None not in values:
            between = f"{gap.low:+.3f} to {gap.high:+.3f}"
            shown.add_row(cell(name), *(f"{value:.4f}" for value in values), f"{gap.difference:+.4f}", between)
    print_table(shown)
    test = found.mcnemar
    said = f"only the first is right on {test.only_first}, only the second on {test.only_second}"
    if test.only_first or test.only_second:
        said += f"; a split at least this uneven would arise by chance with probability {test.p_value:.2g} (McNemar)"
    print_line(said, wrap=True)
    _print_disagreements(found, noun, rows)
    if found.prototypes:
        print_line("\nprototypes; those that look the same share a row", bold=True)
        shown = table("class", "first", "weight", "second", "weight", "prototype", padding=False)
        for pair in found.prototypes:
            shown.add_row(*_prototype_cells(pair))
        print_table(shown)


def _print_disagreements(found: RunComparison, noun: str, rows: int) -> None:
    count = len(found.disagreements)
    print_line(f"\nthey disagree on {count} of {found.n}", bold=True)
    if not count or not rows:
        return
    shown = table("", "class", "first", "second", noun, padding=False)
    for one in found.disagreements[:rows]:
        said = [f"{opinion.predicted} {opinion.probability:.2f}" for opinion in (one.first, one.second)]
        cells = (str(one.number), one.truth, *said, one.name or "")
        shown.add_row(*map(cell, cells))
    print_table(shown)
    if count > rows:
        print_line(f"… and {count - rows} more: --rows {count} shows all")


def _prototype_cells(pair: PrototypePair) -> list[Any]:
    def text(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)

    numbers = (text(pair.first), text(pair.first_weight), text(pair.second), text(pair.second_weight))
    return [cell(pair.label), *numbers, cell(pair.description)]
