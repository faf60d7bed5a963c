"""The LRED paper: its theory's numbers, its cheapest figures and their claims from real runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aqmlab.papers import Curve, Evidence, Figure, Judgement, Outcome, Verdict
from aqmlab.papers.describe import library
from aqmlab.papers.describe.verdict import verdict
from aqmlab.papers.judge.findings import Ruling, assess, rule
from aqmlab.papers.run.sweep import Effort, run

PAPER = library.load("lred")
CLAIMS = {claim.name: claim for claim in PAPER.claims}
NOTHING = Evidence({}, "LRED", quick=True)


def numbers(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)


def by_theory(name: str) -> Judgement:
    return CLAIMS[name].judge(NOTHING)


def shortened(names: Iterable[str], duration: str, store: Path) -> Evidence:
    """Run some experiments at their quick points, shorter, with one seed."""
    settings = {"duration": duration, "warmup": "20 s"}
    kept = [
        replace(
            one,
            settings={**one.settings, **settings},
            aqms={label: aqm if isinstance(aqm, str) else str(aqm["aqm"]) for label, aqm in one.aqms.items()},
        )
        for one in PAPER.experiments
        if one.name in names
    ]
    items = [item for item in PAPER.items if item.needs and set(item.needs) <= set(names)]
    claims = [claim for claim in PAPER.claims if claim.needs and set(claim.needs) <= set(names)]
    paper = replace(PAPER, experiments=kept, items=items, claims=[replace(one, comparative=False) for one in claims])
    return run(paper, Effort(seeds=1, quick=True), store).evidence["paper"]


def test_the_example_s_gain_is_above_the_paper_s_own_bound() -> None:
    found = by_theory("example")
    star, margin, merged = found.checks
    assert star.value == pytest.approx(9.3076e-4, rel=1e-4)
    assert margin.value == pytest.approx(2.4, abs=0.1)
    assert merged.value == pytest.approx(9.07e-4, rel=1e-3)
    assert [check.outcome for check in found.checks] == [Outcome.FAILS, Outcome.HOLDS, Outcome.FAILS]
    assert verdict(found.checks) == Verdict.PARTLY


def test_the_lemmas_and_theorems_hold_but_cover_no_experiment() -> None:
    for name in ("root", "lemmas", "theorem2", "lemma5-needless"):
        assert verdict(by_theory(name).checks) == Verdict.REPRODUCED, name
    covered = by_theory("guaranteed")
    assert verdict(covered.checks) == Verdict.CONTRADICTED
    assert sorted(check.value for check in covered.checks) == pytest.approx([1.28, 1.84, 12.2, 20.6, 58.6], rel=5e-3)
    failing = [check for check in by_theory("pistar-rule").checks if check.outcome == Outcome.FAILS]
    assert [check.value for check in failing] == [pytest.approx(0.3125)]


def test_the_estimate_is_constant_within_a_second_and_p_moves_around_it(tmp_path: Path) -> None:
    found = assess(run(PAPER, Effort(seeds=1, only=frozenset({"fig2"})), tmp_path))
    (ruling,) = found.rulings
    assert (ruling.claim.name, ruling.verdict) == ("estimate-settles", Verdict.REPRODUCED)
    (drawn,) = found.drawn
    curves = {(curve.panel, curve.name): curve for curve in drawn.curves}
    time, estimate = numbers(curves["b", "l(k), estimated"])
    _, p = numbers(curves["b", "p"])
    for second in (40, 41, 42):
        inside = (time > second + 0.03) & (time < second + 0.97)
        assert np.ptp(estimate[inside]) < 1e-9
        assert np.ptp(p[inside]) > 0.005
    assert estimate == pytest.approx(0.12, abs=0.02)


def test_figure_5_has_the_bounds_slopes_and_lred_below_pi_and_rem(tmp_path: Path) -> None:
    evidence = shortened(["exp1", "exp1-pistar"], "60 s", tmp_path)
    figure = next(item for item in PAPER.items if item.name == "fig5")
    assert isinstance(figure, Figure)
    curves = {curve.name: curve for curve in figure.curves(evidence)}
    for name, slope in (("PI, bound (34)", 980.4), ("REM, bound (40)", 200.1)):
        loss, bound = numbers(curves[name])
        assert bound / loss == pytest.approx(slope, abs=0.1)
    loads = (100, 800)
    assert [len(curves[label].y) for label in ("LRED", "PI", "PI*", "REM")] == [len(loads)] * 4
    # PI has not settled after 60 s at either load, REM not at the higher: both count with the end of the run.
    assert list(curves["PI"].y) == [60.0, 60.0]
    assert curves["REM"].y[1] == 60.0
    assert max(curves["LRED"].y) < 25
    gaps = {check.effect: check for check in CLAIMS["fastest"].judge(evidence).checks}
    assert gaps["response time of PI minus that of LRED, all loads"].value == pytest.approx(
        60 - numbers(curves["LRED"])[1].mean()
    )
    designed = CLAIMS["faster-than-pistar"].judge(evidence).checks
    # Claims judged in several settings, where PI* is not run, must not depend on it.
    assert not any("PI*" in effect for effect in gaps)
    assert len(designed) == 2
    assert all("PI*" in check.effect for check in designed)


def test_under_heavy_load_pi_needs_more_than_the_run_and_the_rule_s_gains_switch_p(tmp_path: Path) -> None:
    evidence = shortened(
        [f"exp2-{load}{only}" for load in ("light", "heavy") for only in ("", "-pistar")], "60 s", tmp_path
    )
    heavy: Ruling = rule(CLAIMS["heavy"], evidence)
    assert heavy.verdict == Verdict.REPRODUCED
    runs = evidence["exp2-heavy"]
    assert runs.of("PI")["queue_mean"][0] > 190
    # a = 1.26: one packet off the target moves p to 0 or 1, and the queue is never far above it.
    designed = evidence["exp2-heavy-pistar"]
    assert designed.of("PI*")["queue_mean"][0] < 95
    assert designed.of("PI*")["queue_mad"][0] < designed.of("PI* (0.7 s)")["queue_mad"][0]


def test_where_a_slow_avq_starts_decides_whether_it_leaves_the_link_idle(tmp_path: Path) -> None:
    evidence = shortened(["exp5-avq"], "60 s", tmp_path)
    checks = CLAIMS["avq-trade"].judge(evidence).checks
    below, full = ([check for check in checks if ("from C" in check.effect) == start] for start in (False, True))
    assert [len(below), len(full)] == [4, 4]
    assert {check.outcome for check in below} == {Outcome.FAILS}
    assert {check.outcome for check in full} == {Outcome.HOLDS}
