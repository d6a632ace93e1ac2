"""``protgnn evaluate``: how good a trained model is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from protgnn.cli.console import noun_of, print_json, print_scores, said_of_known, say, warn
from protgnn.cli.options import Json, Label, RunFolder, SkipBad, Smiles, TextColumn
from protgnn.cli.preflight import check_data, check_run
from protgnn.errors import ProtGNNError


def evaluate(
    run: RunFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Labelled data; by default the run's test part.")
    ] = None,
    smiles: Smiles = None,
    text: TextColumn = None,
    label: Label = None,
    skip_bad: SkipBad = False,
    certificate: Annotated[
        bool,
        typer.Option("--certificate", help="Theorem 1: how many predictions of ProtGNN are guaranteed in ProtGNN+."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Score a run on its test part or on other data.  Example: protgnn evaluate runs/solubility --json"""
    check_run(run)
    if data is not None:
        check_data(data, smiles, text, label, to_learn=False)
    from protgnn.explain.describe import count
    from protgnn.explain.resolve_input import is_run_data, learned_from, resolve_input
    from protgnn.explain.run_data import run_data, run_part
    from protgnn.training.run import load_model
    from protgnn.training.scores import score_warnings
    from protgnn.training.train import evaluate as score_on

    model, made = load_model(run)
    columns: dict[str, Any] = {"smiles": smiles, "text": text, "label": label, "skip_bad": skip_bad}
    train = None
    if data is None:
        everything = run_data(made)
        graphs, train = run_part(made, "test", everything), run_part(made, "train", everything)
    else:
        graphs = resolve_input(made, data, **columns, labels="needed", say=say)
        if is_run_data(made, graphs):
            say("the model was trained on part of this data: leave out DATA to score it on what was held out")
        elif known := learned_from(made, graphs):
            say(said_of_known(known, count(len(graphs), noun_of(made))))
    if graphs.y is None:
        raise ProtGNNError(f"{data} has no labels to score against: use `protgnn predict`")
    scores = score_on(model, graphs, made.schema, made.prototypes)
    if made.prototypes is not None:
        from protgnn.explain.explanation import RunContext
        from protgnn.explain.metrics.summary import explanation_figures
        from protgnn.model.classifier import ProtGNN

        assert isinstance(model, ProtGNN)
        scores |= explanation_figures(model, graphs, RunContext.of(made, train))
    if certificate:
        from protgnn.explain.certificate import certificates, summarise

        scores["certificate"] = summarise(certificates(model, graphs))
    warn(warnings := score_warnings({"test": scores} if data is None else scores, made.recipe.class_weight))
    if as_json:
        print_json({**scores, "warnings": warnings})
    else:
        print_scores(scores, made, data)
