"""PIE and PI2 as loops: against numerical derivatives, integrated equations, the engine and packets; their design."""

import inspect
import json
import re
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from oracle import dde

import aqmlab
from aqmlab import Scenario
from aqmlab._core import in_base_unit
from aqmlab.analysis.loop import analyse
from aqmlab.scenario import catalogue
from aqmlab.theory import pi2, pie
from aqmlab.theory.loop import Loop, Plant

C = 1250.0
TARGET = 0.015
# p0 of 0.0077, 0.0149 and 0.06: the bands of factors 1/8, 1/2 and 1/2 again.
FLOWS = (8, 12, 25)
EQUAL = """\
title = "Equal flows"
duration = "120 s"
warmup = "20 s"
record.step = "20 ms"
[dumbbell]
rate = "10 Mbit/s"
buffer = "400 packets"
delay = "40 ms"
[aqm]
name = "pi2"
[[traffic]]
name = "long"
kind = "ftp"
count = 20
packet_size = "1000 B"
tcp = "newreno:delayed_ack=false"
"""


def equal(**settings: str | int) -> Scenario:
    return Scenario.parse(EQUAL, "equal.toml").with_(dict(settings))


def test_the_table_is_rfc_8033_s() -> None:
    table = {5e-7: 2048, 5e-6: 512, 5e-5: 128, 5e-4: 32, 5e-3: 8, 0.05: 2, 0.5: 1}
    for p, divisor in table.items():
        assert pie.factor(p) == 1 / divisor
    for edge in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        assert pie.factor(edge) == 4 * pie.factor(edge * (1 - 1e-9))
    assert (pie.factor(0.1), pie.factor(0.1, docsis=True), pie.factor(3.0, docsis=True)) == (1, 2, 8)


def derivatives(f: Any, x: list[float]) -> list[float]:
    """Return the derivative of f by each argument, by central differences."""
    found = []
    for place, value in enumerate(x):
        h = 1e-5 * value
        ahead, behind = list(x), list(x)
        ahead[place], behind[place] = value + h, value - h
        found.append((f(*ahead) - f(*behind)) / (2 * h))
    return found


@pytest.mark.parametrize("packets_per_ack", [1, 2])
@pytest.mark.parametrize("N", FLOWS)
def test_the_loop_is_the_numerical_derivative_of_the_equations(N: int, packets_per_ack: int) -> None:
    b, Tp, T = packets_per_ack, 0.1, 0.015
    R, eta = Tp + TARGET, 1.5 / b
    w, q = R * C / N, TARGET * C
    p = eta / w**2

    def window(w: float, late_w: float, q: float, late_q: float, late_p: float) -> float:
        # The engine's: grows by 1/b, and loses two thirds.
        return 1 / (b * (Tp + q / C)) - w * late_w * late_p / (1.5 * (Tp + late_q / C))

    def queue(w: float, q: float) -> float:
        return N * w / (Tp + q / C) - C

    assert window(w, w, q, q, p) == pytest.approx(0, abs=1e-9)
    assert queue(w, q) == pytest.approx(0, abs=1e-9)
    law = dde.pie(target=TARGET, C=C)
    assert law.probability((p, TARGET), q) == p

    def update(p: float, before: float, q: float) -> float:
        return float(law.update((p, before), dde.Seen(1.0, q, 0.0, 0.0))[0])

    of_w, of_late_w, of_q, of_late_q, of_late_p = derivatives(window, [w, w, q, q, p])
    flows_in, drained = derivatives(queue, [w, q])
    kept, of_before, of_now = derivatives(update, [p, TARGET, q])
    assert kept == pytest.approx(1)
    plant = Plant(N, R, C, eta, queue_pole=True, merged=False, pace=1 / b)
    own = pie.law(0.125, 1.25, T, C, p)
    for s in (0.3j, 2j, 9j, -0.4 + 3j):
        late = np.exp(-s * R)
        # s W = … W + … Q + … P and s Q = … W + … Q, solved for -Q/P.
        turned = s - of_w - of_late_w * late
        response = -flows_in * of_late_p * late / ((s - drained) * turned - flows_in * (of_q + of_late_q * late))
        assert plant(s) == pytest.approx(response, rel=1e-6)
        # p(k) = p(k-1) + … q(k) + … d(k-1), held for a period.
        z = np.exp(s * T)
        held = (of_now + of_before / C / z) / (1 - 1 / z) * (1 - 1 / z) / (s * T)
        assert own(s) == pytest.approx(held, rel=1e-6)


def test_the_square_takes_flows_and_capacity_out_of_the_gain_and_the_table_does_so_within_its_bands() -> None:
    def gain(slope: Any, N: float, capacity: float) -> float:
        plant = Plant(N, 0.1, capacity, queue_pole=True)
        return float(plant.K[0] * slope(plant.p0) / capacity)

    for N, capacity in ((2, 1250.0), (20, 1250.0), (200, 12500.0)):
        assert gain(pi2.slope, N, capacity) == pytest.approx(2 / (sqrt(1.5) * 0.1), rel=1e-12)
    # Without either, gains that suit windows of 2 packets are 30 times too high for windows of 60.
    plain = [gain(lambda p: 1.0, 125 / w, 1250.0) for w in (2, 60)]
    assert plain[1] / plain[0] == pytest.approx(30)
    # With the table: within a band p grows by 10 and the gain falls by sqrt(10); at its end it jumps by 4.
    tuned = [gain(pie.factor, 125 / w, 1250.0) for w in np.geomspace(2, 60, 400)]
    assert 4 < max(tuned) / min(tuned) < 6


@pytest.mark.parametrize(("name", "delay"), [("pie", "rate"), ("pie", "timestamps"), ("pi2", "timestamps")])
def test_design_and_analysis_of_equal_flows_agree(name: str, delay: str) -> None:
    found = analyse(equal(aqm=name if name == "pi2" else f"pie:delay={delay}"))
    (R,) = found.point.rtt
    if name == "pi2":
        wanted = pi2.design(N_min=20, R_max=R, C=C)
    else:
        wanted = pie.design(N_min=20, R_max=R, C=C, timestamps=delay == "timestamps")
    margins = found.loops["queue_pole_unmerged"].margins
    assert wanted.p0 == pytest.approx(found.point.p, rel=1e-9)
    assert (wanted.gain_margin, wanted.phase_margin_deg, wanted.delay_margin) == pytest.approx(
        (margins.gain_margin, margins.phase_margin_deg, margins.delay_margin), rel=1e-6
    )
    assert found.law is not None
    assert found.law.values["lag"] == (0 if delay == "rate" else (0.02 if name == "pi2" else 0.015))


def test_the_defaults_of_the_design_are_the_discipline_s() -> None:
    for name, module in (("pie", pie), ("pi2", pi2)):
        (own,) = (one for one in catalogue()["aqms"] if one["name"] == name)
        defaults = {one["name"]: one["default"] for one in own["parameters"]}
        ours = inspect.signature(module.design).parameters
        for key in ("target", "t_update", "alpha", "beta"):
            base = in_base_unit(str(defaults[key]))
            assert base is not None
            assert base[0] == pytest.approx(ours[key].default), (name, key)


@pytest.mark.parametrize("name", ["pie", "pi2"])
def test_the_designed_gains_leave_the_wanted_phase_margin_at_the_worst_load_and_no_more(name: str) -> None:
    load = {"N_min": 5, "R_max": 0.2, "C": C, "phase_margin": 40.0}
    module = pie if name == "pie" else pi2
    first = module.design(**load)
    again = module.design(**load, alpha=first.alpha_design, beta=first.beta_design)
    assert not first.stable_in_range
    assert any("times too high" in text for text in first.warnings)
    assert again.stable_in_range
    assert again.warnings == ()
    assert again.least_phase_margin_deg == pytest.approx(40, abs=0.1)
    assert again.least_gain_margin == pytest.approx(first.gain_margin_design, rel=1e-3)
    # The zero of RFC 9332: 1 / (3 R_max).
    T = 0.015 if name == "pie" else 0.032
    zero = first.alpha_design / (first.beta_design + first.alpha_design / 2) / T
    assert zero == pytest.approx(1 / 0.6, rel=1e-9)


def test_pie_is_worst_where_its_table_jumps() -> None:
    found = pie.design(N_min=2, R_max=0.1, C=C)
    nearest = min((1e-5, 1e-4, 1e-3, 1e-2, 0.1), key=lambda edge: abs(np.log(found.worst_p0 / edge)))
    assert found.worst_p0 == pytest.approx(nearest, rel=1e-6)
    below = pie.design(N_min=found.worst_n * 0.999, R_max=found.worst_rtt, C=C)
    assert below.gain_margin / found.least_gain_margin == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"R_max": 0.01}, "R_max = 0.01 s: must be above the target, 0.015 s"),
        ({"N_max": 5}, "N_max = 5: must be at least N_min = 10"),
        ({"R_min": 0.2}, "R_min = 0.2 s: must be above the target, 0.015 s, and at most R_max"),
        ({"phase_margin": 90}, "phase_margin = 90 degrees: must be in"),
        ({"alpha": 0}, "alpha = 0: must be positive"),
        ({"beta": -1}, "beta = -1: must be finite and not negative"),
    ],
)
def test_a_senseless_design_is_refused_with_name_value_and_what_is_allowed(
    changed: dict[str, float], told: str
) -> None:
    load: dict[str, Any] = {"N_min": 10, "R_max": 0.1, "C": C}
    with pytest.raises(ValueError, match=re.escape(told)):
        pie.design(**(load | changed))


# The reference has no slow start and measures q / C at once. While the queue still swings, an update may find it on the
# other side of half the target than the other integrator's, and drops begin a period later.
def test_the_engine_and_the_reference_agree_on_pie() -> None:
    chosen = equal(aqm="pie:delay=departures,max_burst='0 s'", duration="20 s", warmup="1 s")
    model = json.loads(chosen._core.fluid_model())
    (flows,) = model["classes"]
    result = aqmlab.fluid(chosen, tcp="square-root", slow_start=False, thinned=True, step=0.001)
    path = dde.trajectory(
        flows["flows"],
        flows["rtt"],
        model["capacity"],
        dde.pie(C=model["capacity"]),
        Q=model["buffer"],
        end=20,
        step=0.005,
        w=flows["initial_window"],
        thinned=True,
    )
    queue = result.series[f"{result.link}.queue.mean"].to_numpy().reshape(20, -1).mean(axis=1)
    assert np.ptp(path.bin_means()) > 5
    off = np.abs(queue - path.bin_means())
    assert off.max() < 0.8
    assert off[10:].max() < 0.1


def swings(scenario: Scenario) -> tuple[float, float]:
    """Return the range of the fluid queue (packets) in a window half-way and in one at the end."""
    result = aqmlab.fluid(scenario, tcp="square-root", slow_start=False, thinned=False, step=0.002)
    t, q = (result.series[name].to_numpy() for name in ("t", f"{result.link}.queue.mean"))
    end = scenario.duration
    early, late = (t > 0.4 * end) & (t < 0.6 * end), t > 0.8 * end
    return float(np.ptp(q[early])), float(np.ptp(q[late]))


# Gains at 0.93 and 1.07 of the boundary: below, what the start leaves fades; above, the queue swings without end. PIE's
# rule to drop nothing below half the target can keep a large swing alive where small ones fade, so PIE has a load here
# at which the start does not cause one.
@pytest.mark.parametrize("delayed_ack", [False, True])
@pytest.mark.parametrize(("name", "count"), [("pi2", 20), ("pi2:max_p=1", 60), ("pie:delay=rate", 10)])
def test_the_equations_begin_to_oscillate_at_the_gain_margin(name: str, count: int, delayed_ack: bool) -> None:
    tcp = f"newreno:delayed_ack={str(delayed_ack).lower()}"
    base = equal().with_({"traffic.long.count": count, "traffic.long.tcp": tcp})
    alpha, beta = (0.3125, 3.125) if name.startswith("pi2") else (0.125, 1.25)
    margins = analyse(base.with_(aqm=name)).loops["queue_pole_unmerged"].margins

    def at(times: float) -> tuple[float, float]:
        k, joint = times * margins.gain_margin, "," if ":" in name else ":"
        return swings(base.with_(aqm=f"{name}{joint}alpha='{k * alpha} Hz',beta='{k * beta} Hz'"))

    early, late = at(0.93)
    assert late < 0.5 * early + 0.02
    early, late = at(1.07)
    assert late > 10
    assert late > 0.8 * early


def test_pie_can_swing_without_end_where_small_deviations_fade_by_its_rule_below_half_the_target() -> None:
    N, R = 20, 0.121
    w = R * C / N
    p0 = 1.5 / w**2
    margin = (
        Loop(Plant(N, R, C, queue_pole=True, merged=False), pie.law(0.125, 1.25, 0.015, C, p0)).margins().gain_margin
    )
    law = dde.pie(alpha=0.125 * margin / 2, beta=1.25 * margin / 2, C=C)

    def swing(law: dde.Timed, w: float, q: float) -> float:
        path = dde.trajectory(N, R - TARGET, C, law, Q=400, end=20, step=0.02, w=w, q=q)
        return float(np.ptp(path.q[path.t > 15]))

    without_rule = replace(law, probability=lambda state, q: state[0])
    assert swing(law, 1.0, 0.0) > 20
    assert swing(without_rule, 1.0, 0.0) < 0.5
    assert swing(replace(law, start=(1.02 * p0, TARGET)), w, TARGET * C) < 0.5


# 200 flows with windows of 5 packets on 100 Mbit/s, where the target is 250 packets.
@pytest.mark.parametrize("name", ["pie", "pi2"])
def test_packets_and_equations_wait_for_the_target(name: str) -> None:
    target = 0.02
    link = {"dumbbell.rate": "100 Mbit/s", "dumbbell.delay": "20 ms", "dumbbell.buffer": "2000 packets"}
    flows = {"traffic.long.start": "uniform(0 s, 2 s)"}
    scenario = equal(duration="30 s", warmup="15 s", aqm=f"{name}:target='20 ms'", **link, **flows).with_(
        {"traffic.long.count": 200}
    )
    assert analyse(scenario).loops["queue_pole_unmerged"].margins.stable
    fluid, packet = aqmlab.fluid(scenario), aqmlab.run(scenario)
    assert fluid.metrics["queue_delay_mean"] == pytest.approx(target, rel=0.02)
    assert packet.metrics["queue_delay_mean"] == pytest.approx(target, rel=0.1)
    found = analyse(scenario)
    assert found.point.q == pytest.approx(target * found.point.capacity)
    assert fluid.metrics["queue_mean"] == pytest.approx(found.point.q, rel=0.02)


def test_the_equilibrium_is_at_the_target_with_the_square_root_law_s_p() -> None:
    for name in ("pie:delay=timestamps,alpha='0.02 Hz',beta='0.3 Hz'", "pi2:alpha='0.1 Hz',beta='1 Hz'"):
        chosen = equal(aqm=name)
        found = analyse(chosen)
        result = aqmlab.fluid(chosen, tcp="square-root", slow_start=False, thinned=False)
        last = result.series.filter(result.series["t"] > 100)
        assert last[f"{result.link}.queue.mean"].mean() == pytest.approx(found.point.q, rel=1e-3)
        assert last[f"{result.link}.p.mean"].mean() == pytest.approx(found.point.p, rel=5e-3)


def test_pi2_that_needs_more_than_max_p_has_no_loop_and_says_so() -> None:
    found = analyse(equal(aqm="pi2:max_p=0.005"))
    assert found.law is None
    assert any(
        "the flows need a drop probability of 0.0" in text and "max_p is 0.005" in text for text in found.warnings
    )


def test_docsis_pie_has_the_gain_of_a_packet_of_its_size() -> None:
    found = analyse(equal(aqm="pie:preset=docsis"))
    assert found.law is not None
    share = 1000 / 1024
    assert found.law.values["slope"] == pytest.approx(share * pie.factor(found.point.p / share, docsis=True))
