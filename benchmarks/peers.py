"""Our models beside what a chemist would pick instead: ``python -m benchmarks.peers``.

BBBP (5 random 80/10/10 splits, those of ``benchmarks.accuracy``), solubility (the split that comes with it, and 5
random ones) and two assays of Tox21 (3 random splits each; molecules without a label are left out). Peers are those of
``benchmarks.peer_models``; ours are the plain GNN, ProtGNN and ProtGNN+ with each encoder. Every run is scored on the
same test molecules by the same code and stored as soon as it is done under data, model, split and settings. The
settings of ours are a digest of the recipe: runs of another recipe stay in the file and count no more. What
``benchmarks.table1`` has trained of ours on a random split is taken from there.

``--page`` writes ``docs/peers.md`` from the stored runs and trains nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from benchmarks import table1
from benchmarks.outcome import RESULTS
from benchmarks.peer_models import SETTINGS, MoleculeParts, chemprop_version, probabilities
from benchmarks.recipe_digest import METHODS
from benchmarks.runs import MODELS, Figures, complete, digest_of, stored

SPLITS = {
    "bbbp": [f"random-{seed}" for seed in range(5)],
    "solubility": ["given", *(f"random-{seed}" for seed in range(5))],
    "tox21:NR-AhR": [f"random-{seed}" for seed in range(3)],
    "tox21:SR-p53": [f"random-{seed}" for seed in range(3)],
}
PEERS = tuple(SETTINGS)
ENCODERS = ("gcn", "gin", "gat")
FIGURES = ("accuracy", "roc_auc", "balanced_accuracy", "ece", "majority_baseline", "n")
COMPARED = ("accuracy", "roc_auc")
PeerTask = tuple[str, str, str]
"""Data, model (a peer, or ``encoder:head``) and split."""


def key_of(task: PeerTask) -> str:
    """The name under which a run is stored."""
    data, model, split = task
    return f"{data} {model} {split} {settings_of(model)}"


@lru_cache
def settings_of(model: str) -> str:
    """What names the settings of a model: those of a peer, or the digest of today's recipe."""
    if model in SETTINGS:
        return SETTINGS[model]
    encoder, _, head = model.partition(":")
    return f"recipe:{digest_of(encoder, head, {})}-{METHODS[head]}"


def run(task: PeerTask, chemprop: str | None) -> tuple[str, Figures]:
    """Train one model on one split and score it on the test part."""
    data, model, split = task
    known = _of_table1(task)
    if known is not None:
        return key_of(task), known
    parts = _dataset(data).with_split(*_split(split))
    begun = time.perf_counter()
    if model in SETTINGS:
        figures = _peer(model, parts, _split(split)[1], chemprop)
    else:
        figures = _ours(model, parts, _split(split)[1])
    seconds = round(time.perf_counter() - begun, 1)
    version = {"version": chemprop_version(chemprop)} if model == "chemprop" and chemprop is not None else {}
    return key_of(task), {**{name: figures[name] for name in FIGURES}, **version, "seconds": seconds}


def _of_table1(task: PeerTask) -> Figures | None:
    """The figures of the same training run in Table 1, if it is stored there."""
    data, model, split = task
    kind, seed = _split(split)
    if model in SETTINGS or data not in table1.PLANS or kind != "random":
        return None
    encoder, _, head = model.partition(":")
    done = stored(RESULTS / "table1.json").get(table1.key_of((data, encoder, head, seed, {})), {})
    if not {*FIGURES, "seconds"} <= done.keys():
        return None
    return {name: done[name] for name in (*FIGURES, "seconds")}


def _split(name: str) -> tuple[Any, int]:
    kind, _, seed = name.partition("-")
    return kind, int(seed or 0)


@lru_cache(maxsize=1)
def _dataset(name: str) -> Any:
    from protgnn.datasets.load import load

    file, _, column = name.partition(":")
    return load(file, label=column, skip_bad=True) if column else load(file)


def _peer(model: str, parts: Any, seed: int, chemprop: str | None) -> Figures:
    import torch

    from protgnn.training.scores import score

    three = (parts.train, parts.valid, parts.test)
    smiles = tuple(list(part.names) for part in three)
    labels = tuple(part.y.tolist() for part in three)
    given = MoleculeParts(smiles, labels, parts.schema.num_classes)  # type: ignore[arg-type]
    found = torch.from_numpy(probabilities(model, given, seed, chemprop))
    return score(found.clamp(min=1e-9).log(), parts.test.y, parts.schema.class_names)


def _ours(model: str, parts: Any, seed: int) -> Figures:
    import torch

    from protgnn.training.recipe import make_recipe
    from protgnn.training.train import SplitData, train

    torch.set_num_threads(1)
    encoder, _, head = model.partition(":")
    recipe = make_recipe(encoder=encoder, seed=seed, split="random", **MODELS[head])
    scores: Figures = train(SplitData(parts.train, parts.valid, parts.test), recipe).scores["test"]
    return scores


Cells = dict[tuple[str, str], dict[str, Figures]]
"""By data and model the figures of each split."""


def cells_of(done: dict[str, Figures]) -> Cells:
    """The stored runs that count: those of today's settings, in the order of ``SPLITS`` and of :func:`all_models`.

    The split that comes with solubility is a data set of its own, ``solubility:given``.
    """
    found: Cells = {}
    for data in SPLITS:
        for split in sorted(SPLITS[data], key=lambda name: name != "given"):
            for model in all_models():
                key = key_of((data, model, split))
                if key in done:
                    name = f"{data}:given" if split == "given" else data
                    found.setdefault((name, model), {})[split] = done[key]
    return found


def all_models() -> list[str]:
    """Every model of the comparison, peers first."""
    return [*PEERS, *(f"{encoder}:{head}" for head in MODELS for encoder in ENCODERS)]


def best_peer(cells: Cells, data: str, figure: str) -> str | None:
    """The peer with the highest mean of a figure on a data set, of those that were run on most of its splits."""
    there = [model for name, model in cells if name == data and model in SETTINGS]
    most = max((len(cells[data, model]) for model in there), default=0)
    full = [model for model in there if len(cells[data, model]) == most]
    return max(full, key=lambda model: mean(cells[data, model], figure), default=None)


def mean(splits: dict[str, Figures], figure: str) -> float:
    """The mean of a figure over splits."""
    return float(statistics.mean(one[figure] for one in splits.values()))


def differences(cells: Cells, data: str, model: str, reference: str, figure: str) -> list[float]:
    """How far a model is above another in a figure, on every split that both have, in points."""
    own, other = cells[data, model], cells[data, reference]
    return [100 * (own[split][figure] - other[split][figure]) for split in own if split in other]


def summary(done: dict[str, Figures]) -> list[dict[str, Any]]:
    """A row per data set and model: mean ± standard deviation over splits in per cent, and the difference to the peer
    that is best in the figure, split by split, ± its standard error."""
    cells = cells_of(done)
    rows = []
    for (data, model), splits in cells.items():
        row: dict[str, Any] = {"data": data, "model": model, "splits": len(splits)}
        for figure in ("accuracy", "roc_auc", "balanced_accuracy"):
            row[figure] = spread([100 * one[figure] for one in splits.values()])
        row["ece"] = spread([one["ece"] for one in splits.values()], 3)
        for figure in COMPARED:
            reference = best_peer(cells, data, figure)
            gained = [] if reference in (None, model) else differences(cells, data, model, str(reference), figure)
            row[f"{figure}_difference"] = with_error(gained)
        row["seconds"] = round(mean(splits, "seconds"), 1)
        rows.append(row)
    return rows


def spread(values: Iterable[float], digits: int = 1) -> str:
    """Mean ± standard deviation; the value alone where there is but one."""
    found = list(values)
    deviation = f" ± {statistics.pstdev(found):.{digits}f}" if len(found) > 1 else ""
    return f"{statistics.mean(found):.{digits}f}{deviation}"


def with_error(values: list[float], digits: int = 1) -> str:
    """Mean difference ± its standard error; the difference alone where there is but one, a dash for none."""
    if not values:
        return "-"
    error = f" ± {statistics.stdev(values) / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):+.{digits}f}{error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(SPLITS), choices=list(SPLITS))
    parser.add_argument("--models", nargs="+", default=None, help="peers, or encoder:head as in gin:plus")
    parser.add_argument("--chemprop", metavar="PYTHON", help="the Python of an environment that has chemprop")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write docs/peers.md from the stored runs")
    chosen = parser.parse_args()
    if chosen.page:
        from benchmarks.peers_page import write_page

        write_page()
        return
    models = chosen.models or [one for one in all_models() if one != "chemprop" or chosen.chemprop]
    tasks = [(data, model, split) for data in chosen.data for model in models for split in SPLITS[data]]
    work: Callable[[PeerTask], tuple[str, Figures]] = partial(run, chemprop=chosen.chemprop)
    complete("peers", tasks, key_of, work, summary, chosen.processes)


if __name__ == "__main__":
    main()
