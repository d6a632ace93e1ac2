"""``protgnn prototypes``: what a model knows, and edits of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protgnn.cli.console import (
    cell,
    noun_of,
    print_error,
    print_json,
    print_line,
    print_prototypes,
    print_table,
    prototype_rows,
    say,
    table,
)
from protgnn.cli.options import Json, RunFolder
from protgnn.cli.preflight import check_run
from protgnn.errors import ProtGNNError

if TYPE_CHECKING:
    from protgnn.editing.edit_plan import EditResult
    from protgnn.editing.editor import PrototypeEditor
    from protgnn.training.edits import EditStep

SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "loss": "cross-entropy",
}


def prototypes(
    run: RunFolder,
    remove: Annotated[list[int] | None, typer.Option(metavar="N", help="Remove prototype N.")] = None,
    require: Annotated[list[int] | None, typer.Option(metavar="N", help="Keep prototype N in later steps.")] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Never let PART be a prototype: a SMILES, words, #graph:nodes, or a prototype's number.",
        ),
    ] = None,
    replace: Annotated[list[str] | None, typer.Option(metavar="N=PART", help="Replace prototype N by PART.")] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="PART", help='Add PART as a prototype; "class: PART" names its class.'),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last edit.")] = False,
    retrain: Annotated[bool, typer.Option("--retrain", help="Continue training with the edits kept.")] = False,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most this many epochs of --retrain.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Show the edits so far.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where to store the edited run; without it, edits are only tried out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print or edit the prototypes of a model.  Example: protgnn prototypes runs/demo --remove 3 --out runs/edited"""
    check_run(run)
    asked = {"remove": remove, "require": require, "forbid": forbid, "replace": replace, "add": add}
    wanted = {name: value for name, value in asked.items() if value}
    if undo and (wanted or retrain):
        raise ProtGNNError("--undo goes alone: undo the last edit first, then make another")
    if not (wanted or undo or retrain):
        if out is not None or epochs is not None:
            raise ProtGNNError("There is nothing to store: name an edit, such as --remove 3")
        return _show(run, history, as_json)
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ProtGNNError(f"{out} is not empty: choose another --out, as the edited model becomes a new run")
    from protgnn.editing.editor import PrototypeEditor

    editor = PrototypeEditor.of_run(run)
    results = []
    if undo:
        results.append(editor.undo())
    if wanted:
        results.append(editor.edit(**_parsed(wanted)))
    if retrain:
        results.append(_retrained(editor, epochs))
    _print_results(editor, results, out, as_json)
    if out is not None:
        editor.save(out)
        if not as_json:
            print_line(f"run: {out}")


def _parsed(wanted: dict[str, Any]) -> dict[str, Any]:
    """The options as the library takes them: numbers as numbers, replacements by number."""
    found = dict(wanted)
    if "forbid" in found:
        found["forbid"] = [int(one) if one.strip().isdecimal() else one for one in found["forbid"]]
    if "replace" in found:
        pairs = [one.partition("=") for one in found["replace"]]
        for number, _, part in pairs:
            if not number.strip().isdecimal() or not part.strip():
                raise ProtGNNError(f'--replace takes a number and a part, as in 2="c1ccccc1" (got {number}={part})')
        numbers = [int(number) for number, _, _ in pairs]
        if len(set(numbers)) < len(numbers):
            raise ProtGNNError("--replace names one prototype twice")
        found["replace"] = {int(number): part.strip() for number, _, part in pairs}
    return found


def _retrained(editor: PrototypeEditor, epochs: int | None) -> EditResult:
    from protgnn.io.progress import ProgressBar

    most = epochs or editor.run.recipe.anchored_epochs
    with ProgressBar("Retraining", most) as bar:
        return editor.retrain(epochs, lambda state: bar.update(min(state.epoch, most), state.summary()))


def _print_results(editor: PrototypeEditor, results: list[EditResult], out: Path | None, as_json: bool) -> None:
    """Scores before and after, and the prototypes as they are now."""
    if as_json:
        stored = None if out is None else str(out)
        steps = [result.to_json() for result in results]
        return print_json({"steps": steps, "prototypes": prototype_rows(editor.run), "run": stored})
    for result in results:
        for one in result.done:
            print_line(one)
        for note in result.notes:
            say(note)
    print_line(f"\non {results[-1].after['n']} validation {noun_of(editor.run)}s", bold=True)
    shown = table("score", "before", "after", padding=False)
    before, after = results[0].before, results[-1].after
    for key, name in SCORES.items():
        if before.get(key) is not None and after.get(key) is not None:
            shown.add_row(cell(name), f"{before[key]:.4f}", f"{after[key]:.4f}")
    print_table(shown)
    print_line("")
    print_prototypes(editor.run)
    if out is None:
        print_error("note: nothing was stored; name a folder with --out to keep the edited run")


def _show(folder: Path, history: bool, as_json: bool) -> None:
    """The prototypes of a run as it is, or what was done to them."""
    from protgnn.training.run import read_run

    made = read_run(folder)
    if made.prototypes is None:
        raise ProtGNNError(f"{folder} has no prototypes: it holds a plain model or training that did not finish")
    if history:
        steps = [] if made.edits is None else made.edits.history
        return print_json([_step_json(step) for step in steps]) if as_json else _print_history(steps)
    if as_json:
        print_json(prototype_rows(made))
    else:
        print_prototypes(made)


def _step_json(step: EditStep) -> dict[str, Any]:
    return {"done": step.done, "before": step.before, "after": step.after, "can_undo": step.snapshot is not None}


def _print_history(steps: list[EditStep]) -> None:
    if not steps:
        return print_line("The prototypes have not been edited.")
    shown = table("", "before", "after", "edit")
    for number, step in enumerate(steps, 1):
        shown.add_row(str(number), f"{step.before:.4f}", f"{step.after:.4f}", cell("; ".join(step.done)))
    print_table(shown)
    print_line("\nbefore, after: accuracy on the validation part.")
