"""Files are whole or not there."""

import csv
import io
import os
import stat

import pytest

from protgnn.errors import ProtGNNError
from protgnn.featurizers.molecule import parse, quiet
from protgnn.io import atomic_files
from protgnn.io.atomic_files import csv_text, remove_unfinished, write_bytes, write_json, write_text


def test_what_is_written_is_there_and_nothing_else(tmp_path):
    write_text(tmp_path / "deep" / "a.txt", "für alle")
    assert (tmp_path / "deep" / "a.txt").read_text(encoding="utf-8") == "für alle"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.txt"]


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, step, error):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(atomic_files.os, step, fail)
    expected = ProtGNNError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as raised:
        write_text(path, "new")
    if isinstance(error, OSError):
        assert str(raised.value) == f"Cannot write {path}: No space left on device"
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_the_old_or_the_new_file_but_never_half(tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    write_bytes(path, b"old" * 1000)
    seen = []
    replace = os.replace

    def watched(source: str, target: str) -> None:
        seen.append(path.read_bytes())
        replace(source, target)
        seen.append(path.read_bytes())

    monkeypatch.setattr(atomic_files.os, "replace", watched)
    write_bytes(path, b"new" * 2000)
    assert seen == [b"old" * 1000, b"new" * 2000]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ProtGNNError, match=r"Cannot write .*file/a\.txt"):
        write_text(tmp_path / "file" / "a.txt", "")
    with pytest.raises(ProtGNNError, match="Is a directory"):
        write_text(tmp_path, "")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_json_refuses_what_is_not_json_and_writes_nothing(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    kept = [tmp_path / "run.json", tmp_path / ".run.json.mine", tmp_path / ".other.json.x.unfinished"]
    left = tmp_path / ".run.json.x1.unfinished"
    for path in (*kept, left):
        path.write_text("")
    remove_unfinished(tmp_path / "run.json")
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_rows_become_csv():
    assert csv_text([{"a": 1, "b": "x,y"}, {"a": 2, "b": 'q"'}]) == 'a,b\n1,"x,y"\n2,"q"""\n'
    assert csv_text([]) == ""


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(1)", "-cmd"]
)
def test_a_cell_that_a_spreadsheet_would_run_is_written_as_text(cell):
    header, row = csv.reader(io.StringIO(csv_text([{cell: cell}]), newline=""))
    assert header == row == ["'" + cell.replace("\r", "\n")]


def test_a_line_end_within_a_cell_begins_no_row():
    rows = list(csv.reader(io.StringIO(csv_text([{"a": "one\r=cmd", "b": "two\r\n=cmd"}]), newline="")))
    assert rows == [["a", "b"], ["one\n=cmd", "two\n=cmd"]]


@pytest.mark.parametrize(
    "cell", ["-1", "+1", "-1.5e-3", "-", "[Na+].[Cl-]", "C=O", "007", "", "a=1", "CC(=O)[O-]", -1, -0.5]
)
def test_numbers_and_smiles_are_written_as_they_are(cell):
    _, row = csv.reader(io.StringIO(csv_text([{"a": cell, "b": 1}]), newline=""))
    assert row == [str(cell), "1"]


def test_no_smiles_that_can_be_read_begins_as_a_formula_does():
    with quiet():
        assert [start for start in "=+-@" for rest in ("C", "CC", "[H]") if parse(start + rest) is not None] == []


def test_the_folder_is_synced_after_the_rename(tmp_path, monkeypatch):
    done: list[str] = []
    replace, fsync = os.replace, os.fsync

    def watched(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    monkeypatch.setattr(atomic_files.os, "fsync", watched)
    monkeypatch.setattr(atomic_files.os, "replace", lambda *names: (replace(*names), done.append("rename")))
    write_text(tmp_path / "a.txt", "a")
    assert done == ["file", "rename", "folder"]
