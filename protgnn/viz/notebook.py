"""A reasoning within a notebook: a piece of a page that brings nothing but itself.

The figure is an image of its own, so that its styles and names cannot meet those of the notebook or of other cells.
"""

from __future__ import annotations

import base64

from protgnn.explain.explanation import Reasoning
from protgnn.explain.render_text import compared_as, similarity_said, warnings, whole_of
from protgnn.viz.html import fragment
from protgnn.viz.reasoning_figure import reasoning_svg, title_of
from protgnn.viz.svg_text import signed


def reasoning_fragment(why: Reasoning, rows: int = 3) -> str:
    """The figure of a reasoning and, folded away, the table of all its rows, as HTML.

    Args:
        why: The reasoning.
        rows: How many prototypes to draw for each class; the table has them all.
    """
    picture = base64.b64encode(reasoning_svg(why, rows=rows).encode()).decode()
    names = why.class_names
    table = [
        {
            "evidence": why.describe_evidence(row) or whole_of(why),
            "description": why.describe(row),
            "class_name": names[row.label],
            "similarity": similarity_said(row, 3),
            "contributions": [signed(row.contribution(label)) for label in range(len(names))],
        }
        for row in why.decisive()
    ]
    beside = [
        {"name": line.text, "contributions": [signed(value) for value in line.contributions]}
        for line in why.beside_lines()
    ]
    return fragment(
        "notebook.html",
        picture=picture,
        title=title_of(why),
        warnings=warnings(why),
        class_names=names,
        likeness=compared_as(why),
        rows=table,
        beside=beside,
        logits=[signed(logit) for logit in why.logits],
    )
