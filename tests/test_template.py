"""The templates of reports: what they escape, and where their colours stand."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from aqmlab.reports import template
from aqmlab.reports.template import asset, in_script, marked_up, rendered

TEMPLATES = Path(template.__file__).parent / "templates"
TEXTS = {"title": "<b>", "made": "\"'&", "command": "</code>"}


def test_a_text_is_never_an_element() -> None:
    page = rendered("page.html", **TEXTS, has_figures=False)
    assert page.count("&lt;b&gt;") == 2
    assert '<p class="made">&#34;&#39;&amp;<br><code>&lt;/code&gt;</code></p>' in page


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'has_figures' is undefined"):
        rendered("page.html", **TEXTS)


def test_data_cannot_end_its_script() -> None:
    assert in_script(["</script>", "<!-- "]) == r'["<\/script>", "\u003c!-- "]'


def test_colours_are_variables_of_the_page() -> None:
    colour = re.compile(r"#[0-9a-f]{3,8}\b(?=\s*[;,) ])|\brgba?\(|\bhsla?\(")
    sheets = {file.name: colour.findall(file.read_text(encoding="utf-8")) for file in TEMPLATES.glob("*.css")}
    assert sheets.pop("page.css")
    assert not any(sheets.values()), sheets


def test_light_and_dark_have_the_same_colours() -> None:
    light, dark, *_ = re.findall(r":root \{(.*?)\}", asset("page.css"), re.DOTALL)
    names = re.compile(r"(--[\w-]+): #")
    assert names.findall(light) == names.findall(dark)


def test_each_variable_is_declared() -> None:
    texts = "".join(file.read_text(encoding="utf-8") for file in TEMPLATES.rglob("*.*"))
    assert set(re.findall(r"var\((--[\w-]+)", texts)) <= set(re.findall(r"(--[\w-]+):", texts))


def test_names_between_backticks_are_code_and_all_else_is_text() -> None:
    assert marked_up("`a < b` is `c`; one ` alone") == "<code>a &lt; b</code> is <code>c</code>; one ` alone"
