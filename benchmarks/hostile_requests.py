"""Hostile and malformed requests for the explorer, the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

PATHS = (
    *("/", "/theme.css", "/api/run", "/api/ask", "/api/without", "/api/rows", "/api/rows.csv", "/api/pictures"),
    *("/api/uploads", "/api/map", "/api/prototypes", "/api/undo", "/api/edits", "/api/edited.zip", "/api/compare"),
    *("/static/", "/static/main.js", "/static/..%2f..%2fapp.py", "/static/../../../../etc/passwd", "/%00", "//api/run"),
    *("/api/../api/run", "/static/%2e%2e/%2e%2e/guard.py", "/api", "/nothing", "/api/rows.xlsx", "/.env", "/api/ask/"),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE")
TEXTS = (
    *(
        "",
        " ",
        "CCO",
        "C" * 399,
        "C" * 3_999,
        "C1" * 400,
        "c1ccccc1" * 20,
        "(" * 2_000,
        "[" * 500,
        "C(" * 300 + ")" * 300,
    ),
    *(
        "%00",
        "\x00",
        "\x1b[2J",
        "../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "train",
        "test",
        "solubility",
    ),
    *(
        "<script>alert(1)</script>",
        "{{7*7}}",
        "${7*7}",
        "'; DROP TABLE graphs; --",
        "\u202eCCO",
        "ＣＣＯ",
        "😀",
        "é" * 900,
    ),
    *(
        "[Xx]",
        "[C+99]",
        "C%99",
        "C1CC",
        "[2H]C([2H])",
        "*",
        "[#6]",
        "C>>O",
        "CC.CC.CC",
        "C" + "=C" * 200,
        "%(100)" * 50,
    ),
    *("[H][H]", "C=1C=CC=CC=1" * 30, "@", "$", "C\nO", "C\tO", "-1", "1e999", "NaN", "null", "__import__('os')"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 10**6, 10**18, 10**400, -(10**30), 1.5, 1e308, "", "0", "held-out", "x" * 70),
    *([], {}, [1], [[[]]], {"text": "C"}, "\x00"),
)
KEYS = (
    "text",
    "place",
    "before",
    "of",
    "rows",
    "row",
    "numbers",
    "atom",
    "action",
    "prototype",
    "part",
    "__proto__",
    "x",
)
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"content-type": "text/plain"},
    {"content-type": "multipart/form-data; boundary=x"},
    {"x-file-name": "%2e%2e%2f%2e%2e%2fevil.xlsx"},
    {"x-file-name": "a.xlsx"},
    {"x-file-name": "a.sdf"},
    {"x-file-name": "a.jsonl"},
    {"x-file-name": "%00%ff"},
    {"cookie": "protgnn-8765=" + "A" * 500},
    {"cookie": '"; \\;==;,,'},
    {"range": "bytes=0-99999999999"},
    {"accept-encoding": "br;q=9"},
    {"transfer-encoding-hint": "chunked"},
    {"if-none-match": "*" * 300},
    {"origin": "null"},
    {"host": "evil.example"},
    {"x-forwarded-for": "10.0.0.1", "x-forwarded-proto": "https"},
)


@dataclass(frozen=True)
class HostileRequest:
    """One request, with the header that the explorer's own page sends."""

    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def hostile_requests(count: int, seed: int) -> Iterator[HostileRequest]:
    """So many requests of every sort."""
    chance = random.Random(seed)
    for _ in range(count):
        method = chance.choice(METHODS) if chance.random() < 0.4 else "POST"
        path = chance.choice(PATHS)
        if chance.random() < 0.3:
            path += "?" + "&".join(
                f"rows={chance.choice(('held-out', 'x', '%00', '..%2f', 'A' * 900))}" for _ in range(3)
            )
        body = b"" if method in ("GET", "HEAD") else _body(chance)
        yield HostileRequest(method, path, body, {"x-protgnn": "explorer"} | chance.choice(HEADERS))


def _body(chance: random.Random) -> bytes:
    kind = chance.randrange(8)
    if kind == 0:
        return chance.randbytes(chance.choice((1, 50, 5_000)))
    if kind == 1:
        return b"[" * chance.choice((10, 5_000, 19_000))
    if kind == 2:
        return b"x" * chance.choice((20_001, 100_000))
    if kind == 3:
        rows = "\n".join(chance.choice(TEXTS).replace("\n", " ") for _ in range(chance.choice((1, 5, 40))))
        return f"smiles\n{rows}\n".encode("utf-8", "replace")
    if kind == 4:
        text = json.dumps({"text": chance.choice(TEXTS), "before": chance.choice(TEXTS)}).encode()
        return text[: chance.randrange(len(text))] if chance.random() < 0.3 else text
    if kind == 5:
        return json.dumps({"text": chance.choice(TEXTS), "atom": chance.choice(VALUES)}).encode()
    if kind == 6:
        return json.dumps({"place": {"rows": "held-out", "row": chance.choice(VALUES)}}).encode()
    chosen = {chance.choice(KEYS): chance.choice((*VALUES, *TEXTS)) for _ in range(chance.randrange(1, 4))}
    return json.dumps(chosen).encode()
