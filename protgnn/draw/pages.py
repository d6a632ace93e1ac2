"""Pages that need nothing but a browser: templates, the style and script within them, pictures within them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from protgnn.draw.lettering import signed
from protgnn.draw.picture import Sheet, svg
from protgnn.draw.reasoning_figure import WIDTH, reasoning_figure, title_of
from protgnn.draw.theme import DARK, LIGHT, PAGE, class_shape, variables
from protgnn.explain.reasoning import Reasoning
from protgnn.explain.terminal import difference, warnings

if TYPE_CHECKING:
    from jinja2 import Environment


def reasoning_page(why: Reasoning, rows: int = 3) -> str:
    """One reasoning: the figure, and under it every row as a table."""
    sheet = Sheet(PAGE)
    content = reasoning_entry(why, sheet, rows)
    return render("reasoning.html", why=content, defs=sheet.defs())


def reasoning_entry(why: Reasoning, sheet: Sheet, drawn: int = 3) -> dict[str, Any]:
    """What a template needs of a reasoning; its pictures go to the sheet of the page."""
    parts, height = reasoning_figure(why, sheet, drawn)
    names = why.class_names
    rows = [
        {
            "prototype": row.prototype,
            "class": row.label,
            "class_name": names[row.label],
            "shows": why.shows(row),
            "evidence": why.evidence_shows(row) or "all of it",
            "similarity": f"{row.similarity:.3f}",
            "contributions": [signed(row.contribution(label)) for label in range(len(names))],
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
        "logits": [signed(logit) for logit in why.logits],
        "rows": rows,
    }


def render(template: str, **values: Any) -> str:
    """A template with the style, the script and both themes in it."""
    folder = files("protgnn.draw") / "templates"
    return (
        _environment()
        .get_template(template)
        .render(
            style=(folder / "page.css").read_text("utf-8"),
            script=(folder / "page.js").read_text("utf-8"),
            light=variables(LIGHT),
            dark=variables(DARK),
            **values,
        )
    )


def class_sign(label: int) -> str:
    """The shape of a class, for a line of text; the class's name stands beside it, so it is silent."""
    shape = class_shape(label, 7, 7, 11, PAGE)
    return f'<svg class="sign" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{shape}</svg>'


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("protgnn.draw"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["sign"] = class_sign
    return environment
