"""Reading a text that a user gave, with a message for each way it may not be one."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from protgnn.errors import DataError

PACKED = ".gz"


def ending(path: Path) -> str:
    """How a file's name ends, in small letters: ``.csv``, or both endings of a packed file, as in ``.conllu.gz``."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last == PACKED else last


def title(path: Path) -> str:
    """A file's name without its ending."""
    return path.name[: len(path.name) - len(ending(path))] if ending(path) else path.name


def read_text(path: Path, may_be_empty: bool = False) -> str:
    """The text of a UTF-8 file, packed with gzip if its name says so; no byte order mark, line ends made alike."""
    raw = _bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path} line {line}: not UTF-8 text: save the file with the encoding UTF-8") from None
    if not text.strip() and not may_be_empty:
        raise DataError(f"{path} is empty: expected data in it")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{path} line {line}: holds a NUL byte: the file is damaged or no text; save it as UTF-8 text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _bytes(path: Path) -> bytes:
    try:
        if path.suffix.lower() != PACKED:
            return path.read_bytes()
        with gzip.open(path) as file:
            return file.read()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except gzip.BadGzipFile:
        raise DataError(f"{path} is no gzip file or a damaged one: pack it again, or unpack it and give that") from None
    except (EOFError, zlib.error):
        raise DataError(f"{path} is cut short or damaged: copy it again; gzip cannot unpack all of it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
