"""What two ranks do that the tests start with ``torchrun``; the first writes what it found as JSON.

``torchrun --nproc-per-node 2 -m tests.training.two_ranks DATA FOLDER``
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch

import protgnn
from protgnn.datasets.load import fingerprint
from protgnn.io.ranks import ALONE, Ranks
from protgnn.search import projection
from protgnn.search.tree import SearchSettings
from protgnn.training.build import build
from protgnn.training.checkpoint import TrainingState, state_checksum
from protgnn.training.device import join_ranks
from protgnn.training.recipe import make_recipe
from protgnn.training.resolve import resolve
from protgnn.training.run import DataCard, Run
from protgnn.training.train import SplitData, train_in

FEW = {"hidden": 8, "prototypes": 3, "search_iterations": 3, "refine_steps": 5, "patience": 0, "batch_size": 25}
EPOCHS = {"epochs": 4, "anchored_epochs": 2, "projection_start": 0, "projection_period": 2}


def same_projection(ranks: Ranks, graphs, model) -> dict[str, bool]:
    """Whether ranks together project as each of them does alone."""
    projection.GRAPHS_AT_ONCE = 8  # several chunks for each rank
    found = {}
    for name, candidates in (("nearest", 4), ("all", None)):
        alone, shared = (
            projection.project(
                graphs,
                model.head.vectors.detach(),
                model.head.classes,
                model.eval().embed,
                SearchSettings(iterations=3),
                candidates=candidates,
                ranks=who,
            )
            for who in (ALONE, ranks)
        )
        found[name] = [asdict(one) for one in alone.sources] == [asdict(one) for one in shared.sources]
        found[f"{name} vectors"] = torch.equal(alone.vectors, shared.vectors)
    return found


def gradient_error(ranks: Ranks, graphs, model) -> float:
    """How far the averaged gradient of the shares of a batch is from the gradient of the batch, without batch norm."""
    model.train()

    def gradient(batch, weight, who):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), batch.y).backward()
        who.average_gradients(list(model.parameters()), weight)
        return torch.cat([value.grad.reshape(-1) for value in model.parameters() if value.grad is not None])

    order = torch.arange(25)
    share = ranks.share(order, 25)
    mine = gradient(graphs.batch(share.order), share.weight[0], ranks)
    return float((mine - gradient(graphs.batch(order), 1.0, ALONE)).abs().max())


def mark_of(state: TrainingState) -> str:
    """A mark of all figures and of the best weights after an epoch."""
    return state_checksum(json.dumps([state.rows, state.best_epoch, state.sources]), state.best)


def main(data: Path, folder: Path) -> None:
    dataset = protgnn.read_csv(data)
    recipe = resolve(make_recipe(**FEW, **EPOCHS), dataset.train)
    ranks = join_ranks(recipe)
    found = same_projection(ranks, dataset.train, build(recipe, dataset.schema))
    plain = build(recipe.model_copy(update={"norm": "none", "readout": "mean"}), dataset.schema)
    error = gradient_error(ranks, dataset.train, plain)
    card = DataCard(str(data), fingerprint(dataset.graphs), {})
    run = Run(recipe, dataset.schema, card, dataset.split_)
    marks: list[str] = []
    parts = SplitData(dataset.train, dataset.valid, dataset.test)
    _, done = train_in(folder / "run", parts, run, on_epoch=lambda state: marks.append(mark_of(state)))
    one, other = ranks.all_gather(json.dumps(marks).encode())
    if ranks.first:
        content = {"projection": found, "gradient_error": error, "epochs": len(marks), "same_epochs": one == other}
        (folder / "found.json").write_text(json.dumps({**content, "scores": done.scores["test"]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
