"""The RED+Tail paper's runs, tables and claims, from few real runs."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from aqmlab.library.redtail.claims.classifier import BOTH_ENDS, printed_room, taken_for_long
from aqmlab.library.redtail.measures import (
    ARED,
    DYNAMIC,
    FREE,
    HERO,
    PRINTED_TABLE_3,
    PRINTED_TABLE_4,
    per_seed,
)
from aqmlab.library.redtail.paper import PAPER
from aqmlab.papers import Curve, Evidence, Experiment, Figure, Verdict
from aqmlab.papers.judge.findings import Assessment, assess, rule
from aqmlab.papers.run.sweep import Effort, Setting, run
from aqmlab.scenario import Scenario

EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}


@cache
def assessed(*only: str) -> Assessment:
    """Run the experiments that a figure or table needs, in half the time, enough for the effect of web traffic."""
    shorter = {"duration": "300 s"}
    paper = replace(
        PAPER,
        experiments=[replace(one, settings={**one.settings, **shorter}) for one in PAPER.experiments],
    )
    with TemporaryDirectory() as folder:
        return assess(run(paper, Effort(seeds=1, quick=True, only=frozenset(only)), Path(folder), jobs=1))


def evidence(*only: str) -> Evidence:
    return assessed(*only).findings.evidence["paper"]


def variants(experiment: Experiment, name: str) -> dict[str, Scenario]:
    chosen = next(variant for variant in PAPER.variants if variant.name == name)
    told = Setting(name, True, 1, frozenset(), chosen).study(PAPER, experiment)
    return {} if told is None else dict(told.variants)


def test_the_short_queue_waits_max_th1_over_c_and_ftp_its_own_time() -> None:
    (drawn,) = assessed("fig16").drawn
    assert isinstance(drawn.item, Figure)
    curves: dict[str, Curve] = {curve.name: curve for curve in drawn.curves if curve.panel == "a"}
    assert list(curves["max_th1 / C"].x) == [10, 30, 80]
    assert list(curves["max_th1 / C"].y) == pytest.approx([0.0266667, 0.08, 0.213333], rel=1e-5)
    for name in ("CBR", "All in the short queue"):
        # A packet in transmission takes 2.7 ms.
        assert list(curves[name].y) == pytest.approx(list(curves["max_th1 / C"].y), rel=0.1, abs=0.004)
    assert list(curves["FTP"].y) == pytest.approx([0.2] * 3, abs=0.05)
    verdicts = {ruling.claim.name: ruling.verdict for ruling in assessed("fig16").rulings}
    assert verdicts["long-delay-flat"] == Verdict.REPRODUCED
    assert verdicts["smaller-max-th1"] == Verdict.REPRODUCED


def test_table_4_has_the_printed_numbers_beside_ours() -> None:
    (drawn,) = assessed("table4").drawn
    policies = {row["Policy"]: row for row in drawn.frame.iter_rows(named=True)}
    rows = {name: policies[f"{DYNAMIC}: {name}"] for name in ("FTP", "WEB", "CBR")}
    assert [rows[name]["Loss (%) (paper)"] for name in ("FTP", "WEB", "CBR")] == [0.899, 2.306, 0.519]
    assert sum(row["Rate (kB/s)"] for row in rows.values()) == pytest.approx(375, rel=0.002)
    assert 0.5 < rows["FTP"]["Loss (%)"] < 2
    assert 0.08 < rows["CBR"]["Delay (s)"] < 0.09
    rulings = {ruling.claim.name: ruling for ruling in assessed("table4").rulings}
    assert rulings["printed-loss"].judgement.checks[0].value == 0.899
    assert rulings["short-loses-more"].verdict == Verdict.REPRODUCED
    # Thresholds without a bound leave less of the buffer to the short flows, and lose less of the long ones.
    free = {name: policies[f"{FREE}: {name}"] for name in rows}
    assert [free[name]["Loss (%) (paper)"] for name in rows] == [0.899, 2.306, 0.519]
    assert free["WEB"]["Loss (%)"] > rows["WEB"]["Loss (%)"]
    assert free["FTP"]["Loss (%)"] < rows["FTP"]["Loss (%)"]


def test_a_claim_is_contradicted_by_the_runs_the_other_way_round() -> None:
    found = evidence("table4")["dynamic-web"]
    rows = found.frame
    swapped = rows.with_columns(aqm=rows["aqm"].replace({HERO: FREE, FREE: HERO}))
    found.sweep = replace(found.sweep, frame=swapped)
    claim = next(claim for claim in PAPER.claims if claim.name == "short-loses-more")
    try:
        assert rule(claim, evidence("table4")).verdict == Verdict.CONTRADICTED
    finally:
        found.sweep = replace(found.sweep, frame=rows)


def test_a_variant_of_red_tail_s_parameters_reaches_it_and_none_of_the_others() -> None:
    few = variants(EXPERIMENTS["web"], "N = 20 packets")
    assert few[HERO].resolved["aqm"]["n"] == 20
    assert few[ARED].resolved["aqm"]["name"] == "ared"
    moving = variants(EXPERIMENTS["dynamic-web"], "N = 20 packets")[DYNAMIC].resolved["aqm"]
    assert (moving["n"], moving["long"]["name"]) == (20, "dtared")
    assert variants(EXPERIMENTS["dynamic"], "N = 20 packets") == {}


def test_all_flows_have_the_tcp_of_table_1_and_the_files_scenario_alone_too() -> None:
    shipped = Scenario.load("redtail/table1").resolved["traffic"][0]["tcp"]
    for experiment in PAPER.experiments:
        told = Setting("paper", True, 1, frozenset()).study(PAPER, experiment)
        assert told is not None
        for entry in told.scenario.resolved["traffic"]:
            assert entry.get("tcp", shipped) == shipped, (experiment.name, entry["name"])
    assert Scenario.load("redtail/files").resolved["traffic"][3]["tcp"] == shipped


def test_a_metric_is_read_by_seed_and_scaled() -> None:
    runs = evidence("table4")["dynamic-web"]
    loss = per_seed(runs, "classes.ftp.loss_ratio", HERO, scale=100)
    assert loss == {1: pytest.approx(100 * runs.of(HERO)["classes.ftp.loss_ratio"][0])}


def test_the_counter_of_a_pair_goes_on_when_its_reader_comes_back_soon() -> None:
    draw, n, silence = np.random.default_rng(1), 64, 10.0
    packets = BOTH_ENDS + np.ceil(2300 * draw.random(400_000) ** (-1 / 1.3) / 960)
    pauses = draw.exponential(50, packets.size)
    counter, long = 0.0, 0
    for size, pause in zip(packets, pauses, strict=True):
        counter = size + (counter if pause < silence else 0)
        long += counter > n
    assert taken_for_long(n, silence) == pytest.approx(long / packets.size, rel=0.04)
    # A pair that is always new: only the distribution of files matters.
    assert taken_for_long(n, 0.0) == pytest.approx((2300 / 960 / (n - BOTH_ENDS)) ** 1.3)
    assert taken_for_long(n, silence) < 0.02 < taken_for_long(n - 1, silence)


def test_the_printed_delays_have_room_for_few_web_packets_in_the_long_queue() -> None:
    # Of a hundred packets 20 wait 0.2 s, and 80 wait 0.1 s.
    told = {"FTP": (0, 0.2, 0), "WEB": (0, 0.12, 0), "CBR": (0, 0.1, 0)}
    assert printed_room(told) == pytest.approx(20)
    assert [printed_room(PRINTED_TABLE_3[HERO]), printed_room(PRINTED_TABLE_4)] == pytest.approx([20 / 3, 200 / 227])
