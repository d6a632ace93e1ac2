"""The command line: parse, call the library, print."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from protgnn.console import (
    err,
    evidence_advice,
    held_out,
    out,
    print_json,
    print_prototypes,
    print_scores,
    prototype_rows,
    say,
    short,
)
from protgnn.draw.figure_commands import figure_app
from protgnn.errors import ProtGNNError

if TYPE_CHECKING:
    from protgnn.explain.reasoning import Reasoning
    from protgnn.graphs.instances import Instances
    from protgnn.training.recipe import Recipe
    from protgnn.training.run import Run

# Threads that wait by spinning slow training down several times over on a machine that does something else as well.
# PyTorch reads this when it is first imported, which the commands do.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

PARACETAMOL = "CC(=O)Nc1ccc(O)cc1"

app = typer.Typer(
    help="Graph classifiers that show their work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
data_app = typer.Typer(help="What data there is.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(figure_app, name="figure")

EvidenceSource = Literal["model", "search"]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Smiles = Annotated[str | None, typer.Option(help="CSV column with the SMILES.")]
TextColumn = Annotated[str | None, typer.Option("--text", help="CSV column with the sentences.")]
Label = Annotated[str | None, typer.Option(help="CSV column, or comment of a CoNLL-U file, with the class.")]
Task = Annotated[
    Literal["nodes", "links"] | None, typer.Option(help="Of a network: classify its nodes, or predict its links.")
]
Directed = Annotated[bool, typer.Option("--directed", help="The edges of a network have a direction.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip and count molecules and sentences that cannot be read.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]


@data_app.command("list")
def data_list(as_json: Json = False) -> None:
    """List the datasets that have a name.  Example: protgnn data list"""
    from protgnn.graphs.datasets import catalogue

    entries = catalogue()
    if as_json:
        print_json([vars(entry) for entry in entries])
        return
    table = Table("name", "task", "what it is", "here now", box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    motifs = []
    for entry in entries:
        name, _, variant = entry.name.partition(":")
        if variant and name == "motif-molecules":
            motifs.append(variant)
        else:
            table.add_row(entry.name, entry.task, entry.description, "yes" if entry.available else "no")
    out.print(table)
    out.print(f"\nOther motifs, as in motif-molecules:nitro: {', '.join(motifs)}.")
    out.print("What is not here: read from the folder that PROTGNN_DATA names, or (not benzene, graph-…) downloaded.")
    out.print("Any other TUDataset or MoleculeNet name: downloaded where there is a network.")
    out.print(
        "Your own: a CSV of SMILES or sentences, a CoNLL-U file, a JSONL file of graphs, or a TU folder, by its path;"
    )
    out.print("a network as a folder with nodes.csv and edges.csv, or as a saved PyG Data (.pt, .safetensors).")


@data_app.command("show")
def data_show(
    name: Annotated[str, typer.Argument(metavar="DATA", help="A name or a path.")],
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    task: Task = None,
    directed: Directed = False,
    as_json: Json = False,
) -> None:
    """Show the statistics of a dataset and where it comes from.  Example: protgnn data show solubility"""
    from protgnn.graphs.datasets import load

    data = load(name, smiles=smiles, text=text, label=label, skip_bad=skip_bad, task=task, directed=directed)
    figures = data.statistics()
    if as_json:
        described = {"name": data.name, "description": data.description, "origin": data.origin}
        print_json({**described, **figures, "notes": data.notes})
        return
    out.print(f"[bold]{escape(data.name)}[/bold]  {data.description}\nfrom: {escape(data.origin)}\n", soft_wrap=True)
    table = Table(box=None, show_header=False)
    for key, value in figures.items():
        if isinstance(value, dict):
            value = ", ".join(f"{part} {short(number)}" for part, number in value.items())
        table.add_row(key.replace("_", " "), escape(short(value)))
    out.print(table)
    for text in data.notes:
        out.print(f"note: {text}", markup=False, soft_wrap=True)


@app.command()
def train(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A dataset's name, or a path to your own data.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The run directory to write.")],
    encoder: Annotated[str | None, typer.Option(help="gcn, gin, gat, or a PyG model: pyg:GraphSAGE.")] = None,
    plus: Annotated[
        bool, typer.Option("--plus", help="ProtGNN+: classify from the part most like each prototype.")
    ] = False,
    recipe: Annotated[str, typer.Option(help="default (our best) or paper (the paper's letter).")] = "default",
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any recipe key: --set epochs=40.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML or JSON file of recipe keys.")] = None,
    seed: Annotated[int | None, typer.Option(help="The one seed of the run.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run that is there.")] = False,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    task: Task = None,
    directed: Directed = False,
    as_json: Json = False,
) -> None:
    """Train a model.  Example: protgnn train solubility --encoder gin --out runs/solubility"""
    made = _recipe(recipe, encoder, seed, [*(settings or []), *(["plus=true"] if plus else [])], config)
    options: dict[str, Any] = {"smiles": smiles, "label": label, "skip_bad": skip_bad}
    options |= {} if text is None else {"text": text}
    options |= {"task": task} if task else {}
    options |= {"directed": True} if directed else {}
    done = _train(data, options, made, out_folder, resume, overwrite)
    scores = done.scores
    if as_json:
        print_json(scores)
        return
    print_scores(scores["test"], held_out(done))
    if advice := evidence_advice(done.recipe, scores):
        say(advice)
    out.print(f"run: {out_folder}", markup=False, soft_wrap=True)


@app.command()
def evaluate(
    run: RunFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Labelled data; else the run's test part.")
    ] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Theorem 1: which predictions of ProtGNN must survive in ProtGNN+.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Score a run on its test part or on other data.  Example: protgnn evaluate runs/solubility --json"""
    from protgnn.explain.asked import asked, is_own_data
    from protgnn.explain.own_data import own_part
    from protgnn.training.run import load_model
    from protgnn.training.task import noun
    from protgnn.training.train import evaluate as score_on

    model, made = load_model(run)
    columns: dict[str, Any] = {"smiles": smiles, "text": text, "label": label, "skip_bad": skip_bad}
    graphs = own_part(made, "test") if data is None else asked(made, data, **columns, labels="needed", say=say)
    if data is not None and is_own_data(made, graphs):
        say("the model was trained on a part of these graphs; without DATA it is scored on the held-out ones")
    if graphs.y is None:
        raise ProtGNNError(f"{data} has no labels to score against: use `protgnn predict`")
    scores = score_on(model, graphs, made.schema, made.prototypes)
    if certificate:
        from protgnn.explain.certificate import certificates, summarise

        scores["certificate"] = summarise(certificates(model, graphs))
    if as_json:
        print_json(scores)
    else:
        print_scores(scores, f"{noun(made.recipe, made.schema)}s of {data}" if data else held_out(made))


@app.command()
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
    from protgnn.explain.asked import asked
    from protgnn.explain.predictions import predictions, with_columns
    from protgnn.explain.reasoning import Known
    from protgnn.explain.unseen import unseen_among
    from protgnn.training.files import csv_text, write_text
    from protgnn.training.run import load_model

    model, made = load_model(run)
    graphs = asked(made, source, smiles=smiles, text=text, skip_bad=skip_bad, labels="ignored", say=say)
    rows = predictions(model, graphs, Known.of(made))
    if keep:
        rows = with_columns(rows, source, keep)
    if as_json:
        print_json(rows)
    elif output is None:
        sys.stdout.write(csv_text(rows))
    if output is not None:
        write_text(output, csv_text(rows))
        err.print(f"{len(rows)} predictions written to {output}", markup=False, soft_wrap=True)
    strange = sum(row.get("familiar") == "no" for row in rows)
    if strange:
        say(f"{strange} of {len(rows)} are unlike anything the model knows; the column `familiar` says which")
    unseen = unseen_among(graphs, made)
    if unseen:
        say(unseen)


@app.command()
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
    from protgnn.draw.files import check_suffix
    from protgnn.draw.theme import theme_of

    if output is not None:
        check_suffix(output)
    theme_of(theme)
    why = _reasoning(run, source, row, {"smiles": smiles, "text": text, "skip_bad": skip_bad}, evidence)
    if as_json:
        print_json(why.to_json())
    elif output is None:
        out.print(why)
    if output is not None:
        why.save(output, theme, rows)
        err.print(f"reasoning written to {output}", markup=False, soft_wrap=True)


@app.command()
def report(
    run: RunFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Graphs to reason about; else the run's test part.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="HTML to write; else report.html in the run.")
    ] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write one HTML page on what a model knows and how it decides.  Example: protgnn report runs/demo -o demo.html"""
    path = _write_report(run, data, output, {"smiles": smiles, "text": text, "label": label, "skip_bad": skip_bad})
    out.print(f"report: {path}", markup=False, soft_wrap=True)


@app.command()
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


@app.command()
def demo(
    out_folder: Annotated[Path, typer.Option("--out", help="The run directory to write.")] = Path("runs/demo"),
) -> None:
    """Train on the embedded molecules and show what comes out.  Example: protgnn demo"""
    recipe = _recipe("default", None, None, ["epochs=120"], None)  # enough to be good, short enough to wait for
    _refuse_to_replace(out_folder, "solubility")
    out.print("Water solubility of real molecules: low, medium or high?", style="bold")
    run = _train("solubility", {"smiles": None, "label": None, "skip_bad": False}, recipe, out_folder, False, True)
    print_scores(run.scores["test"], held_out(run))
    out.print("\nWhat it learned: parts of training molecules, and what likeness to each is worth", style="bold")
    print_prototypes(run)
    out.print("\nHow it decides: paracetamol", style="bold")
    out.print(_reasoning(out_folder, PARACETAMOL))
    path = _write_report(out_folder, None, None, {})
    out.print(f"\nAll of it with pictures: open {path} in a browser.", markup=False, soft_wrap=True)
    out.print(f"The model is in {out_folder}. Ask it about a molecule of yours:", markup=False, soft_wrap=True)
    out.print(f'  protgnn explain {out_folder} "{PARACETAMOL}" -o why.svg', markup=False, soft_wrap=True)


def _refuse_to_replace(folder: Path, source: str) -> None:
    """The demo may replace an earlier demo, not somebody's work."""
    from protgnn.training.run import RUN_FILE, read_run

    if (folder / RUN_FILE).exists():
        data = read_run(folder).data
        if data is None or data.source != source:
            raise ProtGNNError(f"{folder} holds a run on other data: choose another --out")


def _recipe(name: str, encoder: str | None, seed: int | None, settings: list[str], config: Path | None) -> Recipe:
    from protgnn.training.recipe import make_recipe, parse_settings, read_config

    values: dict[str, Any] = read_config(config) if config else {}
    values.update(parse_settings(settings))
    if encoder is not None:
        values["encoder"] = encoder
    if seed is not None:
        values["seed"] = seed
    if values.get("encoder") == "custom":
        raise ProtGNNError("A custom encoder is a module from Python: use protgnn.ProtGNNClassifier(encoder=module)")
    return make_recipe(name, **values)


def _train(data: str, options: dict[str, Any], recipe: Recipe, folder: Path, resume: bool, overwrite: bool) -> Run:
    from protgnn.graphs.datasets import load
    from protgnn.graphs.network_datasets import NetworkDataset
    from protgnn.progress import ProgressBar
    from protgnn.training.recipe import total_epochs
    from protgnn.training.run import DataCard, Run
    from protgnn.training.train import Parts, train_in

    read = load(data, **options)
    if read.uses_given_split(recipe.model_fields_set):
        recipe = recipe.model_copy(update={"split": "given"})
        say("the parts are those of the split column or comment; --set split=stratified draws others")
    if isinstance(read, NetworkDataset) and read.task == "links" and "encoder" not in recipe.model_fields_set:
        recipe = recipe.model_copy(update={"encoder": "gcn"})
        say("links are learned with a GCN, which is steadier there than a GIN; --encoder chooses another")
    dataset = read.with_split(recipe.split, recipe.seed)
    for text in dataset.notes:
        say(text)
    card = DataCard(data if not Path(data).exists() else str(Path(data).resolve()), dataset.fingerprint(), options)
    run = Run(recipe, dataset.schema, card, dataset.split_)
    parts = Parts(dataset.train, dataset.valid, dataset.test)
    try:
        with ProgressBar("Training", total_epochs(recipe), err) as bar:
            _, done = train_in(
                folder, parts, run, None, lambda state: bar.update(state.epoch, state.summary()), resume, overwrite
            )
    except KeyboardInterrupt:
        again = shlex.join(["protgnn", "train", data, "--out", str(folder)])
        err.print(f"interrupted: {again} with the same settings and --resume continues", markup=False, soft_wrap=True)
        raise SystemExit(130) from None
    return done


def _reasoning(
    folder: Path,
    source: str,
    row: int = 0,
    columns: dict[str, Any] | None = None,
    evidence: EvidenceSource = "model",
) -> Reasoning:
    from protgnn.explain.asked import asked, is_part
    from protgnn.explain.own_data import own_data, own_part
    from protgnn.explain.reasoning import Known
    from protgnn.explain.reasoning import explain as reason
    from protgnn.explain.unseen import unseen_kinds
    from protgnn.graphs.packed import GraphSet
    from protgnn.training.run import load_model

    model, run = load_model(folder)
    train = None
    graphs: Instances
    if is_part(source):  # the data is read anyway, and shows what the prototypes were cut from
        everything = own_data(run)
        graphs, train = own_part(run, source, everything), own_part(run, "train", everything)
    else:
        graphs = asked(run, source, **(columns or {}), say=say)
    if not 0 <= row < len(graphs):
        raise ProtGNNError(f"{source} has {len(graphs)} rows: choose --row from 0 to {len(graphs) - 1} (got {row})")
    graph = graphs[row]
    unseen = tuple(unseen_kinds(graph, run)) if isinstance(graph, GraphSet) else ()
    if evidence == "search" and run.recipe.plus:
        say("a ProtGNN+ has evidence of its own, which is what is shown: --evidence search is for a ProtGNN")
    why = reason(model, graph, Known.of(run, train), unseen, evidence)[0]
    return replace(why, among=graphs, number=row)


def _write_report(folder: Path, data: str | None, output: Path | None, options: dict[str, Any]) -> Path:
    from protgnn.draw.report import report_page
    from protgnn.explain.asked import asked
    from protgnn.explain.own_data import own_data, own_part
    from protgnn.training.files import write_text
    from protgnn.training.run import REPORT_FILE, load_model

    path = folder / REPORT_FILE if output is None else output
    if path.suffix.lower() not in (".html", ".htm"):
        raise ProtGNNError(f"{path}: a report is a web page, expected a name that ends in .html")
    model, run = load_model(folder)
    graphs, train = None, None
    try:
        everything = own_data(run)
        graphs, train = own_part(run, "test", everything), own_part(run, "train", everything)
    except ProtGNNError as problem:
        if data is None:
            say(f"no reasonings in the report: {problem}")
    if data is not None:
        graphs = asked(run, data, **options, say=say)
    write_text(path, report_page(model, run, folder, graphs, "given" if data else "test", train))
    return path


def main(arguments: list[str] | None = None, run: Callable[..., Any] = app) -> None:
    """Run the command line; a user's mistake ends in one message and status 1, never in a traceback."""
    try:
        run(args=arguments)
    except ProtGNNError as error:
        err.print(f"error: {error}", markup=False, soft_wrap=True, style="red" if err.is_terminal else None)
        raise SystemExit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
