"""One seed per run, one stream per concern and epoch: no state to store, so a resumed run repeats itself."""

from __future__ import annotations

import hashlib

import torch


def seed_for(seed: int, concern: str, epoch: int = 0) -> int:
    """A seed for one concern (weights, shuffle, dropout, …) in one epoch."""
    digest = hashlib.sha256(f"{seed}/{concern}/{epoch}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def generator_for(seed: int, concern: str, epoch: int = 0) -> torch.Generator:
    """A CPU generator for one concern in one epoch."""
    return torch.Generator().manual_seed(seed_for(seed, concern, epoch))
