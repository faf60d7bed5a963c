"""The listings: made from the catalogue, hence every entry is in them."""

from copy import deepcopy
from typing import Any

import pytest

from aqmlab import Scenario, catalogue, disciplines, shipped
from aqmlab.reports import listing, pages

KINDS = ["aqms", "tcps", "traffic", "scenarios"]


def test_every_entry_is_listed_with_a_summary() -> None:
    lines = dict(line.split(maxsplit=1) for line in listing.overview(KINDS).splitlines() if line.startswith("  "))
    listed = catalogue()
    names = {entry["name"] for kind in KINDS[1:3] for entry in listed[kind]} | set(shipped()) | set(disciplines())
    assert set(lines) == names


def test_each_discipline_is_in_the_group_of_what_it_does() -> None:
    groups = {name: title for title, group in listing.grouped(catalogue()).items() for name, _ in group}
    assert sorted(groups) == sorted(disciplines())
    assert groups["pi"] == groups["lred"] == "Steer the length of the queue to a target (q0)"
    assert groups["red"] == "Drop at random, without a target"
    assert groups["droptail"] == "Drop by rule, without a target"
    assert groups["fq"] == "Keep flows or classes in queues of their own"
    by_delay = {"aqms": [{"name": "x", "summary": "", "steers": "delay", "one_queue": True, "random": False}]}
    assert list(listing.grouped({**by_delay, "variants": []})) == ["Steer the delay of packets to a target"]


@pytest.fixture
def with_variant(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the catalogue with a named preset of red."""
    listed = deepcopy(catalogue())
    red = next(entry for entry in listed["aqms"] if entry["name"] == "red")
    preset = next(entry for entry in red["presets"] if entry["name"] == "floyd1997")
    of = {"name": "red97", "of": "red", "preset": "floyd1997"}
    listed["variants"] = [{**of, "summary": preset["summary"], "values": preset["values"]}]
    for module in (listing, pages):
        monkeypatch.setattr(module, "catalogue", lambda: listed)
    return listed


def test_a_variant_stands_after_what_it_is_a_variant_of(with_variant: dict[str, Any]) -> None:
    (group,) = (group for group in listing.grouped(with_variant).values() if ("red" in dict(group)))
    names = [name for name, _ in group]
    assert names[names.index("red") + 1] == "red97"
    page = listing.page("red97")
    assert page.startswith("red97: red:preset=floyd1997, Floyd's recommendation")
    assert page.splitlines()[1] == "  min_th = 5.0, max_th = 15.0, w_q = 0.002, gentle = false"
    assert listing.page("red") in page
    with pytest.raises(KeyError, match="is red97 meant"):
        listing.page("red79")
    assert "[`red`](red.md) with its preset `floyd1997`" in pages.aqms()["aqms/red97.md"]
    assert "[`red97`](red97.md)" in pages.aqms()["aqms/index.md"]


@pytest.mark.parametrize("entry", catalogue()["aqms"], ids=lambda entry: entry["name"])
def test_the_page_of_a_discipline_has_all_that_is_declared(entry: dict[str, Any]) -> None:
    page = listing.page(entry["name"])
    flat = " ".join(page.split())
    for one in entry["parameters"]:
        line = next(line for line in page.splitlines() if line.startswith(f"  {one['name']} = "))
        assert line.endswith(one["allowed"])
        assert listing.written(one["default"]) in line
        assert " ".join(one["doc"].split()) in flat
        if one["aliases"]:
            assert f"Also: {', '.join(one['aliases'])}." in flat
    for signal in entry["signals"]:
        assert f"  {signal['name']} " in page
    for preset in entry["presets"]:
        assert f"  {preset['name']} " in page
        for name, value in preset["values"].items():
            assert f"{name} = {listing.written(value)}" in page
    assert "\nSources\n" in page
    assert "```" not in page


def test_an_algorithm_inside_another_one_is_written_as_a_spec() -> None:
    assert listing.written({"name": "pi"}) == "pi"
    assert listing.written({"name": "pi", "q_ref": 7.0, "ecn": True}) == "pi:q_ref=7.0,ecn=true"
    assert listing.written("5 ms") == "5 ms"
    assert listing.written(0.5) == "0.5"


def test_many_values_take_several_lines_and_no_value_is_torn_from_its_name() -> None:
    values = {f"parameter_{i}": "5 ms" for i in range(12)}
    lines = listing.settings(values).splitlines()
    assert len(lines) > 1
    assert all(line.endswith(("5 ms", "5 ms,")) for line in lines)
    assert listing.settings(values, None).count("\n") == 0


@pytest.mark.parametrize("kind", ["tcps", "traffic"])
def test_every_tcp_and_every_kind_of_traffic_has_a_page(kind: str) -> None:
    for entry in catalogue()[kind]:
        page = listing.page(f"tcp:{entry['name']}" if kind == "tcps" else entry["name"])
        assert page.startswith(f"{entry['name']}: ")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_page_of_a_scenario_is_its_file(name: str) -> None:
    page, text = listing.page(name), shipped()[name].read_text(encoding="utf-8")
    assert page.splitlines()[0] == text.splitlines()[0]
    if Scenario.load(name)._extension is None:
        assert page == text.rstrip()


def test_the_page_of_a_scenario_that_extends_another_is_the_whole() -> None:
    assert "extends" in shipped()["lred/exp4"].read_text(encoding="utf-8")
    page = Scenario.parse(listing.page("lred/exp4"))
    assert page == Scenario.load("lred/exp4")
    assert page.resolved["dumbbell"]["sender_delay"] == Scenario.load("lred/exp1").resolved["dumbbell"]["sender_delay"]


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(KeyError, match="is lred meant"):
        listing.page("lrde")
    with pytest.raises(KeyError, match="aqmlab list"):
        listing.page("zzzzzz")
