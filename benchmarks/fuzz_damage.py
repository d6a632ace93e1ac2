"""Seeded damage to bytes, JSON and tensors, for the fuzz run."""

from __future__ import annotations

import random
from typing import Any

import torch

PIECES = [
    *(b",", b"\n", b"\t", b'"', b"[", b"]", b"{", b"}", b"(", b")", b"-", b"=", b"e9", b"NaN", b"null", b"\0", b"\xff"),
    *(b"1e999", b"\\ud800", b"=cmd|' /C calc'!A0", b"\x1b[2J", b"<script>", b"%(99999)", b"[" * 3000, b"C(" * 1500),
    *(b"9" * 5000, b"-1", b"99999999999999999999", b"0.5", b"\r", b"\xe2\x80\xae", b"C1" * 300),
]
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 2, 3.5, -0.0, 1e308, 10**30, 2**53, 2**31, -(2**63), float("nan"), float("inf"), ""),
    *("a", "\x1b[31m", "<script>alert(1)</script>", "=1+1", "x" * 200_000, "\ud800", "../../etc/passwd", "/dev/zero"),
    *([], [[]], [None], [-5], [0, 0], ["a"], {}, {"a": 1}, [1] * 5000, [[[[[[[[]]]]]]]], "C" * 60_000, "C" * 9_000),
]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A few blows: a byte changed, a piece put in, a stretch cut out or repeated, lines shuffled."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(found) + 1)
        blow = chance.randrange(7)
        if blow == 0:
            found[place : place + 1] = bytes([chance.randrange(256)])
        elif blow in (1, 2):
            found[place : place + chance.choice([0, 1])] = chance.choice(PIECES)
        elif blow == 3:
            del found[place : place + chance.choice([1, 3, 20])]
        elif blow == 4:
            del found[place:]
        elif blow == 5:
            found[place:place] = found[place : place + chance.choice([5, 50, 500])] * chance.choice([1, 2, 100])
        else:
            lines = bytes(found).split(b"\n")
            chance.shuffle(lines)
            found = bytearray(b"\n".join(lines))
    return bytes(found)


def damaged_json(content: Any, chance: random.Random) -> Any:
    """The content with one value, somewhere in it, replaced, removed or doubled."""
    place, steps = content, 0
    while True:
        keys: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return content
        key, steps = chance.choice(keys), steps + 1
        if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
            place = place[key]
            continue
        blow = chance.randrange(5)
        if blow == 0:
            del place[key]
        elif blow == 1 and isinstance(place, list):
            place.append(place[key])
        elif blow == 2 and isinstance(place, dict):
            place[str(chance.choice(ODD))[:50]] = place[key]
        elif blow == 3 and isinstance(place[key], int | float):
            place[key] = place[key] + chance.choice([-1, 1, 0.5, 10**9])
        else:
            place[key] = chance.choice(ODD)
        return content


def damaged_tensor(value: torch.Tensor, chance: random.Random) -> torch.Tensor:
    """A tensor of another shape, type or content."""
    blow = chance.randrange(9)
    if blow == 0:
        return value[:-1].clone() if value.dim() else value[None].clone()
    if blow == 1:
        return value.to(chance.choice([torch.float64, torch.int64, torch.bool, torch.float16, torch.int8]))
    if blow == 2:
        return value.reshape(-1).clone()
    if blow == 3:
        return torch.zeros(0)
    if blow == 4:
        return value[None].clone()
    if blow == 5:
        return torch.cat([value.reshape(-1)] * 2)
    found = value.clone()
    if not found.numel():
        return torch.zeros(3, 3)
    flat = found.reshape(-1)
    odd = [0, 1, -1, 7, 127] if not found.is_floating_point() else [float("nan"), float("inf"), 1e38, -1.0, 0.0]
    with torch.no_grad():
        flat[chance.randrange(len(flat))] = chance.choice(odd)
    return found
