"""Links, pipes and folders in the place of a run's files: nothing is written through them or waits for them."""

import os
import shutil
from pathlib import Path

import pytest

from protgnn.errors import RunError
from protgnn.io.lock import LOCK_FILE, locked
from protgnn.training.run_folder import save_run, training_in
from tests.conftest import MINED, TINY

FILES = ("run.json", "model.safetensors", "log.csv", "state.safetensors", "report.html", LOCK_FILE)
FOLDERS = (".replacement", "tensorboard")


@pytest.fixture
def copy(run_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_folder, tmp_path / "copy"))


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder with a file in it, which are the user's."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "run.json").write_text("mine")
    return folder


def put(path: Path, kind: str, victim: Path) -> None:
    """Put something else in the place of what is there."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(victim if path.name in FOLDERS else victim / "run.json")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.parametrize("how", ["--overwrite", "--resume"])
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in FILES for kind in ("link", "pipe", "folder")]
    + [(name, kind) for name in FOLDERS for kind in ("link", "pipe")],
)
def test_training_does_not_write_through_what_is_no_plain_file(
    protgnn_command, molecules_csv, copy, victim, name, kind, how
):
    put(copy / name, kind, victim)
    done = protgnn_command("train", molecules_csv, "--out", copy, *TINY, how)
    assert done.status == 1 and done.err.count("error: ") == 1 and str(copy) in done.err
    assert [path.name for path in victim.iterdir()] == ["run.json"] and (victim / "run.json").read_text() == "mine"


@pytest.mark.parametrize("how", ["--overwrite", "--resume"])
def test_training_looks_into_the_folder_of_the_replacement_too(protgnn_command, molecules_csv, copy, victim, how):
    (copy / ".replacement").mkdir()
    shutil.copy(copy / "run.json", copy / ".replacement")
    (copy / ".replacement" / "state.safetensors").symlink_to(victim / "run.json")
    done = protgnn_command("train", molecules_csv, "--out", copy, *TINY, how)
    assert done.status == 1 and "is a link" in done.err and (victim / "run.json").read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_report_is_written_to_a_plain_file_alone(protgnn_command, copy, victim, kind):
    put(copy / "report.html", kind, victim)
    done = protgnn_command("report", copy)
    assert done.status == 1 and "report.html is " in done.err and (victim / "run.json").read_text() == "mine"


@pytest.mark.parametrize("command", [["report"], ["predict", "CCO"], ["evaluate"], ["prototypes"], ["explain", "CCO"]])
@pytest.mark.parametrize("name", ["run.json", "model.safetensors", "prototypes.safetensors"])
def test_no_command_reads_through_a_link(protgnn_command, mined_run, tmp_path, command, name):
    copy = Path(shutil.copytree(mined_run, tmp_path / "copy"))
    (copy / name).rename(tmp_path / name)
    (copy / name).symlink_to(tmp_path / name)
    done = protgnn_command(command[0], copy, *command[1:])
    assert done.status == 1 and done.err.startswith("error: ")


def test_a_model_from_python_is_not_saved_through_a_link(copy, victim):
    put(copy / "log.csv", "link", victim)
    with pytest.raises(RunError, match=r"log\.csv is a link"):
        save_run(copy, None, None, None)  # type: ignore[arg-type]


def test_a_lock_that_is_a_second_name_of_a_file_is_not_taken(tmp_path, victim):
    """Writing who holds it would empty that file."""
    os.link(victim / "run.json", tmp_path / LOCK_FILE)
    with pytest.raises(RunError, match="no plain file of its own"), locked(tmp_path):
        pass
    assert (victim / "run.json").read_text() == "mine"


@pytest.mark.parametrize("how", ["resume", "overwrite"])
def test_a_second_writer_leaves_alone_what_the_first_is_writing(copy, how):
    unfinished = copy / ".state.safetensors.x1.unfinished"
    unfinished.write_text("half of a state")
    with (
        locked(copy),
        pytest.raises(RunError, match="is being written by"),
        training_in(copy, None, **{how: True}),  # type: ignore[arg-type]
    ):
        pass
    assert unfinished.exists()


def test_a_folder_named_as_an_unfinished_file_is_left_alone(protgnn_command, molecules_csv, copy):
    (copy / ".run.json.x1.unfinished").mkdir()
    assert protgnn_command("train", molecules_csv, "--out", copy, *TINY, "--overwrite").status == 0


def test_a_run_of_mined_prototypes_replaces_another(protgnn_command, molecules_csv, copy):
    assert protgnn_command("train", molecules_csv, "--out", copy, *MINED, "--overwrite").status == 0
    assert protgnn_command("explain", copy, "CCO").status == 0


def test_what_killed_processes_left_is_gone_after_the_next_training(protgnn_command, molecules_csv, copy):
    left = (".report.html.x1.unfinished", ".model.0123abcd.safetensors.x1.unfinished", "model.0123abcd.safetensors")
    for name in (*left, ".mine.x1.unfinished"):
        (copy / name).write_text("left by a kill")
    assert protgnn_command("train", molecules_csv, "--out", copy, *TINY, "--overwrite").status == 0
    names = {path.name for path in copy.iterdir()}
    assert not names & set(left) and ".mine.x1.unfinished" in names
