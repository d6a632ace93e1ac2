"""``protgnn figure``: the figures of the paper, one command each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from protgnn.cli.console import print_error
from protgnn.cli.options import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from protgnn.viz.theme import Theme

figure_app = typer.Typer(help="Draw the figures of the paper.", no_args_is_help=True)

Output = Annotated[Path, typer.Option("-o", "--output", help="The .png, .svg or .pdf to write.")]
ThemeName = Annotated[str, typer.Option("--theme", help="light or dark.")]


@figure_app.command()
def tsne(
    run: RunFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Labelled graphs; by default the run's own.")
    ] = None,
    output: Output = Path("tsne.png"),
    theme: ThemeName = "light",
) -> None:
    """Draw graph and prototype embeddings by t-SNE.  Example: protgnn figure tsne runs/bbbp -o tsne.png"""
    from protgnn.viz import figures

    _write(output, theme, lambda paint: figures.tsne(run, paint, data))


@figure_app.command()
def cosine(
    run: RunFolder,
    other: Annotated[Path, typer.Argument(metavar="OTHER_RUN", help="The same run with --set diversity=0.")],
    output: Output = Path("cosine.png"),
    theme: ThemeName = "light",
) -> None:
    """Draw cosines between the prototypes of a class.  Example: protgnn figure cosine runs/a runs/b -o cosine.png"""
    from protgnn.viz import figures

    _write(output, theme, lambda paint: figures.cosine(run, other, paint))


@figure_app.command("over-m")
def over_m(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="The file that `make bench-m` wrote.")],
    output: Output = Path("over-m.png"),
    theme: ThemeName = "light",
) -> None:
    """Draw accuracy over the number of prototypes per class.  Example: protgnn figure over-m results.json -o m.png"""
    from protgnn.viz import figures

    _write(output, theme, lambda paint: figures.over_m(figures.read_results(results), paint))


@figure_app.command()
def grid(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="The file that `make bench-grid` wrote.")],
    output: Output = Path("grid.png"),
    theme: ThemeName = "light",
) -> None:
    """Draw accuracy over the cost weights λ1 and λ2.  Example: protgnn figure grid results.json -o grid.png"""
    from protgnn.viz import figures

    _write(output, theme, lambda paint: figures.grid(figures.read_results(results), paint))


def _write(output: Path, theme: str, draw: Callable[[Theme], Figure]) -> None:
    """Draw and save; a file name or theme that will not do is refused before the work."""
    from protgnn.viz import figures
    from protgnn.viz.theme import theme_of

    figures.check_format(output)
    figures.save(draw(theme_of(theme)), output)
    print_error(f"figure written to {output}")
