"""Small real data, trained runs, and a way to call the command line: shared by the tests.

Every test starts from the same seeds. Hypothesis draws the same examples every time, unless
``HYPOTHESIS_PROFILE=explore`` asks for new ones.
"""

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import numpy as np
import pytest
import torch

import protgnn
from protgnn.cli.main import main
from protgnn.explain.run_data import run_part
from protgnn.featurizers.spacy_parser import PARSER_VARIABLE
from protgnn.model.mined import MinedHead
from protgnn.training.checkpoint import TrainingState
from protgnn.training.evaluate import predict_logits
from protgnn.training.run import load_model, read_rows
from protgnn.training.run_folder import save_run
from tests.sentences import make_parser, reviews

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

SEED = 0


class TorchGenerator:
    """PyTorch's global generator as hypothesis wants one: it is seeded anew for every example."""

    def seed(self, value: int) -> None:
        torch.manual_seed(value)

    def getstate(self) -> torch.Tensor:
        return torch.get_rng_state()

    def setstate(self, state: torch.Tensor) -> None:
        torch.set_rng_state(state)


_TORCH_GENERATOR = TorchGenerator()  # hypothesis keeps a weak reference
hypothesis.register_random(_TORCH_GENERATOR)
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", derandomize=False, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed the global generators before the fixtures of each test, so that no test depends on those before it."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


TINY = ["--set", "epochs=2", "--set", "hidden=8", "--set", "head=plain"]
"""Options that make training a matter of a tenth of a second."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str


@pytest.fixture
def protgnn_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """The command line in this process; any exception but SystemExit fails the test that called it."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def molecules_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ninety real molecules, thirty of each class."""
    graphs = protgnn.load("solubility").graphs
    assert graphs.names is not None and graphs.y is not None
    rows = ["smiles,label"]
    for number, name in enumerate(graphs.schema.class_names):
        members = (graphs.y == number).nonzero().squeeze(1)[:30].tolist()
        rows += [f"{graphs.names[member]},{name}" for member in members]
    path = tmp_path_factory.mktemp("data") / "molecules.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def molecules(molecules_csv: Path) -> protgnn.Dataset:
    """The molecules as a dataset."""
    return protgnn.read_csv(molecules_csv)


@pytest.fixture(scope="session")
def run_folder(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run trained on them; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *TINY])
    assert not end.value.code
    return folder


@pytest.fixture(scope="session")
def prototype_run(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with prototypes; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "prototypes"
    few = ["epochs=2", "hidden=8", "prototypes=2", "anchored_epochs=1", "search_iterations=2", "refine_steps=5"]
    few.append("readout=all")
    settings = [part for setting in few for part in ("--set", setting)]
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *settings])
    assert not end.value.code
    return folder


MINED = ["--plus"] + [
    part
    for setting in ("evidence=mined", "warm_up=2", "hidden=8", "anchored_epochs=1", "seed=1", "composition=false")
    for part in ("--set", setting)
]
"""Options of a small ProtGNN+ with mined prototypes, which explain all that it says."""


@pytest.fixture(scope="session")
def mined_run(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a ProtGNN+ with mined prototypes; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "mined"
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *MINED])
    assert not end.value.code
    return folder


@pytest.fixture(scope="session")
def base_run(mined_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run with another last class, which no prototype speaks for and whose base wins more than half of the
    test molecules: these are predicted without any evidence. Not to be changed."""
    model, run = load_model(mined_run)
    head = model.head
    assert isinstance(head, MinedHead)
    with torch.no_grad():
        head.last.weight[-1] = 0
        others = predict_logits(model, run_part(run, "test"))[:, :-1].max(1).values
        head.base[-1] = others.median() + 0.01
    folder = tmp_path_factory.mktemp("runs") / "base"
    save_run(folder, run, model, TrainingState(rows=read_rows(mined_run)))
    return folder


@pytest.fixture(scope="session")
def parser_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spaCy pipeline with a small parser of our own."""
    folder = tmp_path_factory.mktemp("parser") / "pipeline"
    make_parser(folder)
    return folder


@pytest.fixture
def parser(parser_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That parser in use."""
    monkeypatch.setenv(PARSER_VARIABLE, str(parser_folder))


@pytest.fixture(scope="session")
def reviews_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny film reviews, parsed, with a split of their own."""
    path = tmp_path_factory.mktemp("data") / "reviews.conllu"
    path.write_text(reviews(split=True))
    return path


@pytest.fixture(scope="session")
def sentence_run(reviews_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with prototypes trained on them; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "sentences"
    few = ["epochs=20", "hidden=8", "prototypes=1", "anchored_epochs=2", "search_iterations=2", "refine_steps=5"]
    few.append("readout=all")
    settings = [part for setting in few for part in ("--set", setting)]
    with pytest.raises(SystemExit) as end:
        main(["train", str(reviews_file), "--out", str(folder), *settings])
    assert not end.value.code
    return folder


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("PROTGNN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PROTGNN_DATA names no folder of real datasets")
    return Path(folder)


@pytest.fixture(scope="session")
def browser_context(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[BrowserContext]":
    """A browser that is opened once for all tests of pages."""
    from playwright import sync_api as playwright

    from tests.viz.browser import BROWSER, FLAGS

    os.environ.setdefault("PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS", "1")
    with playwright.sync_playwright() as driver:
        folder = tmp_path_factory.mktemp("browser")
        opened = driver.chromium.launch_persistent_context(
            folder, executable_path=BROWSER, headless=True, args=list(FLAGS), color_scheme="light"
        )
        yield opened
        opened.close()
