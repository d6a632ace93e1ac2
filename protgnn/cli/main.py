"""The command line, assembled: ``protgnn`` and ``python -m protgnn`` start here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from protgnn.cli.compare import compare
from protgnn.cli.console import print_line, print_mistake
from protgnn.cli.data import data_app
from protgnn.cli.demo import demo
from protgnn.cli.evaluate import evaluate
from protgnn.cli.explain import explain
from protgnn.cli.explore import explore
from protgnn.cli.figures import figure_app
from protgnn.cli.predict import predict
from protgnn.cli.prototypes import prototypes
from protgnn.cli.report import report
from protgnn.cli.sweep import sweep
from protgnn.cli.train import train
from protgnn.errors import ProtGNNError
from protgnn.version import VERSION


def _print_version(wanted: bool) -> None:
    if wanted:
        print_line(f"protgnn {VERSION}")
        raise typer.Exit


app = typer.Typer(
    help="Graph classifiers that show their work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def protgnn(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Graph classifiers that show their work."""


for command in (train, sweep, evaluate, predict, explain, report, prototypes, compare, explore, demo):
    app.command()(command)
app.add_typer(data_app, name="data")
app.add_typer(figure_app, name="figure")


def main(arguments: list[str] | None = None, run: Callable[..., Any] = app) -> None:
    """Run the command line; a user's mistake ends in one message and status 1, never in a traceback.

    Args:
        arguments: What the user typed after ``protgnn``; by default that of this process.
        run: What is called with them.

    Raises:
        SystemExit: Always, with status 0 for success, 1 for a mistake in the input and 2 for wrong usage.
    """
    try:
        run(args=arguments)
    except ProtGNNError as error:
        print_mistake(f"error: {error}")
        raise SystemExit(1) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
