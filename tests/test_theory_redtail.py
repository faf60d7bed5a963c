"""RED+Tail, section VI: the paper's numbers, its propositions, and its model compared with the packet engine."""

import json
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from typer.testing import CliRunner, Result

import aqmlab
from aqmlab import Scenario
from aqmlab.cli.design import design
from aqmlab.theory import tcp
from aqmlab.theory.domain import ValidityWarning
from aqmlab_papers.theory import redtail
from aqmlab_papers.theory.redtail.markov import stationary, transitions
from aqmlab_papers.theory.redtail.slots import Slots, rate_deviation

C, DELAY, BUFFER = 750.0, 0.064, 800
SIGMA = {20: 77021 / 8000, 40: 128490 / 8000}


def paper(N: int, P: float = 0.014, slots: float = 1.0) -> Slots:
    """Return section VI's queue; ``slots`` is in round-trip times."""
    W = float(tcp.window(P))
    return Slots(C=C, d=DELAY, N=N, W=W, S=slots * N * W / C)


@pytest.mark.parametrize(
    ("P", "W", "q20", "rtt20", "q40", "rtt40"),
    [
        (0.01, 12.25, 197, 0.327, 442, 0.653),
        (0.014, 10.35, 159, 0.276, 366, 0.552),
        (0.02, 8.66, 125, 0.231, 298, 0.462),
    ],
)
def test_the_equilibrium_follows_from_the_drop_probability(
    P: float, W: float, q20: int, rtt20: float, q40: int, rtt40: float
) -> None:
    few, many = paper(20, P), paper(40, P)
    assert round(few.W, 2) == W
    assert (round(few.q_e), round(few.rtt, 3)) == (q20, rtt20)
    assert (round(many.q_e), round(many.rtt, 3)) == (q40, rtt40)
    assert few.q_e == pytest.approx(20 * few.W - DELAY * C, abs=1e-9)
    assert few.slope(few.q_e) == pytest.approx(0, abs=1e-12)


# Mean and sd of the linear approximation, of eq. (15) simulated, of the chain as printed and of the centred one. The
# simulation, 2e5 independent steps at S = RTT, has a standard error, and so has ours: 3 of them are allowed.
@pytest.mark.parametrize(
    ("N", "linear", "simulated", "printed", "centred"),
    [
        (20, (159.02, 11.88), (159.68, 11.92), (159.21, 11.93), (159.71, 11.93)),
        (40, (366.04, 56.08), (374.00, 57.43), (373.65, 57.45), (374.13, 57.44)),
    ],
)
def test_the_steady_state_is_that_of_the_table(
    N: int,
    linear: tuple[float, float],
    simulated: tuple[float, float],
    printed: tuple[float, float],
    centred: tuple[float, float],
) -> None:
    slots, sigma = paper(N), SIGMA[N]
    assert (round(slots.q_e, 2), round(slots.linear_sd(sigma), 2)) == linear
    for as_printed, expected in ((True, printed), (False, centred)):
        chain = slots.chain(sigma, BUFFER, printed=as_printed)
        assert (round(chain.mean, 2), round(chain.sd, 2)) == expected
        assert chain.residual < 1e-14
        assert chain.probability.sum() == pytest.approx(1, abs=1e-12)
    found = slots.simulate(sigma, BUFFER, 10_000, seed=1, queues=20)
    error = found.std() / np.sqrt(found.size)
    assert found.mean() == pytest.approx(simulated[0], abs=4 * error)
    assert found.std() == pytest.approx(simulated[1], rel=0.01)


@pytest.mark.parametrize(("N", "expected"), [(20, [140, 159, 179]), (40, [280, 373, 468])])
def test_quantiles_in_whole_packets_are_those_of_the_table(N: int, expected: list[int]) -> None:
    quantiles = paper(N).chain(SIGMA[N], BUFFER).quantile([0.05, 0.5, 0.95])
    assert [int(one) for one in quantiles] == expected


# By a simulation of eq. (15) with an error of 0.2 %; the chain, exact, differs by no more.
@pytest.mark.parametrize(("N", "low", "high"), [(20, 14.1, 9.97), (40, 67.9, 48.0)])
def test_at_the_band_s_ends_the_spread_is_that_of_the_table(N: int, low: float, high: float) -> None:
    assert paper(N, 0.01).chain(SIGMA[N], BUFFER).sd == pytest.approx(low, rel=0.003)
    assert paper(N, 0.02).chain(SIGMA[N], BUFFER).sd == pytest.approx(high, rel=0.002)


def test_the_noise_s_mean_shift_is_what_the_gaussian_misses() -> None:
    slots = paper(40)
    shift = slots.mean_shift(SIGMA[40])
    assert round(shift, 1) == 7.6
    assert shift == pytest.approx(slots.linear_sd(SIGMA[40]) ** 2 / (40 * slots.W), rel=1e-12)
    assert slots.chain(SIGMA[40], BUFFER).mean - slots.q_e == pytest.approx(shift, rel=0.08)
    small = slots.chain(SIGMA[40] / 5, BUFFER).mean - slots.q_e
    assert small == pytest.approx(shift / 25, rel=0.01)


# Fig. 20: the queue of the longer slot is erratic. At f' = -1 the linear approximation diverges; the chain does not.
def test_with_slots_of_two_round_trips_the_queue_is_erratic() -> None:
    slots = paper(40, slots=2)
    assert slots.slope(slots.q_e) == pytest.approx(-1, abs=1e-12)
    chain = slots.chain(SIGMA[40], BUFFER)
    assert (round(chain.mean), round(chain.sd)) == (422, 182)
    with pytest.warns(ValidityWarning, match="not stable"):
        assert slots.linear_sd(SIGMA[40]) == np.inf
    assert round(paper(40).chain(SIGMA[40], BUFFER).sd) == 57
    assert round(paper(40, slots=0.5).chain(SIGMA[40], BUFFER).sd) == 32


# The text's N S sigma^2 as the variance of xi would make the spread depend on S as sqrt(S): 21 needs S^2.
def test_the_linear_variance_is_that_of_the_linear_recursion() -> None:
    slots, sigma = paper(20, slots=0.5), SIGMA[20]
    slope = float(slots.slope(slots.q_e))
    assert slope == pytest.approx(0.5)
    assert slots.noise(sigma) ** 2 == pytest.approx(20 * slots.slot**2 * sigma**2, rel=1e-12)
    variance = 0.0
    for _ in range(100):
        variance = slope**2 * variance + slots.noise(sigma) ** 2
    assert slots.linear_sd(sigma) == pytest.approx(np.sqrt(variance), rel=1e-12)
    q = np.linspace(0, BUFFER, 80_001)
    density = slots.density(q, sigma)
    assert np.trapezoid(density, q) == pytest.approx(1, abs=1e-9)
    assert np.trapezoid(density * (q - slots.q_e) ** 2, q) == pytest.approx(variance, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.01, 0.5), min_size=2, max_size=30),
    st.floats(100, 10_000),
    st.floats(1.05, 20),
    st.floats(0.05, 1.9),
)
def test_flows_of_any_round_trip_times_meet_at_the_equilibrium(
    d: list[float], C: float, load: float, slot: float
) -> None:
    W = load * C / float(np.sum(1 / np.array(d)))
    slots = Slots(C=C, d=d, N=len(d), W=W)
    q_e = slots.q_e
    assert np.sum(W / (np.array(d) + q_e / C)) == pytest.approx(C, rel=1e-9)
    slots = Slots(C=C, d=d, N=len(d), W=W, S=slot * slots.monotone_limit())
    h = 1e-4 * (q_e + 1)
    places = q_e + 1 + np.array([0, 3 * h])
    assert slots.slope(places) == pytest.approx((slots.f(places + h) - slots.f(places - h)) / (2 * h), abs=1e-6)
    assert slots.curvature(places) == pytest.approx(
        (slots.slope(places + h) - slots.slope(places - h)) / (2 * h), rel=1e-5
    )
    assert slots.slope(q_e) == pytest.approx(1 - slot, abs=1e-9)
    # The longest round trip alone suffices, and requires more than necessary; with equal ones it is the limit.
    assert 0 < slots.sufficient_limit() <= slots.monotone_limit() * (1 + 1e-9)
    assert slots.contraction_limit() <= 2 * slots.monotone_limit() * (1 + 1e-9)
    if slot <= 1:
        assert slots.settles(np.linspace(0, 10 * q_e + 100, 500)).all()


def test_flows_that_just_fill_the_link_have_no_queue() -> None:
    assert Slots(C=1000, d=0.1, N=10, W=10).q_e == 0
    assert Slots(C=1000, d=[0.1, 0.05], N=2, W=1000 / 30).q_e == pytest.approx(0, abs=1e-9)


def contraction(slots: Slots) -> float:
    """Return the largest ``|f'|`` on [0, BUFFER], at an end of it since f is convex: rho of (14) and (16)."""
    return float(np.max(np.abs(slots.slope([0.0, BUFFER]))))


def test_proposition_61_asks_for_slots_that_no_figure_has() -> None:
    assert [round(1e3 * paper(N).contraction_limit(), 1) for N in (20, 40)] == [29.7, 14.8]
    for N in (20, 40):
        limit = paper(N).contraction_limit()
        short, long = (Slots(C=C, d=DELAY, N=N, W=paper(N).W, S=factor * limit) for factor in (0.99, 1.01))
        assert short.slope(0) > -1 > long.slope(0)
        assert contraction(short) < 1 < contraction(long)
        orbit = np.abs(short.orbit(0.0, 3000) - short.q_e)
        assert (orbit[1:] <= contraction(short) * orbit[:-1] + 1e-9).all()
    assert contraction(paper(40)) > 10


def test_proposition_62_is_true_and_its_inequality_is_not() -> None:
    slots = paper(40)
    orbit = slots.orbit(0.0, 60)
    assert round(orbit[1]) == 3157
    assert not slots.nearer(0.0)
    assert (np.diff(orbit[1:]) <= 1e-9).all()
    assert orbit[-1] == pytest.approx(slots.q_e, abs=1e-6)
    q = np.linspace(0, 5000, 5001)
    assert slots.settles(q).all()
    failing = q[~slots.nearer(q)]
    assert failing.size > 0
    assert failing.max() < slots.q_e
    # Beyond 2 RTT the claim also fails.
    assert not paper(40, slots=2.2).settles(q).all()
    orbit = paper(40, slots=2.2).orbit(300.0, 400, BUFFER)
    assert np.ptp(orbit[-10:]) > 100


# Proposition 6.3: two queues under the same noise converge where (10) holds.
def test_under_one_noise_queues_come_together() -> None:
    slots = Slots(C=C, d=DELAY, N=20, W=paper(20).W, S=0.9 * paper(20).contraction_limit())
    noise = np.random.default_rng(3).normal(0, slots.noise(SIGMA[20]), 2000)
    pair = np.array([0.0, float(BUFFER)])
    rho = contraction(slots)
    for xi in noise:
        gap = abs(pair[1] - pair[0])
        pair = np.clip(slots.f(pair) + xi, 0, BUFFER)
        assert abs(pair[1] - pair[0]) <= rho * gap + 1e-12
    assert abs(pair[1] - pair[0]) < 1e-9


def dense(T: np.ndarray) -> np.ndarray:
    """Solve pi T = pi, sum 1, directly."""
    n = len(T)
    system = np.vstack([T.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]


@settings(max_examples=15, deadline=None)
@given(
    st.integers(10, 60),
    st.floats(4, 20),
    st.floats(0.05, 3),
    st.floats(0.5, 60),
    st.integers(2, 400),
    st.booleans(),
)
def test_the_sparse_chain_is_the_dense_one(N: int, W: float, slot: float, sd: float, B: int, printed: bool) -> None:
    slots = Slots(C=C, d=N * W / C / 4, N=N, W=W, S=slot * N * W / C)
    f = slots.f(np.arange(B + 1.0))
    T = transitions(f, sd, printed)
    assert np.abs(T.sum(axis=1) - 1).max() < 1e-12
    found = stationary(T, printed)
    assert found.residual < 1e-12
    assert found.probability == pytest.approx(dense(T.toarray()), abs=1e-9)


def test_a_transition_s_probability_is_the_paper_s() -> None:
    from scipy.stats import norm

    f, sd, B = np.array([2.0, 4.4, -3.0, 9.0, 1.0, 2.5]), 1.5, 5
    for printed, half in ((True, 0.0), (False, 0.5)):
        T = transitions(f, sd, printed).toarray()
        for i in range(B + 1):
            assert T[i, 0] == pytest.approx(norm.cdf(1 - half, f[i], sd), abs=1e-15)
            assert T[i, 3] == pytest.approx(norm.cdf(4 - half, f[i], sd) - norm.cdf(3 - half, f[i], sd), abs=1e-15)
            assert T[i, B] == pytest.approx(norm.sf(B - half, f[i], sd), abs=1e-15)


# A linear f without boundaries in reach is an autoregression: normal, of known variance; rounding adds 1/12 per step.
def test_the_chain_of_a_straight_line_is_normal() -> None:
    z = np.arange(401.0)
    found = stationary(transitions(200 + 0.6 * (z - 200), 8.0))
    assert found.mean == pytest.approx(200, abs=1e-9)
    assert found.sd**2 == pytest.approx((64 + 0.36 / 12) / (1 - 0.36) + 1 / 12, rel=1e-4)
    assert found.quantile([0.5]) == pytest.approx([200], abs=1e-6)


def test_5000_states_fit_into_little_memory() -> None:
    import tracemalloc

    tracemalloc.start()
    chain = paper(40).chain(SIGMA[40], 5000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # dense, the matrix alone takes 200 MB
    assert chain.residual < 1e-14
    assert (round(chain.mean, 1), round(chain.sd, 1)) == (374.1, 57.4)


def test_the_first_queue_s_delay_has_a_bound() -> None:
    bytes_a_second = 3e6 / 8
    q1 = np.array([0, 1e3, 2e3, 15e3, 30e3, 60e3])
    rates = redtail.first_rate(q1, 30e3, bytes_a_second, minth1=2e3, C1min=25e3, C1max=0.9 * bytes_a_second)
    assert rates == pytest.approx([0, 25e3, 25e3, 187.5e3, 337.5e3, 337.5e3])
    # Below the lower threshold the minimum rate applies, whatever the share; without a minimum the share does.
    assert redtail.first_rate(1e3, 30e3, bytes_a_second, minth1=2e3, C1min=5e3) == 5e3
    assert redtail.first_rate(1e3, 30e3, bytes_a_second) == 12.5e3
    # With C1min = 0, packets served at C1 wait q1 / C1 >= maxth1 / C.
    q1 = np.linspace(1, 160e3, 1000)
    assert (q1 / redtail.first_rate(q1, 30e3, bytes_a_second) >= 0.08 - 1e-12).all()


def test_files_are_as_long_as_the_paper_has_them() -> None:
    # The mean is the integral of the tail: 2.3 kB common to all, and the rest.
    x = np.geomspace(2300, 1e15, 200_001)
    assert 2300 + np.trapezoid(redtail.longer_than(x), x) == pytest.approx(9967, rel=1e-3)
    assert redtail.longer_than(np.array([30e3, 46.6e3, 64e3])).round(4) == pytest.approx(
        [0.0354, 0.02, 0.0132], abs=1.1e-4
    )
    # Fewer than 2 % false alarms: from 47 packets of 1 kB on.
    assert redtail.longer_than(46e3) > 0.02 > redtail.longer_than(47e3)


# At the middle of the fixed band; the paper reads 0.05 off its figure. The link carries 1 - p of the packets sent.
def test_fixed_thresholds_lose_what_padhye_says() -> None:
    R = 0.064 + 50 / C
    assert tcp.equilibrium_loss(40, R, C) == pytest.approx(0.0544, abs=5e-5)
    assert tcp.equilibrium_loss(20, R, C) == pytest.approx(0.027, abs=5e-4)


@pytest.mark.parametrize(
    ("policy", "rate", "delay", "W", "percent", "paper_percent"),
    [
        ("RED+Tail", 209.465, 0.184, 5.19, 3.26, 2.747),
        ("Adaptive RED", 217.531, 0.143, 4.50, 3.68, 4.149),
        ("DropTail", 215.243, 0.349, 8.89, 1.60, 1.916),
        ("dynamic", 209.455, 0.318, 8.00, 1.89, 0.899),
    ],
)
def test_tables_3_and_4_imply_losses(
    policy: str, rate: float, delay: float, W: float, percent: float, paper_percent: float
) -> None:
    x, R = rate / 10, 0.064 + delay
    assert round(x * R, 2) == W
    p = float(tcp.loss(x, R))
    assert round(100 * p, 2) == percent
    assert float(tcp.padhye(p, R)) == pytest.approx(x, rel=1e-9)
    ratio = 100 * p / paper_percent
    assert 2 < ratio < 2.2 if policy == "dynamic" else 0.8 < ratio < 1.2


def padhye_window(N: int) -> float:
    """Return the window of N flows that fill the link at a loss of 0.014, by Padhye's formula."""
    return C / N * brentq(lambda R: N * float(tcp.padhye(0.014, R)) - C, 0.01, 10)


# Windows by Padhye's formula at the round-trip time that results from them. With the round-trip time fixed at 0.3 s,
# an independent computation has 139 and 326 packets.
def test_padhye_s_windows_are_smaller() -> None:
    for N, queue, at_300_ms in ((20, 135, 139), (40, 342, 326)):
        W = padhye_window(N)
        assert round(N * W - DELAY * C) == queue
        assert int(N * 0.3 * float(tcp.padhye(0.014, 0.3)) - DELAY * C) == at_300_ms
        assert 0.85 < W / tcp.window(0.014) < 0.95


def test_design_says_it_all_at_once() -> None:
    answer = redtail.design(C=C, d=DELAY, N=40, P=0.014)
    assert (round(answer.window, 2), round(answer.q_e), round(answer.rtt, 3)) == (10.35, 366, 0.552)
    assert answer.sd_linear == pytest.approx(56.08, abs=5e-3)
    assert (round(answer.sd_chain, 2), round(answer.mean_chain, 2)) == (57.44, 374.13)
    assert answer.mean_shift == pytest.approx(7.6, abs=0.05)
    assert answer.stable
    assert answer.warnings == ()
    assert answer.S_stable == pytest.approx(2 * answer.rtt)
    assert answer == redtail.design(C=C, d=np.full(40, DELAY), N=40, W=answer.window, sigma=SIGMA[40], S=answer.S)
    mixed = redtail.design(C=C, d=np.linspace(0.02, 0.2, 40), N=40, P=0.014, sigma=10)
    assert mixed.rtt == pytest.approx(answer.rtt)
    assert mixed.S_monotone < mixed.rtt


# Twice the round-trip time is marginal, f' = -1: the linear variance is infinite, and JSON has no such number.
def test_design_has_no_linear_spread_where_there_is_none() -> None:
    for N in (20, 40):
        answer = redtail.design(C=C, d=DELAY, N=N, P=0.02, S=2 * paper(N, 0.02).rtt)
        assert (answer.sd_linear, answer.mean_shift, answer.stable) == (None, None, False)
        assert answer.sd_chain == pytest.approx(paper(N, 0.02, slots=2).chain(SIGMA[N], BUFFER).sd, rel=1e-9)
        assert json.loads(json.dumps(answer.document(), allow_nan=False))["sd_linear"] is None


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        ({"S": 1.2}, "not stable"),
        ({"S": 1.08}, "close to the limit of stability"),
        ({"B": 500}, "above B = 500"),
        ({"N": 8, "sigma": 30}, "below 0"),
        ({"N": 30}, "was measured in the paper with 20"),
        ({"C": 700}, "was measured in the paper with 40"),
        ({"P": 0.06, "N": 100, "sigma": 10}, "time-outs dominate"),
        ({"S": 0.005}, "rounded to whole ones"),
    ],
)
def test_design_remarks_on_its_validity(change: dict[str, float], remark: str) -> None:
    answer = redtail.design(**({"C": C, "d": DELAY, "N": 40, "P": 0.014} | change))
    assert any(remark in text for text in answer.warnings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 0}, "N = 0"),
        ({"d": -1}, "d = -1"),
        ({"P": 1.5}, "P = 1.5"),
        ({"P": 0}, "P = 0"),
        ({"P": 1}, "P = 1"),
        ({"P": None}, "give the drop probability P or the mean window W"),
        ({"N": 4}, r"eq. \(8\) fails"),
        ({"C": float("nan")}, "C = nan"),
        ({"d": [0.1, 0.2]}, "d of shape"),
        ({"B": 0.5}, "at least one packet"),
        ({"B": 1e9}, "take a shorter buffer"),
        ({"S": 1e300}, "take a shorter slot"),
        ({"S": 1e-4}, "longer slot"),
        ({"sigma": 0}, "sigma = 0"),
    ],
)
def test_design_refuses_what_has_no_meaning(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        redtail.design(**({"C": C, "d": DELAY, "N": 40, "P": 0.014} | change))  # type: ignore[arg-type]


def test_other_functions_refuse_what_has_no_meaning() -> None:
    for refuse in (
        lambda: redtail.first_rate(1, 30, 10, C1min=20),
        lambda: redtail.first_rate(1, 30, 10, minth1=31),
        lambda: paper(20).simulate(10, 800, 2.5, seed=1),  # type: ignore[arg-type]
        lambda: rate_deviation(np.ones((2, 5)), 0.1, 0.4),
        lambda: transitions([1.0], 1.0),
        lambda: transitions([1.0, np.inf], 1.0),
        lambda: stationary(transitions([0.0, 1.0], 1.0) * 2),
        lambda: paper(20).f(-1),
    ):
        with pytest.raises(ValueError, match=r"must (not )?be|never fill"):
            refuse()


COMMAND = ("design", "redtail", "--rate", "6 Mbit/s", "--packet", "1000 B", "--rtt", "64 ms")


def test_the_command_s_other_options_are_read() -> None:
    def ask(*options: str) -> Result:
        return CliRunner().invoke(design, [*COMMAND[1:], *options])

    by_default = [ask("--n", "20", *more, "--json").stdout for more in (("--loss", "0.014"), ("--window", "9"))]
    assert [round(json.loads(text)["q_e"]) for text in by_default] == [159, 132]
    for buffer in ("500", "500 kB", "500 packets"):
        assert "above B = 500" in ask("--flows", "40", "--loss", "0.014", "--buffer", buffer).stdout
    neither = ask("--flows", "40")
    assert neither.exit_code == 2
    assert "--loss, --window" in neither.output
    nonsense = ask("--flows", "40", "--loss", "0.1", "--buffer", "much")
    assert nonsense.exit_code == 2
    assert "800 packets" in nonsense.output


@dataclass(frozen=True)
class Seen:
    """Measurements from the engine: the queue in bins of 10 ms, each flow's arrivals in them, and the loss ratio."""

    queue: np.ndarray
    arrivals: np.ndarray
    loss: float

    @property
    def rtt(self) -> float:
        return float(self.queue.mean()) / C + DELAY

    def slots(self, factor: float = 1.0) -> Slots:
        """Return the model at the measured loss; ``factor`` is the slot in measured round-trip times."""
        N = len(self.arrivals)
        return Slots(C=C, d=DELAY, N=N, W=float(tcp.window(self.loss)), S=factor * self.rtt)

    def sigma(self, factor: float = 1.0) -> float:
        return rate_deviation(self.arrivals, 0.01, factor * self.rtt)


@cache
def engine(N: int, loss: float | None = None, w_q: float | None = None) -> Seen:
    """Run the shipped experiment with N permanent flows, each a separate entry; or the same at a fixed loss."""
    head, ftp, _ = Scenario.load("redtail/dynamic").to_toml().split("[[traffic]]")
    each = "".join("[[traffic]]" + ftp.replace('"ftp"\nkind', f'"f{k}"\nkind').replace("= 20", "= 1") for k in range(N))
    scenario = Scenario.parse(head + each, "dynamic.toml")
    scenario = scenario.with_({"duration": "650 s", "warmup": "50 s", "record.step": "10 ms"})
    if loss is not None:
        scenario = scenario.with_(aqm="droptail").with_({"dumbbell.loss": loss})
    if w_q is not None:
        scenario = scenario.with_({"aqm.w_q": w_q})
    series = aqmlab.run(scenario).series
    series = series.filter(series["t"] >= 50)
    arrivals = np.array([series[f"bottleneck.f{k}.arrivals"].to_numpy() for k in range(N)])
    dropped = float(series["bottleneck.drops"].to_numpy().sum() / arrivals.sum())
    return Seen(series["bottleneck.queue.mean"].to_numpy(), arrivals, dropped if loss is None else loss)


# Random losses at a fixed probability are the model's assumption. Its mean is 8 to 11 % too high, like the square-root
# law without time-outs (including irregular teeth, which raise it by 7 %, and the cost of recoveries). Its sd is 6 to
# 12 % too high, since part of a flow's rate varies within the round trip and never reaches the queue. Seeds differ by 2
# %.
@pytest.mark.parametrize("N", [20, 40])
def test_at_a_fixed_loss_the_engine_s_queue_is_the_model_s(N: int) -> None:
    seen = engine(N, 0.014)
    chain = seen.slots().chain(seen.sigma(), BUFFER)
    assert 1.04 < chain.mean / seen.queue.mean() < 1.15
    assert 1.02 < chain.sd / seen.queue.std() < 1.2
    # The windows are Padhye's, within 5 %, like NewReno's of ten packets in test_theory_tcp, and 1 % each for the
    # queue's mean, the drops, and (30) in place of the full model.
    window = (seen.queue.mean() + DELAY * C) / N
    assert window == pytest.approx(padhye_window(N), rel=0.08)


# The noise is not white but as slow as windows, and flows do not send independently: together they send at the link's
# rate. With S = RTT, f' = 0, and q+ is the sum of windows minus the packets in flight, which is true of any noise; with
# other slots the model's error matters.
def test_only_with_slots_of_a_round_trip_is_the_spread_the_engine_s() -> None:
    seen = engine(20, 0.014)
    ratios = {
        factor: seen.slots(factor).linear_sd(seen.sigma(factor)) / seen.queue.std() for factor in (0.25, 0.5, 1.0)
    }
    assert ratios[1.0] < 1.2
    assert ratios[0.5] > 1.3
    assert ratios[0.25] > 1.4
    erratic = seen.slots(1.95)
    assert erratic.chain(seen.sigma(1.95), BUFFER).sd > 2.5 * seen.queue.std()
    bins = round(seen.rtt / 0.01)
    slots = seen.arrivals.shape[1] // bins
    rates = seen.arrivals[:, : slots * bins].reshape(20, slots, bins).sum(axis=2)
    assert rates.sum(axis=0).var() < 0.3 * rates.var(axis=1).sum()
    later = [np.corrcoef(flow[:-1], flow[1:])[0, 1] for flow in rates]
    assert np.mean(later) > 0.5


# The dynamic thresholds do not keep the loss fixed within a round trip: the average queue is RED's feedback. With 20
# flows it holds the queue tighter than random losses do (model 25 % high), with 40 the loop oscillates with a period of
# about 7 round trips (model 20 % low). Three seeds differ by 3 % of either, hence 10 %.
@pytest.mark.parametrize(("N", "mean", "spread"), [(20, 1.095, 1.25), (40, 1.065, 0.81)])
def test_red_s_own_feedback_is_what_the_model_lacks(N: int, mean: float, spread: float) -> None:
    seen = engine(N)
    assert 0.007 < seen.loss < 2 / 3 * 0.02  # p_b in (0.01, 0.02), the gaps uniform on [1/p_b, 2/p_b]
    chain = seen.slots().chain(seen.sigma(), BUFFER)
    assert chain.mean / seen.queue.mean() == pytest.approx(mean, rel=0.04)
    assert chain.sd / seen.queue.std() == pytest.approx(spread, rel=0.1)


# The average's lag makes the loop oscillate: thirteen times slower, it follows only the number of flows, and the
# thresholds hold the queue within half of its spread under random losses.
@pytest.mark.parametrize("N", [20, 40])
def test_with_a_slow_average_the_queue_is_held_and_does_not_swing(N: int) -> None:
    seen, slow = engine(N), engine(N, w_q=0.0001)
    assert slow.queue.std() < 0.6 * seen.queue.std()
    chain = slow.slots().chain(slow.sigma(), BUFFER)
    assert 1.4 < chain.sd / slow.queue.std() < 2.6


# The paper reports 77021 bit/s for 20 flows and 128490 for 40; the latter is 0.86 of a flow's mean rate. In the engine
# it is 0.48 of it for both, as for teeth between W/2 and W with time-outs; the same holds if the two are interchanged,
# 0.43 and 0.51.
def test_the_paper_s_deviations_look_interchanged() -> None:
    share = {N: engine(N).sigma() / (C / N) for N in (20, 40)}
    assert share[20] == pytest.approx(0.48, abs=0.03)
    assert share[40] == pytest.approx(0.48, abs=0.03)
    printed = {N: redtail.paper_sigma(N) / (C / N) for N in (20, 40)}
    assert (round(printed[20], 2), round(printed[40], 2)) == (0.26, 0.86)
    swapped = {20: redtail.paper_sigma(40) / (C / 20), 40: redtail.paper_sigma(20) / (C / 40)}
    assert (round(swapped[20], 2), round(swapped[40], 2)) == (0.43, 0.51)


def test_model_and_engine_are_on_one_figure() -> None:
    from matplotlib.figure import Figure

    from aqmlab.figures import matplotlib
    from aqmlab_papers.show.theory import queue_distribution

    seen, q = engine(20, 0.014), np.arange(BUFFER + 1.0)
    slots = seen.slots()
    models = {"Chain": slots.chain(seen.sigma(), BUFFER).probability, "Gaussian": slots.density(q, seen.sigma())}
    figure = matplotlib.draw(queue_distribution({"20 flows": seen.queue}, {"20 flows": models}), Figure())
    (axes,) = figure.axes
    assert axes.get_title(loc="left").startswith("20 flows\n")
    assert f"packet engine: {seen.queue.mean():.0f} ± {seen.queue.std():.0f}" in axes.get_title(loc="left")
    assert np.array_equal(axes.lines[0].get_ydata(), models["Chain"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["packet engine", "Chain", "Gaussian"]
    with pytest.raises(ValueError, match="same titles"):
        queue_distribution({"a": [1]}, {"b": {}})
