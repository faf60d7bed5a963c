"""The RED+Tail paper's runs, tables and claims, from few real runs."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars
import pytest
from test_papers_evidence import runs_of

import aqmlab
from aqmlab.runs.store import Store
from aqmlab.runs.table import RunTable
from aqmlab.scenario import Scenario
from aqmlab_papers import Curve, Evidence, Experiment, Figure, Runs, Verdict
from aqmlab_papers.judge.findings import Assessment, assess, rule
from aqmlab_papers.redtail.claims.classifier import REQUEST_ACKS, printed_room, taken_for_long
from aqmlab_papers.redtail.claims.future import foreseen, hurst, serial_correlation
from aqmlab_papers.redtail.claims.queues import outstanding, pace, share_lost, while_squeezed
from aqmlab_papers.redtail.measures import (
    ARED,
    CHOSEN,
    DYNAMIC,
    HERO,
    TABLE_3,
    TABLE_4,
    N,
    averaged,
    printed,
    share_in,
    spread_of,
)
from aqmlab_papers.redtail.paper import PAPER
from aqmlab_papers.run.sweep import Effort, Setting, run

EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}


@cache
def assessed(*only: str) -> Assessment:
    """Run the experiments that a figure or table needs, in half the time, enough for the effect of web traffic."""
    shorter = {"duration": "300 s"}
    paper = replace(
        PAPER,
        experiments=[replace(one, settings={**one.settings, **shorter}) for one in PAPER.experiments],
        claims=[one for one in PAPER.claims if one.name != "low-drop-probability"],
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
    curves: dict[str, Curve] = {curve.name: curve for curve in drawn.curves if curve.panel == "b"}
    assert list(curves["max_th1 / C"].x) == [10, 30, 80]
    assert list(curves["max_th1 / C"].y) == pytest.approx([0.0266667, 0.08, 0.213333], rel=1e-5)
    for name in ("CBR", "All in the short queue"):
        # Above max_th1, where bursts of the web bring the queue, packets wait longer than the bound.
        over = np.asarray(curves[name].y) - np.asarray(curves["max_th1 / C"].y)
        assert 0 < over.min() <= over.max() < 0.02
    assert list(curves["FTP"].y) == pytest.approx([0.24] * 3, abs=0.05)
    verdicts = {ruling.claim.name: ruling.verdict for ruling in assessed("fig16").rulings}
    assert not assessed("fig16").errors
    assert verdicts["bound-below"] == Verdict.REPRODUCED
    assert verdicts["long-delay-flat"] == Verdict.REPRODUCED
    assert verdicts["smaller-max-th1"] == Verdict.REPRODUCED


def test_table_4_has_the_printed_numbers_beside_ours() -> None:
    (drawn,) = assessed("table4").drawn
    policies = {row["Policy"]: row for row in drawn.frame.iter_rows(named=True)}
    rows = [policies[f"{DYNAMIC}: {name}"] for name in ("FTP", "WEB", "CBR")]
    assert [row["Loss (%) (paper)"] for row in rows] == [0.899, 2.306, 0.519]
    assert [row["Delay (ms) (paper)"] for row in rows] == [318, 93, 91]
    assert sum(row["Rate (kB/s)"] for row in rows) == pytest.approx(375, rel=0.002)
    assert 0.5 < rows[0]["Loss (%)"] < 1.5
    assert 110 < rows[2]["Delay (ms)"] < 170  # C1max = 0.5 C makes it longer than the printed 91
    rulings = {ruling.claim.name: ruling for ruling in assessed("table4").rulings}
    # The printed numbers, to which N and C1max are fitted, decide nothing one by one.
    assert rulings["at-its-cost"].verdict == rulings["moving-loses-less"].verdict == Verdict.REPRODUCED
    assert len(rulings["at-its-cost"].judgement.beside) == 1
    (farthest,) = rulings["numbers-of-table-4"].judgement.checks
    assert rulings["numbers-of-table-4"].verdict == Verdict.CONTRADICTED
    assert farthest.effect.startswith("loss of CBR")


def test_a_claim_is_contradicted_by_the_runs_the_other_way_round() -> None:
    found = evidence("table4")
    runs = found["dynamic-web"]
    swapped = runs.frame.with_columns(aqm=runs.frame["aqm"].replace({HERO: DYNAMIC, DYNAMIC: HERO}))
    other = Runs(runs.study, replace(runs.sweep, table=RunTable((swapped,))), Store(Path()), runs.hero)
    claim = next(claim for claim in PAPER.claims if claim.name == "short-loses-more")
    assert rule(claim, found).verdict == Verdict.REPRODUCED
    assert rule(claim, Evidence({**found, "dynamic-web": other}, HERO, found.quick)).verdict == Verdict.CONTRADICTED


FEW = f"N = 64, C1 at most {CHOSEN['aqm.c1_max']:g} C"


def test_a_variant_of_red_tail_s_parameters_reaches_it_and_none_of_the_others() -> None:
    few = variants(EXPERIMENTS["web"], FEW)
    assert few[HERO].resolved["aqm"]["n"] == 64
    assert few[ARED].resolved["aqm"]["name"] == "ared"
    moving = variants(EXPERIMENTS["dynamic-web"], FEW)[DYNAMIC].resolved["aqm"]
    assert (moving["n"], moving["long"]["name"], moving["c1_max"]) == (64, "dtared", CHOSEN["aqm.c1_max"])
    assert variants(EXPERIMENTS["dynamic"], FEW) == {}
    assert variants(EXPERIMENTS["n"], FEW) == {}


def test_all_flows_have_the_tcp_of_table_1_and_all_of_red_s_drops_disregard_sizes() -> None:
    shipped = Scenario.load("redtail/table1").resolved["traffic"][0]["tcp"]
    for experiment in PAPER.experiments:
        told = Setting("paper", True, 1, frozenset()).study(PAPER, experiment)
        assert told is not None
        for entry in told.scenario.resolved["traffic"]:
            assert entry.get("tcp", shipped) == shipped, (experiment.name, entry["name"])
        for label, variant in told.variants.items():
            aqm = variant.resolved["aqm"]
            for one in () if experiment.name == "by-size" else (aqm, aqm.get("long", {}), aqm.get("aqm", {})):
                assert one.get("by_size", False) in (False, "auto"), (experiment.name, label)
                if one.get("bytes"):
                    assert one["by_size"] is False, (experiment.name, label)


def test_the_calibration_has_every_number_of_the_tables() -> None:
    assert PAPER.calibration is not None
    names = [one.name for one in printed()]
    assert len(names) == len(set(names)) == 3 * (9 + 3) + 2
    by_name = {one.name: one.value for one in printed()}
    assert (by_name["loss of WEB, RED+Tail"], by_name["loss of CBR, RED+Tail"]) == (1.278, 0.3)
    assert len(PAPER.calibration.printed) == len(names) + 12
    shipped = Scenario.load("redtail/files").resolved["aqm"]
    assert (shipped["n"], shipped["c1_max"]) == (CHOSEN[N], CHOSEN["aqm.c1_max"])


def test_the_counter_of_a_pair_goes_on_when_its_reader_comes_back_soon() -> None:
    draw, n, silence = np.random.default_rng(1), 64, 10.0
    packets = REQUEST_ACKS + np.ceil(2300 * draw.random(400_000) ** (-1 / 1.3) / 960)
    pauses = draw.exponential(50, packets.size)
    counter, long = 0.0, 0
    for size, pause in zip(packets, pauses, strict=True):
        counter = size + (counter if pause < silence else 0)
        long += counter > n
    assert taken_for_long(n, silence) == pytest.approx(long / packets.size, rel=0.04)
    # A pair that is always new: only the distribution of files matters.
    assert taken_for_long(n, 0.0) == pytest.approx((2300 / 960 / (n - REQUEST_ACKS)) ** 1.3)


def test_connections_in_the_long_queue_are_counted_as_the_law_has_them() -> None:
    (drawn,) = assessed("alarms").drawn
    rows = {row["N"]: row for row in drawn.frame.iter_rows(named=True)}
    for after in (64, 256):
        law = 100 * taken_for_long(after, 10.0)
        assert rows[str(after)]["by the law (%)"] == law
        # some 5000 connections: 80 and 15 of them
        assert rows[str(after)]["counted (%)"] == pytest.approx(law, rel=0.5)


def test_the_printed_delays_have_room_for_few_web_packets_in_the_long_queue() -> None:
    # Of a hundred packets 20 wait 0.2 s, and 80 wait 0.1 s.
    told = {"FTP": (0, 200, 0), "WEB": (0, 120, 0), "CBR": (0, 100, 0)}
    assert printed_room(told) == pytest.approx(20)
    assert [printed_room(TABLE_3[HERO]), printed_room(TABLE_4)] == pytest.approx([20 / 3, 200 / 227])


def test_a_deviation_from_percentiles_is_that_of_the_values() -> None:
    values = np.random.default_rng(1).gamma(2.0, 3.0, 100_000)
    assert spread_of(list(np.percentile(values, range(101))), values.mean()) == pytest.approx(values.std(), rel=0.02)
    # Few values far from the others, as time-outs are.
    rare = np.r_[np.ones(995), np.full(5, 20.0)]
    assert spread_of(list(np.percentile(rare, range(101))), rare.mean()) == pytest.approx(rare.std(), rel=0.2)
    assert spread_of([4.0] * 101, 4.0) == 0
    assert spread_of([], None) is None


def test_the_hurst_parameter_tells_independent_counts_from_a_random_walk_s() -> None:
    draw = np.random.default_rng(1)
    assert hurst(draw.poisson(40, 20_000).astype(float), 0.1) == pytest.approx(0.5, abs=0.05)
    assert hurst(np.cumsum(draw.normal(size=20_000)), 0.1) > 0.9


def test_what_the_past_foresees_is_the_square_of_the_correlation() -> None:
    noise = np.random.default_rng(2).normal(0, 1, 40_000)
    assert serial_correlation(noise, 10) == pytest.approx(0, abs=0.05)
    assert foreseen(noise) == pytest.approx(0, abs=0.5)
    followed = noise[1:] + noise[:-1]
    assert serial_correlation(followed, 1) == pytest.approx(0.5, abs=0.02)
    assert foreseen(followed) == pytest.approx(25, abs=2)


def test_the_time_in_a_band_is_that_after_a_start() -> None:
    t = np.arange(0, 40, 0.5)
    frame = polars.DataFrame({"t": t, "p": np.where(t < 15, 0.0, 0.02)})
    assert share_in("p", (0.005, 0.015), 0.0)(frame) == 0
    assert share_in("p", (0.015, 0.025), 10.0)(frame) == pytest.approx(100 * 25 / 30)


@pytest.mark.parametrize("weight", [0.002, 0.0001])
def test_the_average_of_p_is_the_engine_s_for_thresholds_that_have_the_link_alone(weight: float) -> None:
    scenario = Scenario.load("redtail/dynamic").with_({"duration": "110 s", "aqm.w_p": weight})
    frame = aqmlab.run(scenario.with_({"record.series": True})).series
    frame = frame.rename(lambda name: name.removeprefix("bottleneck."))
    ends = averaged(frame, "arrivals", weight)["average"].to_numpy()
    own = frame["mean_p.mean"].to_numpy()
    assert own.max() > 0.005
    means = (ends[:-1] + ends[1:]) / 2
    assert np.abs(means - own[1:]).mean() < 0.01 * own.std()


def test_what_adaptive_red_does_is_read_from_the_period_alone() -> None:
    t = np.arange(0, 40, 0.5)
    counts = {"ftp.arrivals": np.full(80, 100), "ftp.drops": np.where(t < 20, 1, 4)}
    # p goes up and down by 0.01 each half second from 20 s on
    frame = polars.DataFrame({"t": t, "p.mean": np.where((t >= 20) & (t % 1 == 0), 0.02, 0.01), **counts})
    assert pace(0.0, 20.0)(frame) == 0
    assert pace(20.0, 40.0)(frame) == pytest.approx(0.02)
    assert share_lost(0.0, 20.0)(frame) == pytest.approx(1)
    assert share_lost(20.0, 40.0)(frame) == pytest.approx(4)


def test_windows_are_what_waits_and_what_is_on_the_wire() -> None:
    t = np.arange(100, 120, 0.5)
    low = t % 5 == 0
    # 200 packets/s, and in bursts 50: of 12.8 and 3.2 packets on the wire 9.6 have gone to the queue.
    frame = polars.DataFrame(
        {
            "t": t,
            "ftp.throughput": 8e3 * np.where(low, 50.0, 200.0),
            "ftp.delay": np.where(low, 59.6 / 50, 50 / 200),
            "c1.mean": np.where(low, 1.5e6, 0.5e6),
        }
    )
    assert while_squeezed(outstanding())(frame) == pytest.approx(0, abs=1e-9)
    assert while_squeezed(polars.col("ftp.throughput"))(frame) == pytest.approx(100 * (50 / 185 - 1))


def test_queues_of_near_and_far_flows_share_the_link_equally_and_the_near_wait_longer() -> None:
    frame = aqmlab.run(Scenario.load("redtail/queues").with_({"duration": "120 s"})).frame
    rates, waits = (
        [frame[f"classes.{entry}.{metric}"][0] for entry in ("near", "far")]
        for metric in ("throughput", "queue_delay_mean")
    )
    assert rates == pytest.approx([3e6, 3e6], rel=0.01)
    assert waits[0] > 1.5 * waits[1]


def test_the_optimum_is_the_soonest_that_leaves_ftp_its_rate() -> None:
    def of(label: str, n: int, most: float, time: float, rate: float) -> dict[str, object]:
        ftp = {"classes.ftp.throughput": rate, "classes.ftp.timeouts": 10.0 if time > 1 else 20.0}
        found = {"aqm": label, "aqm.n": n, "aqm.c1_max": most, "seed": 1, "classes.web.completion_time_mean": time}
        return {**found, **ftp}

    # The soonest of all leaves FTP half of its rate.
    grid = [
        of(HERO, 256, 0.5, 3.0, 1e6),
        of(HERO, 256, 1.0, 2.5, 1e6),
        of(HERO, 64, 0.5, 2.0, 0.95e6),
        of(HERO, 64, 1.0, 1.0, 0.5e6),
    ]
    runs = {
        "optimum": runs_of(polars.DataFrame(grid), ["aqm.n", "aqm.c1_max"]),
        "web": runs_of(polars.DataFrame([of(ARED, 0, 0.0, 5.0, 1e6)])),
    }
    claim = next(claim for claim in PAPER.claims if claim.name == "far-from-optimal")
    judged = claim.judge(Evidence(runs, HERO, False))
    assert [check.value for check in judged.checks] == pytest.approx([50])
    assert "N = 64 and C1max = 0.5 C with 2" in judged.why
