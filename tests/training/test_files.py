"""Files are whole or not there."""

import os

import pytest

from protgnn.errors import ProtGNNError
from protgnn.training import files
from protgnn.training.files import csv_text, remove_unfinished, write_bytes, write_json, write_text


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

    monkeypatch.setattr(files.os, step, fail)
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

    monkeypatch.setattr(files.os, "replace", watched)
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
