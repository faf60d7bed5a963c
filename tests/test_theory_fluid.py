"""The reference integrator: against closed forms, and the fluid model's results of models.md."""

from math import factorial, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from aqmlab.theory import dde

Array = NDArray[np.float64]

# LRED's own example: C = 10 Mbit/s in packets of 500 bytes.
N, R, C, ETA = 300, 0.35, 2500.0, 1.5
W0 = R * C / N
P0 = ETA / W0**2
K11 = 2 * N / (R**2 * C)
OMEGA = brentq(lambda w: w * R + np.arctan(w / K11) - pi / 2, 1e-3, 10)
BETA0 = OMEGA * sqrt(OMEGA**2 + K11**2) * sqrt(ETA) * R / C


def shrinking(step: float) -> tuple[Array, Array]:
    """Integrate x' = -x(t - 1) with x = 1 up to t = 0."""
    equation = dde.Equation(lambda t, y, past: -past(np.array([t - 1]))[0][0])
    t, x = dde.integrate(equation, [1.0], 6.0, step)
    return t, x[:, 0]


def by_steps(t: float) -> float:
    """Solve it by the method of steps: a polynomial in each interval."""
    return sum((-1) ** k * (t - k + 1) ** k / factorial(k) for k in range(int(t) + 2))


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
    expected = scale * np.tanh(np.arctanh(1 / scale) + path.t / (R * 0 + 0.1) / scale)
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


@pytest.mark.parametrize(("gain", "merged"), [(0.80, False), (0.99, True)])
def test_with_a_constant_round_trip_a_small_gain_lets_swings_die(gain: float, merged: bool) -> None:
    path = swinging(gain, merged)
    assert swing(path, 40) < 0.9 * swing(path, 0)
    if not merged:
        assert swing(path, 40) < 0.2 * swing(path, 0)


@pytest.mark.parametrize(("gain", "merged"), [(0.95, False), (1.01, True)])
def test_with_a_constant_round_trip_a_large_gain_lets_them_grow(gain: float, merged: bool) -> None:
    path = swinging(gain, merged)
    assert swing(path, 40) > 1.2 * swing(path, 0)
    if not merged:
        assert path.q.min() == 0
        assert path.q.max() == 200


def test_at_the_critical_gain_merged_windows_swing_with_the_frequency_of_theory() -> None:
    path = swinging(1.0, True)
    above = path.q > 100
    rises = np.flatnonzero(~above[:-1] & above[1:])
    times = path.t[rises] + (100 - path.q[rises]) / (path.q[rises + 1] - path.q[rises]) * np.diff(path.t)[rises]
    # models.md: 2.12683 rad/s. The swing of 3 packets is large enough for a part in a thousand.
    assert 2 * pi / np.diff(times)[3:].mean() == pytest.approx(2.12683, rel=2e-3)
    assert pytest.approx(2.12683, abs=5e-6) == OMEGA


def swinging(gain: float, merged: bool) -> dde.Trajectory:
    law = dde.static(P0, 100, gain * BETA0)
    return dde.trajectory(N, R, C, law, Q=200, end=44, step=0.035, w=W0, q=103, constant=True, merged=merged)


def swing(path: dde.Trajectory, start: float) -> float:
    return float(np.ptp(path.q[(path.t >= start) & (path.t < start + 4)]))
