"""The LRED paper: its theory's numbers, its cheapest figures and their claims from real runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from numpy.typing import NDArray

from aqmlab_papers import Curve, Evidence, Figure, Judgement, Outcome, PerSeed, Verdict
from aqmlab_papers.describe import library
from aqmlab_papers.describe.check import Effect
from aqmlab_papers.describe.thresholds import DEVIATION, SHORT_QUEUE
from aqmlab_papers.describe.verdict import verdict
from aqmlab_papers.judge.findings import rule
from aqmlab_papers.lred.claims.background import nearest
from aqmlab_papers.lred.measures import Seconds, much_lower
from aqmlab_papers.run.sweep import Effort, run

PAPER = library.load("lred")
CLAIMS = {claim.name: claim for claim in PAPER.claims}
NOTHING = Evidence({}, "LRED", quick=True)


def numbers(curve: Curve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)


def by_theory(name: str) -> Judgement:
    return CLAIMS[name].judge(NOTHING)


def shortened(names: Iterable[str], duration: str, store: Path) -> Evidence:
    """Run some experiments at their quick points, shorter, with one seed."""
    kept = [
        replace(
            one,
            settings={**one.settings, "duration": duration, "warmup": "20 s"},
            aqms={
                label: aqm if isinstance(aqm, str) else {key: value for key, value in aqm.items() if key != "duration"}
                for label, aqm in one.aqms.items()
            },
        )
        for one in PAPER.experiments
        if one.name in names
    ]
    items = [item for item in PAPER.items if item.needs and set(item.needs) <= set(names)]
    claims = [claim for claim in PAPER.claims if claim.needs and set(claim.needs) <= set(names)]
    paper = replace(
        PAPER,
        experiments=kept,
        items=items,
        claims=[replace(one, comparative=False) for one in claims],
        variants=(),
        calibration=None,
    )
    return run(paper, Effort(seeds=1, quick=True), store).evidence["paper"]


def test_the_example_s_gain_is_the_printed_one_rounded() -> None:
    found = by_theory("example")
    assert found.checks[0].value == pytest.approx(9.3076e-4, rel=1e-4)
    assert verdict(found.checks) == Verdict.REPRODUCED
    margin, star, merged = found.beside
    assert margin.value == pytest.approx(2.4, abs=0.1)
    assert merged.value == pytest.approx(0.907, rel=1e-3)
    assert [margin.outcome, star.outcome, merged.outcome] == [Outcome.HOLDS, Outcome.FAILS, Outcome.FAILS]


def test_the_lemmas_hold_and_the_theorem_covers_two_loads() -> None:
    for name in ("zero-delay", "root-gain", "lemmas", "theorem2", "lemma5-needless"):
        assert verdict(by_theory(name).checks) == Verdict.REPRODUCED, name
    assert {name for name, claim in CLAIMS.items() if claim.arithmetic} == {"zero-delay", "root-gain"}
    covered = by_theory("guaranteed")
    inside = [check.effect for check in covered.checks if check.outcome == Outcome.HOLDS]
    assert inside == [f"0.001 over beta*, Experiment 1, {count} flows" for count in (500, 600)]
    assert verdict(covered.checks) == Verdict.PARTLY
    values = [check.value for check in covered.checks[:10]]
    assert values == pytest.approx([20.6, 5.1, 2.3, 1.28, 0.92, 0.94, 1.16, 1.39, 1.61, 1.84], rel=0.03)
    failing = [check for check in by_theory("pistar-rule").checks if check.outcome == Outcome.FAILS]
    assert [check.value for check in failing] == [pytest.approx(0.3125)]


def test_the_estimate_is_that_of_the_equations_and_p_moves_around_it(tmp_path: Path) -> None:
    evidence = shortened(["fig2"], "60 s", tmp_path)
    for name in ("loss-near-p", "measured"):
        assert rule(CLAIMS[name], evidence).verdict == Verdict.REPRODUCED, name
    figure = next(item for item in PAPER.items if item.name == "fig2")
    assert isinstance(figure, Figure)
    curves = {(curve.panel, curve.name): curve for curve in figure.curves(evidence)}
    time, estimate = numbers(curves["b", "L(k)"])
    _, p = numbers(curves["b", "p"])
    for second in (40, 41, 42):
        inside = (time > second + 0.03) & (time < second + 0.97)
        assert np.ptp(estimate[inside]) < 1e-9
        assert np.ptp(p[inside]) > 0.005
    assert estimate == pytest.approx(0.12, abs=0.02)
    # A queue that ignored the estimate would not be found out by the means alone.
    settles = CLAIMS["estimate-settles"].judge(evidence).checks
    assert [check.effect for check in settles] == [f"|L({second}) - L(40)|" for second in (41, 42, 43)]


def test_with_the_fewest_points_a_figure_leaves_out_the_columns_that_were_not_run(tmp_path: Path) -> None:
    evidence = shortened(["exp5"], "60 s", tmp_path)
    figure = next(item for item in PAPER.items if item.name == "fig12")
    assert isinstance(figure, Figure)
    assert {curve.panel[0] for curve in figure.curves(evidence)} == {"b"}
    with pytest.raises(LookupError, match="no runs with"):
        list(figure.curves(Evidence(evidence, PAPER.hero, quick=False)))


def test_figure_5_has_the_bounds_slopes_and_every_competitor_at_every_load(tmp_path: Path) -> None:
    evidence = shortened(["exp1", "exp1-pistar"], "60 s", tmp_path)
    figure = next(item for item in PAPER.items if item.name == "fig5")
    assert isinstance(figure, Figure)
    curves = {curve.name: curve for curve in figure.curves(evidence)}
    for name, slope in (("PI, bound (34)", 980.4), ("REM, bound (40)", 200.1)):
        loss, bound = numbers(curves[name])
        assert bound / loss == pytest.approx(slope, abs=0.1)
    # PI*'s bound has gains of its own at each load, and stands at the loss at which LRED's point stands.
    loss, bound = numbers(curves["PI*, bound (34)"])
    assert loss == pytest.approx(numbers(curves["LRED"])[0])
    assert min(loss) > 0.01
    assert bound / loss == pytest.approx([980.4 / 1.1053, 980.4 / 82.88], rel=1e-3)
    assert [len(curves[label].y) for label in ("LRED", "PI", "PI*", "REM")] == [2] * 4
    # PI has not settled after 60 s at the higher load: it counts with the end of PI's own runs.
    assert curves["PI"].y[1] == 400.0
    assert max(curves["LRED"].y) < 60
    fastest = CLAIMS["fastest"].judge(evidence)
    effects = [check.effect for check in fastest.checks]
    assert len(effects) == 6
    for load in (100, 800):
        assert {f"response time of LRED over that of {one}, {load} flows" for one in ("PI", "PI*", "REM")} < {*effects}
    assert {"REM (36)" in check.effect for check in fastest.beside} == {True}
    assert fastest.need == 0.8


def test_under_heavy_load_pi_needs_more_than_the_run_and_the_rule_s_gains_switch_p(tmp_path: Path) -> None:
    evidence = shortened(["exp2-heavy"], "60 s", tmp_path)
    assert rule(CLAIMS["heavy"], evidence).verdict == Verdict.REPRODUCED
    runs = evidence["exp2-heavy"]
    assert runs.of("PI")["queue_mean"][0] > 190
    # a = 1.26: one packet off the target moves p to 0 or 1, and the queue is never far above it.
    assert runs.of("PI*")["queue_mean"][0] < 95
    assert runs.of("PI*")["queue_mad"][0] < runs.of("PI* (0.7 s)")["queue_mad"][0]


def test_where_a_slow_avq_starts_decides_how_much_of_the_link_it_uses(tmp_path: Path) -> None:
    evidence = shortened(["exp5-avq"], "60 s", tmp_path)
    found = CLAIMS["avq-trend-goodput"].judge(evidence)
    assert [check.outcome for check in found.checks] == [Outcome.HOLDS]
    assert "from 0.8 C" in found.beside[0].effect
    assert found.beside[0].outcome == Outcome.FAILS


def test_the_setting_that_serves_all_loads_best_is_compared_where_it_is_worst() -> None:
    # Of the lowest: steep is twice the best at 100 flows, between half as much again at 800, flat four times as much.
    found = {
        100.0: {"steep": PerSeed.of([20, 20.4]), "between": PerSeed.of([11, 11.2]), "flat": PerSeed.of([10, 10.2])},
        800.0: {"steep": PerSeed.of([40, 42]), "between": PerSeed.of([60, 63]), "flat": PerSeed.of([160, 170])},
    }
    (low, high) = (nearest("", found, best, DEVIATION) for best in (min, max))
    assert low.effect == ", between over steep, 800 flows"
    assert low.value == pytest.approx(50)
    assert low.least == 5
    assert low.outcome == Outcome.HOLDS
    assert high.effect == ", flat over steep, 100 flows"
    assert high.value == pytest.approx(-50)
    assert high.most == -5
    alone = nearest("", {100: found[100]}, min, DEVIATION)
    assert (alone.effect, alone.outcome) == (", flat over flat, 100 flows", Outcome.NEGLIGIBLE)


# A queue at 100 packets but for the first 3 s, a step at 10 s, and the buffer's end from 20 s on.
def test_the_seconds_of_a_run_give_response_times_and_overshoots() -> None:
    t = np.arange(0, 30, 0.5)
    queue = np.select([t < 3, t < 10, t < 14, t < 20], [10.0, 100.0, 150.0, 110.0], 195.0)
    frame = polars.DataFrame({"t": t, "queue.mean": queue, "p.mean": 0.1, "drops": 1.0, "arrivals": 10.0})
    seconds = Seconds(frame)
    assert seconds.lost == pytest.approx(0.1)
    assert seconds.settled(0, 10) == 3
    assert seconds.settled(10, 20) == 4
    assert seconds.settled(20, 30) == 10  # never: the whole time
    assert seconds.away(10, 20) == pytest.approx((4 * 50 + 6 * 10) / 10)
    assert seconds.overshoot(0, 20) == 50
    assert seconds.stuck() == 13
    assert seconds.stuck(begin=3) == 10


def test_much_less_is_at_most_half_and_less_than_that_is_not_negligible() -> None:
    times = {"LRED": 10.0, "PI": 21.0, "REM": 15.0}
    found = much_lower("time", lambda label: PerSeed.of([times[label]] * 3, "s"), ["PI", "REM"])
    assert [check.outcome for check in found] == [Outcome.HOLDS, Outcome.FAILS]
    assert [check.effect for check in found] == ["time, LRED over PI", "time, LRED over REM"]


def test_a_twentieth_of_a_short_queue_is_not_seen_but_two_packets_are() -> None:
    found = [
        Effect("").better(PerSeed.of([one] * 3, "packets"), PerSeed.of([other] * 3, "packets"), "lower", SHORT_QUEUE)
        for one, other in ((9.0, 10.0), (7.0, 10.0), (93.0, 100.0), (97.0, 100.0))
    ]
    assert [check.most for check in found] == [-20, -20, -5, -5]
    expected = [Outcome.NEGLIGIBLE, Outcome.HOLDS, Outcome.HOLDS, Outcome.NEGLIGIBLE]
    assert [check.outcome for check in found] == expected
    assert SHORT_QUEUE.around(20) == (18, 22)
