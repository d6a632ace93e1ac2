"""A reasoning as plain values, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protgnn.explain.render_text import likeness

if TYPE_CHECKING:
    from protgnn.explain.explanation import Reasoning, ReasoningRow


def reasoning_json(why: Reasoning, unfamiliar: str) -> dict[str, Any]:
    """Everything as plain values; ``unfamiliar`` is the note on a graph that is unlike anything the model knows. The
    contributions of the rows and of the composition and the base of a class add up to its logit."""
    names, truth = why.class_names, why.truth
    target = why.node_cards(why.target_nodes)
    base = why.base
    return {
        "name": why.name,
        "predicted": names[why.predicted],
        "truth": None if truth is None else names[truth],
        "probabilities": dict(zip(names, why.probabilities, strict=True)),
        "logits": dict(zip(names, why.logits, strict=True)),
        "runner_up": names[why.runner_up],
        "margin": why.margin,
        "familiar": why.familiar,
        "largest_similarity": why.largest_similarity,
        "familiar_from": why.context.familiarity,
        "highest_similarity": why.context.highest_similarity,
        "notes": [*([unfamiliar] if why.familiar is False else []), *why.notes],
        "unknown_words": None if why.unknown_words is None else list(why.unknown_words.unknown),
        "base": dict(zip(names, base, strict=True)) if base else None,
        "base_gain": base[why.predicted] - base[why.runner_up] if base else 0.0,
        "composition": [row.to_json(names) for row in why.composition],
        "targets": None if target is None else [card.to_json() for card in target],
        "rows": [_row_json(why, row) for row in why.rows],
    }


def _row_json(why: Reasoning, row: ReasoningRow) -> dict[str, Any]:
    names, prototypes = why.class_names, why.context.prototypes
    card = None if prototypes is None else prototypes.cards[row.prototype]
    evidence, source = why.node_cards(row.evidence), why.context.prototype_nodes(row.prototype)
    return {
        "prototype": row.prototype,
        "class": names[row.label],
        "description": why.describe(row),
        "source": None if card is None else {"graph": card.graph, "name": card.name, "nodes": list(card.nodes)},
        "source_nodes": None if source is None else [node.to_json() for node in source],
        "similarity": row.similarity,
        "percentile": why.percentile(row),
        "resemblance": row.resemblance,
        "likeness": likeness(why, row),
        "weights": dict(zip(names, row.weights, strict=True)),
        "contributions": {name: row.contribution(label) for label, name in enumerate(names)},
        "gain": why.gain(row),
        "evidence": None if row.evidence is None else list(row.evidence),
        "places": [list(place) for place in row.places],
        "counts_places": row.counts,
        "cut_edges": why.cut_edges(row),
        "evidence_description": why.describe_evidence(row),
        "evidence_names": why.evidence_names(row),
        "evidence_nodes": None if evidence is None else [node.to_json() for node in evidence],
    }
