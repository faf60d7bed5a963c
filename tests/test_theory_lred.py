"""LRED's theory: printed and computed numbers, scans that confirm the lemmas, response times and the packet engine."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from link import C
from scipy.optimize import brentq

import aqmlab
from aqmlab import Scenario
from aqmlab.theory import laws, loop
from aqmlab_papers.theory import lred
from aqmlab_papers.theory.lred import proportional

flows = st.floats(20, 3000)
delays = st.floats(0.02, 1.0)
gains = st.floats(1e-6, 1e-1)


def test_the_measured_ratio_and_its_estimate_are_the_pseudocode_s() -> None:
    arrivals = [2500, 2600, 2400, 2500, 2500, 0, 0, 0, 0, 0]
    drops = [100, 130, 120, 125, 125, 0, 0, 0, 0, 0]
    ratios = lred.loss_ratio(drops, arrivals)
    kept, L = [], 0.0
    for k in range(10):
        arrived, dropped = sum(arrivals[max(0, k - 3) : k + 1]), sum(drops[max(0, k - 3) : k + 1])
        if arrived:
            L = 0.1 * L + 0.9 * dropped / arrived
        kept.append(L)
    assert np.isnan(ratios[8:]).all()
    assert lred.smoothed(ratios) == pytest.approx(kept, rel=1e-12)
    assert kept[:2] == pytest.approx([0.036, 0.0441882353], rel=1e-9)


def test_an_overload_s_loss_is_known_after_two_periods_and_a_step_s_after_four() -> None:
    p0 = 0.2
    cold = lred.smoothed(lred.loss_ratio(np.full(5, 500), np.full(5, 2500)))
    assert cold[:2] == pytest.approx([0.9 * p0, 0.99 * p0], rel=1e-12)
    step = lred.loss_ratio(np.r_[np.zeros(4), np.full(6, 500)], np.full(10, 2500))
    assert step[4:8] == pytest.approx(p0 * np.arange(1, 5) / 4, rel=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lred.loss_ratio([], []),
        lambda: lred.loss_ratio([1, 2], [3]),
        lambda: lred.loss_ratio([4], [3]),
        lambda: lred.loss_ratio([1], [3], M=0),
        lambda: lred.smoothed([0.1], m_w=1.0),
        lambda: lred.smoothed([1.1]),
        lambda: lred.gain(0, 0.35, C),
        lambda: lred.beta0(300, -0.1, C),
        lambda: lred.beta_star(300, math.inf, C),
        lambda: lred.design(N_min=0, R_max=0.35, C=C),
        lambda: lred.design(N_min=300, R_max=math.nan, C=C),
        lambda: lred.design(N_min=300, R_max=0.35, C=C, beta=0),
        lambda: lred.design(N_min=1e300, R_max=0.35, C=C),
        lambda: lred.check_lemma5([], [0.1, 0.2], C, [1e-3]),
        lambda: lred.check_lemma5([300], [0.1, 0.2], C, [1e-3, 2e-3]),
        lambda: lred.check_theorem2([300], [], C, [1e-3]),
        lambda: lred.check_corner([], [], C),
        lambda: proportional.check_boundary([100, 200], [-0.1, 0.2], C, [1e-3]),
        lambda: lred.response_time(1.0, 0.1),
        lambda: lred.response_time(0.1, 1.0),
        lambda: lred.response_time(0.1, 0.1, law=lred.Law(q0=100, Q=100)),
        lambda: lred.response_time(0.1, 0.1, filled=5),
        lambda: lred.response_time(0.1, 0.1, law=lred.Law(M=0)),
        lambda: lred.trajectory(0.1, 0.1, periods=0),
        lambda: lred.cold_start(0.1, 1.0),
    ],
)
def test_what_has_no_meaning_is_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"must|give at least one|needs at least|at most|shape"):
        call()


def test_the_paper_s_example() -> None:
    # Printed: beta* = 0.001 for C = 2500, N = 300, R = 0.35. It is 0.93e-3, rounded up; at 0.001 there is no guarantee.
    point = loop.operating_point(300, 0.35, C)
    assert (point.K11, point.K12, point.K21, point.Kc) == pytest.approx((1.9592, 16.2037, 857.14, 13888.9), rel=1e-5)
    found = lred.design(N_min=300, R_max=0.35, C=C)
    assert (found.w0, found.p0) == pytest.approx((2.9167, 0.17633), rel=2e-5)
    assert found.beta0 == pytest.approx(1.0545e-3, rel=5e-5)
    assert found.beta_bound == pytest.approx(9.3076e-4, rel=5e-6)
    assert found.beta_star == found.beta_bound
    assert round(found.beta_star, 3) == 0.001
    assert not found.guaranteed
    assert found.beta0_without_merging == pytest.approx(9.07e-4, rel=5e-4)
    assert 1 - found.beta0_without_merging / found.beta0 == pytest.approx(0.14, abs=0.005)
    w = math.sqrt(float(lred.y(300, 0.35, C, found.beta0)) / 2)
    assert w == pytest.approx(2.12683, abs=5e-6)
    assert w * 0.35 + math.atan(w / point.K11) == pytest.approx(math.pi / 2, abs=1e-12)
    assert len(found.warnings) == 1
    assert "1.07 times beta*" in found.warnings[0]


def test_the_example_alone_does_not_fix_eta() -> None:
    found = {eta: (lred.beta0(300, 0.35, C, eta), lred.beta_bound(300, 0.35, C, eta)) for eta in (2, 1.5**0.5, 0.75)}
    printed = {2: (1.218e-3, 1.075e-3), 1.5**0.5: (9.53e-4, 8.41e-4), 0.75: (7.46e-4, 6.58e-4)}
    for eta, pair in printed.items():
        assert found[eta] == pytest.approx(pair, rel=7e-4)


# N, R, p0, beta0, bound, and the phase margins at 0.001 on LRED's plant and with the queue's pole. For the margins of
# 2.44 and 4.26 degrees an earlier calculation had 2.5 and 4.3.
@pytest.mark.parametrize(
    ("N", "R", "p0", "beta0", "bound", "margin", "with_pole"),
    [
        (80, 0.55, 0.0051, 1.056e-4, 1.706e-5, -54, 8.9),
        (100, 0.45, 0.0119, 1.991e-4, 4.866e-5, -44, 26.5),
        (200, 0.60, 0.0267, 2.269e-4, 8.211e-5, -49, 15.1),
        (300, 0.35, 0.1763, 1.055e-3, 9.308e-4, 2.44, 148),
        (400, 0.45, 0.1896, 8.530e-4, 7.785e-4, -7.6, 98),
        (500, 0.45, 0.2963, 1.086e-3, 1.216e-3, 4.3, 149),
        (1000, 0.90, 0.2963, 5.43e-4, 6.08e-4, -34, 33),
        (40, 0.07, 0.0784, 3.42e-3, 2.07e-3, 44, None),
    ],
)
def test_what_beta_is_allowed_in_the_paper_s_experiments(
    N: float, R: float, p0: float, beta0: float, bound: float, margin: float, with_pole: float | None
) -> None:
    found = lred.design(N_min=N, R_max=R, C=C)
    assert found.p0 == pytest.approx(p0, abs=6e-5)
    assert (found.beta0, found.beta_bound) == pytest.approx((beta0, bound), rel=2e-3)
    assert found.beta_star == min(found.beta0, found.beta_bound)
    assert found.guaranteed == (found.beta_star >= 0.001) == (not found.warnings)
    assert found.phase_margin_deg == pytest.approx(margin, abs=0.5 if margin == round(margin) else 0.05)
    if with_pole is None:
        assert found.phase_margin_queue_pole_deg is None
    else:
        assert found.phase_margin_queue_pole_deg == pytest.approx(with_pole, abs=0.55 if with_pole > 30 else 0.05)
    # The margin is the distance of eq. (21) from pi/2, and at beta_star it is positive, as the theorem states.
    by_nyquist = loop.Loop(loop.Plant(N, R, C), float(lred.gain(N, R, C))).margins()
    assert found.phase_margin_deg == pytest.approx(by_nyquist.phase_margin_deg, abs=1e-9)
    assert found.crossover == pytest.approx(by_nyquist.crossover, rel=1e-9)
    assert found.phase_margin_star_deg >= -1e-9


@given(flows, delays)
def test_beta0_and_its_unmerged_form_solve_their_equations(N: float, R: float) -> None:
    beta = float(lred.beta0(N, R, C))
    Hc = float(lred.gain(N, R, C, beta))
    assert proportional.lag(N, R, C, Hc) == pytest.approx(math.pi / 2, abs=1e-9)
    assert beta == pytest.approx(Hc / math.sqrt(1.5 * (N / (R * C)) ** 2), rel=1e-9)
    x = brentq(lambda x: x * math.tan(x / 2) - N / (R * C), 0, math.pi - 1e-9, xtol=1e-15)
    assert lred.beta0(N, R, C, merged=False) == pytest.approx(math.sqrt(1.5) * x**2 / (R * C), rel=1e-9)


@given(flows, delays, gains, st.sampled_from([0.75, 1.5, 2.0]))
def test_y_is_equation_30_and_turns_at_the_bound_of_lemma_5(N: float, R: float, beta: float, eta: float) -> None:
    A, B = (2 * N) ** 2 / (R**4 * C**2), 4 * beta**2 * C**2 / (eta * R**2)
    y = float(lred.y(N, R, C, beta, eta))
    assert y == pytest.approx(math.hypot(A, math.sqrt(B)) - A, rel=1e-9, abs=1e-12 * A)
    bound = float(lred.beta_bound(N, R, C, eta))
    assert (B <= 8 * A**2) == (beta <= bound)
    for part, sign in ((0.99, 1), (1.01, -1)):
        near, far = (float(lred.y(N, R * side, C, part * bound, eta)) for side in (1 - 1e-4, 1 + 1e-4))
        assert math.copysign(1, far - near) == sign


REGION = {"N": np.geomspace(20, 2000, 12), "R": np.geomspace(0.02, 1, 12)}


def test_lemmas_1_to_4_hold_for_gains_that_do_not_depend_on_the_network() -> None:
    Hc = np.geomspace(1e-6, 1e-2, 6)
    found = proportional.check_boundary(**REGION, C=C, Hc=Hc)
    assert found.holds
    assert found.points == 12 * 12 * 6
    # The largest gain is on the boundary, where the lag is a quarter turn.
    Hc0 = float(loop.critical_gain(300, 0.35, C))
    assert proportional.lag(300, 0.35, C, Hc0) == pytest.approx(math.pi / 2, rel=1e-9)


def test_theorem_1_holds_below_its_gain_and_a_scan_shows_where_not_above() -> None:
    N, R = np.geomspace(300, 3000, 6), np.geomspace(0.02, 0.35, 6)
    Hc = float(loop.critical_gain(300, 0.35, C))
    assert proportional.check_theorem1(N, R, C, Hc * np.array([0.01, 0.5, 0.999])).holds
    found = proportional.check_theorem1(N, R, C, Hc * np.array([0.01, 0.5, 1.001]))
    assert not found.holds
    assert found.counterexample == found.worst == pytest.approx({"N": 300, "R": 0.35, "Hc": 1.001 * Hc})
    assert "no" in str(found)


@given(flows, delays, st.floats(0.2, 3.0))
def test_the_rightmost_root_solves_the_equation_and_is_the_loop_s_pole(N: float, R: float, times: float) -> None:
    Hc = times * float(loop.critical_gain(N, R, C))
    s = complex(proportional.rightmost_root(N, R, C, Hc))
    K11, Kc = 2 * N / (R**2 * C), C**2 / (1.5 * N)
    terms = (s**2, K11 * s, Kc * Hc * np.exp(-s * R))
    assert abs(sum(terms)) < 1e-7 * max(map(abs, terms))
    assert (s.real < 0) == (times < 1) or abs(times - 1) < 1e-6


def test_lemma_5_holds_and_its_condition_is_exact() -> None:
    found = lred.check_lemma5(**REGION, C=C, beta=np.geomspace(1e-6, 1e-1, 12))
    assert found.holds
    assert found.points == 12**3


def test_beta0_is_least_at_the_corner_so_that_theorem_2_needs_no_lemma_5() -> None:
    assert lred.check_corner(np.geomspace(20, 2000, 40), np.geomspace(0.02, 1, 40), C).holds
    # A proof artefact: beyond the bound, up to beta0 of the corner, the whole region is stable too.
    for N, R in ((100, 0.45), (300, 0.35)):
        bound, limit = float(lred.beta_bound(N, R, C)), float(lred.beta0(N, R, C))
        assert bound < limit
        region = np.geomspace(N, 10 * N, 6), np.geomspace(R / 10, R, 6)
        assert lred.check_theorem2(*region, C, limit * np.array([0.1, 0.999])).holds
        found = lred.check_theorem2(*region, C, limit * np.array([0.1, 1.001]))
        assert found.counterexample == pytest.approx({"N": N, "R": R, "beta": 1.001 * limit})
    # For large windows the bound is smaller by 2 sqrt(2) / w0.
    for N in (10, 20):
        ratio = float(lred.beta_bound(N, 0.5, C) / lred.beta0(N, 0.5, C))
        assert ratio == pytest.approx(2 * math.sqrt(2) / (0.5 * C / N), rel=0.02)


@pytest.mark.parametrize(("N", "R"), [(300, 0.35), (80, 0.55), (500, 0.45), (40, 0.07)])
def test_theorem_2_holds(N: float, R: float) -> None:
    star = float(lred.beta_star(N, R, C))
    region = np.geomspace(N, 10 * N, 6), np.geomspace(R / 10, R, 6)
    found = lred.check_theorem2(*region, C, star * np.array([0.01, 0.3, 0.9999]))
    assert found.holds
    assert found.points == 6 * 6 * 3


def test_beta_0p001_is_outside_the_guarantee_in_five_of_six_experiments() -> None:
    # N- and R+ of experiments 1 (its lightest case), 2, 3, 4 and 5, 6; at 300 and 0.35 as in the paper's example too.
    outside = {(100, 0.45): 20.6, (80, 0.55): 58.6, (400, 0.45): 1.28, (200, 0.60): 12.2, (300, 0.35): 1.074}
    for (N, R), times in outside.items():
        assert 0.001 / lred.beta_star(N, R, C) == pytest.approx(times, rel=4e-3)
    assert not lred.check_theorem2([100], [0.45], C, [0.001]).holds


def test_a_remark_says_where_the_square_root_law_ends() -> None:
    small = lred.design(N_min=600, R_max=0.45, C=C, beta=1e-5)
    assert small.w0 < 2
    assert any("window" in text for text in small.warnings)
    none = lred.design(N_min=1000, R_max=0.1, C=C, beta=1e-5)
    assert none.p0 > 1
    assert not none.guaranteed
    assert any("not a probability" in text for text in none.warnings)


# The response time.


def test_a_rising_load_is_answered_when_the_window_has_forgotten() -> None:
    for p1, p2 in ((0.05, 0.13), (0.01, 0.2), (0.2, 0.25)):
        path = lred.trajectory(p2, p1)
        assert np.all(path.loss == p2)
        assert lred.response_time(p2, p1) == 4 == lred.response_law(p2, p1).total
    assert lred.response_time(0.2, 0.2) == 0 == lred.response_law(0.2, 0.2).total
    # From zero the buffer overflows for a period, whatever the load: 0.9 and 0.99 of p0 are close enough.
    assert {lred.response_time(p0, 0.0, filled=0) for p0 in (0.05, 0.2, 0.5)} == {2.0}


def test_the_estimate_lags_a_ramp_by_its_windows_mean() -> None:
    ramp = 0.001 * np.arange(200)
    behind = ramp[-1] - lred.smoothed(lred.loss_ratio(1e6 * ramp, np.full(200, 1e6)))[-1]
    # After a period the estimate is of ratios (M - 1)/2 old; it then serves the next period.
    assert behind / 0.001 + 1 == pytest.approx(laws.lag(), rel=1e-9)
    assert laws.lag() == pytest.approx(2.5 + 1 / 9, rel=1e-12)


@given(st.floats(0.004, 0.3), st.floats(0.05, 0.5), st.sampled_from([5e-4, 1e-3, 2e-3]), st.sampled_from([2, 4, 8]))
def test_the_closed_form_exceeds_the_recursion_by_half_a_window_at_most(
    p0: float, L0: float, beta: float, M: int
) -> None:
    law = lred.Law(beta=beta, M=M)
    closed, found = lred.response_law(p0, L0, law=law), lred.response_time(p0, L0, law=law)
    if closed.empty > 0:
        # The recursion answers in whole periods; over a hundred of them, its steps are a part in a thousand ahead of a
        # straight line.
        assert found - 1 <= closed.total <= found + M / 2 + 1 + 0.01 * closed.total
    else:
        assert found <= M + 2


def simulated(count: int, seeds: int, duration: int, **aqm: float) -> tuple[aqmlab.Result, np.ndarray, np.ndarray]:
    """Run experiment 1; return the result, and 1 s means of queue and estimate for each seed."""
    settings = {"traffic.long.count": count, "duration": f"{duration} s", "warmup": f"{duration // 2} s"}
    scenario = Scenario.load("lred/exp1").with_(
        {"record.series": True, **settings, **{f"aqm.{k}": v for k, v in aqm.items()}}
    )
    return summed_up(scenario, seeds, duration)


def summed_up(scenario: Scenario, seeds: int, duration: int) -> tuple[aqmlab.Result, np.ndarray, np.ndarray]:
    result = aqmlab.run(scenario, seeds=seeds)
    means = []
    for seed in result.seeds:
        series = result.series_of(seed)
        second = np.floor(series["t"].to_numpy() + 1e-9).astype(int)
        columns = (series[f"bottleneck.{name}.mean"].to_numpy() for name in ("queue", "loss_ratio"))
        means.append([np.bincount(second, column)[:duration] / np.bincount(second)[:duration] for column in columns])
    queue, estimate = np.moveaxis(np.array(means), 1, 0)
    return result, queue, estimate


def measured(result: aqmlab.Result) -> float:
    return float(np.mean([run.metrics["response_time"] for run in result.runs]))


def chance_delay(within: float) -> float:
    """Return the mean start (s) of five seconds in a row within the band, each of them by chance."""
    return sum(within**-k for k in range(1, 6)) - 5


# Predicted from the state after the flows' slow starts of two seconds, plus TCP's time constant, plus the wait for five
# seconds in a row. The mean of 12 seeds has a standard error of 5 to 10 %. At 400 flows the prediction is a quarter too
# low: after the overload many flows wait for doubled time-outs, and the link needs less loss for a while.
@pytest.mark.parametrize("count", [50, 100, 200, 400])
def test_the_response_time_of_a_cold_start_is_as_predicted(count: int) -> None:
    result, queue, estimate = simulated(count, 12, 60)
    p0, found = result.metrics["loss_ratio"] or 0, measured(result)
    settled = queue[:, 30:]
    chance = chance_delay(float(np.mean(np.abs(settled - 100) <= 20)))
    own = 0.245**2 * C / (2 * count)  # R^2 C/(2 N), the mean round trip being 245 ms
    predicted = lred.cold_start(p0, float(np.mean(estimate[:, 2])) / (1 - 0.1**2))
    assert predicted + own + chance == pytest.approx(found, rel=0.3)
    assert predicted <= found
    # The part that needs no measurement of the start: slow start loses at most a half.
    assert found < lred.cold_start(p0) + own + chance


# The prediction's dependence on gain and window; the neglected terms are about equal on both sides.
def test_the_response_time_depends_on_beta_and_m_as_predicted() -> None:
    for (name, key), low, high in ((("beta", "beta"), 0.002, 0.0005), (("window", "M"), 2, 8)):
        found, predicted = [], []
        for value in (low, high):
            result, _, estimate = simulated(100, 8, 60, **{name: value})
            law = replace(lred.Law(), **{key: value})
            loss, overload = result.metrics["loss_ratio"] or 0, float(np.mean(estimate[:, 2])) / 0.99
            predicted.append(lred.cold_start(loss, overload, law=law))
            found.append(measured(result))
        assert found[1] / found[0] == pytest.approx(predicted[1] / predicted[0], rel=0.25)
        assert predicted[1] / predicted[0] > 2


# When 100 flows join 100, their start takes up to a second, and the loss of their slow starts is more than they need
# later. The mean of 12 seeds has a standard error of 0.6 s.
def test_a_load_step_is_answered_in_the_four_seconds_of_the_window() -> None:
    text = aqmlab.shipped()["lred/exp1"].read_text(encoding="utf-8").replace("count = 400", "count = 100")
    entry = (
        text[text.index("[[traffic]]") :]
        .replace('"long"', '"joins"')
        .replace("uniform(0 s, 1 s)", "uniform(40 s, 41 s)")
    )
    scenario = Scenario.parse(f"{text}\n{entry}", "step.toml").with_(
        {"record.series": True, "duration": "100 s", "warmup": "30 s"}
    )
    _, queue, estimate = summed_up(scenario, 12, 100)
    p1, p2 = estimate[:, 30:40].mean(), estimate[:, 60:].mean()
    assert p2 > 2 * p1
    near = np.abs(queue[:, 40:] - 100) <= 20
    first = [next(t for t in range(50) if seed[t : t + 5].all()) for seed in near]
    predicted = lred.response_time(p2, p1) + chance_delay(float(np.mean(near[:, 20:])))
    assert np.mean(first) == pytest.approx(predicted, abs=2)
    # The window fills evenly, between the half second that the joining takes and the excess of the slow starts.
    steps = lred.smoothed(lred.loss_ratio(np.r_[np.full(4, p1), p2 / 2 + p1 / 2, np.full(6, p2)], np.ones(11)), L0=p1)
    assert estimate.mean(axis=0)[41:46] == pytest.approx(steps[4:9], rel=0.12)


@pytest.mark.parametrize("beta", [1e-300, 1e-30, 1e-12])
def test_a_gain_that_hardly_acts_has_all_of_its_margin(beta: float) -> None:
    found = lred.design(N_min=100, R_max=0.45, C=C, beta=beta)
    assert found.phase_margin_deg == pytest.approx(90, abs=1e-5)
    assert found.phase_margin_queue_pole_deg is None
    assert found.guaranteed
    # Far below TCP's pole the plant is Kc/(K11 s).
    Hc = float(lred.gain(100, 0.45, C, beta))
    assert found.crossover == pytest.approx(C**2 / 150 * Hc * 0.45**2 * C / 200, rel=1e-6, abs=1e-250)
    json.dumps(found.document(), allow_nan=False)
