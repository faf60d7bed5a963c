"""`aqmlab analyse`: a scenario's operating point, loop and margins, and their output."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli

import aqmlab
from aqmlab import Scenario
from aqmlab.analysis.loop import PLANTS, Analysis, analyse
from aqmlab.theory import laws
from aqmlab.theory.loop import Loop, Plant
from aqmlab.theory.tcp import equilibrium_loss, padhye

EXP1 = Path(__file__).parents[1] / "papers/aqmlab_papers/lred/exp1.toml"
ONE_ROUND_TRIP = """\
title = "One round trip"
duration = "100 s"
warmup = "20 s"
[dumbbell]
rate = "10 Mbit/s"
buffer = "200 packets"
access_rate = "10 Gbit/s"
delay = "100 ms"
sender_delay = "20 ms"
receiver_delay = "35 ms"
[aqm]
name = "pi"
preset = "lred"
[[traffic]]
name = "long"
kind = "ftp"
count = 100
packet_size = "500 B"
tcp = "newreno:delayed_ack=false"
"""
# The rest of the 100 ms + 20 ms + 35 ms each way: the time to send 500 bytes at 10 Mbit/s, and their ACK.
WIRE = pytest.approx(0.31, abs=1.5e-3)


def one_round_trip(**settings: float | str) -> Analysis:
    return analyse(Scenario.parse(ONE_ROUND_TRIP, "one.toml").with_(dict(settings)))


def test_equal_flows_have_the_loop_that_theory_gives_them() -> None:
    found = one_round_trip()
    (rtt,) = found.point.rtt
    assert rtt - 100 / 2500 == WIRE
    assert found.point.q == 100
    assert found.point.p == pytest.approx(1.5 * (100 / (2500 * rtt)) ** 2, rel=1e-9)
    law = laws.pi(1.822e-5, 1.816e-5, 170)
    for name, model in PLANTS.items():
        plant = Plant(100, rtt, 2500, queue_pole=model.queue_pole, merged=model.merged)
        assert found.loops[name].margins == Loop(plant, law).margins()
    assert found.warnings == ()


def test_a_name_is_no_scenario() -> None:
    with pytest.raises(TypeError, match=r"load it with Scenario\.load\('lred/exp1'\)"):
        aqmlab.analyse("lred/exp1")  # type: ignore[arg-type]


def test_experiment_1_has_five_round_trips_and_both_losses() -> None:
    found = analyse(Scenario.load(EXP1).with_(aqm="pi").with_({"traffic.long.count": 100}))
    assert found.point.flows.count == pytest.approx([20] * 5)
    # 2 (d + 2.5 + 2.5) ms, d = 10, 50, …, 200 ms, 40 ms of queue, and less than a millisecond to send.
    R = np.array([0.07, 0.15, 0.25, 0.35, 0.45])  # noqa: N806
    assert found.point.rtt == pytest.approx(R, abs=1e-3)
    assert found.point.p_square_root == pytest.approx((20 * np.sqrt(1.5) * np.sum(1 / R) / 2500) ** 2, rel=0.02)
    with_time_outs = equilibrium_loss([20.0] * 5, R, 2500, lambda p, R: padhye(p, R, np.maximum(0.2, R)))  # noqa: N803
    assert found.point.p_padhye == pytest.approx(with_time_outs, rel=0.02)
    assert found.point.p == found.point.p_square_root


def test_where_the_square_root_law_fails_the_law_is_linearised_at_padhye_s_loss_and_it_is_said() -> None:
    found = analyse(Scenario.load(EXP1).with_(aqm="rem"))
    assert found.point.p_square_root > 1
    assert found.point.p == found.point.p_padhye
    assert found.plants["lred"].p0 == found.point.p_padhye
    assert found.law is not None
    assert found.law.values["a"] == pytest.approx(1e-3 * np.log(1.001) * (1 - found.point.p_padhye))
    (told,) = found.warnings
    assert "windows of 1.05 packets: below 2, time-outs dominate" in told
    assert "gives p0 = 1.37" in told
    assert found.document()["operating_point"]["p_square_root"] == found.point.p_square_root


def test_red_settles_where_its_ramp_and_the_flows_agree() -> None:
    found = one_round_trip(aqm="red:min_th=20,max_th=150,max_p=0.2,w_q=0.002,spacing=none")
    ramp = laws.Ramp(20, 150, 0.2, spacing="none")
    (rtt,) = found.point.rtt
    assert 20 < found.point.q < 150
    assert ramp.ratio(found.point.q) == pytest.approx(1.5 * (100 / (2500 * rtt)) ** 2, rel=1e-8)
    assert found.law is not None
    assert found.law.values["slope"] == pytest.approx(0.2 / 130)
    assert found.law.values["K"] == pytest.approx(-2500 / (1 - found.point.p) * np.log(0.998))


def test_where_time_outs_rule_red_settles_at_padhye_s_loss() -> None:
    found = analyse(Scenario.load(EXP1).with_(aqm="red:min_th=20,max_th=150,max_p=0.3,w_q=0.002,spacing=none"))
    assert found.point.flows.windows(found.point.q).max() < 2
    assert found.point.p == found.point.p_padhye
    assert laws.Ramp(20, 150, 0.3, spacing="none").ratio(found.point.q) == pytest.approx(found.point.p, rel=1e-8)


def test_adaptive_red_settles_half_way_between_its_thresholds() -> None:
    found = one_round_trip(aqm="ared:min_th=30,max_th=90")
    assert found.point.q == pytest.approx(60, rel=1e-6)
    assert found.point.ramp is not None
    assert found.point.ramp.ratio(60) == pytest.approx(found.point.p, rel=1e-6)


@pytest.mark.parametrize(
    ("max_th", "q", "told"), [(150, 150, "at 150 packets p jumps"), (250, 200, "up to the buffer, 200 packets")]
)
def test_red_that_drops_too_little_leaves_the_queue_to_its_jump_or_to_the_buffer(
    max_th: float, q: float, told: str
) -> None:
    found = one_round_trip(aqm=f"red:min_th=20,max_th={max_th},max_p=0.0001,w_q=0.002,gentle=false")
    assert found.point.q == q
    assert found.law is None
    assert any(told in text for text in found.warnings)


@pytest.mark.parametrize("name", ["droptail", "blue", "avq"])
def test_what_cannot_be_linearised_has_an_operating_point_and_a_reason(name: str) -> None:
    found = one_round_trip(aqm=name)
    assert found.law is None
    assert found.loops == {}
    assert any(laws.WITHOUT[name] in text for text in found.warnings)
    assert found.document()["plants"] == {}


@pytest.mark.parametrize("name", ["lred", "pi", "rem", "raqm"])
def test_what_has_a_law_has_margins_and_times_for_every_plant(name: str) -> None:
    told = one_round_trip(aqm=name).document()
    assert set(told["plants"]) == set(PLANTS)
    for one in told["plants"].values():
        assert one["stable"] == (one["unstable_poles"] == 0)
        assert one["stable"] == (one["response_time_2"] is not None)
        right = one["poles"][0][0]
        assert one["stable"] == (right < 0)
        if one["stable"]:
            assert one["response_time_2"] == pytest.approx(np.log(50) / -right)
            assert one["response_time_20"] == pytest.approx(np.log(5) / -right)


def test_flows_and_load_of_the_moment_count() -> None:
    text = ONE_ROUND_TRIP.replace("[[traffic]]", '[[traffic]]\nstop = "50 s"') + (
        '\n[[traffic]]\nname = "late"\nkind = "ftp"\ntcp = "newreno"\n'
        'count = 60\npacket_size = "500 B"\nstart = "50 s"\n'
        '\n[[traffic]]\nname = "cbr"\nkind = "cbr"\nrate = "2 Mbit/s"\npacket_size = "500 B"\nstart = "50 s"\n'
    )
    scenario = Scenario.parse(text, "steps.toml")
    before, after = analyse(scenario, 30.0), analyse(scenario, 80.0)
    assert before.point.flows.count.sum() == 100
    assert before.point.flows.load == 0
    assert after.point.flows.count.sum() == 60
    assert after.point.flows.load == pytest.approx(500)
    assert any("late: not active at 30 s" in text for text in before.warnings)


def test_a_buffer_below_the_target_is_remarked_on() -> None:
    told = one_round_trip(aqm="pi", **{"dumbbell.buffer": "50 packets", "aqm.q_ref": 100}).warnings
    assert any("pi: its target, 100 packets, is not below the buffer's 50" in text for text in told)


@pytest.mark.parametrize("beta", [1e-6, 1e-12])
def test_a_slow_estimator_takes_as_long_as_its_integrator(beta: float) -> None:
    # Far below 1/tau the loop is Hc P(0) / (tau s); P(0) is dq/dp.
    found = one_round_trip(aqm=f"lred:q0=100,beta={beta}")
    p, plant = found.point.p, found.plants["queue_pole"]
    slow = laws.lred(beta, p, estimator=True)
    expected = np.log(50) * slow.values["tau"] / (slow.values["Hc"] * abs(complex(plant(0j))))
    assert Loop(plant, slow).response_time() == pytest.approx(expected, rel=0.01)


def test_the_exponent_of_lred_s_loss_ratio_is_in_its_gain() -> None:
    found = one_round_trip(aqm="lred:q0=100,beta=1e-4,exponent=0")
    assert found.law is not None
    assert found.law.values["Hc"] == pytest.approx(1e-4)
    other = one_round_trip(aqm="lred:q0=100,beta=1e-4,exponent=1")
    assert other.law is not None
    assert other.law.values["Hc"] == pytest.approx(1e-4 * other.point.p)


def test_raqm_without_the_rate_is_a_static_gain_and_without_the_queue_too_no_loop() -> None:
    static = one_round_trip(aqm="raqm:q0=50,alpha=static,m=0")
    assert static.law is not None
    assert static.law(0.1j) == pytest.approx(static.point.p / 50)
    for spec, told in [("alpha=static,m=0,mode=queue-independent", "at a gain of 0"), ("fed=mean", "for fed = mean")]:
        found = one_round_trip(aqm=f"raqm:{spec}")
        assert found.law is None
        assert any(told in text for text in found.warnings)


def swing(scenario: Scenario) -> tuple[float, float]:
    """Return the dominant frequency of the simulated queue (rad/s), and the share of the variance within 30 % of it."""
    result = aqmlab.run(scenario, seeds=1)
    series = result.series.filter(result.series["t"] > scenario.warmup)
    t, q = series["t"].to_numpy(), series[f"{result.link}.queue.mean"].to_numpy()
    power = np.abs(np.fft.rfft((q - q.mean()) * np.hanning(len(q))))[1:] ** 2
    w = 2 * np.pi * np.fft.rfftfreq(len(q), t[1] - t[0])[1:]
    peak = float(w[power.argmax()])
    near = (w > 0.7 * peak) & (w < 1.3 * peak)
    return peak, float(power[near].sum() / power.sum())


# The scenario is PI*'s case of 100 flows. With the queue's pole its gains may grow by 8 before the queue oscillates at
# 2.6 rad/s; on LRED's plant it oscillates at a factor of 0.5 and 0.7 rad/s. Single losses make noise without a spectral
# line (share 0.2 to 0.45), an oscillation is a line (0.75 to 0.8). It is nonlinear and about 15 % faster than at onset.
def test_packets_swing_where_the_plant_with_queue_pole_says_and_not_where_lred_s_does() -> None:
    text = ONE_ROUND_TRIP.replace("count = 100", 'count = 100\nstart = "uniform(0 s, 2 s)"')
    base = Scenario.parse(text.replace("200 packets", "400 packets"), "one.toml").with_(duration="200 s", warmup="80 s")
    quiet, loud = (base.with_(aqm=f"pi:q_ref=100,a={2.857e-5 * k},b={2.850e-5 * k}") for k in (1, 10))
    before, after = analyse(quiet).loops, analyse(loud).loops
    for name in ("queue_pole", "queue_pole_unmerged"):
        assert before[name].margins.gain_margin == pytest.approx(8, rel=0.1)
        assert not after[name].margins.stable
    assert not before["lred"].margins.stable
    assert swing(quiet)[1] < 0.55
    peak, share = swing(loud)
    assert share > 0.65
    assert peak == pytest.approx(after["queue_pole"].margins.phase_crossover, rel=0.25)


# Experiment 1 with 400 flows: windows of one packet. At Padhye's loss the loop tolerates 13 times these gains (12
# without merging) and then oscillates at 16 rad/s; by (6), whose loss is above 1, it would tolerate 100. At 16 times
# there is a line (share 0.5, noise has 0.1 to 0.3), again slightly slower: each class of flows has less than a packet
# of window.
def test_where_time_outs_rule_packets_swing_where_the_plant_at_padhye_s_loss_says() -> None:
    base = Scenario.load(EXP1).with_({"dumbbell.buffer": "800 packets", "duration": "200 s", "warmup": "80 s"})
    quiet, loud = (base.with_(aqm=f"pi:q_ref=100,a={5e-4 * k},b={4.95e-4 * k}") for k in (1, 16))
    found = analyse(loud)
    assert found.law is not None
    by_windows = Plant(
        found.point.flows.count, found.point.rtt, 2500, queue_pole=True, p0=min(found.point.p_square_root, 1 - 1e-9)
    )
    assert Loop(by_windows, found.law).margins().stable
    assert analyse(quiet).loops["queue_pole"].margins.gain_margin > 8
    margins = found.loops["queue_pole"].margins
    assert not margins.stable
    assert swing(quiet)[1] < 0.35
    peak, share = swing(loud)
    assert share > 0.42
    assert peak == pytest.approx(margins.phase_crossover, rel=0.25)


def test_the_command_writes_a_document_and_a_figure(quick_cli: Cli, tmp_path: Path) -> None:
    done = quick_cli(
        "analyse", EXP1, "--aqm", "lred", "--set", "traffic.long.count=100", "--out", tmp_path / "out", "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert json.loads((tmp_path / "out" / "analysis.json").read_text()) == document
    assert document["law"]["values"]["Hc"] == pytest.approx(1e-3 * document["operating_point"]["p0"] ** 0.5)
    assert (tmp_path / "out" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out" / "figure.svg").read_text()
    assert "warning: LRED: L is held at p0" in done.stderr
    assert "written to" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.toml"], "nowhere.toml"),
        ([EXP1, "--aqm", "nonsense"], "nonsense"),
        ([EXP1, "--set", "traffic.long.count"], "must be PATH=VALUE"),
        ([EXP1, "--at", "60"], "must be a quantity like '60 s'"),
        ([EXP1, "--at", "300 s"], "at = 300 s: must be in [0, 200]"),
        ([EXP1, "--at", "0 s"], "none of long is"),
        ([EXP1, "--aqm", "pi:a=1e-5,b=1e-5"], "b = 1e-05: must be below a"),
    ],
)
def test_bad_usage_names_the_key_the_value_and_what_is_allowed(quick_cli: Cli, arguments: list[str], told: str) -> None:
    done = quick_cli("analyse", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
