"""What ``torchrun`` tells a process that it starts; needs no PyTorch."""

from __future__ import annotations

import os


def launched_rank() -> tuple[int, int]:
    """The rank of this process and how many there are; ``(0, 1)`` where ``torchrun`` has not started it."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return 0, 1
    return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
