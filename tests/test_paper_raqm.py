"""RAQM: figures of its theory against known numbers, and its cheapest claims from runs."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

from aqmlab import Scenario, Sweep
from aqmlab.library.raqm import figures, measures
from aqmlab.library.raqm.claims import theory
from aqmlab.papers import Check, Evidence, Figure, Judgement, Outcome, Paper, Runs, Verdict
from aqmlab.papers.describe import library
from aqmlab.papers.judge import findings
from aqmlab.papers.judge.findings import Assessment, Ruling
from aqmlab.papers.run import sweep as running
from aqmlab.papers.run.sweep import Effort
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import study

RAQM = library.load("raqm")
NOTHING = Evidence({}, "RAQM", quick=True)


def outcomes(judgement: Judgement) -> list[Outcome]:
    return [check.outcome for check in judgement.checks]


# --- theory --------------------------------------------------------------------------------------------------------


def test_figure_2_is_the_curve_of_the_known_values() -> None:
    curve = findings.drawn(figures.theory.FIGURE_2, NOTHING).frame.filter(polars.col("curve") == "c(x)").sort("x")
    known = {0.01: 10.694, 0.1: 6.543, 0.2: 5.493, 0.5: 4.394, 0.9: 4.0134, 1.0: 4.0, 1.5: 4.394}
    for x, c in known.items():
        nearest = curve.sort((polars.col("x") - x).abs()).row(0, named=True)
        assert nearest["x"] == pytest.approx(x, abs=1e-9)
        assert nearest["y"] == pytest.approx(c, abs=6e-4)


def test_the_figure_of_the_gains_has_the_known_periods() -> None:
    frame = findings.drawn(figures.theory.CONVERGENCE, NOTHING).frame
    analysed = frame.filter(polars.col("curve") == "as analysed")

    def periods(panel: str, x: float) -> float:
        here = (polars.col("panel") == panel) & ((polars.col("x") - x).abs() < 1e-9)
        return float(analysed.filter(here)["y"][0])

    assert [periods("a", m) for m in (0.5, 1.0, 2.0, 3.0, 3.8)] == [17, 8, 3, 4, 31]
    assert [periods("b", eps) for eps in (0.5, 0.75, 0.9, 0.95)] == [2, 5, 17, 37]
    assert all(math.isnan(periods("a", m)) for m in (4.1, 4.5, 5.0))
    assert math.isnan(periods("b", 1.0))


def test_the_bigger_gain_is_the_faster_one_up_to_half_of_the_bound_only() -> None:
    assert outcomes(theory.theorem_2(NOTHING)) == [Outcome.HOLDS, Outcome.FAILS]
    assert outcomes(theory.theorem_1(NOTHING)) == [Outcome.HOLDS, Outcome.HOLDS, Outcome.FAILS]
    assert outcomes(theory.adaptive(NOTHING)) == [Outcome.HOLDS, Outcome.FAILS, Outcome.HOLDS]


# --- measures ------------------------------------------------------------------------------------------------------


def runs_of(rows: list[tuple[str, float, int, float, float]]) -> Runs:
    """Return runs by label, target and seed, with a mean queue and a goodput."""
    frame = polars.DataFrame(rows, schema=["aqm", measures.TARGET, "seed", "queue_mean", "goodput"], orient="row")
    scenario = Scenario.load("raqm/case3").base
    labels = tuple(frame["aqm"].unique(maintain_order=True))
    asked = study(scenario, {}, dict.fromkeys(labels, "raqm"), sorted(frame["seed"].unique()))
    sweep = Sweep(
        scenario=scenario,
        aqms=labels,
        parameters={measures.TARGET: ""},
        seeds=tuple(asked.seeds),
        method="grid",
        sample_seed=None,
        frame=frame,
        failures=(),
        wanted=len(frame),
        simulated=0,
        damage={},
        interrupted=False,
        version="",
    )
    return Runs(asked, sweep, Store(Path("nowhere")), "RAQM")


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
    assert measures.at_equal_queue(runs, low, "goodput", "PI") == [pytest.approx((2.4 + 1.0) / 2), None]
    # Without the low targets, PI's nearest queue, 5 packets away, is used at 15.
    assert measures.at_equal_queue(runs, None, "goodput", "PI") == [pytest.approx((1.4 + 1.0) / 2), None]


def test_the_slope_is_that_of_the_line_through_a_seed_s_points() -> None:
    rows = [("RAQM", q0, seed, 3.0 + seed * q0, 9.0) for seed in (1, 2) for q0 in (20.0, 60.0, 90.0)]
    assert measures.slope(runs_of(rows), "RAQM") == pytest.approx([1.0, 2.0])


def test_the_first_overshoot_ends_with_the_first_dip_and_the_time_above_does_not() -> None:
    queue = np.array([10.0, 70.0, 90.0, 50.0, 65.0, 60.0])
    assert measures.above(queue) == measures.Overshoot(first=10.0, total=15.0, height=40.0)
    assert measures.above(queue[1:3]) == measures.Overshoot(first=10.0, total=10.0, height=40.0)
    assert measures.above(np.array([40.0, 60.0])) == measures.Overshoot(0.0, 0.0, 0.0)


# --- runs ----------------------------------------------------------------------------------------------------------


def assessed(paper: Paper, only: str, store: Path) -> Assessment:
    found = running.run(paper, Effort(seeds=1, quick=True, only=frozenset({only})), store, jobs=1)
    assert found.done == found.wanted > 0
    return findings.assess(found)


def ruling(assessment: Assessment, claim: str) -> Ruling:
    return next(one for one in assessment.rulings if one.claim.name == claim)


def check(assessment: Assessment, claim: str, effect: str) -> Check:
    return next(one for one in ruling(assessment, claim).judgement.checks if effect in one.effect)


def test_a_literal_rate_target_idles_the_link_for_what_it_drops_whatever_the_target(tmp_path: Path) -> None:
    few = [
        replace(one, quick={measures.TARGET: "20,90"}, aqms={k: v for k, v in one.aqms.items() if k.startswith("RAQM")})
        for one in RAQM.experiments
        if one.name in ("case3b", "corrected")
    ]
    claims = [one for one in RAQM.claims if one.name in ("follows-target", "corrected-target")]
    figure = next(one for one in RAQM.items if one.name == "regulation")
    assert isinstance(figure, Figure)
    paper = replace(RAQM, experiments=few, items=[figure], claims=claims)
    found = assessed(paper, "regulation", tmp_path)
    assert ruling(found, "follows-target").verdict == Verdict.CONTRADICTED
    assert abs(check(found, "follows-target", "packets of queue").value) < 0.2
    balance = found.drawn[0].frame.filter((polars.col("panel") == "b") & (polars.col("curve") == "RAQM"))["y"]
    assert len(balance) == 2
    assert balance.to_list() == pytest.approx([1.0, 1.0], abs=0.003)
    # With the rate corrected for losses the link is full, and the target still has no effect.
    assert check(found, "corrected-target", "utilisation").outcome == Outcome.HOLDS
    assert check(found, "corrected-target", "packets of queue").outcome == Outcome.FAILS


def test_with_400_flows_the_overshoot_is_short_and_the_queue_ends_far_below_the_target(tmp_path: Path) -> None:
    case1 = next(one for one in RAQM.experiments if one.name == "case1")
    names = {"case1-regulation", "case1-overshoot"}
    claims = [one for one in RAQM.claims if one.name in names]
    items = [one for one in RAQM.items if one.name == "fig4"]
    few = replace(case1, quick={measures.FLOWS: [40, 400]}, settings={**case1.settings, "duration": "60 s"})
    few = replace(few, settings={**few.settings, "warmup": "30 s"}, aqms={k: case1.aqms[k] for k in ("RAQM", "PI")})
    found = assessed(replace(RAQM, experiments=[few], items=items, claims=claims), "fig4", tmp_path)
    assert check(found, "case1-regulation", "400 flows").value == pytest.approx(8, abs=2)
    assert check(found, "case1-overshoot", "first overshoot, RAQM minus PI, 400 flows").outcome == Outcome.HOLDS
    assert check(found, "case1-overshoot", "height of the overshoot of RAQM, 400").outcome == Outcome.FAILS
    panels = found.drawn[0].frame.group_by("panel", "curve").len()
    assert sorted(panels.iter_rows()) == [("a", "PI", 60), ("a", "RAQM", 60), ("b", "PI", 60), ("b", "RAQM", 60)]
