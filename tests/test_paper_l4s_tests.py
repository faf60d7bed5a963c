"""The measurements of L4S: each published row has a run, and short runs have each row's pair of flows in its place."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab_papers.describe import library
from aqmlab_papers.judge import findings
from aqmlab_papers.l4s_tests import experiments, measures
from aqmlab_papers.l4s_tests.measures import PUBLISHED
from aqmlab_papers.run import sweep
from aqmlab_papers.run.sweep import Effort

PAPER = library.load("l4s-tests")


def test_every_published_row_is_a_point_of_its_experiment() -> None:
    assert Counter(row.experiment for row in PUBLISHED) == {"fairness-10": 58, "fairness-50": 60, "rfc3168": 11}
    found = {one.name: one for one in PAPER.experiments}
    for row in PUBLISHED:
        experiment = found[row.experiment]
        assert row.label in experiment.aqms, row
        assert isinstance(experiment.vary["link.first.delay"], list)
        points = zip(*(experiment.vary[path] for path in measures.at(row.flows)), strict=True)
        (wanted,) = zip(*measures.points([row.flows]).values(), strict=True)
        assert list(points).count(wanted) == 1, row


def test_short_runs_show_each_flow_in_its_place(tmp_path: Path) -> None:
    brief = {"duration": "2 s", "warmup": "1 s"}
    few = measures.points([measures.pair((160, 10), "cubic", "cubic")])
    short = [
        replace(one, settings={**one.settings, **brief}, vary=few, quick={})
        for one in PAPER.experiments
        if one.name.startswith("fairness")
    ]
    claims = [one for one in PAPER.claims if one.name == "fq-codel"]
    paper = replace(PAPER, experiments=short, items=[], claims=claims, variants=[])
    found = sweep.run(paper, Effort(seeds=1, quick=True), tmp_path)
    run = aqmlab.run(
        Scenario.load("l4s-tests/two-flows").with_(
            {
                **brief,
                "aqm": experiments.FQ,
                "link.bottleneck.buffer": "10240 packets",
                "link.bottleneck.rate": "10 Mbit/s",
                "link.first.delay": "80 ms",
                "link.second.delay": "5 ms",
                "traffic.first.tcp": measures.TCPS["cubic"],
            }
        )
    )
    goodput = {name: float(run.runs[0].classes[name]["goodput"] or 0) for name in ("first", "second")}
    assert 0 < goodput["first"] < goodput["second"]
    ((ruling),) = findings.assess(found).rulings
    check, faster = ruling.judgement.checks
    assert check.effect.startswith("cubic (160 ms) beside cubic (10 ms), fq_codel, 10 Mbit/s")
    assert check.value == pytest.approx(goodput["first"] / sum(goodput.values()))
    assert faster.effect.startswith("cubic (160 ms) beside cubic (10 ms), fq_codel, 50 Mbit/s")
