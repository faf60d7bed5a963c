"""Results, sweeps and scenarios in notebooks: the tables of their `repr`, as HTML."""

import pkgutil
import re
from collections import Counter
from html import unescape
from typing import Any, NamedTuple

import aqmlab
from aqmlab import METRICS, Comparison, Scenario, presenters
from aqmlab.reports import parts
from aqmlab.reports.text import SHOWN


class Page(NamedTuple):
    """The elements of a page that the tests ask for."""

    tags: list[str]
    titles: list[str]
    words: list[str]


def page(item: Any) -> Page:
    html: str = item._repr_html_()
    tags = re.findall(r"<(\w+)", html)
    assert sorted(tags) == sorted(re.findall(r"</(\w+)", html)), "each is closed"
    text = re.sub(r"<style.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL)
    return Page(tags, [unescape(title) for title in re.findall(r'title="([^"]*)"', html)], unescape(text).split())


def test_a_result_and_a_comparison_have_the_words_of_their_repr(tiny: Scenario) -> None:
    compared = aqmlab.compare(tiny, aqms=["lred", "pi:q_ref=9"], seeds=2)
    for item in (compared, compared["lred"]):
        words = re.sub(r"^(Differences .*|Traffic|Latency under load):$", r"\1", repr(item), flags=re.MULTILINE).split()
        # Plain text repeats the labels of a table that is wider than the terminal.
        rest = Counter(words)
        rest.subtract(map(str, page(item).words))
        assert set(rest.values()) <= {0, 1}
        assert {word for word, times in rest.items() if times} <= {"pi:q_ref=9"}


def test_a_sweep_has_the_words_of_its_repr(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,20"}, aqms=["lred", "pi"], seeds=2)
    words = repr(swept).replace("seed by seed:", "seed by seed").split()
    assert sorted(page(swept).words) == sorted(words)
    assert page(swept).tags.count("table") == 2


def test_headings_define_the_metrics(tiny: Scenario) -> None:
    result = aqmlab.run(tiny)
    traffic = [column.definition for column in parts.traffic({"lred": result}).columns]
    definitions = [*(METRICS[name].definition for name in SHOWN), *traffic]
    assert any("`" in one for one in definitions)
    assert page(result).titles == [one.replace("`", "") for one in definitions]


def test_a_scenario_shows_its_network_its_traffic_and_its_toml(tiny: Scenario) -> None:
    shown = page(tiny)
    text = " ".join(shown.words)
    assert "bottleneck: rate 2 Mbit/s, delay" in text
    assert "long: ftp, count 3" in text
    assert "lred, target 20 packets" in text
    assert 'packet_size = "500 B"' in text
    assert any("q0 = 20, beta" in title for title in shown.titles)
    assert "details" in shown.tags


def test_a_scenario_of_several_links_names_the_observed_one() -> None:
    text = " ".join(page(Scenario.load("parking-lot")).words)
    assert "Link second: rate 10 Mbit/s" in text
    assert "Other links first, third, source" in text


def test_a_scenario_with_problems_shows_them() -> None:
    text = " ".join(page(Scenario.parse("nonsense = 1", "mine.toml")).words)
    assert "Scenario with problems mine.toml:1: nonsense: unknown key" in text


def test_every_text_is_escaped_and_nothing_is_a_script(tiny: Scenario) -> None:
    hostile = tiny.with_(title="<script>alert(1)</script>\x1b[31m")
    result = aqmlab.run(hostile)
    for item in (hostile, result, Comparison({"<script>": result}), aqmlab.sweep(hostile, vary={"aqm.q0": "10"})):
        shown = page(item)
        assert "script" not in shown.tags
        assert "\x1b" not in item._repr_html_()


def test_an_empty_comparison_has_no_table() -> None:
    assert Comparison({})._repr_html_() is None
    assert repr(Comparison({})) == "<empty Comparison>"


def test_every_presentation_has_its_function() -> None:
    for name in presenters._FUNCTIONS.values():
        assert callable(pkgutil.resolve_name(name)), name
