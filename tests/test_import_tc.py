"""What tc prints, as text and as JSON, and the commands that have made it: recorded from Linux 7.2 by tc 6.1 and 7.3.

tests/foreign/tc.json has single disciplines after fifty packets, trees.json whole devices with classes and filters.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aqmlab.foreign import tc_json, tc_options, tc_script, tc_show
from aqmlab.foreign.model import Place, Qdisc, State, Unreadable
from aqmlab.foreign.read import parse, read
from aqmlab.foreign.scenario import Given, scenario
from aqmlab.scenario import Scenario

HERE = Path(__file__).parent / "foreign"
SINGLE = json.loads((HERE / "tc.json").read_text())
TREES = json.loads((HERE / "trees.json").read_text())

ROUNDED = {
    "bandwidth": "autorate's is no round number",
    "capacity_estimate": "the same",
    "latency": "three digits",
    "beta": "six digits",
    "alpha": "six digits",
    "backlog": "one of the two was printed while packets left",
}
"""Numbers that the text rounds, with the reason; both are within 0.5 %."""

ABSENT = {"peakrate"}
"""What tc leaves out of its JSON."""


def named(each: Mapping[str, Any]) -> str:
    return f"{each['tc']} {each.get('words') or each['name']}"


def of_json(documents: list[dict[str, Any]]) -> State:
    return tc_json.read(documents, lambda number: Place("j", number + 1))


def equal(text: Any, document: Any, where: str) -> None:
    assert text.keys() - ABSENT == document.keys() - ABSENT, where
    for name in text.keys() & document.keys():
        if name == "tins":
            for mine, other in zip(text[name], document[name], strict=True):
                assert mine == pytest.approx(other, rel=0.006), where
        elif name in ROUNDED:
            assert text[name] == pytest.approx(document[name], rel=5e-3), (where, name)
        else:
            assert text[name] == document[name], (where, name)


def same(text: Qdisc, document: Qdisc) -> None:
    for name in ("kind", "device", "handle", "parent", "stab"):
        assert getattr(text, name) == getattr(document, name), name
    equal(text.options, document.options, text.kind)
    equal(text.statistics, document.statistics, text.kind)


@pytest.mark.parametrize("each", SINGLE, ids=named)
def test_text_and_json_of_a_state_are_the_same(each: Mapping[str, Any]) -> None:
    text, document = tc_show.read("t", each["text"]), of_json(each["json"])
    assert not text.unread
    assert not document.unread
    assert len(text.qdiscs) == len(document.qdiscs) >= 1
    for mine, other in zip(text.qdiscs, document.qdiscs, strict=True):
        same(mine, other)
        assert mine.statistics is not None
        count = sum(mine.statistics[name] for name in ("packets", "qlen", "drops"))
        assert count >= 48 or mine.kind == "noqueue"


KERNELS = {
    ("sfb", "increment"): "in units of 1/65535",
    ("dualpi2", "alpha"): "in units of 1/256",
    ("dualpi2", "beta"): "in units of 1/256",
    ("cake", "bandwidth"): "autorate has changed it",
    ("sfq", "flows"): "no more than limit",
    ("tbf", "burst"): "in ticks of a clock",
    ("tbf", "mtu"): "in ticks of a clock",
}
"""What the kernel has otherwise than it was told."""

UNSHOWN = ("avpkt", "burst", "bandwidth", "redflowlimit", "noecn", "framing", "setup", "distribution", "limit", "wash")


@pytest.mark.parametrize("each", SINGLE, ids=named)
def test_the_words_of_a_command_are_those_that_the_kernel_prints(each: Mapping[str, Any]) -> None:
    kind, *words = each["words"].split()
    told, unread = tc_options.options(kind, words)
    assert not unread
    (has,) = (q for q in of_json(each["json"]).qdiscs if q.device == "d0")
    for name, value in told.items():
        if (kind, name) in KERNELS:
            assert has.options[name] == pytest.approx(value, rel=0.1)
        elif name not in UNSHOWN and name in has.options:
            assert has.options[name] == (pytest.approx(value) if isinstance(value, float) else value), name
        elif name not in UNSHOWN:
            assert name in (*ABSENT, "no-split-gso", "rate", "mtu"), name


@pytest.mark.parametrize("each", [each for each in TREES if each["qdisc_json"]], ids=named)
def test_a_tree_is_the_same_as_text_as_json_and_as_the_script_that_made_it(each: Mapping[str, Any]) -> None:
    text = parse("t", each["qdisc"])
    document = of_json(each["qdisc_json"])
    assert not text.unread
    for mine, other in zip(text.qdiscs, document.qdiscs, strict=True):
        # packets went on between the two commands on the router
        same(*(replace(one, statistics={}) if "router" in each["tc"] else one for one in (mine, other)))
    script = tc_script.read("s", each["script"])
    printed = {(q.kind, q.device, q.parent) for q in text.qdiscs}
    told = {(q.kind, q.device, q.parent) for q in script.qdiscs}
    assert told <= printed
    classes = tc_show.read("t", each["classes"])
    assert not classes.unread
    assert {c.identity for c in script.classes} <= {c.identity for c in classes.classes}
    if each["classes_json"]:
        for a, b in zip(classes.classes, of_json(each["classes_json"]).classes, strict=True):
            assert (a.kind, a.identity, a.parent, a.leaf) == (b.kind, b.identity, b.parent, b.leaf)
            if a.kind not in ("hfsc", "drr"):  # whose curves and quantum tc prints as text alone
                equal({**a.options}, {**b.options}, a.identity)
    filters = tc_show.read("t", each["filters"])
    assert [f.redirect for f in filters.filters if f.redirect] == [f.redirect for f in script.filters if f.redirect]
    if each["filters_json"]:
        for f, g in zip(filters.filters, of_json(each["filters_json"]).filters, strict=True):
            assert (f.kind, f.parent, f.target, f.redirect, f.preference) == (
                g.kind,
                g.parent,
                g.target,
                g.redirect,
                g.preference,
            )


@pytest.mark.parametrize("each", TREES, ids=named)
def test_a_tree_is_a_scenario(each: Mapping[str, Any], tmp_path: Path) -> None:
    files = []
    for name in ("qdisc", "classes", "filters"):
        if each[name].strip():
            (tmp_path / name).write_text(each[name])
            files.append(tmp_path / name)
    (tmp_path / "script").write_text(each["script"])
    given = Given(down=50e6, up=10e6)
    for read_of in (files, [tmp_path / "script"]):
        text = scenario(read(read_of), given)
        Scenario.parse(text).check()


def test_a_discipline_that_this_tc_does_not_know_is_told() -> None:
    text = "qdisc dualpi2 10: dev d0 root refcnt 2 [Unknown qdisc, optlen=112] \n"
    assert tc_show.read("t", text).qdiscs[0].options == {}
    with pytest.raises(
        Unreadable, match=r"t, line 1: torn JSON: this tc is older than the discipline: give .* without -j"
    ):
        parse("t", '[{"kind":"dualpi2","options":{[Unknown qdisc, optlen=112] }}]')
