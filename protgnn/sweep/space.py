"""The search space: which recipe keys a sweep tries, and over which values; a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Set
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from protgnn.errors import ProtGNNError
from protgnn.io.text import read_bytes
from protgnn.training.recipe import Recipe, make_recipe

DEFAULT_SPACE = "default_space.toml"


class _Values(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Choices(_Values):
    """A few values, each as likely as another."""

    choices: Annotated[list[bool | int | float | str], Field(min_length=1, max_length=1000)]


class Between(_Values):
    """Numbers from ``low`` to ``high``, both included; whole numbers if both are."""

    low: int | float
    high: int | float
    step: int | float | None = None
    log: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> Between:
        if not self.low <= self.high:
            raise ValueError(f"low={self.low} is above high={self.high}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log = true needs low above 0, and no step")
        if self.step is not None and self.step <= 0:
            raise ValueError(f"step={self.step} is not above 0")
        return self


@dataclass(frozen=True)
class SearchSpace:
    """The values to try of each recipe key."""

    keys: dict[str, Choices | Between]

    def suggest(self, trial: Any) -> dict[str, Any]:
        """A value for every key, which Optuna's ``trial`` remembers."""
        found: dict[str, Any] = {}
        for key, values in self.keys.items():
            if isinstance(values, Choices):
                found[key] = trial.suggest_categorical(key, values.choices)
            elif isinstance(values.low, int) and isinstance(values.high, int) and not isinstance(values.step, float):
                found[key] = trial.suggest_int(key, values.low, values.high, step=values.step or 1, log=values.log)
            else:
                found[key] = trial.suggest_float(key, values.low, values.high, step=values.step, log=values.log)
        return found

    def without(self, keys: Set[str]) -> SearchSpace:
        """The space of the other keys.

        Raises:
            ProtGNNError: Nothing is left to try.
        """
        kept = {key: values for key, values in self.keys.items() if key not in keys}
        if not kept:
            raise ProtGNNError("Every key of the search space is set already, or idle: nothing is left to try")
        return SearchSpace(kept)

    def to_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {key: values.model_dump() for key, values in self.keys.items()}


def read_space(path: Path | None = None) -> SearchSpace:
    """The search space of a TOML file; without one the space that comes with the package.

    Raises:
        ProtGNNError: It cannot be read, or names keys or values that a recipe does not have.
    """
    name = DEFAULT_SPACE if path is None else str(path)
    try:
        content = (files(__package__) / DEFAULT_SPACE).read_bytes() if path is None else read_bytes(path)
        tables = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        raise ProtGNNError(f"{name} is no TOML file: {error}") from None
    keys: dict[str, Choices | Between] = {}
    for key, table in tables.items():
        if key == "seed":
            raise ProtGNNError(f"{name}: a seed is not better than another: use --folds to judge by more data")
        try:
            kind = Choices if isinstance(table, dict) and "choices" in table else Between
            keys[key] = kind.model_validate(table)
        except ValidationError as error:
            said = error.errors()[0]
            where = ".".join(str(part) for part in said["loc"])
            raise ProtGNNError(f"{name}: [{key}] {where}: {said['msg'].removeprefix('Value error, ')}") from None
        for value in _ends(keys[key]):
            try:
                make_recipe(**{key: value})
            except ProtGNNError as error:
                raise ProtGNNError(f"{name}: {error}") from None
    if not keys:
        raise ProtGNNError(f"{name} has no keys to try")
    return SearchSpace(keys)


def recipe_with(base: Recipe, changes: dict[str, Any]) -> Recipe:
    """A recipe with other values; the keys of both count as chosen.

    Raises:
        ProtGNNError: The values do not go together.
    """
    made = make_recipe(**{**base.model_dump(), **changes})
    made.model_fields_set.intersection_update(base.model_fields_set | changes.keys())
    return made


def _ends(values: Choices | Between) -> list[Any]:
    return list(values.choices) if isinstance(values, Choices) else [values.low, values.high]
