"""The reference integrator: against closed forms, and an independent integration of the fluid model."""

from math import factorial, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from oracle import dde, delay
from scipy.optimize import brentq

Array = NDArray[np.float64]

# LRED's example: C = 10 Mbit/s in packets of 500 bytes.
N, R, C, ETA = 300, 0.35, 2500.0, 1.5
W0 = R * C / N
P0 = ETA / W0**2
K11 = 2 * N / (R**2 * C)
OMEGA = brentq(lambda w: w * R + np.arctan(w / K11) - pi / 2, 1e-3, 10)
BETA0 = OMEGA * sqrt(OMEGA**2 + K11**2) * sqrt(ETA) * R / C


def shrinking(step: float) -> tuple[Array, Array]:
    """Integrate x' = -x(t - 1) with x = 1 up to t = 0."""
    equation = delay.Equation(lambda t, y, past: -past(np.array([t - 1]))[0][0])
    t, x = delay.integrate(equation, [1.0], 6.0, step)
    return t, x[:, 0]


def by_steps(t: float) -> float:
    """Solve it by the method of steps: a polynomial in each interval."""
    return float(sum((-1) ** k * (t - k + 1) ** k / factorial(k) for k in range(int(t) + 2)))


def test_a_linear_equation_has_its_known_solution() -> None:
    t, x = shrinking(0.01)
    expected = np.array([by_steps(one) for one in t])
    assert np.abs(x - expected).max() < 1e-9


def test_half_the_step_has_a_sixteenth_of_the_error() -> None:
    errors = [abs(shrinking(step)[1][-1] - by_steps(6.0)) for step in (0.2, 0.1, 0.05)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.35)
    assert errors[1] / errors[2] == pytest.approx(16, rel=0.2)


def test_merged_windows_under_a_fixed_probability_follow_a_hyperbolic_tangent() -> None:
    p = 0.01
    path = dde.trajectory(1, 0.1, 1e9, lambda t, q: p, Q=10, end=5, step=0.0125, constant=True, merged=True)
    scale = sqrt(ETA / p)
    expected = scale * np.tanh(np.arctanh(1 / scale) + path.t / 0.1 / scale)
    np.testing.assert_allclose(path.w[0], expected, rtol=1e-9)


def test_within_the_first_round_trip_a_window_decays_exponentially() -> None:
    w, p = 50.0, 0.02
    path = dde.trajectory(1, 0.1, 1e9, lambda t, q: p, Q=10, end=0.1, step=0.0025, constant=True, w=w)
    level = ETA / (w * p)
    expected = level + (w - level) * np.exp(-path.t * w * p / ETA / 0.1)
    np.testing.assert_allclose(path.w[0], expected, rtol=1e-9)


def test_a_load_fills_the_buffer_and_what_is_too_much_is_lost() -> None:
    def load(t: float) -> float:
        return 1100.0 if t < 4 else 900.0

    path = dde.trajectory(
        lambda t: 0.0, 0.1, 1000, lambda t, q: 0.0, Q=200, end=8, step=0.1, load=load, breaks=[4], constant=True
    )
    np.testing.assert_allclose(path.q, np.interp(path.t, [0, 2, 4, 6, 8], [0, 200, 200, 0, 0]), atol=1e-6)
    full = (path.t > 2.01) & (path.t < 3.99)
    np.testing.assert_allclose(path.p[full], 1 - 1000 / 1100, rtol=1e-9)
    assert path.p[~full & (np.abs(path.t - 2) > 0.01)].max() == 0


@pytest.mark.parametrize(
    ("gain", "merged", "grows"), [(0.80, False, False), (0.99, True, False), (0.95, False, True), (1.01, True, True)]
)
def test_with_a_constant_round_trip_swings_die_below_the_critical_gain_and_grow_above(
    gain: float, merged: bool, grows: bool
) -> None:
    path = swinging(gain, merged)
    change = swing(path, 40) / swing(path, 0)
    assert change > 1.2 if grows else change < (0.9 if merged else 0.2)
    if grows and not merged:
        assert (path.q.min(), path.q.max()) == (0, 200)


def test_at_the_critical_gain_merged_windows_swing_with_the_frequency_of_theory() -> None:
    path = swinging(1.0, True)
    above = path.q > 100
    rises = np.flatnonzero(~above[:-1] & above[1:])
    times = path.t[rises] + (100 - path.q[rises]) / (path.q[rises + 1] - path.q[rises]) * np.diff(path.t)[rises]
    # An independent computation: 2.12683 rad/s. The oscillation of 3 packets is large enough for a part in a thousand.
    assert 2 * pi / np.diff(times)[3:].mean() == pytest.approx(2.12683, rel=2e-3)
    assert pytest.approx(2.12683, abs=5e-6) == OMEGA


def swinging(gain: float, merged: bool) -> dde.Trajectory:
    law = dde.static(P0, 100, gain * BETA0)
    return dde.trajectory(N, R, C, law, Q=200, end=44, step=0.035, w=W0, q=103, constant=True, merged=merged)


def swing(path: dde.Trajectory, start: float) -> float:
    return float(np.ptp(path.q[(path.t >= start) & (path.t < start + 4)]))


@pytest.mark.parametrize(
    ("law", "ratios"),
    [
        (dde.static(0.03, 100), (12, 20)),
        (dde.Timed(1.0, (0.03, ((0.0, 0.0),)), dde.lred(100).update, dde.lred(100).probability), (12, 20)),
        (dde.pi(100, a=2e-4, b=1.98e-4, period=0.1), (8, 20)),
    ],
    ids=["static", "lred", "pi"],
)
def test_jumps_of_timers_cost_no_order(law: dde.DropLaw, ratios: tuple[float, float]) -> None:
    def final(step: float) -> float:
        path = dde.trajectory(100, 0.21, C, law, Q=400, end=4, step=step, w=6.0, q=100.0, images=2)
        return float(path.q[-1])

    exact = final(0.0025)
    coarse, fine = (abs(final(step) - exact) for step in (0.02, 0.01))
    assert ratios[0] < coarse / fine < ratios[1]
    assert fine < 1e-6


# Times of an independent integration, which does not state how flows begin and what a full buffer does to them: 6.1,
# 7.8, 9.6, 12.7, 17.6 and 67 s. Here every flow begins with one packet and receives all loss signals, and drops thin
# the arrivals.
COLD = [
    (300, 0.20, 6.1, 7),
    (400, 0.25, 7.8, 6),
    (300, 0.35, 9.6, 5),
    (200, 0.45, 12.7, 8),
    (100, 0.45, 17.6, 13),
    (80, 0.55, 67.0, 32),
]


def test_lred_settles_from_a_cold_start_later_the_lighter_the_load() -> None:
    times = []
    for flows, rtt, printed, ours in COLD:
        path = dde.trajectory(flows, rtt - 0.04, C, dde.lred(100), Q=200, end=45, step=0.08, thinned=True)
        settled = path.settled(100, 20)
        assert settled == ours, (flows, rtt)
        # Above a loss of about 5 % in a few seconds, and nearly independent of it; not below.
        assert printed / 2.2 < settled < 1.2 * printed
        times.append(settled)
    assert max(times[:4]) < 10
    assert times[5] > 2 * times[4] > 3 * times[3] * 1.05


@pytest.mark.parametrize(
    ("law", "end"),
    [
        (dde.pi(100, a=2e-4, b=1.96e-4, period=0.1), 60),
        (dde.rem(100, gamma=0.2, alpha=0.02, period=0.1), 60),
        (dde.lred(100), 30),
    ],
    ids=["pi", "rem", "lred"],
)
@pytest.mark.parametrize("thinned", [False, True])
def test_laws_that_integrate_bring_the_queue_to_its_target_and_p_to_its_equilibrium(
    law: dde.DropLaw, end: float, thinned: bool
) -> None:
    flows, prop = 100, 0.2
    path = dde.trajectory(flows, prop, C, law, Q=400, end=end, step=0.1, w=5.0, thinned=thinned, images=0)
    rtt = prop + 100 / C

    def unbalanced(p: float) -> float:
        return (1 - p if thinned else 1) * flows * sqrt(ETA / p) / rtt - C

    p = brentq(unbalanced, 1e-6, 0.9)
    last = path.t > end - 5
    assert path.q[last].mean() == pytest.approx(100, abs=1.0)
    assert path.p[last].mean() == pytest.approx(p, rel=0.01)
    assert path.w[0, last].mean() == pytest.approx(sqrt(ETA / p), rel=0.01)


def test_equal_classes_are_one() -> None:
    law = dde.static(0.03, 100)
    one = dde.trajectory(100, 0.2, C, law, Q=400, end=10, step=0.02)
    two = dde.trajectory([30, 70], 0.2, C, law, Q=400, end=10, step=0.02)
    np.testing.assert_allclose(two.q, one.q, atol=1e-9)
    np.testing.assert_allclose(two.w, np.vstack([one.w, one.w]), atol=1e-9)


def test_a_longer_way_has_the_same_window_and_a_lower_rate() -> None:
    path = dde.trajectory([50, 50], [0.1, 0.3], C, dde.static(0.01, 100), Q=400, end=60, step=0.05, w=10.0)
    short, long = path.w[:, -1]
    assert short == pytest.approx(long, rel=1e-6)
    assert short == pytest.approx(sqrt(ETA / path.p[-1]), rel=1e-6)


def test_newcomers_begin_with_their_first_window_and_hear_of_no_loss_before_theirs() -> None:
    def flows(t: float) -> list[float]:
        return [50.0, 50.0 if t >= 20 else 0.0]

    path = dde.trajectory(flows, 0.2, C, dde.lred(100), Q=400, end=60, step=0.05, w=[5.0, 1.0], breaks=[20])
    assert np.all(path.w[1, path.t < 20] == 1)
    first = (path.t > 20) & (path.t < 20.2)
    # Until the first round trip is over they grow by 1/R a second, regardless of earlier losses.
    middle = (path.q[first][1:] + path.q[first][:-1]) / 2
    grows = np.diff(path.w[1, first]) / np.diff(path.t[first])
    np.testing.assert_allclose(grows, 1 / (0.2 + middle / C), rtol=1e-3)
    assert path.w[1, -1] == pytest.approx(path.w[0, -1], rel=0.02)
    assert path.p[-1] > 1.5 * path.p[np.searchsorted(path.t, 19.9)]
