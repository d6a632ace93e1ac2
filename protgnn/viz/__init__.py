"""Pictures of graphs, of reasonings and of whole runs: SVG made by hand, PNG and HTML made from it.

========================================================  ==============================================================
``molecules``, ``sentences``, ``graphs``                  one graph as its kind is drawn
``dispatch``                                              which of these a graph gets, and prototypes in their sources
``picture``, ``svg_text``, ``theme``                      pictures with places for marks, text in SVG, colours
``figure_canvas``, ``figure_overview``, ``figure_rows``   the parts of a reasoning figure
``reasoning_figure``                                      the reasoning figure
``curves``                                                training curves
``html``, ``report``                                      the page of a reasoning, and that of a run
``png``, ``save``                                         files
``figures``                                               the figures of the paper, with matplotlib
========================================================  ==============================================================

Strings from data reach a picture through ``svg_text`` and a page through Jinja's escaping; nothing else lets them in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protgnn.io.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protgnn.viz.html import reasoning_page
    from protgnn.viz.reasoning_figure import reasoning_svg
    from protgnn.viz.report import report_page
    from protgnn.viz.theme import DARK, LIGHT, Theme

__all__ = ["DARK", "LIGHT", "Theme", "reasoning_page", "reasoning_svg", "report_page"]

_HOME = {
    "DARK": "theme",
    "LIGHT": "theme",
    "Theme": "theme",
    "reasoning_page": "html",
    "reasoning_svg": "reasoning_figure",
    "report_page": "report",
}

__getattr__ = lazy_exports(__name__, _HOME)
