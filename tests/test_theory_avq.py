"""AVQ: its loop, the only printed limit on alpha, and its utilisation in the packet engine."""

import cmath
import math
from functools import cache
from math import inf

import numpy as np
import pytest
from conftest import RELAXED
from hypothesis import given, settings
from hypothesis import strategies as st

import aqmlab
from aqmlab import Scenario
from aqmlab.theory.domain import ValidityWarning, remarks
from aqmlab_papers.theory import avq
from aqmlab_papers.theory.avq import loop as avq_loop
from aqmlab_papers.theory.lred.proportional import chebyshev

# The LRED paper's: 100 flows, 450 ms, 2500 packets/s, gamma 0.98.
N, D, C, GAMMA = 100.0, 0.45, 2500.0, 0.98


def loop(B: float = inf, beta: float = 2 / 3, flows: float = N, d: float = D) -> avq_loop.Loop:
    with remarks():
        return avq_loop.linearise(flows, d, C, GAMMA, beta, B)


# --- the marking ---------------------------------------------------------------------------------------------------


@RELAXED
@given(st.floats(0.2, 3), st.integers(1, 60))
def test_a_finite_virtual_queue_marks_what_m_m_1_b_loses(rho: float, B: int) -> None:
    shares = rho ** np.arange(B + 1)
    assert avq_loop.marking(rho, B) == pytest.approx(shares[-1] / shares.sum(), rel=1e-9)


def test_the_fluid_is_the_limit_of_large_buffers() -> None:
    for rho in (0.9, 1.05, 2):
        assert avq_loop.marking(rho, 5000) == pytest.approx(avq_loop.marking(rho), abs=1e-12)
    assert avq_loop.marking(1.0, 24.65) == pytest.approx(1 / 25.65)
    assert avq_loop.elasticity(1.05, 5000) == pytest.approx(avq_loop.elasticity(1.05), rel=1e-9)


@RELAXED
@given(st.floats(0.5, 2), st.floats(0.5, 100))
def test_the_elasticity_is_the_marking_s_logarithmic_slope(rho: float, B: float) -> None:
    h = 1e-5
    slope = math.log(avq_loop.marking(rho * math.exp(h), B) / avq_loop.marking(rho * math.exp(-h), B)) / (2 * h)
    assert avq_loop.elasticity(rho, B) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_at_full_load_the_elasticity_is_half_the_buffer() -> None:
    assert avq_loop.elasticity(1.0, 24.65) == pytest.approx(24.65 / 2, rel=1e-12)
    assert avq_loop.elasticity(1 + 1e-7, 24.65) == pytest.approx(avq_loop.elasticity(1 + 1e-5, 24.65), rel=1e-3)


# --- the loop ------------------------------------------------------------------------------------------------------


def model(rate: float, late: float, late_capacity: float, alpha: float, beta: float, B: float) -> np.ndarray:
    """Return the fluid model's derivatives of the rate and of the virtual capacity; ``late`` values are of t - d."""
    marked = avq_loop.marking(late / late_capacity, B)
    return np.array([N / D**2 - beta / N * rate * late * marked, alpha * (GAMMA * C - rate)])


def characteristic(s: complex, alpha: float, found: avq_loop.Loop) -> complex:
    """Return the function whose zeros are the loop's poles."""
    return s * s + found.K11 * s + (found.K12 * s + alpha * found.K2) * cmath.exp(-s * found.d)


def rightmost(alpha: float, found: avq_loop.Loop) -> complex:
    """Return the rightmost pole: the delay equation collocated at Chebyshev nodes, then Newton's method."""
    generator = np.kron(chebyshev(41) * 2 / found.d, np.eye(2))
    generator[:2] = 0
    generator[:2, :2] = [[-found.K11, 0], [-alpha, 0]]
    generator[:2, -2:] = [[-found.K12, found.K2], [0, 0]]
    s = complex(max(np.linalg.eigvals(generator), key=lambda z: z.real))
    for _ in range(20):
        late = cmath.exp(-s * found.d)
        slope = 2 * s + found.K11 + (found.K12 - found.d * (found.K12 * s + alpha * found.K2)) * late
        s -= characteristic(s, alpha, found) / slope
    return complex(s.real, abs(s.imag))


@pytest.mark.parametrize("B", [inf, 200, 24.65, 5])
@pytest.mark.parametrize("beta", [2 / 3, 1 / 2])
def test_the_loop_s_constants_are_the_model_s_slopes_at_its_equilibrium(B: float, beta: float) -> None:
    found = loop(B, beta)
    rest = np.array([found.rate, found.rate, found.capacity])

    assert model(*rest, 0.3, beta, B) == pytest.approx([0, 0], abs=1e-6)
    h = 1e-3
    slopes = [
        (model(*(rest + h * unit), 0.3, beta, B) - model(*(rest - h * unit), 0.3, beta, B)) / (2 * h)
        for unit in np.eye(3)
    ]
    expected = [[-found.K11, -0.3], [-found.K12, 0], [found.K2, 0]]
    assert slopes == pytest.approx(np.array(expected), rel=1e-5, abs=1e-7)


def test_without_delay_every_alpha_is_stable_and_with_it_up_to_the_limit() -> None:
    for B in (inf, 20):
        for alpha in (0.01, 0.2, 5):
            found = loop(B)
            assert np.all(np.roots([1, found.K11 + found.K12, alpha * found.K2]).real < 0)
            limit = avq_loop.delay_limit(alpha, found)
            w = avq_loop.crossing_frequency(alpha, found)
            held = avq_loop.Loop(**{**vars(found), "d": limit})
            assert abs(characteristic(1j * w, alpha, held)) < 1e-9 * w**2
            for part, sign in ((0.98, -1), (1.02, 1)):
                near = avq_loop.Loop(**{**vars(found), "d": part * limit})
                assert math.copysign(1, rightmost(alpha, near).real) == sign


@settings(max_examples=15, deadline=None)
@given(st.floats(1.5, 30), st.floats(2, 60), st.floats(0.05, 0.9), st.sampled_from([0.9, 1.1]))
def test_the_critical_alpha_is_where_zeros_cross(W: float, B: float, d: float, part: float) -> None:
    found = loop(B, flows=GAMMA * C * d / W, d=d)
    critical = avq_loop.critical_alpha(found)
    alpha = part * critical or 0.1
    unstable = part > 1 or critical == 0
    pole = rightmost(alpha, found)
    assert (pole.real > 0) == unstable
    assert abs(characteristic(pole, alpha, found)) < 1e-9 * (1 + abs(pole)) ** 2 * (1 + found.K12)


# The nonlinear delay equation, Euler steps of 1/200 of the round trip, from 1 % off.
@pytest.mark.parametrize(("part", "grows"), [(0.5, False), (2, True)])
def test_the_nonlinear_model_agrees(part: float, grows: bool) -> None:
    found = loop(20)
    alpha = part * avq_loop.critical_alpha(found)
    h, late = D / 200, 200
    rates, capacities = [1.01 * found.rate] * (late + 1), [found.capacity] * (late + 1)
    for _ in range(60 * late):
        state = rates[-1], rates[-late - 1], capacities[-late - 1]
        change = model(*state, alpha, 2 / 3, 20.0)
        rates.append(rates[-1] + h * change[0])
        capacities.append(capacities[-1] + h * change[1])
    swing = np.ptp(rates[-10 * late :]) / found.rate
    assert swing > 0.1 if grows else swing < 0.005


# --- printed values ------------------------------------------------------------------------------------------------


def test_the_working_rule_is_the_printed_fifth() -> None:
    assert avq.working_rule(N, D, C) == pytest.approx(0.2016, abs=5e-5)
    assert avq.working_rule(N, D, C) == loop().K11


@pytest.mark.parametrize("beta", [2 / 3, 1 / 2])
@pytest.mark.parametrize("B", [inf, 30, 100, 200])
def test_with_the_fluid_or_a_large_buffer_no_alpha_is_stable(B: float, beta: float) -> None:
    assert avq_loop.critical_alpha(loop(B, beta)) == 0
    assert rightmost(1e-6, loop(B, beta)).real > 0


PRINTED = [(20, 2 / 3, 0.955), (20, 1 / 2, 1.08), (24.65, 2 / 3, 0.200), (26.3, 1 / 2, 0.203)]


@pytest.mark.parametrize(("B", "beta", "printed"), PRINTED)
def test_small_buffers_have_the_printed_limits(B: float, beta: float, printed: float) -> None:
    assert avq_loop.critical_alpha(loop(B, beta)) == pytest.approx(printed, rel=3e-3)


def test_the_buffer_that_gives_a_fifth_is_found() -> None:
    assert avq.buffer_limit(N, D, C, alpha=0.2) == pytest.approx(24.65, abs=0.01)
    assert avq.buffer_limit(N, D, C, beta=1 / 2, alpha=0.2) == pytest.approx(26.3, abs=0.05)
    assert avq.buffer_limit(N, D, C) == pytest.approx(25.657, abs=1e-3)
    assert avq.buffer_limit(500, D, C) == inf


# --- derivations ---------------------------------------------------------------------------------------------------


def test_the_elasticity_limit_is_half_pi_a_packet_of_window() -> None:
    assert avq.elasticity_limit(1000) == pytest.approx(math.pi / 2 * 1000, rel=2e-3)
    assert avq.elasticity_limit(11.025) == pytest.approx(16.96, abs=5e-3)
    assert loop(24.65).e < avq.elasticity_limit(11.025) < loop(26.3).e


def test_the_fluid_is_stable_for_windows_below_three_packets_only() -> None:
    W = avq.widest_window()
    assert pytest.approx(2.719, abs=5e-4) == W
    assert avq.widest_window(1 / 2) == pytest.approx(3.513, abs=5e-4)
    for part, stable in ((0.99, True), (1.01, False)):
        assert (avq_loop.critical_alpha(loop(flows=GAMMA * C * D / (part * W))) > 0) == stable


@RELAXED
@given(st.floats(1.3, 20), st.floats(2, 30), st.floats(0.5, 3))
def test_alpha_times_the_round_trip_depends_on_the_window_alone(W: float, B: float, stretch: float) -> None:
    short, long = (avq_loop.critical_alpha(loop(B, flows=GAMMA * C * d / W, d=d)) * d for d in (0.2, 0.2 * stretch))
    assert short == pytest.approx(long, rel=1e-6, abs=1e-9)


def test_the_fewest_flows_are_not_the_worst_case_of_a_finite_buffer() -> None:
    assert avq_loop.critical_alpha(loop(20)) > 0.9
    assert avq_loop.critical_alpha(loop(20, flows=300)) == 0
    assert avq.least_critical_alpha(N, D, C, B=20)[0] == 0
    alpha, flows = avq.least_critical_alpha(N, D, C, B=12)
    assert (alpha, flows) == (pytest.approx(0.389, abs=1e-3), pytest.approx(310, abs=15))
    # A fifth for all flows from 100 on would require this buffer; it is not printed anywhere.
    assert avq.least_critical_alpha(N, D, C, B=12.7756)[0] == pytest.approx(0.2, abs=2e-3)


def test_a_virtual_buffer_of_13_packets_leaves_some_alpha_stable_whatever_the_window() -> None:
    windows = np.concatenate([np.geomspace(1.3, 200, 40), np.linspace(3.5, 4.2, 20)])
    limits = [avq.buffer_limit(1, 1, float(W), 1) for W in windows]
    assert min(limits) == pytest.approx(13.545, abs=0.005)
    assert windows[int(np.argmin(limits))] == pytest.approx(3.8, abs=0.3)


# --- the design rule -----------------------------------------------------------------------------------------------


def test_the_design_says_that_it_is_no_theorem() -> None:
    found = avq.design(N_min=N, R_max=D, C=C)
    assert found.alpha_max == pytest.approx(0.20156, abs=5e-6)
    assert (found.within_rule, found.alpha_fluid) == (True, 0)
    assert found.alpha_mm1 == pytest.approx(0.955, abs=5e-4)
    assert found.alpha_mm1_least == 0
    assert "not the original theorem" in found.warnings[0]
    assert "no alpha is stable" in found.warnings[1]
    assert "N_min is not the worst case" in found.warnings[2]


def test_the_design_judges_an_alpha() -> None:
    found = avq.design(N_min=500, R_max=D, C=C, alpha=1.5)
    assert not found.within_rule
    assert found.buffer_any is None
    assert found.buffer_alpha is not None
    assert "alpha = 1.5 is above alpha_max = 1.008" in found.warnings
    assert "alpha = 1.5 is unstable: the critical alpha is 1.258" in found.warnings[2]
    assert avq.design(N_min=1, R_max=1, C=2, gamma=1, alpha=1e6).buffer_alpha == 0


def test_with_windows_of_a_packet_there_is_a_rule_and_no_model() -> None:
    found = avq.design(N_min=1000, R_max=D, C=C)
    assert found.alpha_max == pytest.approx(2.0156, abs=5e-5)
    assert (found.p, found.alpha_fluid, found.buffer_any) == (None, None, None)
    assert "no equilibrium" in found.warnings[1]
    with pytest.raises(ValueError, match=r"N = 1000: must be below 900\.187"):
        avq_loop.linearise(1000, D, C)


def test_a_virtual_capacity_beyond_the_link_s_is_remarked_on() -> None:
    with pytest.warns(ValidityWarning, match=r"C~ = 1\.1 C"):
        avq_loop.linearise(N, D, C, B=20)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: avq.design(N_min=0, R_max=D, C=C), "N = 0"),
        (lambda: avq.design(N_min=N, R_max=-1, C=C), "d = -1"),
        (lambda: avq.design(N_min=N, R_max=D, C=C, gamma=1.2), r"gamma = 1.2: must be in \(0, 1\]"),
        (lambda: avq.design(N_min=N, R_max=D, C=C, alpha=0), "alpha = 0: must be positive"),
        (lambda: avq_loop.marking(1, 0), "B = 0: must be positive"),
        (lambda: avq_loop.elasticity(0.9), "or the fluid marks nothing"),
        (lambda: avq.least_critical_alpha(N, D, C, points=1), "points = 1"),
        (lambda: avq.buffer_limit(1, 1, 2, 1, alpha=1e6), "unstable even with a virtual buffer"),
    ],
)
def test_what_has_no_meaning_is_refused(call: object, said: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=said):
        call()


# --- the packet engine -----------------------------------------------------------------------------------------------

# The LRED paper's experiment with AVQ, long flows only.
PACKETS = """\
duration = "120 s"
warmup = "40 s"
record = { series = false }
[dumbbell]
rate = "10 Mbit/s"
delay = "2.5 ms"
buffer = "200 packets"
sender_delay = "2.5 ms"
receiver_delay = ["10 ms", "50 ms", "100 ms", "150 ms", "200 ms"]
[aqm]
name = "avq"
[[traffic]]
name = "long"
count = 100
packet_size = "500 B"
tcp = { flavour = "newreno", delayed_ack = false, min_rto = "1 s" }
start = "uniform(0 s, 1 s)"
"""


@cache
def packets(form: str, alpha: float, gamma: float) -> tuple[float, float]:
    """Return utilisation and loss ratio of two runs."""
    scenario = Scenario.parse(PACKETS, "avq.toml")
    changes: dict[str, str | float] = {"aqm.form": form, "aqm.alpha": alpha, "aqm.gamma": gamma}
    metrics = aqmlab.run(scenario.with_(changes), seeds=2).metrics
    return metrics["utilisation"] or 0, metrics["loss_ratio"] or 0


# C~ integrates gamma C minus the rate it counts. In the long run it therefore counts gamma C, while it is not held at
# C. At 0.15 it has forgotten its start, with 1/alpha = 7 s, and its movement in 80 s is about 0.2 % of the bytes.
@pytest.mark.parametrize("gamma", [0.98, 0.9])
def test_engine_counting_what_it_lets_through_it_uses_gamma(gamma: float) -> None:
    assert packets("ns2", 0.15, gamma)[0] == pytest.approx(gamma, rel=5e-3)


@pytest.mark.parametrize("gamma", [0.98, 0.9])
def test_engine_counting_every_arrival_it_uses_gamma_less_the_loss(gamma: float) -> None:
    used, loss = packets("paper", 0.15, gamma)
    assert loss > 0.05
    assert used == pytest.approx(gamma * (1 - loss), rel=5e-3)


# The mean does not show where the loop is stable: it is gamma even at ten times the rule's alpha, as nothing holds C~.
def test_engine_far_above_the_rule_the_mean_is_still_gamma_s() -> None:
    alpha = 10 * avq.working_rule(N, D, C)
    used, loss = packets("paper", alpha, GAMMA)
    assert used == pytest.approx(GAMMA * (1 - loss), rel=5e-3)


def test_a_huge_alpha_is_judged_and_a_window_that_nothing_has_is_refused() -> None:
    found = avq.design(N_min=100, R_max=0.45, C=C, alpha=1e300)
    assert not found.within_rule
    assert found.alpha_fluid == 0
    for flows in (1e-6, 1e300):
        with pytest.raises(ValueError, match=r"a flow's window R C/N is .* must be in"):
            avq.design(N_min=flows, R_max=0.45, C=C)
