"""A run as the explorer has it open: the model, what it knows, and its data where that is at hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from protgnn.data.graph_set import GraphSet
from protgnn.data.network.instances import Instances
from protgnn.datasets.dataset import Dataset
from protgnn.datasets.network_dataset import NetworkDataset
from protgnn.datasets.new_input import read_typed
from protgnn.errors import DataError, ProtGNNError
from protgnn.explain.explain_run import explain_run
from protgnn.explain.explanation import PLAIN, Reasoning, RunContext
from protgnn.explain.resolve_input import named_targets
from protgnn.explain.run_data import Part, run_data, run_part
from protgnn.model.classifier import ProtGNN
from protgnn.model.readout import targets_read
from protgnn.training.resolve import as_model_input, noun
from protgnn.training.run import Run, load_model


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """A model with prototypes and what it was made from.

    ``data`` is what the run was trained, chosen and scored on; where it is gone, ``without_data`` says why. ``parts``
    keeps its parts once they have been made.
    """

    name: str
    folder: Path
    model: ProtGNN
    run: Run
    data: Dataset | NetworkDataset | None
    without_data: str = ""
    parts: dict[Part, Instances] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> OpenedRun:
        """Open a run directory and, where it can be found, its data.

        Raises:
            ProtGNNError: The folder is no finished run, or its model has no prototypes.
        """
        model, run = load_model(folder)
        if not isinstance(model, ProtGNN):
            raise ProtGNNError(f"{folder}: {PLAIN}")
        name = folder.resolve().name
        try:
            return cls(name, folder, model, run, run_data(run))
        except ProtGNNError as problem:
            return cls(name, folder, model, run, None, str(problem))

    def edited(self, model: ProtGNN, run: Run) -> OpenedRun:
        """The same run with other prototypes."""
        return replace(self, model=model, run=run)

    @cached_property
    def context(self) -> RunContext:
        """What the run knows; prototypes are drawn within their sources where the training set is at hand."""
        return RunContext.of(self.run, None if self.data is None else self.part("train"))

    @cached_property
    def noun(self) -> str:
        """What is classified: a molecule, a sentence, a node, a pair, a graph."""
        return noun(self.run.recipe, self.run.schema)

    @property
    def targets(self) -> int:
        """How many nodes of a network are asked about; none for graphs."""
        return targets_read(self.run.recipe.readout)

    @property
    def takes_text(self) -> bool:
        """Whether what is asked about can be typed."""
        return bool(self.targets) or self.run.schema.kind in ("molecule", "sentence")

    def part(self, name: Part) -> Instances:
        """A part of the data.

        Raises:
            ProtGNNError: The data of the run is gone, or the part is empty.
        """
        if name not in self.parts:
            if self.data is None:
                raise ProtGNNError(f"The data of this run is not at hand. {self.without_data}")
            self.parts[name] = run_part(self.run, name, self.data)
        return self.parts[name]

    def read(self, text: str) -> Instances:
        """What a visitor has typed, as the model takes it: a SMILES, a sentence, the id of a node or of two.

        A text is never the name of a file.

        Raises:
            DataError: It cannot be read.
        """
        text = text.strip()
        if not text:
            raise DataError(f"Expected a {self.noun} (nothing was given)")
        if not self.targets:
            return as_model_input(self.run.recipe, read_typed(text, self.run.schema))
        if not isinstance(self.data, NetworkDataset):
            raise DataError(f"The network of this run is not at hand. {self.without_data}")
        return as_model_input(self.run.recipe, named_targets(self.data, text, self.targets))

    def explain(self, instances: Instances) -> list[Reasoning]:
        """Why each is predicted to be what it is, with the warnings that the training set calls for."""
        return explain_run(self.model, self.run, instances, self.context)

    def lines(self, instances: Instances) -> list[int] | None:
        """The lines of the file that instances were read from."""
        if isinstance(instances, GraphSet) and instances.lines is not None:
            found: list[int] = instances.lines.tolist()
            return found
        return None
