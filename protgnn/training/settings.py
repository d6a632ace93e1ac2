"""Recipe keys as users write them: ``--set key=value`` and configuration files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from protgnn.errors import ProtGNNError
from protgnn.io.text import read_bytes


def parse_settings(settings: list[str]) -> dict[str, str]:
    """``["epochs=40", "lr=0.01"]`` → ``{"epochs": "40", "lr": "0.01"}``."""
    found = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise ProtGNNError(f"Expected --set key=value (got {setting!r})")
        found[key.strip()] = value.strip()
    return found


def read_config(path: Path) -> dict[str, Any]:
    """Recipe keys from a TOML or JSON file."""
    try:
        text = read_bytes(path).decode("utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtGNNError(f"{path} is neither TOML nor JSON: {error}") from None
    if not isinstance(values, dict):
        raise ProtGNNError(f"Expected {path} to hold keys and values (got a {type(values).__name__})")
    return values
