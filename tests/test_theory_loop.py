"""The loop of TCP and an AQM: printed numbers, closed forms, python-control, and two counts of unstable poles."""

from math import atan, degrees, exp, hypot, pi, sqrt

import control
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link import C
from oracle import dde

from aqmlab.theory import laws
from aqmlab.theory.domain import ValidityWarning
from aqmlab.theory.loop import Loop, Plant, boundary, critical_gain, operating_point

EXACT = {"rel": 1e-9, "abs": 1e-12}


flows = st.floats(20, 600)
round_trips = st.floats(0.02, 1.0)
# Windows from 2 packets up: below, the plant warns about its validity.
plants = st.tuples(flows, round_trips).filter(lambda nr: 2 <= nr[1] * C / nr[0] <= 200)


def beta(N: float, R: float, gain: float = 1e-3) -> float:
    return gain * sqrt(operating_point(N, R, C).p0)


def test_pi_on_lred_s_plant_is_a_double_integrator_and_never_stable_with_its_zero_at_tcp_s_pole() -> None:
    for N, R in ((100, 0.45), (500, 0.45), (1000, 0.9)):
        z = 2 * N / (R**2 * C)
        for K in (1e-9, 1e-5, 1e-1):
            law = laws.pi(K / z * (1 + z / 340), K / z * (1 - z / 340), 170, sampled=False)
            margins = Loop(Plant(N, R, C), law).margins()
            assert not margins.stable
            assert margins.gain_margin == 0
            # |T| = Kc K / (z w^2) = 1, and the phase is -180 degrees minus the delay, however many turns that is.
            w = sqrt(operating_point(N, R, C).Kc * K / z)
            assert margins.crossover == pytest.approx(w, **EXACT)
            assert margins.phase_margin_deg == pytest.approx(-degrees(w * R), rel=1e-9)
            assert margins.delay_margin == pytest.approx(-R, **EXACT)


@given(plants, st.booleans())
def test_a_slower_zero_lets_pi_control_lred_s_plant_if_it_outweighs_delay_and_pole(
    nr: tuple[float, float], slow: bool
) -> None:
    # At low frequencies the phase is -180 degrees + w (1/z - 1/K11 - R).
    N, R = nr
    z = (0.98 if slow else 1.02) / (1 / (2 * N / (R**2 * C)) + R)
    K = 1e-4 * z**3 * N / C**2
    law = laws.pi(K / z * (1 + z / 2e6), K / z * (1 - z / 2e6), 1e6, sampled=False)
    assert Loop(Plant(N, R, C), law).margins().stable == slow


@given(plants, st.floats(1e-6, 1e-2))
@settings(deadline=None, max_examples=60)
def test_the_margins_of_a_static_gain_are_the_closed_forms(nr: tuple[float, float], Hc: float) -> None:
    N, R = nr
    point = operating_point(N, R, C)
    margins = Loop(Plant(N, R, C), Hc).margins()
    y = sqrt(point.K11**4 + 4 * (point.Kc * Hc) ** 2) - point.K11**2  # (19)
    w = sqrt(y / 2)  # (18)
    assert margins.crossover == pytest.approx(w, rel=1e-9 + 1e-15 * point.K11**2 / y)  # y cancels where it is small
    lag = degrees(pi / 2 - margins.crossover * R - atan(margins.crossover / point.K11))
    assert margins.phase_margin_deg == pytest.approx(lag, abs=1e-7)
    assert margins.stable == (critical_gain(N, R, C) > Hc)
    factor = critical_gain(N, R, C) / Hc
    assert margins.gain_margin == pytest.approx(factor, rel=1e-9)
    if margins.stable:
        assert margins.delay_margin == pytest.approx(np.radians(lag) / w, rel=1e-6)


@given(plants)
@settings(deadline=None)
def test_the_boundary_solves_its_equation_with_and_without_merging(nr: tuple[float, float]) -> None:
    N, R = nr
    K11 = operating_point(N, R, C).K11
    w = boundary(N, R, C)
    assert w * R + atan(w / K11) == pytest.approx(pi / 2, rel=1e-12)
    assert critical_gain(N, R, C) == pytest.approx(w * hypot(w, K11) * 1.5 * N / C**2, **EXACT)
    apart = Loop(Plant(N, R, C, merged=False), 1.0).margins()
    assert critical_gain(N, R, C, merged=False) == pytest.approx(apart.gain_margin, rel=1e-9)


@given(plants, st.floats(0.05, 20), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_poles_found_by_newton_s_method_agree_with_nyquist_s_count(
    nr: tuple[float, float], factor: float, queue_pole: bool, merged: bool
) -> None:
    N, R = nr
    loop = Loop(Plant(N, R, C, queue_pole=queue_pole, merged=merged), factor * critical_gain(N, R, C))
    poles = loop.poles(30)
    if abs(poles[0].real) < 1e-9:
        return
    right = sum(1 if one.imag == 0 else 2 for one in poles if one.real > 0)
    assert right == loop.margins().unstable_poles
    assert np.abs(1 + loop(poles)).max() < 1e-6


def test_without_delay_margins_and_poles_are_those_of_python_control() -> None:
    for above, below in [
        ([4.0], [1, 2, 0]),
        ([20.0], [1, 6, 11, 6]),
        ([200.0], [1, 6, 11, 6]),
        ([3.0, 0.3], [1, 4, 0, 0]),
        ([6.0, 0.6], [1, 5, 6, 0]),
        ([1e-3], [1e-6, 2e-3, 1]),
    ]:
        system = control.tf(above, below)
        ours = Loop(lambda s, a=above, b=below: np.polyval(a, s) / np.polyval(b, s), 1.0)
        gain, phase, at_phase, at_gain = control.margin(system)
        margins = ours.margins()
        assert margins.gain_margin == pytest.approx(gain, rel=1e-6)
        assert margins.phase_margin_deg == pytest.approx(phase, rel=1e-6)
        assert margins.crossover == pytest.approx(at_gain, rel=1e-6, nan_ok=True)
        assert margins.phase_crossover == pytest.approx(at_phase, rel=1e-6, nan_ok=True)
        closed = control.feedback(system, 1).poles()
        assert margins.stable == bool(closed.real.max() < 0)
        assert margins.unstable_poles == int(np.sum(closed.real > 0))
        assert ours.poles(1)[0].real == pytest.approx(closed.real.max(), rel=1e-6)


@pytest.mark.parametrize("queue_pole", [False, True])
@pytest.mark.parametrize("merged", [False, True])
def test_with_delay_margins_are_those_of_python_control_with_pade_s_approximation(
    queue_pole: bool, merged: bool
) -> None:
    # At order 8, Pade's phase is exact to 1e-9 up to w R = 3: beyond the crossings here.
    plant = Plant(300, 0.35, C, queue_pole=queue_pole, merged=merged)
    for gain in (3e-4, 1.5e-3):
        gm, pm, wg, wp = control.margin(plant.transfer_function(pade=8) * gain)
        margins = Loop(plant, gain).margins()
        assert margins.phase_margin_deg == pytest.approx(pm, rel=1e-6)
        assert margins.crossover == pytest.approx(wp, rel=1e-6, nan_ok=True)
        assert margins.phase_crossover == pytest.approx(wg, rel=1e-6)
        assert margins.gain_margin == pytest.approx(gm, rel=1e-6)


def test_margins_are_those_of_python_control_on_dense_frequency_data() -> None:
    plant = Plant([60, 40], [0.15, 0.35], C, queue_pole=True)
    law = laws.pi(3e-4, 2.99e-4, 170)
    # control interpolates the data by splines: its accuracy is that of their density.
    w = np.geomspace(0.1, 20, 4000)
    gm, pm, wg, wp = control.margin(control.frd(plant(1j * w) * law(1j * w), w, smooth=True))
    margins = Loop(plant, law).margins()
    assert margins.gain_margin == pytest.approx(gm, rel=1e-6)
    assert margins.phase_margin_deg == pytest.approx(pm, rel=1e-6)
    assert (margins.crossover, margins.phase_crossover) == pytest.approx((wp, wg), rel=1e-6)


@pytest.mark.parametrize(("N", "Tp"), [([300], [0.31]), ([100], [0.41]), ([60, 120], [0.25, 0.5])])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_the_fluid_model_itself_loses_stability_where_the_plant_with_queue_pole_not_merged_does(
    N: list[float], Tp: list[float], factor: float
) -> None:
    # Merging is 13 % off at 300 flows; neglecting the difference of R(t) and R(t - R), 20 %.
    plant = Plant(N, np.array(Tp) + 100 / C, C, queue_pole=True, merged=False)
    gain = factor * 1e-4 * Loop(plant, 1e-4).margins().gain_margin
    path = dde.trajectory(
        N,
        Tp,
        C,
        lambda t, q: plant.p0 + gain * (q - 100),
        Q=200,
        end=40,
        step=0.02,
        w=plant.w,
        q=101,
        thinned=False,
    )
    swings = np.abs(path.q - 100)
    early, late = swings[(path.t > 10) & (path.t < 20)].max(), swings[path.t > 30].max()
    assert late < 0.7 * early if factor < 1 else late > 1.4 * early


def test_a_conditionally_stable_loop_is_known_as_stable() -> None:
    # Three integrators and two zeros: the phase starts at -270 and rises above -180 degrees before the crossover.
    def response(s: complex) -> complex:
        return 10 * (s + 1) ** 2 / s**3

    margins = Loop(response, 1.0).margins()
    assert margins.stable
    assert not Loop(response, 0.01).margins().stable
    assert Loop(response, 0.01).margins().unstable_poles == 2


def test_a_known_loss_takes_the_place_of_that_by_windows_and_scales_the_plant() -> None:
    given = Plant(300, 0.35, C, p0=0.05)
    assert given(1j) == pytest.approx(Plant(300, 0.35, C)(1j) * operating_point(300, 0.35, C).p0 / 0.05, **EXACT)
    with pytest.raises(ValueError, match=r"p0 = 1.5: must be in \(0, 1\)"):
        Plant(300, 0.35, C, p0=1.5)


def test_equal_classes_are_one_class() -> None:
    one, split = Plant(90, 0.2, C, queue_pole=True), Plant([30, 60], [0.2, 0.2], C, queue_pole=True)
    s = np.array([0.1j, 1 + 3j, 30j])
    assert split(s) == pytest.approx(one(s), rel=1e-12)


def test_several_classes_settle_where_their_rates_fill_the_link() -> None:
    N, Tp = [20, 30, 50], [0.05, 0.1, 0.3]
    for load in (0, 500):
        plant = Plant(N, np.array(Tp) + 100 / C, C, load=load)
        assert plant.w == pytest.approx(np.sqrt(1.5 / plant.p0), **EXACT)
        assert (plant.N * plant.w / plant.R).sum() == pytest.approx(C - load, **EXACT)


def test_the_linear_plant_is_the_derivative_of_the_equilibrium() -> None:
    # In equilibrium dq/dp of the plant with queue pole is that of (6) with R = Tp + q/C, whatever the classes.
    N, Tp = [20, 30, 50], np.array([0.05, 0.1, 0.3])
    low, at, high = (Plant(N, Tp + q / C, C, queue_pole=True) for q in (100 - 1e-3, 100, 100 + 1e-3))
    assert -at(0).real == pytest.approx(2e-3 / (high.p0 - low.p0), rel=1e-6)


def test_the_step_response_of_two_poles_is_the_closed_form() -> None:
    t = np.linspace(0, 6, 61)
    loop = Loop(lambda s: 4 / (s * (s + 2)), 1.0)
    w = sqrt(3)
    assert loop.step(t) == pytest.approx(1 - np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w), abs=1e-6)
    assert loop.poles()[0] == pytest.approx(complex(-1, w), rel=1e-9)
    assert loop.response_time(0.02) == pytest.approx(np.log(50), rel=1e-9)
    assert loop.bandwidth() == pytest.approx(2 * sqrt(0.5 + sqrt(1.25)), **EXACT)


def test_a_step_comes_a_round_trip_late_and_settles_where_the_loop_gain_says() -> None:
    loop = Loop(Plant(40, 0.07, C, queue_pole=True), beta(40, 0.07))
    assert loop.step([0.0, 0.05, 0.069]) == pytest.approx(0, abs=1e-4)
    gain = abs(loop(1e-9))
    assert loop.step([2.0])[0] == pytest.approx(gain / (1 + gain), abs=1e-4)


def test_bandwidth_and_sensitivity_are_those_of_python_control() -> None:
    system = control.tf([4.0], [1, 2, 0])
    ours = Loop(lambda s: 4 / (s * (s + 2)), 1.0)
    closed = control.feedback(system, 1)
    w = np.geomspace(0.01, 100, 200_001)
    assert ours.sensitivity_peak() == pytest.approx(float(np.abs(1 / (1 + system(1j * w))).max()), rel=1e-8)
    gain = np.abs(closed(1j * w))
    assert ours.bandwidth() == pytest.approx(float(w[np.argmax(gain < sqrt(0.5))]), rel=1e-4)


def test_a_gain_at_the_boundary_has_a_pole_on_the_imaginary_axis_and_no_response_time() -> None:
    at = Loop(Plant(300, 0.35, C), critical_gain(300, 0.35, C))
    assert at.poles(1)[0] == pytest.approx(complex(0, boundary(300, 0.35, C)), abs=1e-9)
    assert Loop(Plant(300, 0.35, C), 1.01 * critical_gain(300, 0.35, C)).response_time() == np.inf


def test_the_example_of_lred_swings_for_minutes_on_its_own_plant_and_seconds_with_the_queue_pole() -> None:
    # PM 2.4 degrees against 148, at beta = 0.001.
    plain, pole = (Loop(Plant(300, 0.35, C, queue_pole=one), beta(300, 0.35)) for one in (False, True))
    assert plain.response_time(0.2) > 40
    assert pole.response_time(0.2) < 2


def test_lred_s_estimator_integrates_slowly_and_changes_nothing_at_high_frequencies() -> None:
    p0 = 0.0119
    whole, fast = laws.lred(1e-3, p0, estimator=True), laws.lred(1e-3, p0)
    assert fast(1j) == pytest.approx(1e-3 * sqrt(p0), **EXACT)
    tau = whole.values["tau"]
    assert tau == pytest.approx(2 + 0.5 + 1 / 9)
    s = 1e-4j
    assert whole(s) == pytest.approx(fast(s) * (1 + 1 / (tau * s)), rel=1e-3)
    assert abs(whole(2000.0j)) == pytest.approx(abs(fast(2000.0j)), rel=1e-2)


def test_rem_is_pi_with_gains_that_fall_with_the_loss() -> None:
    few, many = (laws.rem(1e-3, 0.1, 1.001, 2e-3, p0) for p0 in (0.01, 0.5))
    assert few(0.3j) / many(0.3j) == pytest.approx(0.99 / 0.5, rel=1e-12)
    assert few.values["a"] == pytest.approx(1e-3 * 0.99 * np.log(1.001), **EXACT)
    assert few.values["b"] == pytest.approx(0.9 * few.values["a"], **EXACT)


def test_red_s_law_is_its_slope_behind_the_average_s_pole() -> None:
    ramp = laws.Ramp(30, 90, 0.1, spacing="none")
    law = laws.red(ramp, 60, 0.002, C)
    assert law(0) == pytest.approx(0.1 / 60, **EXACT)
    K = -C * np.log(1 - 0.002)
    assert law(1j * K) == pytest.approx(0.1 / 60 / (1 + 1j), **EXACT)
    # A step of the queue moves the average as the pole predicts: after n packets by 1 - (1 - w_q)^n of the step.
    assert 1 - exp(-K * 500 / C) == pytest.approx(1 - 0.998**500, rel=1e-12)


@pytest.mark.parametrize("spacing", ["1993", "wait", "none"])
@pytest.mark.parametrize("average", [45.0, 120.0])
def test_the_slope_of_red_s_ramp_is_the_derivative_of_its_drop_ratio(spacing: str, average: float) -> None:
    ramp = laws.Ramp(30, 90, 0.1, spacing=spacing)
    slope = (ramp.ratio(average + 1e-4) - ramp.ratio(average - 1e-4)) / 2e-4
    assert ramp.slope(average) == pytest.approx(slope, rel=1e-6)
    assert ramp.average(ramp.ratio(average)) == pytest.approx(average, **EXACT)
    sharp = laws.Ramp(30, 90, 0.1, gentle=False, spacing=spacing)
    assert sharp.slope(120) == 0
    assert sharp.average(0.5) is None


def test_raqm_s_law_is_that_of_its_recursion() -> None:
    # z = e^(jw): the recursion's response to a queue oscillating with a period much longer than the sampling period.
    p0, m, T, f, q0, w = 0.05, 2.0, 1.0, 0.1, 50.0, 0.02
    with pytest.warns(ValidityWarning, match="no equilibrium"):
        law = laws.raqm(p0, C, m, T, f, q0)
    k = np.arange(4000)
    q = np.sin(w * k * T)
    r, lnp, out = 0.0, 0.0, []
    for now, before in zip(q[1:], q[:-1], strict=True):
        r = (1 - f) * (now - before) / (C * T) + f * r
        lnp += m * r
        out.append(p0 * (lnp + now / q0))
    phasor = 2 * np.mean(np.asarray(out)[-3141:] * np.exp(-1j * w * k[1:][-3141:])) * 1j
    # Half a period of hold is in the law and not in the samples: w T / 2 = 0.01.
    assert law(1j * w) == pytest.approx(phasor, rel=0.02)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: operating_point(0, 0.1, C), "N = 0: must be positive"),
        (lambda: operating_point([], 0.1, C), "N is empty"),
        (lambda: Plant(10, -0.1, C), "R = -0.1: must be positive"),
        (lambda: Plant(10, 0.1, float("nan")), "C = nan: must be positive"),
        (lambda: Plant(10, 0.1, C, load=C), "load = 2500 packets/s: must be below C"),
        (lambda: Plant(np.ones((2, 2)), 0.1, C), "give a number for each class"),
        (lambda: critical_gain(10, 0.1, C, eta=-1), "eta = -1: must be positive"),
        (lambda: Loop(Plant(40, 0.07, C), -1.0), "controller = -1: must be positive"),
        (lambda: Loop(Plant(40, 0.07, C), 1.0).response([0.0]), "frequencies"),
        (lambda: Loop(lambda s: (s + 1) / (s + 2), 9.0).margins(), "strictly proper"),
        (lambda: Loop(Plant(40, 0.07, C), 1e9).margins(), "thousands of turns"),
        (lambda: Loop(Plant(40, 0.07, C), 1e-4).response_time(2), "band = 2"),
        (lambda: laws.pi(1e-5, 2e-5, 170), "b = 2e-05: must be below a"),
        (lambda: laws.lred(1e-3, 2), "p0 = 2"),
        (lambda: laws.rem(1e-3, 0.1, 0.9, 2e-3, 0.1), "phi = 0.9"),
        (lambda: laws.Ramp(30, 20, 0.1), "max_th = 20: must be above"),
        (lambda: laws.Ramp(30, 90, 0.1, spacing="wide"), "spacing = 'wide'"),
        (lambda: laws.red(laws.Ramp(30, 90, 0.1), 20, 0.002, C), "not on RED's ramp"),
        (lambda: laws.pi(2e-5, 1e-5, 170).transfer_function(), "is not a rational function"),
        (lambda: Plant([1, 2], [0.1, 0.2], 60.0).transfer_function(), "give the order of pade"),
    ],
)
def test_what_has_no_meaning_is_refused_with_its_name_and_value(call, told: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=told):
        call()


def test_small_windows_and_impossible_losses_are_remarked_on() -> None:
    with pytest.warns(ValidityWarning, match=r"a window of 1\.56 packets: below 2"):
        operating_point(800, 0.5, C)
    with pytest.warns(ValidityWarning, match=r"p0 = 7\.68 of eq\. \(6\) is not a probability"):
        operating_point(800, 0.70711 / 5, C)


def test_arrays_of_arguments_give_arrays_of_boundaries() -> None:
    N = np.array([[100.0], [300.0]])
    R = np.array([0.25, 0.35, 0.45])
    gains = critical_gain(N, R, C)
    assert gains.shape == (2, 3)
    assert gains[1, 1] == pytest.approx(critical_gain(300, 0.35, C), rel=1e-15)
    assert operating_point(N, R, C).K12.shape == (2, 3)
