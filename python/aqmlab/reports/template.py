"""HTML from the templates of `reports/templates`, in which every text is escaped."""

from __future__ import annotations

import html
import json
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from aqmlab.figures import browser

_FOLDER = "templates"


def rendered(name: str, /, **values: Any) -> Markup:
    """Return the template ``name`` with these values, as HTML that other templates insert as it is."""
    return Markup(_environment().get_template(name).render(values))


def command_of(page: str) -> str:
    """Return the command line that a page quotes; empty if it quotes none."""
    found = re.search(r'<p class="made">[^<]*<br><code>([^<]*)</code>', page)
    return html.unescape(found[1]) if found else ""


def asset(name: str) -> Markup:
    """Return a style sheet or a script of the templates' folder, to be inserted as it is."""
    return Markup(resources.files(__package__).joinpath(_FOLDER, name).read_text(encoding="utf-8"))


def in_script(data: Any) -> Markup:
    """Return data as JSON that cannot end the script element that contains it."""
    return Markup(json.dumps(data, allow_nan=False).replace("</", "<\\/").replace("<!--", "\\u003c!--"))


def marked_up(text: str) -> Markup:
    """Return a text as HTML in which what stands between backticks is code, as it is in Markdown."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "asset": asset,
        "figure_style": lambda: Markup(browser.style()),
        "figure_script": lambda: Markup(browser.script()),
    }
    environment.filters["json"] = in_script
    environment.filters["marked_up"] = marked_up
    return environment
