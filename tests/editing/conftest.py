"""Small trained models of every kind with prototypes, to be edited; editors copy the model, so runs stay the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

from protgnn.cli.main import main
from protgnn.editing import PrototypeEditor
from tests.conftest import MINED


@pytest.fixture(scope="session")
def sampled_run(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a ProtGNN+ with sampled evidence; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "sampled"
    few = ["evidence=sampled", "epochs=2", "warm_up=1", "hidden=8", "prototypes=2", "anchored_epochs=1", "readout=all"]
    settings = [part for setting in [*few, "search_iterations=2"] for part in ("--set", setting)]
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), "--plus", *settings])
    assert not end.value.code
    return folder


@pytest.fixture(scope="session")
def composed_run(molecules_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a ProtGNN+ with mined prototypes and a composition; not to be changed."""
    folder = tmp_path_factory.mktemp("runs") / "composed"
    options = [*MINED, "--set", "composition=true", "--set", "calibrate=false"]
    with pytest.raises(SystemExit) as end:
        main(["train", str(molecules_csv), "--out", str(folder), *options])
    assert not end.value.code
    return folder


KINDS = ("prototype_run", "sampled_run", "mined_run")


@pytest.fixture(params=KINDS)
def editor(request: pytest.FixtureRequest) -> PrototypeEditor:
    """An editor of a model of each kind."""
    return PrototypeEditor.of_run(request.getfixturevalue(request.param))


@pytest.fixture
def mined(mined_run: Path) -> PrototypeEditor:
    """An editor of a model with mined prototypes."""
    return PrototypeEditor.of_run(mined_run)


@pytest.fixture
def shown() -> Callable[[PrototypeEditor], list[str]]:
    """What the prototypes of an editor are, in words."""
    from protgnn.explain.explanation import RunContext

    return lambda editor: list(RunContext.of(editor.run).descriptions)
