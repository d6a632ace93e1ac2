"""Reading a text that a user gave, with a message for each way it may not be one."""

from __future__ import annotations

import codecs
import difflib
import gzip
import os
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from protgnn.errors import DataError
from protgnn.io.limits import check_limit, limits

PACKED = ".gz"
_CHUNK = 2**20
_OLD_ENCODINGS = (("cp1252", "Windows-1252"), ("mac_roman", "Mac Roman"))


def ending(path: Path) -> str:
    """How a file's name ends, in small letters: ``.csv``, or both endings of a packed file, as in ``.conllu.gz``."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last == PACKED else last


def title(path: Path) -> str:
    """A file's name without its ending."""
    return path.name[: len(path.name) - len(ending(path))] if ending(path) else path.name


def nothing_there(path: str | Path) -> str:
    """A sentence on a path that does not exist, with the name beside it that is most like it."""
    path = Path(path)
    try:
        beside = sorted(other.name for other in path.parent.iterdir())
    except (OSError, ValueError):  # a path with a zero in it is none
        beside = []
    near = difflib.get_close_matches(path.name, beside, n=1)
    hint = f"; did you mean {path.parent / near[0]}?" if near else ""
    return f"{path}: there is no such file or folder{hint}"


def read_text(path: Path, may_be_empty: bool = False, notes: list[str] | None = None) -> str:
    """The text of a UTF-8 file, packed with gzip if its name says so; no byte order mark, line ends made alike.

    With ``notes`` the text may also be UTF-16, as Excel saves it, or of an old encoding with a byte for each letter,
    which is then guessed and noted.

    Raises:
        DataError: There is no such file, it is no text, or it or one of its lines is over a limit of ``io.limits``.
    """
    raw = read_bytes(path)
    text = _decoded(path, raw, notes)
    del raw
    if not text.strip() and not may_be_empty:
        raise DataError(f"{path} is empty: expected data in it")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(f"{path} line {line}: holds a NUL byte: the file is damaged or no text; save it as UTF-8 text")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    _check_lines(path, text)
    return text


def _decoded(path: Path, raw: bytes, notes: list[str] | None) -> str:
    if raw.startswith(b"PK\x03\x04"):
        raise DataError(
            f"{path} is packed, and no text: unpack it; if it is an Excel workbook, let its name end in .xlsx"
        )
    if notes is not None and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return raw.decode("utf-16")
        except UnicodeDecodeError:
            raise DataError(f"{path}: not UTF-16 text, as which it begins: save it with the encoding UTF-8") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        if notes is None or b"\0" in raw:
            raise DataError(f"{path} line {line}: not UTF-8 text: save the file with the encoding UTF-8") from None
    of_old_mac = b"\r" in raw and b"\n" not in raw
    for encoding, known_as in (("mac_roman", "Mac Roman"),) if of_old_mac else _OLD_ENCODINGS:
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        line = raw.count(b"\r" if of_old_mac else b"\n", 0, _first_high_byte(raw)) + 1
        notes.append(
            f"{path.name} is not UTF-8 text and was read as {known_as}: check the letters in line {line}, "
            "or save it with the encoding UTF-8"
        )
        return text
    raise DataError(f"{path} line {line}: not UTF-8 text: save the file with the encoding UTF-8")


def _first_high_byte(raw: bytes) -> int:
    """Where the first byte stands that is no ASCII."""
    try:
        raw.decode("ascii")
    except UnicodeDecodeError as error:
        return error.start
    return len(raw)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name says so; a device or pipe that never ends is left at the limit.

    Raises:
        DataError: It cannot be read, or is over the limit ``file_bytes``.
    """
    try:
        with open(path, "rb") as file:
            kind = os.fstat(file.fileno())
            if stat.S_ISREG(kind.st_mode):
                check_limit("file_bytes", kind.st_size, str(path))
            if path.suffix.lower() != PACKED:
                return _at_most(file, path)
            with gzip.open(file) as unpacked:
                return _at_most(cast(BinaryIO, unpacked), path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except gzip.BadGzipFile:
        raise DataError(f"{path} is no gzip file or a damaged one: pack it again, or unpack it and give that") from None
    except (EOFError, zlib.error):
        raise DataError(f"{path} is cut short or damaged: copy it again; gzip cannot unpack all of it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _at_most(file: BinaryIO, path: Path) -> bytes:
    """All that is left of a file, which is counted while it is read."""
    most, found = limits().file_bytes, bytearray()
    while chunk := file.read(min(_CHUNK, most + 1 - len(found))):
        found += chunk
        check_limit("file_bytes", len(found), str(path))
    return bytes(found)


def _check_lines(path: Path, text: str) -> None:
    """Refuse a line that is too long, in jumps of up to such a length."""
    most, start = limits().line_chars, 0
    while len(text) - start > most:
        end = text.rfind("\n", start, start + most + 1)
        if end < 0:
            length = (text.find("\n", start) + 1 or len(text) + 1) - 1 - start
            check_limit("line_chars", length, f"{path} line {text.count(chr(10), 0, start) + 1}")
        start = end + 1
