"""Whether the same seed gives the same weights with another number of threads: ``python -m benchmarks.threads``.

Trains one small ProtGNN in a process of its own for each number of threads, twice for the last, and prints the largest
difference of any weight. The answer is in docs/decisions/0300.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

_SETTINGS = ("epochs=6", "anchored_epochs=1", "search_iterations=2")


def weights(threads: int) -> dict[str, Tensor]:
    """The weights of a run with so many threads."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "protgnn", "train", "solubility", "--out", str(out)]
        for setting in _SETTINGS:
            command += ["--set", setting]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return load_file(next(out.glob("model*.safetensors")))


def largest_difference(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """Over all floating-point weights of two runs; shapes that differ count as infinite."""
    if {key: value.shape for key, value in one.items()} != {key: value.shape for key, value in other.items()}:
        return float("inf")
    return max(float((one[key] - other[key]).abs().max()) for key in one if one[key].is_floating_point())


if __name__ == "__main__":
    first, second, again = weights(1), weights(2), weights(2)
    print(f"1 and 2 threads: {largest_difference(first, second):g}")
    print(f"2 and 2 threads: {largest_difference(second, again):g}")
