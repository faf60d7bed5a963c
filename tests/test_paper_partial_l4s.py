"""Prague where L4S is partly deployed: each published cell has a run, and laboratories differ by the tolerance."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab_papers.describe import library
from aqmlab_papers.judge import findings
from aqmlab_papers.partial_l4s.measures import BUFFERS, PRAGUES, PUBLISHED, SAME, SENDERS, at
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort

PAPER = library.load("partial-l4s")
EXPERIMENTS = {one.name: one for one in PAPER.experiments}


def test_every_published_cell_is_a_point_of_its_experiment() -> None:
    assert Counter(one.first for one in PUBLISHED) == {"prague": 144, "fallback": 26, "repeated": 26, "repaired": 26}
    for one in PUBLISHED:
        experiment = EXPERIMENTS[one.experiment]
        assert one.queue in experiment.aqms, one
        for path, value in one.at.items():
            wanted = f"{value} packets" if path == "link.bottleneck.buffer" else value
            assert wanted in experiment.vary[path], one


def test_the_buffers_are_those_of_the_notebook() -> None:
    assert {bdp: int(bdp * 125_000 / 1500) + 1 for bdp in BUFFERS} == BUFFERS


def test_the_tolerance_is_what_two_laboratories_differ_by() -> None:
    shares = {(one.first, one.queue, one.bdp): one.share for one in PUBLISHED if one.second == "cubic-ecn"}
    differences = [
        abs(share - shares["repeated", queue, bdp])
        for (first, queue, bdp), share in shares.items()
        if first == "fallback"
    ]
    beyond = [one for one in differences if one > SAME.value]
    assert (len(differences), len(beyond), round(max(beyond), 2)) == (26, 3, 0.12)
    assert "26 cells" in SAME.reason
    assert "three differ by more, by up to 0.12" in SAME.reason


def test_short_runs_show_each_flow_in_its_place(tmp_path: Path) -> None:
    brief = {"duration": "2 s"}
    buffers = EXPERIMENTS["buffers"]
    where = {path: [value] for path, value in at("prague", "bbr", 84).items()}
    where["link.bottleneck.buffer"] = ["84 packets"]
    short = replace(buffers, settings={**buffers.settings, **brief}, vary=where, quick={})
    claims = [one for one in PAPER.claims if one.name == "codel"]
    paper = replace(PAPER, experiments=[short], items=[], claims=claims, variants=[])
    found = sweep.run(paper, Effort(seeds=1, quick=True), tmp_path)
    run = aqmlab.run(
        Scenario.load("l4s-tests/two-flows").with_(
            {
                **buffers.settings,
                **brief,
                "aqm": "codel:preset=linux,ecn=true",
                "link.bottleneck.buffer": "84 packets",
                "traffic.first.tcp": PRAGUES["prague"],
                "traffic.second.tcp": SENDERS["bbr"],
            }
        )
    )
    goodput = {name: float(run.runs[0].classes[name]["goodput"] or 0) for name in ("first", "second")}
    ((ruling),) = findings.assess(found).rulings
    (check,) = ruling.judgement.checks
    assert check.effect == "beside bbr, CoDel, 1 BDP (printed: 0.161)"
    assert check.value == pytest.approx(goodput["first"] / sum(goodput.values()))
    assert 0 < goodput["first"] < goodput["second"]
