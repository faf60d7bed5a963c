"""RAQM: figures of its theory against known numbers, and its cheapest claims from runs."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from test_papers_evidence import runs_of as evidence_of

from aqmlab import Scenario
from aqmlab_papers import Check, Claim, Evidence, Outcome, Paper, PerSeed, Runs, Verdict
from aqmlab_papers.describe import library
from aqmlab_papers.judge import findings
from aqmlab_papers.judge.findings import Assessment, Ruling
from aqmlab_papers.raqm import figures, measures
from aqmlab_papers.raqm.claims import cases, theory
from aqmlab_papers.raqm.measures import FLOWS, TARGET
from aqmlab_papers.run import sweep as running
from aqmlab_papers.run.sweep import Effort

RAQM = library.load("raqm")
NOTHING = Evidence({}, "RAQM", quick=True)


def outcomes(claim: Claim) -> list[Outcome]:
    return [check.outcome for check in claim.judge(NOTHING).checks]


# --- theory --------------------------------------------------------------------------------------------------------


def test_figure_2_is_the_curve_of_the_known_values() -> None:
    curve = findings.drawn(figures.theory.fig2, NOTHING).frame.filter(polars.col("curve") == "c(x)").sort("x")
    known = {0.01: 10.694, 0.1: 6.543, 0.2: 5.493, 0.5: 4.394, 0.9: 4.0134, 1.0: 4.0, 1.5: 4.394}
    for x, c in known.items():
        nearest = curve.sort((polars.col("x") - x).abs()).row(0, named=True)
        assert nearest["x"] == pytest.approx(x, abs=1e-9)
        assert nearest["y"] == pytest.approx(c, abs=6e-4)


def test_the_figure_of_the_gains_has_the_known_periods() -> None:
    frame = findings.drawn(figures.theory.convergence, NOTHING).frame
    analysed = frame.filter(polars.col("curve") == "as analysed")

    def periods(panel: str, x: float) -> float:
        here = (polars.col("panel") == panel) & ((polars.col("x") - x).abs() < 1e-9)
        return float(analysed.filter(here)["y"][0])

    assert [periods("a", m) for m in (0.5, 1.0, 2.0, 3.0, 3.8)] == [17, 8, 3, 4, 31]
    assert [periods("b", eps) for eps in (0.5, 0.75, 0.9, 0.95)] == [2, 5, 17, 37]
    assert all(math.isnan(periods("a", m)) for m in (4.1, 4.5, 5.0))
    assert math.isnan(periods("b", 1.0))


def test_the_theorems_hold_in_part_and_the_proof_of_the_second_has_it_backwards() -> None:
    assert outcomes(theory.theorem_1) == [Outcome.HOLDS, Outcome.FAILS]
    assert outcomes(theory.theorem_2) == [Outcome.HOLDS] * 2 + [Outcome.FAILS] * 3
    assert outcomes(theory.theorem_2_proof) == [Outcome.FAILS]
    assert "0.062 with 0.5, 0.250 with 2.77, 0.121 with 4" in theory.theorem_2_proof.judge(NOTHING).why


def test_the_network_is_that_of_figure_3() -> None:
    table = findings.drawn(figures.cases.fig3, NOTHING).frame
    assert table["c(i) to Router 1"].to_list() == ["10 ms", "100 ms", "10 ms, 50 ms, 100 ms, 150 ms, 200 ms"]
    assert set(table["access links"]) == {"10 Mbit/s, 100 packets"}


# --- measures ------------------------------------------------------------------------------------------------------


def runs_of(rows: list[tuple[str, float, int, float, float]]) -> Runs:
    """Return runs by label, target and seed, with a mean queue and a goodput."""
    frame = polars.DataFrame(rows, schema=["aqm", TARGET, "seed", "queue_mean", "goodput"], orient="row")
    return evidence_of(frame, [TARGET], Scenario.load("raqm/case3")._base)


def test_at_the_same_queue_the_other_is_read_between_its_points() -> None:
    runs = runs_of(
        [
            ("RAQM", 20, 1, 15.0, 9.4),
            ("RAQM", 60, 1, 25.0, 9.5),
            ("RAQM", 20, 2, 2.0, 9.0),
            ("PI", 20, 1, 20.0, 8.0),
            ("PI", 60, 1, 40.0, 10.0),
            ("PI", 20, 2, 20.0, 8.0),
        ]
    )
    low = runs_of([("PI", 5, 1, 10.0, 6.0), ("PI", 5, 2, 12.0, 6.0)])
    # Seed 1: at 15 PI has 7, at 25 8.5. In seed 2 PI never has a queue that short.
    own, other = measures.at_equal_queue(runs, "RAQM", "PI", "goodput", low)
    assert own.values == {1: pytest.approx(9.45), 2: None}
    assert other.values == {1: pytest.approx((7.0 + 8.5) / 2), 2: None}
    # Without the low targets, PI's nearest queue, 5 packets away, is used at 15.
    _, other = measures.at_equal_queue(runs, "RAQM", "PI", "goodput")
    assert other.values[1] == pytest.approx((8.0 + 8.5) / 2)
    # A seed without them is not compared.
    _, other = measures.at_equal_queue(runs, "RAQM", "PI", "goodput", runs_of([("PI", 5, 1, 10.0, 6.0)]))
    assert set(other.values) == {1}


def test_the_slope_is_that_of_the_line_through_a_seed_s_points() -> None:
    rows = [("RAQM", q0, seed, 3.0 + seed * q0, 9.0) for seed in (1, 2) for q0 in (20.0, 60.0, 90.0)]
    assert measures.slope(runs_of(rows), "RAQM").known == pytest.approx([1.0, 2.0])


def series(queue: list[float], **columns: list[float]) -> polars.DataFrame:
    """Return a series with a queue in each bin of 5 s."""
    every = {"t": np.arange(0, 5 * len(queue), 0.5), "queue.mean": np.repeat(queue, 10)}
    return polars.DataFrame({**every, **{name: np.repeat(values, 10) for name, values in columns.items()}})


def test_the_first_overshoot_ends_with_the_first_dip_and_the_time_above_does_not() -> None:
    frame = series([10.0, 70.0, 90.0, 50.0, 65.0, 60.0])
    assert [measures.overshoot(part)(frame) for part in ("first", "total")] == [10.0, 15.0]
    assert measures.overshoot("first", 15.0)(frame) == 5.0
    assert measures.above(np.array([70.0, 90.0])) == measures.Overshoot(first=10.0, total=10.0)
    assert measures.above(np.array([40.0, 60.0])) == measures.Overshoot(0.0, 0.0)
    assert measures.off_target(5.0, 20.0)(frame) == 10.0
    # A swing from 0 to 100 within 5 s is as high as it is plotted.
    swing = frame.with_columns(polars.Series("queue.mean", [0.0, 100.0] * 30))
    assert measures.height(swing) == 50.0
    assert measures.overshoot("total")(swing) == 0.0
    late = series([50.0] * 4 + [90.0, 50.0, 50.0, 50.0, 70.0, 55.0, 45.0, 60.0, 40.0, 90.0])
    assert measures.settles(0.0, 70.0)(late) == 0.0
    assert measures.settles(10.0, 70.0)(late) == 35.0
    assert measures.settles(10.0, 60.0)(late) == 50.0
    assert measures.mean_of("queue.mean", 5.0, 15.0)(frame) == 80.0


def test_two_times_that_are_over_at_once_or_never_are_a_tie() -> None:
    def tied(one: list[float], other: list[float]) -> bool:
        return cases.tied(PerSeed.of(one), PerSeed.of(other), 200.0)

    assert tied([200.0, 200.0, 200.0], [200.0, 200.0, 150.0])
    assert tied([0.0, 5.0], [5.0, 0.0])
    assert not tied([200.0, 200.0, 200.0], [200.0, 150.0, 150.0])
    assert not tied([50.0, 50.0], [50.0, 50.0])
    assert not tied([0.0, 0.0], [200.0, 200.0])


def test_a_queue_is_at_rest_from_where_it_stays_near_its_last_mean_wherever_that_is() -> None:
    assert measures.comes_to_rest(series([90.0] * 4 + [6.0] * 16)) == 20.0
    assert measures.comes_to_rest(series([98.0] * 20)) == 0.0


def test_p_is_half_way_to_its_rest_and_nowhere_if_it_does_not_grow() -> None:
    flat = [1.0] * 40
    assert measures.half_way(series(flat, **{"p_1.mean": [1e-4, 1e-3, *[1e-1] * 38]})) == 10.0
    assert measures.half_way(series(flat, **{"p_1.mean": [1e-4] * 40})) is None
    falling = [1e-4] * 20 + [1e-4, 1e-3] * 10
    assert measures.spread_of_p(series(flat, **{"p_1.mean": falling})) == pytest.approx(math.log(10) / 2)


# --- runs ----------------------------------------------------------------------------------------------------------


def assessed(store: Path, names: str, experiments: Mapping[str, Mapping[str, object]], drawn: str = "") -> Assessment:
    """Judge a few claims by one seed of a few experiments, each with changes to its description."""
    few = [replace(one, **experiments[one.name]) for one in RAQM.experiments if one.name in experiments]  # type: ignore[arg-type]
    claims = [replace(one, comparative=False) for one in RAQM.claims if one.name in names.split()]
    items = [one for one in RAQM.items if one.name == drawn]
    paper: Paper = replace(RAQM, experiments=few, items=items, claims=claims, variants=(), calibration=None)
    found = running.run(paper, Effort(seeds=1, quick=True), store, jobs=1)
    assert found.done == found.wanted > 0
    assessment = findings.assess(found)
    assert not assessment.errors
    return assessment


def ruling(assessment: Assessment, claim: str) -> Ruling:
    return next(one for one in assessment.rulings if one.claim.name == claim)


def check(assessment: Assessment, claim: str, effect: str) -> Check:
    judgement = ruling(assessment, claim).judgement
    return next(one for one in (*judgement.checks, *judgement.beside) if effect in one.effect)


def disciplines(experiment: str, *labels: str) -> dict[str, object]:
    """Return the change of an experiment to fewer disciplines."""
    aqms = next(one.aqms for one in RAQM.experiments if one.name == experiment)
    return {"aqms": {label: aqms[label] for label in labels}}


def test_the_target_cancels_and_two_runs_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    found = assessed(tmp_path, "target-cancels", {"invariance": {"settings": {"duration": "60 s", "warmup": "20 s"}}})
    assert ruling(found, "target-cancels").verdict == Verdict.REPRODUCED
    # With another start it is another run.
    other = {"q0 = 50": "raqm:q0=50", "q0 = 25": "raqm:q0=25"}
    short = {"aqms": other, "settings": {"duration": "60 s", "warmup": "20 s"}}
    assert ruling(assessed(tmp_path, "target-cancels", {"invariance": short}), "target-cancels").verdict == (
        Verdict.CONTRADICTED
    )


def test_the_printed_law_does_not_follow_its_target_and_the_one_that_is_fed_back_does(tmp_path: Path) -> None:
    two = {"quick": {TARGET: "60,90"}}
    found = assessed(
        tmp_path,
        "follows-target balance-unclipped saved-equal-queue unshed",
        {
            "case1": {"quick": {FLOWS: [40]}, **disciplines("case1", "RAQM")},
            "case3b": two,
            "case3b-low": {"quick": {TARGET: "10"}},
            "case3b-readings": {"quick": {TARGET: "20,40,60"}, **disciplines("case3b-readings", *FED_BACK)},
        },
    )
    assert ruling(found, "follows-target").verdict == Verdict.CONTRADICTED
    assert abs(check(found, "follows-target", "packets of queue").value) < 0.2
    assert check(found, "balance-unclipped", "case 1").value == pytest.approx(1.0, abs=0.003)
    assert check(found, "saved-equal-queue", "mean queue at q0 = 40").value == pytest.approx(40, abs=4)
    # With the rate of what is not dropped early the link is full, and the target still has little effect.
    assert check(found, "unshed", "utilisation").outcome == Outcome.HOLDS
    assert check(found, "unshed", "packets of queue").outcome == Outcome.FAILS


FED_BACK = (measures.UNSHED, measures.BOTH)


def test_with_400_flows_the_overshoot_is_short_and_the_queue_ends_far_below_the_target(tmp_path: Path) -> None:
    many: dict[str, object] = {"quick": {FLOWS: [40, 400]}}
    found = assessed(
        tmp_path,
        "case1-regulation case1-overshoot procedures mode-rate",
        {
            "case1": {**many, **disciplines("case1", "RAQM", "PI")},
            "case1-taildrop": many,
            **{f"case{case}-rate": {"quick": {FLOWS: [400]}} for case in (1, 2, 3)},
        },
    )
    assert ruling(found, "case1-regulation").verdict == Verdict.CONTRADICTED
    assert check(found, "case1-regulation", "400 flows").value == pytest.approx(42, abs=2)
    assert check(found, "case1-overshoot", "above 60 packets), 400 flows, RAQM over PI").outcome == Outcome.HOLDS
    # p_k of the engine is that of figure 1, and the rate law holds its rate.
    assert ruling(found, "procedures").verdict == Verdict.REPRODUCED
    assert ruling(found, "mode-rate").verdict == Verdict.REPRODUCED


def test_figure_4_has_a_panel_for_each_discipline_with_the_range_of_its_queue(tmp_path: Path) -> None:
    short = {"duration": "20 s", "warmup": "10 s"}
    case1 = next(one for one in RAQM.experiments if one.name == "case1")
    found = assessed(tmp_path, "", {"case1": {"settings": {**case1.settings, **short}}}, drawn="fig4")
    frame = found.drawn[0].frame.filter(polars.col("curve") == "queue")
    assert sorted(frame["panel"].unique()) == ["a1", "a2", "a3", "b1", "b2", "b3"]
    assert (frame["low"] <= frame["y"]).all()
    assert (frame["y"] <= frame["high"]).all()
    assert len(frame) == 6 * 40
