"""RAQM: the paper's numbers and its theorems."""

import math

import numpy as np
import pytest
from conftest import RELAXED
from hypothesis import given
from hypothesis import strategies as st
from link import C

from aqmlab.theory.domain import ValidityWarning
from aqmlab_papers.theory import raqm
from aqmlab_papers.theory.raqm import balance, map, theorems
from aqmlab_papers.theory.raqm import smoothed as raqm_smoothed

R0 = 1.25e6  # bytes/s of 10 Mbit/s

# --- the law -------------------------------------------------------------------------------------------------------


def test_rate_and_probability_of_the_law_together_are_the_map() -> None:
    H = 40 * 500 / 0.05  # (5), and the flows send sqrt(1.5 / p) H
    p, m = 0.1, 2.5
    rate, found = math.sqrt(1.5 / p) * H, []
    for x in map.orbit(m, rate / R0, 10):
        found.append((rate / R0, x))
        p = float(raqm.next_probability(p, rate, R0, m / R0))
        rate = math.sqrt(1.5 / p) * H
    assert [one for one, _ in found] == pytest.approx([x for _, x in found], rel=1e-9)


def test_lemmas_1_and_2_the_expected_rate_is_the_one_point_of_rest() -> None:
    assert float(raqm.next_probability(0.02, R0, R0, 2 / R0)) == pytest.approx(0.02, rel=1e-12)
    x = np.delete(np.linspace(0.01, 5, 500), 99)
    for m in (0.1, 2, 4, 9):
        assert np.all(np.sign(map.step(x, m) - x) == np.sign(1 - x))


# --- the bound -----------------------------------------------------------------------------------------------------

PRINTED_C = {0.01: 10.694, 0.1: 6.543, 0.2: 5.493, 0.3: 4.956, 0.5: 4.394, 0.7: 4.127, 0.9: 4.0134, 1.0: 4.0}


@pytest.mark.parametrize("x", PRINTED_C)
def test_the_bound_is_the_printed_one_and_even_about_one(x: float) -> None:
    digits = 4 if x == 0.9 else 3
    assert round(float(map.c(x)), digits) == PRINTED_C[x]
    assert float(map.c(2 - x)) == pytest.approx(float(map.c(x)), rel=1e-12)


def test_figure_2_is_a_bathtub() -> None:
    x, found = map.c_curve(201, 0.01)
    assert (x[0], x[-1], found[100]) == pytest.approx((0.01, 1.99, 4))
    assert np.all(np.diff(found[:101]) < 0)
    assert np.all(np.diff(found[100:]) > 0)


def test_gains_of_a_link_of_10_mbit_s() -> None:
    found = raqm.design(r0=R0)
    assert (found.alpha_min, found.alpha_hat, found.alpha_initial) == pytest.approx((3.2e-6, 3.2e-6, 1.6e-6))
    half = raqm.design(r0=R0, r=R0 / 2, eps=0.5)
    assert half.alpha_hat == pytest.approx(4 * math.log(3) / R0, rel=1e-12)
    assert half.warnings == ()
    assert (half.m, half.factor_adaptive, half.stable) == (pytest.approx(2 * math.log(3)), 0, True)


@RELAXED
@given(st.floats(0.01, 5))
def test_the_fastest_gain_is_there_in_a_step(x: float) -> None:
    m = float(raqm.alpha_fastest(x * R0, R0)) * R0
    assert float(map.step(x, m)) == pytest.approx(1, rel=1e-9)
    if x < 2:
        assert m <= float(map.c(x))


def test_designs_say_where_they_do_not_hold() -> None:
    beyond = raqm.design(r0=R0, r=2 * R0)
    assert beyond.alpha_hat is None
    assert beyond.alpha == pytest.approx(0.9 * 3.2e-6)
    assert ["outside (0, 2 r0)" in beyond.warnings[0], "eps = 0.9 > 0.5" in beyond.warnings[1]] == [True, True]
    trap = raqm.design(r0=R0, r=0.1 * R0)
    assert not trap.stable
    assert trap.alpha_hat is not None
    assert 4 / R0 < trap.alpha < trap.alpha_hat
    assert "drives it away from r0 later" in trap.warnings[1]
    # The subject of the warning: closer after one step, but never converging.
    assert abs(float(map.step(0.1, trap.m)) - 1) < 0.9
    assert raqm_smoothed.steps_to_settle(m=trap.m, x=0.1) is None


# --- Theorem 1 -----------------------------------------------------------------------------------------------------


def test_theorem_1_v_falls_just_where_alpha_is_below_its_bound() -> None:
    x = np.delete(np.linspace(0.02, 1.98, 99), 49)
    for part, falls in ((0.99, True), (1.01, False)):
        assert np.all((theorems.v_difference(x, part * map.c(x)) < 0) == falls)
    below_four = theorems.theorem_1([0.5, 1, 2, 3, 3.9])
    assert below_four.holds
    assert below_four.decreases.all()
    assert not below_four.misled.any()
    assert below_four.decreases.shape == (5, 98)


def test_theorem_1_speaks_of_the_next_step_only() -> None:
    with pytest.warns(ValidityWarning, match="ends in a cycle"):
        scan = theorems.theorem_1([4.5])
    assert scan.holds
    low, high = sorted(map.orbit(4.5, 0.02, 5000)[-2:])
    assert (round(low, 2), round(high, 2)) == (0.45, 1.55)
    assert low + high == pytest.approx(2, rel=1e-9)  # the cycle (x, 2 - x), where c(x) is the gain
    assert float(map.c(high)) == pytest.approx(4.5, rel=1e-6)
    x = np.delete(np.linspace(0.02, 1.98, 99), 49)
    assert np.array_equal(scan.misled[0], (x < low) | (x > high))


@RELAXED
@given(st.floats(1e-3, 4), st.floats(2, 50))
def test_from_twice_the_expected_rate_every_gain_brings_it_nearer(m: float, x: float) -> None:
    assert theorems.v_difference(x, m) < 0


# --- the map -------------------------------------------------------------------------------------------------------

STEPS = {0.5: 17, 1.0: 8, 2.0: 3, 3.0: 4, 3.8: 31}


@pytest.mark.parametrize("m", STEPS)
def test_steps_from_half_the_rate_to_one_per_cent(m: float) -> None:
    assert raqm_smoothed.steps_to_settle(m=m) == STEPS[m]


def test_next_to_the_limit_it_takes_hundreds_of_steps_and_above_it_for_ever() -> None:
    assert raqm_smoothed.steps_to_settle(m=3.99) == 425
    assert raqm_smoothed.steps_to_settle(m=3.99, most=400) is None
    assert raqm_smoothed.steps_to_settle(m=4, most=8000) == 7487  # the factor is 1: it converges like 1/sqrt(k)
    for m in (4.05, 4.5, 8):
        assert raqm_smoothed.steps_to_settle(m=m, most=20000) is None


# The Ricker map's constants are known with r = m/2: doubled periods from 2, 2.5265 and 2.6563 on, chaos from 2.6924,
# and a window of period 3 at 3.102 (May 1976 and later).
def test_the_bifurcations_are_ricker_s() -> None:
    def period(m: float) -> int:
        kept = map.bifurcation([m], transient=20000, kept=64)[0]
        return len(np.unique(np.round(kept, 6)))

    found = {half: period(2 * half) for half in (1, 1.99, 2.2, 2.51, 2.6, 2.67, 3.12, 2.9)}
    assert list(found.values())[:7] == [1, 1, 2, 2, 4, 8, 3]
    assert found[2.9] > 50


def test_the_lyapunov_exponent_is_the_slope_s_logarithm_and_positive_in_chaos() -> None:
    gains = np.array([0.5, 1, 3, 3.8])
    assert map.lyapunov_exponent(gains) == pytest.approx(np.log(np.abs(1 - gains / 2)), abs=1e-9)
    ordered, chaos, window = map.lyapunov_exponent([5.38, 6, 6.24])
    assert ordered < 0 < chaos
    assert window < 0
    # Two nearby orbits.
    first, second = map.orbit(6, 0.5, 40), map.orbit(6, 0.5 + 1e-12, 40)
    assert math.log(abs(first[40] - second[40]) / 1e-12) / 40 == pytest.approx(chaos, abs=0.15)


ADAPTIVE = {0.5: 2, 0.75: 5, 0.9: 17, 0.95: 37, 0.99: 192}


@pytest.mark.parametrize("eps", ADAPTIVE)
def test_the_adaptive_gain_takes_the_printed_steps(eps: float) -> None:
    assert raqm_smoothed.steps_to_settle(eps=eps) == ADAPTIVE[eps]
    far, near = (raqm_smoothed.smoothed_orbit(eps=eps, x=x, periods=1)[1] for x in (0.3, 1 + 1e-6))
    assert far == pytest.approx(0.3 ** (1 - eps) * 1.7**eps, rel=1e-12)
    assert (near - 1) / 1e-6 == pytest.approx(1 - 2 * eps, abs=1e-5)


def test_at_the_bound_itself_the_rate_goes_to_and_fro_for_ever() -> None:
    assert raqm_smoothed.smoothed_orbit(eps=1, x=0.5, periods=6) == pytest.approx([0.5, 1.5] * 3 + [0.5])


# --- Theorem 2 -----------------------------------------------------------------------------------------------------


# "The absolute value of V(k+1) - V(k) will decrease when alpha grows": only beyond the gain that reaches r0 at once.
@RELAXED
@given(st.floats(0.02, 1.98).filter(lambda x: abs(x - 1) > 0.01))
def test_the_proof_of_theorem_2_has_the_change_of_v_backwards(x: float) -> None:
    fastest = float(raqm.alpha_fastest(x * R0, R0)) * R0
    change = np.abs(theorems.v_difference(x, fastest * np.linspace(0.1, 1, 10)))
    assert np.all(np.diff(change) > 0)
    beyond = np.abs(theorems.v_difference(x, np.linspace(fastest, float(map.c(x)), 10)))
    assert np.all(np.diff(beyond) < 0)


# --- the smoothed rate ---------------------------------------------------------------------------------------------


def test_smoothing_moves_the_limit_to_4_889() -> None:
    assert raqm_smoothed.smoothed_limit(0.1) == pytest.approx(4.889, abs=5e-4)
    assert raqm_smoothed.smoothed_radius(raqm_smoothed.smoothed_limit(0.1), 0.1) == pytest.approx(1, rel=1e-12)
    assert raqm_smoothed.steps_to_settle(m=4.8, weight=0.1) == 61
    assert raqm_smoothed.steps_to_settle(m=5.2, weight=0.1, most=20000) is None


@RELAXED
@given(st.floats(0.1, 6), st.floats(0.01, 0.9))
def test_the_smoothed_loop_s_roots_are_its_jacobian_s(m: float, weight: float) -> None:
    def periods(state: np.ndarray) -> np.ndarray:
        arriving, smoothed = state
        smoothed = (1 - weight) * arriving + weight * smoothed
        return np.array([arriving * np.exp(-m / 2 * (smoothed - 1)), smoothed])

    h = 1e-6
    columns = [(periods(1 + h * unit) - periods(1 - h * unit)) / (2 * h) for unit in np.eye(2)]
    jacobian = np.array(columns).T
    first, second = raqm_smoothed.smoothed_roots(m, weight)
    assert np.trace(jacobian) == pytest.approx((first + second).real, abs=1e-6)
    assert np.linalg.det(jacobian) == pytest.approx((first * second).real, abs=1e-6)
    assert abs(first) >= abs(second)


def test_smoothed_as_in_the_paper_a_gain_next_to_the_bound_is_as_fast_as_half_of_it() -> None:
    low, high = 1.0390, 3.8499  # 2 (1 - s)/(1 + s) and its inverse times 4, s = sqrt(f')
    for m in (low * 1.001, 2, 3.6, high * 0.999):
        assert raqm_smoothed.smoothed_radius(m, 0.1) == pytest.approx(math.sqrt(0.1), rel=1e-9)
    assert raqm_smoothed.smoothed_radius(low * 0.9, 0.1) > 0.35
    assert raqm_smoothed.smoothed_radius(high * 1.05, 0.1) > 0.35
    steps = {eps: raqm_smoothed.steps_to_settle(eps=eps, weight=0.1) for eps in (0.5, 0.75, 0.9, 0.95, 1)}
    assert steps == {0.5: 4, 0.75: 4, 0.9: 4, 0.95: 5, 1: 7}


# --- refusals and the command line -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: raqm.design(r0=0), "r0 = 0: must be positive"),
        (lambda: raqm.design(r0=R0, r=-1), "r = -1: must be positive"),
        (lambda: raqm.design(r0=R0, eps=1.5), r"eps = 1.5: must be in \(0, 1\]"),
        (lambda: raqm.design(r0=math.nan), "r0 = nan"),
        (lambda: raqm.alpha_hat(2 * R0, R0), "below 2 r0"),
        (lambda: raqm.rate_estimate([1.0], 1, 1.0), r"weight = 1: must be in \[0, 1\)"),
        (lambda: map.c([0.5, 2.0]), r"must be in \(0, 2\)"),
        (lambda: map.c([]), "x is empty"),
        (lambda: map.orbit(2, periods=0), "periods = 0: must be at least 1"),
        (lambda: raqm_smoothed.smoothed_orbit(m=1, eps=0.5), "give exactly one of them"),
        (lambda: theorems.theorem_1([1], [0.5, 1.0]), "must not be 1"),
        (lambda: balance.equilibrium(0, [0.1], C), "N = 0"),
        (lambda: balance.stationary_queue(1, 1.1, 50, 100), "p_k = 1.1"),
    ],
)
def test_what_has_no_meaning_is_refused(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=said):
        call()


def test_gains_are_exact_next_to_0_and_2() -> None:
    # c = 2 (ln(2 - x) - ln x)/(1 - x): for x = 2^-60 of 61 ln 2 and a part in 10^18.
    x = 2.0**-60
    assert float(map.c(x)) == pytest.approx(2 * 61 * math.log(2), rel=1e-14)
    assert float(map.c(2 - 2.0**-50)) == pytest.approx(2 * 51 * math.log(2), rel=1e-14)
    assert float(raqm.alpha_fastest(x * R0, R0)) == pytest.approx(2 * 60 * math.log(2) / R0, rel=1e-14)
    near = 1 + 2.0**-40
    assert float(map.c(near)) == pytest.approx(4, rel=1e-14)
    assert float(raqm.alpha_fastest(near * R0, R0)) * R0 == pytest.approx(2 - 2.0**-40, rel=1e-14)
