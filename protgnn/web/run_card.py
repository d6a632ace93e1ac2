"""What the page says of a run: what it classifies, how well, and what to try first."""

from __future__ import annotations

from typing import Any

from protgnn.version import VERSION
from protgnn.web.answer import clean
from protgnn.web.opened_run import OpenedRun
from protgnn.web.server_limits import ServerLimits

_MOLECULES = [
    ("paracetamol", "CC(=O)Nc1ccc(O)cc1"),
    ("aspirin", "CC(=O)Oc1ccccc1C(=O)O"),
    ("ibuprofen", "CC(C)Cc1ccc(cc1)C(C)C(=O)O"),
    ("caffeine", "Cn1c(=O)c2c(ncn2C)n(C)c1=O"),
    ("nitrobenzene", "O=[N+]([O-])c1ccccc1"),
    ("naphthalene", "c1ccc2ccccc2c1"),
]
_NAMED = 4


def run_card(opened: OpenedRun, limits: ServerLimits) -> dict[str, Any]:
    """A run in the words of the page."""
    run = opened.run
    scores = {part: run.scores[part] for part in ("train", "valid", "test") if part in run.scores}
    return {
        "name": clean(opened.name),
        "version": VERSION,
        "kind": run.schema.kind,
        "noun": opened.noun,
        "targets": opened.targets,
        "takes_text": opened.takes_text,
        "classes": [clean(name) for name in run.schema.class_names],
        "scores": {part: {"accuracy": one["accuracy"], "n": one["n"]} for part, one in scores.items()},
        "prototypes": len(opened.context.descriptions),
        "plus": run.recipe.plus,
        "encoder": clean(run.recipe.encoder),
        "data": None if run.data is None else clean(run.data.source.rpartition("/")[2]),
        "highest_similarity": opened.context.highest_similarity,
        "without_data": clean(opened.without_data) if opened.data is None else "",
        "examples": _examples(opened),
        "rows": limits.rows,
    }


def _examples(opened: OpenedRun) -> list[dict[str, str]]:
    """What to ask about first: well-known molecules, or a few held-out sentences and nodes."""
    if opened.run.schema.kind == "molecule" and not opened.targets:
        return [{"name": name, "text": text} for name, text in _MOLECULES]
    if opened.data is None or not opened.takes_text:
        return []
    held_out = opened.part("test") if len(opened.data.test) else opened.part("valid")
    names = held_out[list(range(min(_NAMED, len(held_out))))].names or ()
    return [{"name": clean(name)[:60], "text": name.replace(" – ", ", ")} for name in names]
