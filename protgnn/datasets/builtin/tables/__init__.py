"""Tables that come with the package; README.md beside them says where each is from and under which licence."""

from __future__ import annotations

import csv
import gzip
from importlib.resources import files

__all__ = ["read_packaged"]


def read_packaged(name: str) -> list[dict[str, str]]:
    """The rows of ``name.csv.gz`` by the names of its columns."""
    packed = files(__name__).joinpath(f"{name}.csv.gz").read_bytes()
    return list(csv.DictReader(gzip.decompress(packed).decode().splitlines()))
