"""Reading a text that a user gave, with a message for each way it may not be one."""

from __future__ import annotations

from pathlib import Path

from protgnn.errors import DataError


def read_text(path: Path, may_be_empty: bool = False) -> str:
    """The text of a UTF-8 file, without a byte order mark, its line ends made alike."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
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
