"""Lines of a text too large to be held in memory: read, unpacked and decoded as they are asked for.

The limits of ``io.limits`` protect memory. Of a stream only a line is in memory at once, so ``line_chars`` holds and
``file_bytes`` does not. A long text must be UTF-8, or UTF-16 with a mark: an old encoding is guessed from all of
a text.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from protgnn.errors import DataError
from protgnn.io.limits import check_limit, limits
from protgnn.io.text import PACKED

STREAMED_FROM = 8_000_000
"""Bytes of a file that is rather streamed than read; a quarter of them where it is packed."""


def is_long(path: Path) -> bool:
    """Whether a file is so large that it is streamed."""
    most = STREAMED_FROM // 4 if path.suffix.lower() == PACKED else STREAMED_FROM
    try:
        return path.is_file() and path.stat().st_size > most
    except OSError:
        return False


class LineStream:
    """The lines of a text file, packed with gzip if its name says so, each with ``\\n`` at its end; once.

    Raises:
        DataError: The file cannot be read, is no text, or has a line that is too long.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._raw = open(path, "rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
        self._size = max(os.fstat(self._raw.fileno()).st_size, 1)

    def share_read(self) -> float:
        """How much of the file has been read, from 0 to 1."""
        return 1.0 if self._raw.closed else self._raw.tell() / self._size

    def __iter__(self) -> Iterator[str]:
        number, most = 0, limits().line_chars
        try:
            with self._raw, self._decoded() as text:
                while line := text.readline(most + 2):
                    number += 1
                    check_limit("line_chars", len(line) - line.endswith("\n"), f"{self.path} line {number}")
                    if "\0" in line:
                        raise DataError(
                            f"{self.path} line {number}: holds a NUL byte: the file is damaged or no text; "
                            "save it as UTF-8 text"
                        )
                    yield line
        except UnicodeDecodeError:
            raise DataError(
                f"{self.path}, after line {number}: not UTF-8 text: save the file with the encoding UTF-8"
            ) from None
        except gzip.BadGzipFile:
            raise DataError(
                f"{self.path} is no gzip file or a damaged one: pack it again, or unpack it and give that"
            ) from None
        except (EOFError, zlib.error):
            raise DataError(
                f"{self.path} is cut short or damaged: copy it again; gzip cannot unpack all of it"
            ) from None
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def _decoded(self) -> io.TextIOWrapper:
        unpacked = self._raw if self.path.suffix.lower() != PACKED else gzip.GzipFile(fileobj=self._raw)
        buffered = io.BufferedReader(cast(io.RawIOBase, unpacked), 2**20)
        wide = buffered.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        return io.TextIOWrapper(cast(BinaryIO, buffered), encoding="utf-16" if wide else "utf-8-sig")
