"""Pages that need nothing but a browser: templates, the style and script within them, pictures within them.

Jinja escapes every string; what a template marks as safe is SVG of our own, whose strings ``svg_text`` has escaped. A
page runs one script, ours, which its Content-Security-Policy names by hash: should a string ever slip through, the
browser still refuses to run it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from protgnn.explain.describe import class_said
from protgnn.explain.explanation import Reasoning
from protgnn.explain.render_text import compared_as, difference, noun_of, similarity_said, warnings, whole_of
from protgnn.io.printable import printable
from protgnn.viz.figure_canvas import WIDTH
from protgnn.viz.picture import Sheet, svg
from protgnn.viz.reasoning_figure import reasoning_figure, title_of
from protgnn.viz.svg_text import signed
from protgnn.viz.theme import DARK, LIGHT, PAGE, class_shape, variables

if TYPE_CHECKING:
    from jinja2 import Environment


def reasoning_page(why: Reasoning, rows: int = 3, arcs: bool = False) -> str:
    """Write one reasoning as a page: the figure, and under it every row as a table.

    Args:
        why: The reasoning.
        rows: How many prototypes to draw for each class; the table has them all.
        arcs: Draw the dependencies of sentences above their words.

    Returns:
        The page, which fetches nothing.
    """
    sheet = Sheet(PAGE)
    content = reasoning_entry(why, sheet, rows, arcs)
    return render("reasoning.html", why=content, defs=sheet.defs())


def reasoning_entry(why: Reasoning, sheet: Sheet, drawn: int = 3, arcs: bool = False) -> dict[str, Any]:
    """What a template needs of a reasoning; its pictures go to the sheet of the page."""
    parts, height = reasoning_figure(why, sheet, drawn, arcs)
    names = why.class_names
    rows = [
        {
            "prototype": row.prototype,
            "class": row.label,
            "class_name": names[row.label],
            "description": why.describe(row),
            "evidence": why.describe_evidence(row) or whole_of(why),
            "similarity": similarity_said(row, 3),
            "percentile": why.percentile(row),
            "contributions": [signed(row.contribution(label)) for label in range(len(names))],
            "gain": signed(why.gain(row)),
        }
        for row in why.decisive()
    ]
    return {
        "name": why.title,
        "number": why.number,
        "class": why.predicted,
        "predicted": names[why.predicted],
        "probability": f"{why.probabilities[why.predicted]:.2f}",
        "truth": None if why.truth is None else names[why.truth],
        "right": why.truth == why.predicted,
        "warnings": warnings(why),
        "difference": difference(why),
        "figure": svg(WIDTH, height, parts, title_of(why), PAGE),
        "class_names": names,
        "runner_up": names[why.runner_up],
        "what": noun_of(why),
        "likeness": compared_as(why),
        "logits": [signed(logit) for logit in why.logits],
        "margin": signed(why.margin),
        "base": [
            {
                "name": line.text,
                "contributions": [signed(value) for value in line.contributions],
                "gain": signed(line.contributions[why.predicted] - line.contributions[why.runner_up]),
            }
            for line in why.beside_lines()
        ],
        "rows": rows,
    }


def render(template: str, **values: Any) -> str:
    """A template with the style, the script and both themes in it."""
    folder = files("protgnn.viz") / "templates"
    script = (folder / "page.js").read_text("utf-8")
    return (
        _environment()
        .get_template(template)
        .render(
            style=(folder / "page.css").read_text("utf-8"),
            script=script,
            script_hash=script_hash(script),
            light=variables(LIGHT),
            dark=variables(DARK),
            **values,
        )
    )


def fragment(template: str, **values: Any) -> str:
    """A template that is a piece of somebody else's page: neither style nor script of ours is in it."""
    return _environment().get_template(template).render(**values)


def script_hash(script: str) -> str:
    """What a Content-Security-Policy calls a script by: ``sha256-`` and the digest of its text in base 64."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def class_sign(label: int) -> str:
    """The shape of a class, for a line of text; the class's name stands beside it, so it is silent."""
    shape = class_shape(label, 7, 7, 11, PAGE)
    return f'<svg class="sign" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{shape}</svg>'


def _finalize(value: Any) -> Any:
    """What a template writes: control characters in a text are spelled out, before Jinja escapes it."""
    return printable(value, keep="\n\t") if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("protgnn.viz"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.globals |= {"sign": class_sign, "class_said": class_said}
    return environment
