"""A long text read line by line is the text that would have been read as a whole."""

import gzip

import pytest

from protgnn.errors import DataError
from protgnn.io.limits import LIMITS_VARIABLE
from protgnn.io.text import nothing_there, read_text
from protgnn.io.text_stream import LineStream

TEXTS = {
    "plain": b"a,b\n1,2\n",
    "no end": b"a,b\n1,2",
    "marked": "\ufeffa,b\n1,é\n".encode(),
    "windows": b"a,b\r\n1,2\r\n",
    "old mac": b"a,b\r1,2\r",
    "excel": "\ufeffa,b\n1,é\n".encode("utf-16-le"),
    "long": ("x" * 999 + "\n").encode() * 4000,
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_those_of_the_whole_text(tmp_path, content, packed):
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    stream = LineStream(path)
    assert "".join(stream) == read_text(path, notes=[])
    assert stream.share_read() == 1.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\n\0\n", "line 2: holds a NUL"),
        (b"a\n\xff\xfe\n", "not UTF-8"),
        (b"a\n" + b"x" * 51, "line 2: 51 characters in a line"),
    ],
)
def test_what_is_no_text_is_refused_as_such(tmp_path, monkeypatch, content, said):
    monkeypatch.setenv(LIMITS_VARIABLE, "line_chars=50")
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        list(LineStream(path))


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" * 10_000)[:-20])
    with pytest.raises(DataError, match="cut short"):
        list(LineStream(path))
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="no gzip file"):
        list(LineStream(path))
    with pytest.raises(DataError, match="cannot be read"):
        LineStream(tmp_path / "none.csv")


def test_a_missing_file_is_told_with_the_one_beside_it_that_is_most_like_it(tmp_path):
    (tmp_path / "bbbp600.csv").touch()
    said = nothing_there(tmp_path / "bbp600.csv")
    assert said.startswith(f"{tmp_path / 'bbp600.csv'}: there is no such") and said.endswith("bbbp600.csv?")
    assert "did you mean" not in nothing_there(tmp_path / "other" / "x.csv")
