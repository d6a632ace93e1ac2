"""The recipe: every knob of a run, once, with its meaning, its default and the paper's value beside it.

A knob whose value is ``"auto"`` is settled by the data before training begins: ``resolve.py`` says how, and a run
stores what was settled.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from protgnn.errors import ProtGNNError
from protgnn.model.evidence import EvidenceOptions
from protgnn.model.norms import NormName
from protgnn.model.readout import ReadoutName
from protgnn.search.tree import SearchSettings
from protgnn.training.class_weight import ClassWeight
from protgnn.training.selection import SelectBy

Auto = Literal["auto"]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
BatchSize = Annotated[int, Field(ge=1, le=1_000_000)]

AUTO_BEFORE = {
    "warm_up": -1,
    "patience": -1,
    "window": -1,
    "batch_size": 0,
    "search_max_nodes": -1,
    "fanout": -1,
}
"""The numbers that meant ``"auto"`` in older runs, configurations and commands; they still do."""


def knob(default: Any, meaning: str, paper: Any = None, **bounds: Any) -> Any:
    """A recipe field; ``paper`` is the paper's value where it gives one."""
    extra = {} if paper is None else {"paper": paper}
    return Field(default, description=meaning, json_schema_extra=extra, **bounds)


class Recipe(BaseModel):
    """Everything that decides what a training run does. Unknown keys and values out of bounds are refused.

    The keys are in seven sections, in this order: model, loss, evidence, projection, optimisation, data, runtime.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    # model
    head: Literal["prototypes", "plain"] = knob("prototypes", "prototypes: ProtGNN; plain: a linear layer")
    plus: bool = knob(False, "ProtGNN+: compare every prototype with a part of the graph instead of all of it")
    encoder: str = knob(
        "gin",
        "gcn, gin, gat, a PyG model such as pyg:GraphSAGE, or custom (a module from Python); of links it is gcn unless "
        "another is chosen",
    )
    hidden: int = knob(128, "width of node and graph embeddings", paper=128, ge=1, le=4096)
    layers: int = knob(3, "message-passing layers", paper=3, ge=1, le=32)
    heads: int = knob(4, "attention heads of GAT; they divide the hidden width", ge=1, le=64)
    norm: NormName = knob("batch", "normalisation after each layer: batch, layer or none")
    dropout: float = knob(0.0, "dropout between layers", ge=0, lt=1)
    readout: ReadoutName = knob(
        "full",
        "how node embeddings become one: sum, mean, max, all three side by side through two layers (all), or the same "
        "of embeddings and node features (full); of nodes of a network it is target, of pairs pair_product or "
        "pair_concat",
        paper="max",
    )
    edge_features: bool = knob(True, "use edge attributes (bond types) where the data has them", paper=False)
    prototypes: int = knob(5, "prototypes per class m", paper=5, ge=1, le=1000)
    prototypes_start: Literal["graphs", "random"] = knob(
        "graphs", "where prototypes start: on embeddings of random training graphs, or at random", paper="random"
    )
    whole_parts: bool = knob(
        True,
        "prototypes and evidence never cut a ring or a functional group of a molecule, nor words that belong together",
        paper=False,
    )
    epsilon: float = knob(1e-4, "ε of the similarity log((d + 1) / (d + ε)), Eq. 2", paper=1e-4, gt=0, lt=1)

    # loss, Eq. 3 to 6
    cluster: float = knob(0.10, "weight λ1 of the cluster cost, Eq. 4", paper=0.10, ge=0)
    separation: float = knob(0.05, "weight λ2 of the separation cost, Eq. 5", paper=0.05, ge=0)
    separation_margin: float = knob(
        4.0,
        "squared distance beyond which a prototype of another class is far enough; 0: unbounded, to the letter",
        paper=0,
        ge=0,
    )
    diversity: float = knob(0.01, "weight λ3 of the diversity cost, Eq. 6", paper=0.01, ge=0)
    diversity_threshold: float = knob(0.3, "cosine s_max that prototypes of a class may have", paper=0.3, ge=-1, le=1)
    class_weight: ClassWeight = knob(
        "none",
        "how much a graph of each class counts in the cross-entropy; none: as much as any other; balanced: every class "
        "as much as any other; or a weight by class, rare=10 (others 1)",
        paper="none",
    )

    # evidence of ProtGNN+, Eq. 13 and 14
    warm_up: Count | Auto = knob(
        "auto",
        "epochs T_w of ProtGNN before evidence is learned; auto: 100, or 1000 steps if that is less",
        paper=200,
    )
    evidence: Literal["sampled", "mined"] | Auto = knob(
        "auto",
        "sampled: learned prototypes are projected, and a sampler finds evidence (the paper); mined: prototypes are "
        "parts that recur and tell classes apart, and evidence is whole, small and looks like them (not for links); "
        "auto: mined for graphs and for nodes of few kinds, sampled for sentences, links and other nodes",
        paper="sampled",
    )
    mined_prototypes: int = knob(20, "mined prototypes of a class at most", ge=1, le=100)
    composition: bool = knob(
        True,
        "whether what a graph is made of (its size, and how much of each node feature it has) may count where that "
        "helps; it is shown apart from the evidence; false for sentences, and for nodes and links of a network",
        paper=False,
    )
    evidence_edges: int = knob(10, "edges B of the evidence for a prototype, as many as fit", paper=10, ge=1)
    evidence_beside: int = knob(
        10, "candidates in each graph that are offered beside the sampler's proposals", paper=0, ge=0
    )
    evidence_budget: float = knob(0.01, "weight λ_b of the budget R_b, Eq. 14", paper=0.01, ge=0)
    exploration: float = knob(1.0, "scale of the noise on edge scores while evidence is learned", ge=0)
    evidence_share: float = knob(
        1.0,
        "share of the steps that are on evidence while it is learned; the others are on whole graphs",
        paper=0.5,
        gt=0,
        le=1,
    )
    evidence_lr: float = knob(0.001, "Adam's learning rate for the rest while evidence is learned", gt=0, le=1)
    sampler_lr: float = knob(0.003, "Adam's learning rate for the sampler", gt=0, le=1)

    # projection and the ending of Algorithm 1
    projection_start: int = knob(100, "first epoch T_p after which prototypes are projected", paper=100, ge=0)
    projection_period: int = knob(50, "epochs τ from one projection to the next", paper=50, ge=1)
    candidates: int = knob(
        4, "training graphs searched per prototype by the last projection, nearest first; 0: all", paper=0, ge=0
    )
    candidates_on_the_way: int = knob(1, "the same for the projections before it", paper=0, ge=0)
    search_iterations: int = knob(20, "iterations of the tree search", paper=20, ge=1)
    search_exploration: float = knob(5.0, "λ of the search: exploration against exploitation", paper=5.0, ge=0)
    search_children: int = knob(10, "children of a tree node at most", paper=10, ge=1)
    search_min_nodes: int = knob(5, "a subgraph of so many nodes is a leaf, N_min", paper=5, ge=1)
    search_max_nodes: Count | Auto = knob(
        "auto", "nodes of a prototype's subgraph at most; auto: 10, and in ProtGNN+ as many as evidence has edges"
    )
    anchored_epochs: int = knob(
        50,
        "epochs at the end in which prototypes are the embeddings of their subgraphs while all else learns; undone "
        "where that does not help on validation graphs",
        paper=0,
        ge=0,
    )
    refine_steps: int = knob(20, "last steps, of the last layer alone on the frozen similarities", ge=0)
    calibrate: bool = knob(
        True,
        "fit a temperature on the validation graphs, by which all logits, and so all contributions, are divided",
        paper=False,
    )
    prune: bool = knob(
        False, "drop prototypes whose removal does not lower the figure of select_by on validation", paper=False
    )

    # optimisation
    select_by: SelectBy | Auto = knob(
        "auto",
        "the validation figure that is best in the epoch, and of the endings in the one, that is kept; auto: accuracy, "
        "and balanced_accuracy where classes have weights",
    )
    epochs: int = knob(300, "training epochs T", paper=500, ge=1, le=100_000)
    patience: Count | Auto = knob(
        "auto",
        "stop after so many epochs without a better validation (see select_by) on average over the window; 0: never; "
        "auto: 30 epochs, at least 1000 steps",
    )
    window: Count | Auto = knob(
        "auto",
        "epochs whose validation is averaged to choose the best, as a single one may be lucky; auto: those of 200 "
        "steps, at most half of a stage",
        paper=1,
    )
    ending_window: Positive | Auto = knob(
        "auto", "the same for the epochs at the end, in which prototypes have their subgraphs; auto: as window"
    )
    batch_size: BatchSize | Auto = knob(
        "auto", "graphs per step; auto: a tenth of the training graphs, 16 to 64 (of a sampled network 64 nodes)"
    )
    lr: float = knob(0.001, "Adam's learning rate", paper=0.005, gt=0, le=1)
    weight_decay: float = knob(0.0, "Adam's weight decay", ge=0, le=1)
    averaging: float = knob(
        0.99, "decay of the running average of the weights that is validated and exported; 0: none", paper=0, ge=0, lt=1
    )

    # data
    split: Literal["random", "stratified", "scaffold", "scaffold-deepchem", "given"] = knob(
        "stratified",
        "how train, validation and test parts are drawn; given if the data has a split, unless another is chosen",
        paper="random",
    )
    fanout: Count | Auto = knob(
        "auto",
        "neighbours of a node of a network that are sampled in each layer; 0: all; auto: all where there are few "
        "edges, else 5",
    )
    instance_nodes: int = knob(
        30, "nodes nearest to the target in which prototypes, and in ProtGNN+ evidence, are looked for", ge=2, le=1000
    )

    # runtime
    seed: int = knob(0, "the one seed: split, initial weights, shuffling, dropout, search", ge=0, lt=2**31)
    accelerator: Literal["cpu", "cuda", "auto"] = knob("cpu", "where to compute; auto: CUDA where it is there")
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = knob("32-true", "floating-point precision")
    compile: bool = knob(False, "torch.compile the encoder for training steps; the first ones take minutes")

    @field_validator(*AUTO_BEFORE, mode="before")
    @classmethod
    def _auto_as_it_was(cls, value: Any, info: ValidationInfo) -> Any:
        assert info.field_name is not None
        before = AUTO_BEFORE[info.field_name]
        return "auto" if str(value).strip() in (str(before), str(float(before))) else value

    @field_validator("encoder")
    @classmethod
    def _known_encoder(cls, value: str) -> str:
        if value not in ("gcn", "gin", "gat", "custom") and not value.startswith("pyg:"):
            raise ValueError("expected gcn, gin, gat, custom or pyg:<class of torch_geometric.nn.models>")
        return value

    @model_validator(mode="after")
    def _leaves_fit(self) -> Recipe:
        if self.search_max_nodes == 0:
            raise ValueError("search_max_nodes=0 leaves nothing of a prototype")
        if self.search_min_nodes > largest_prototype(self):
            raise ValueError(
                f"search_min_nodes={self.search_min_nodes} is above search_max_nodes={largest_prototype(self)}"
            )
        return self

    @field_validator("window")
    @classmethod
    def _some_window(cls, value: int | Auto) -> int | Auto:
        if value == 0:
            raise ValueError("expected at least one epoch to choose by, or auto")
        return value

    @model_validator(mode="after")
    def _evidence_needs_prototypes(self) -> Recipe:
        if self.plus and self.head != "prototypes":
            raise ValueError("plus=True is for prototypes: it cannot go with head=plain")
        return self

    @model_validator(mode="after")
    def _heads_divide_hidden(self) -> Recipe:
        if self.encoder == "gat" and self.hidden % self.heads:
            raise ValueError(f"hidden={self.hidden} cannot be divided over heads={self.heads}")
        return self


RECIPES = ("default", "paper")
RETIRED = {"anchored_window"}
"""Keys that older runs were trained with and that say nothing about their weights."""
DEFAULTS_BEFORE: dict[str, Any] = {"evidence": "sampled", "whole_parts": False, "composition": False}
"""What a run was trained with if it does not say so: it is older than the key."""


def make_recipe(name: str = "default", /, **changes: Any) -> Recipe:
    """The recipe ``default`` (our best) or ``paper`` (the paper's letter) with changes; values may be text.

    The keys that are changed, and no others, are in ``model_fields_set``.
    """
    if name not in RECIPES:
        raise ProtGNNError(
            f"Expected a recipe of {', '.join(RECIPES)} (got {name!r}): single keys of it are changed by "
            'settings={"epochs": 40} in Python and by --set epochs=40 on the command line'
        )
    values: dict[str, Any] = {}
    if name == "paper":
        for key, field in Recipe.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, dict) and "paper" in extra:
                values[key] = extra["paper"]
    for key in changes:
        if key not in Recipe.model_fields:
            near = difflib.get_close_matches(key, Recipe.model_fields, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(Recipe.model_fields)}"
            raise ProtGNNError(f"There is no recipe key {key!r}{hint}")
    try:
        made = Recipe(**{**values, **changes})
        made.model_fields_set.intersection_update(changes)
        return made
    except ValidationError as error:
        raise ProtGNNError("\n".join(_sentences(error.errors()))) from None


def _sentences(problems: list[Any]) -> list[str]:
    """What is wrong, one sentence per key."""
    said: dict[str, str] = {}
    for problem in problems:
        message = problem["msg"].removeprefix("Value error, ")
        key, *kind = [str(part) for part in problem["loc"]] or ["recipe"]
        more = " or auto" if kind else ""  # a key that takes a number or auto is refused for both
        got = f" (got {problem['input']!r})" if problem["loc"] else ""
        said.setdefault(key, f"Recipe key {key}: {message}{more}{got}" if problem["loc"] else f"Recipe: {message}")
    return list(said.values())


def is_mined(recipe: Recipe) -> bool:
    """Whether the model is a ProtGNN+ with mined prototypes."""
    return recipe.plus and recipe.evidence == "mined"


def total_epochs(recipe: Recipe) -> int:
    """Epochs of all stages, at most."""
    if is_mined(recipe):
        return recipe.epochs if recipe.warm_up == "auto" else min(recipe.warm_up, recipe.epochs)
    return recipe.epochs + (recipe.anchored_epochs if recipe.head == "prototypes" else 0)


def largest_prototype(recipe: Recipe) -> int:
    """Nodes of a prototype's subgraph at most. Prototypes larger than evidence would never be met, and to smaller
    ones evidence has to be cut down."""
    if recipe.search_max_nodes != "auto":
        return recipe.search_max_nodes
    return max(recipe.evidence_edges, recipe.search_min_nodes) if recipe.plus else 10


def search_settings(recipe: Recipe) -> SearchSettings:
    """How parts most like a prototype are searched for."""
    return SearchSettings(
        recipe.search_iterations,
        recipe.search_exploration,
        recipe.search_children,
        recipe.search_min_nodes,
        largest_prototype(recipe),
        recipe.epsilon,
        recipe.seed,
    )


def evidence_options(recipe: Recipe) -> EvidenceOptions:
    """How large candidates for evidence are, and how many are offered."""
    return EvidenceOptions(recipe.evidence_edges, recipe.evidence_beside)
