"""A figure in a page, which the reader's browser draws."""

from __future__ import annotations

from markupsafe import Markup

from aqmlab.figures import browser
from aqmlab.figures.model import Figure, Grid
from aqmlab.reports.template import rendered


def embedded(figure: Figure | Grid, name: str) -> Markup:
    """Return a figure as HTML, in an element whose ``name`` must be unique in the page.

    The page is rendered with ``has_figures``.
    """
    if isinstance(figure, Grid):
        figure = Figure(title="", rows=[[figure]])
    return rendered(
        "figure.html",
        name=name,
        title=figure.title,
        legend=browser.legend(figure),
        height=browser.height(figure),
        data=browser.specification(figure),
    )
