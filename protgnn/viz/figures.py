"""The figures of the paper, from runs and from the results of benchmarks.

Every function returns a matplotlib ``Figure`` that belongs to nobody's window; ``save`` writes it.
"""

from __future__ import annotations

import io
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from protgnn.data.network.instances import Instances
from protgnn.datasets.load import load_graphs
from protgnn.datasets.new_input import conform
from protgnn.errors import ProtGNNError, RunError
from protgnn.explain.comparison import compared_embeddings
from protgnn.explain.run_data import run_data
from protgnn.io.atomic_files import write_bytes
from protgnn.model.classifier import GraphClassifier, ProtGNN
from protgnn.model.prototype_layer import PrototypeHead
from protgnn.training.evaluate import evaluation_batches
from protgnn.training.resolve import as_model_input
from protgnn.training.run import Run, load_model
from protgnn.viz.theme import LIGHT, SHAPES, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

FORMATS = ("png", "svg", "pdf")
MOST_DOTS = 3000
"""Graphs in a t-SNE figure at most: more take minutes and cannot be told apart."""

PAPER_COSTS = (0.10, 0.05)
"""λ1 and λ2 of the paper."""


MARKERS = dict(zip(SHAPES, ("o", "s", "^", "D", "P", "_", "$\\circ$", "$\\square$"), strict=True))
"""matplotlib's names of the shapes of classes."""


def check_format(path: Path) -> str:
    """The format that a file name ends in."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ProtGNNError(f"Expected a file name that ends in {', '.join(FORMATS)} (got {path.name})")
    return kind


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format that its file name ends in; the same figure gives the same file."""
    import matplotlib as mpl

    kind = check_format(path)
    content = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with mpl.rc_context({"svg.hashsalt": "protgnn"}):
        figure.savefig(content, format=kind, dpi=150, metadata=undated)
    write_bytes(path, content.getvalue())


def tsne(folder: Path, theme: Theme = LIGHT, data: str | None = None) -> Figure:
    """Graph embeddings (small signs) and prototypes (stars) of a run by t-SNE, coloured by class.

    The graphs are those that the run was made from, or others of the kind, by name or path.
    """
    from sklearn.manifold import TSNE

    model, run = load_model(folder)
    head = _head(model, folder)
    given: Instances = run_data(run).instances if data is None else conform(load_graphs(data).graphs, run.schema)
    graphs = _some(as_model_input(run.recipe, given))
    assert graphs.y is not None
    assert isinstance(model, ProtGNN)
    shown = [compared_embeddings(model, batch) for batch in evaluation_batches(model, graphs)]
    together = torch.cat([*shown, head.vectors.detach()])
    nearby = min(30.0, (len(together) - 1) / 3)  # t-SNE wants fewer neighbours than there are points
    flat = TSNE(perplexity=nearby, init="pca", random_state=0).fit_transform(together.numpy())
    dots, stars = flat[: len(graphs)], flat[len(graphs) :]

    figure = _canvas(7.0, 5.4, theme)
    axes = _axes(figure.add_subplot(), theme)
    for label, name in enumerate(run.schema.class_names):
        own, mine = (graphs.y == label).numpy(), (head.classes == label).numpy()
        colour, marker = theme.of_class(label), MARKERS[SHAPES[label % len(SHAPES)]]
        axes.scatter(dots[own, 0], dots[own, 1], s=18, c=colour, marker=marker, alpha=0.6, linewidths=0, label=name)
        _stars(axes, stars[mine], colour, theme)
    _stars(axes, np.empty((0, 2)), theme.paper, theme, "prototype")
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{_data_name(run, data)}: embeddings of {len(graphs)} graphs and the prototypes", color=theme.ink)
    _legend(figure, theme, loc="outside lower center", ncols=min(len(run.schema.class_names) + 1, 6))
    return figure


def _stars(axes: Axes, places: np.ndarray, colour: str, theme: Theme, label: str | None = None) -> None:
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=210,
        c=colour,
        marker="*",
        edgecolors=theme.ink,
        linewidths=1.1,
        zorder=3,
        label=label,
    )


def cosine(folder: Path, other: Path, theme: Theme = LIGHT) -> Figure:
    """Cosines between the prototypes of each class in two runs, one above the other.

    Meant for a run with the diversity cost (Eq. 6) and one without, ``--set diversity=0``; each row says which.
    """
    pairs = [load_model(folder), load_model(other)]
    heads = [_head(model, path) for (model, _), path in zip(pairs, (folder, other), strict=True)]
    names = pairs[0][1].schema.class_names
    if pairs[1][1].schema.class_names != names:
        theirs = ", ".join(pairs[1][1].schema.class_names)
        raise ProtGNNError(f"Expected two runs on the same classes, {', '.join(names)} (got {theirs} in {other})")
    side = max(int(torch.bincount(head.classes).max()) for head in heads)
    panel = max(2.4, 0.52 * side + 0.6)
    figure = _canvas(panel * len(names) + 1.4, 2 * (panel + 0.5), theme)
    panels = figure.subplots(2, len(names), squeeze=False)
    for row, (head, (_, run)) in enumerate(zip(heads, pairs, strict=True)):
        cost = run.recipe.diversity
        kind = f"diversity λ3 = {cost:g}" if cost else "without diversity"
        for label, name in enumerate(names):
            axes = _axes(panels[row, label], theme)
            image, between = _cosines(axes, head.vectors.detach()[head.classes == label])
            axes.set_title(f"{name}, {kind}\n{between}", fontsize=11, color=theme.ink)
    _bar(figure, image, panels, "cosine", theme)
    title = f"{_data_name(pairs[0][1])}: prototypes of a class compared with each other"
    figure.suptitle(title, fontsize=12, color=theme.ink)
    return figure


def _cosines(axes: Axes, vectors: Tensor) -> tuple[Any, str]:
    """Draw the cosines between vectors; the image, and what they are on average in words."""
    unit = torch.nn.functional.normalize(vectors, dim=1)
    values = (unit @ unit.t()).clamp(-1, 1).numpy()
    size = len(values)
    others = values[~np.eye(size, dtype=bool)]
    between = f"average of pairs: {others.mean():.2f}" if size > 1 else f"prototypes: {size}"
    image = axes.imshow(values, vmin=-1, vmax=1, cmap="cividis")
    names = [str(number + 1) for number in range(size)]
    axes.set_xticks(range(size), names)
    axes.set_yticks(range(size), names)
    _write(axes, values, [[f"{value:.2f}" for value in line] for line in values], -1, 1)
    return image, between


def over_m(results: dict[str, Any], theme: Theme = LIGHT) -> Figure:
    """Accuracy over the number m of prototypes per class: mean and spread over splits, one line per dataset.

    ``results`` is the file that ``benchmarks/prototype_count.py`` writes.
    """
    points = _points(results, ("data", "encoder", "prototypes", "accuracy"))
    figure = _canvas(6.4, 4.2, theme)
    axes = _axes(figure.add_subplot(), theme)
    styles = ("o-", "s--", "^-.", "D:")
    lines = _distinct(points, "data", "encoder")
    for number, (data, encoder) in enumerate(lines):
        own = [point for point in points if (point["data"], point["encoder"]) == (data, encoder)]
        own.sort(key=lambda point: point["prototypes"])
        aside = 0.08 * (number - (len(lines) - 1) / 2)  # so that no bar hides another
        count = [point["prototypes"] + aside for point in own]
        mean, spread = zip(*(_mean_and_spread(point["accuracy"]) for point in own), strict=True)
        axes.errorbar(
            count,
            mean,
            spread,
            fmt=styles[number % len(styles)],
            color=theme.of_class(number),
            capsize=3,
            label=f"{data}, {encoder.upper()}, {_splits(own)}",
        )
    axes.set_xticks(sorted({point["prototypes"] for point in points}))
    axes.set_xlabel("prototypes per class m", fontsize=11)
    axes.set_ylabel("test accuracy (%), mean ± std", fontsize=11)
    axes.grid(color=theme.line, linewidth=0.6)
    _legend(axes, theme, loc="best")
    return figure


def grid(results: dict[str, Any], theme: Theme = LIGHT) -> Figure:
    """Accuracy over the weights λ1 of the cluster and λ2 of the separation cost, one panel per dataset.

    ``results`` is the file that ``benchmarks/cost_grid.py`` writes. The best cell has a thick border, the paper's
    weights a dashed one.
    """
    points = _points(results, ("data", "encoder", "cluster", "separation", "accuracy"))
    panels = _distinct(points, "data", "encoder")
    clusters, separations = (sorted({point[key] for point in points}) for key in ("cluster", "separation"))
    figure = _canvas((0.95 * len(separations) + 2.0) * len(panels), 0.8 * len(clusters) + 1.8, theme)
    for blank, (data, encoder) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        axes = _axes(blank, theme)
        own = [point for point in points if (point["data"], point["encoder"]) == (data, encoder)]
        values = np.full((len(clusters), len(separations)), np.nan)
        texts = np.full(values.shape, "", dtype=object)
        for point in own:
            cell = clusters.index(point["cluster"]), separations.index(point["separation"])
            mean, spread = _mean_and_spread(point["accuracy"])
            values[cell], texts[cell] = mean, f"{mean:.1f}\n±{spread:.1f}"
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        image = axes.imshow(values, cmap="cividis", aspect="auto", vmin=low, vmax=high, origin="lower")
        _write(axes, values, texts, low, high)
        axes.add_patch(_frame(np.unravel_index(np.nanargmax(values), values.shape), "solid", "best"))
        if PAPER_COSTS[0] in clusters and PAPER_COSTS[1] in separations:
            place = clusters.index(PAPER_COSTS[0]), separations.index(PAPER_COSTS[1])
            axes.add_patch(_frame(place, "dashed", "weights of the paper"))
        axes.set_xticks(range(len(separations)), [f"{value:g}" for value in separations])
        axes.set_yticks(range(len(clusters)), [f"{value:g}" for value in clusters])
        axes.set_xlabel("separation λ2", fontsize=11)
        axes.set_ylabel("cluster λ1", fontsize=11)
        axes.set_title(f"{data}, {encoder.upper()}, {_splits(own)}", fontsize=11, color=theme.ink)
        _bar(figure, image, axes, "test accuracy (%)", theme)
    _legend(figure, theme, handles=axes.patches, loc="outside lower center", ncols=2)
    return figure


def read_results(path: Path) -> dict[str, Any]:
    """The results file of a benchmark."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProtGNNError(f"Cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ProtGNNError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ProtGNNError(f"Expected {path} to hold the results of a benchmark (got a {type(content).__name__})")
    return content


def _points(results: dict[str, Any], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """The points of a sweep that have been measured."""
    points = [point for point in results.get("points", []) if point.get("accuracy")]
    if not points or any(key not in point for point in points for key in wanted):
        raise ProtGNNError(
            f"Expected results with points that have {', '.join(wanted)}: "
            "`make bench-m` makes those for over-m and `make bench-grid` those for grid"
        )
    return points


def _distinct(points: Sequence[dict[str, Any]], *keys: str) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(tuple(point[key] for key in keys) for point in points))


def _mean_and_spread(accuracy: Sequence[float]) -> tuple[float, float]:
    """In per cent."""
    return 100 * statistics.mean(accuracy), 100 * statistics.pstdev(accuracy)


def _splits(points: Sequence[dict[str, Any]]) -> str:
    """On how many splits each point was measured."""
    counts = sorted({len(point["accuracy"]) for point in points})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{number} split{'s' if counts[-1] > 1 else ''}"


def _write(axes: Axes, values: np.ndarray, texts: Any, low: float, high: float) -> None:
    """Write its text into every cell, dark on the light colours of high values and light on the dark ones."""
    size = 10 if len(values) <= 8 else 8
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            ink = "black" if high > low and (value - low) / (high - low) > 0.55 else "white"
            axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=size, color=ink)


def _frame(cell: Any, style: str, label: str) -> Rectangle:
    """A border around a cell, in a colour that the scale of colours has not got, on light and dark paper alike."""
    from matplotlib.patches import Rectangle

    (row, column), width = cell, 3 if style == "solid" else 2
    place, colour = (column - 0.46, row - 0.46), LIGHT.of_class(1)
    return Rectangle(place, 0.92, 0.92, fill=False, ls=style, lw=width, edgecolor=colour, label=label)


def _canvas(width: float, height: float, theme: Theme) -> Figure:
    """An empty figure of so many inches, without a window."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=(width, height), layout=layout, facecolor=theme.paper)


def _axes(axes: Axes, theme: Theme) -> Axes:
    """Axes in the colours of a theme."""
    axes.set_facecolor(theme.paper)
    axes.tick_params(colors=theme.ink, labelsize=10)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(theme.ink)
    for side in axes.spines.values():
        side.set_color(theme.muted)
    return axes


def _legend(where: Axes | Figure, theme: Theme, **place: Any) -> None:
    where.legend(frameon=False, labelcolor=theme.ink, fontsize=10, **place)


def _bar(figure: Figure, image: Any, beside: Any, label: str, theme: Theme) -> None:
    """The scale of colours."""
    bar = figure.colorbar(image, ax=beside, shrink=0.8)
    bar.set_label(label, color=theme.ink, fontsize=11)
    bar.ax.tick_params(colors=theme.ink)


def _head(model: GraphClassifier, folder: Path) -> PrototypeHead:
    if not isinstance(model, ProtGNN):
        raise RunError(f"{folder} holds a plain model, which has no prototypes: train one with --set head=prototypes")
    return model.head


def _some(graphs: Instances) -> Instances:
    """As many graphs as a figure can show, always the same ones."""
    if len(graphs) <= MOST_DOTS:
        return graphs
    return graphs[torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))[:MOST_DOTS]]


def _data_name(run: Run, data: str | None = None) -> str:
    """What the data is called: its name, or that of its file."""
    if data is None and run.data is not None:
        data = run.data.source
    return "a model" if data is None else Path(data).name
