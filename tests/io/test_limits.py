"""Input without end or measure is refused while it is read, with the limit and how to raise it."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from protgnn.errors import DataError, ProtGNNError
from protgnn.io.limits import LIMITS_VARIABLE, Limits, check_limit, limits
from protgnn.io.text import read_bytes, read_text


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, "file_bytes=3000000,line_chars=1000")


def test_a_limit_is_raised_by_its_name(monkeypatch):
    with pytest.raises(DataError, match=r"graphs: 20000001 nodes, and at most 20000000 .* PROTGNN_LIMITS=nodes="):
        check_limit("nodes", 20_000_001, "graphs")
    monkeypatch.setenv(LIMITS_VARIABLE, "nodes=20000001")
    check_limit("nodes", 20_000_001, "graphs")
    assert limits().edges == Limits().edges


@pytest.mark.parametrize("wrong", ["nodes", "nodes=", "nodes=-1", "nodes=many", "mice=3", "nodes=1;edges=2"])
def test_a_limit_that_is_none_is_refused(monkeypatch, wrong):
    monkeypatch.setenv(LIMITS_VARIABLE, wrong)
    with pytest.raises(ProtGNNError, match="PROTGNN_LIMITS: expected settings such as"):
        limits()


@pytest.mark.usefixtures("small")
def test_a_file_over_the_limit_is_refused_and_one_at_it_is_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a" * 3_000_000)
    assert len(read_bytes(path)) == 3_000_000
    path.write_bytes(b"a" * 3_000_001)
    with pytest.raises(DataError, match=r"a\.txt: 3000001 bytes or more, and at most 3000000 .*file_bytes"):
        read_bytes(path)


@pytest.mark.usefixtures("small")
def test_what_unpacks_to_much_more_is_refused(tmp_path):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(bytes(50_000_000)))
    with pytest.raises(DataError, match=r"a\.conllu\.gz: 3000001 bytes or more"):
        read_text(path)


@pytest.mark.usefixtures("small")
def test_a_device_that_never_ends_is_left():
    with pytest.raises(DataError, match="/dev/zero: 3000001 bytes or more"):
        read_text(Path("/dev/zero"))


@pytest.mark.usefixtures("small")
def test_a_pipe_is_read_to_its_end_or_the_limit(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("a\n"))
    writer.start()
    assert read_text(pipe) == "a\n"
    writer.join()

    def without_end() -> None:
        with open(pipe, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"a" * 1_000_000)
            except BrokenPipeError:
                pass

    writer = threading.Thread(target=without_end)
    writer.start()
    with pytest.raises(DataError, match="pipe: 3000001 bytes or more"):
        read_text(pipe)
    writer.join()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("before", [0, 1, 500])
def test_a_line_over_the_limit_is_named(tmp_path, before):
    path = tmp_path / "a.txt"
    path.write_text("ab\n" * before + "a" * 1000 + "\n" + "b" * 1000)
    read_text(path)
    path.write_text("ab\n" * before + "a" * 1000 + "\n" + "b" * 1001 + "\nc")
    with pytest.raises(DataError, match=rf"line {before + 2}: 1001 characters in a line"):
        read_text(path)
