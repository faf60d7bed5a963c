"""Short TCP flows: one flow's life and finish, and many of them beside long ones, against the packet engine."""

from functools import cache

import numpy as np
import pytest
from link import C

import aqmlab
from aqmlab import Scenario
from aqmlab.theory import tcp
from aqmlab.theory.domain import ValidityWarning
from aqmlab_papers.theory.short_flows import Shorts, equilibrium
from aqmlab_papers.theory.short_flows.finish import completion, tail
from aqmlab_papers.theory.short_flows.lives import Sender, _Chain, life

EXPERIMENT = Scenario.load("lred/exp5")
# The five pairs of hosts: propagation there and back, and half a millisecond to send a packet over all links.
TP = np.array([30, 110, 210, 310, 410]) / 1e3 + 0.0005


# Without losses everything is slow start: 2, 4, 8, ... packets per round trip, after one round trip.
def test_without_losses_the_window_doubles() -> None:
    lived = life(1e-9, 0.1, 0.75)
    for rounds in range(8):
        assert lived.sent[lived.at(0.1 * rounds + 0.05)] == pytest.approx(2 * (2.0**rounds - 1), abs=1e-4)
    assert lived.timeouts[-1] < 1e-6
    assert completion(1e-9, 0.1, 30) == pytest.approx(0.5, rel=1e-6)  # SYN, 2, 4, 8, 16
    assert completion(1e-9, 0.1, 31) == pytest.approx(0.6, rel=1e-6)
    assert completion(1e-9, 0.1, 20, Sender(W=4)) == pytest.approx(0.7, rel=1e-6)  # SYN, 2, 4, 4, 4, 4, 2
    assert completion(1e-9, 0.1, 20, Sender(IW=10, syn=0)) == pytest.approx(0.2, rel=1e-6)


# After a time-out, slow start ends as soon as the window reaches the threshold (RFC 5681, section 3.1).
@pytest.mark.parametrize(("threshold", "slow"), [(7, False), (8, False), (9, True)])
def test_slow_start_ends_when_the_window_reaches_the_threshold(threshold: int, slow: bool) -> None:
    chain = _Chain(0.01, 0.1, 32, 8, Sender())
    chain.slow[0, 2, threshold] = 1.0  # a window of 4, and of 8 after this round
    chain.advance(0)
    assert (chain.slow.sum() > 1.5, chain.avoid[1:, threshold].sum() > 0.5) == (slow, not slow)


# A single packet waits T (1 + 2p + 4p^2 + ...) p for its timer: 3 s before any round trip was measured; three round
# trips once the SYN has measured one; 3 s 2^k if the SYN was lost k times. Doublings end at the fourth.
def test_a_single_packet_has_a_closed_form() -> None:
    p, R, T = 0.01, 0.2, 3.0
    wait = p / (1 - 2 * p)
    assert completion(p, R, 1, Sender(syn=0)) == pytest.approx(R + T * wait, rel=1e-6)
    lost = sum(p**k * (1 - p) * 2**k for k in range(1, 5)) * T * wait
    expected = 2 * R + T * wait + (1 - p) * 3 * R * wait + lost
    assert completion(p, R, 1) == pytest.approx(expected, rel=1e-5)


ALONE = """\
duration = "{duration} s"
warmup = "{warmup} s"
record = {{ step = "50 ms" }}
aqm = "droptail"
[dumbbell]
rate = "1 Gbit/s"
delay = "75 ms"
sender_delay = "0 s"
receiver_delay = "0 s"
access_rate = "10 Gbit/s"
buffer = "100000 packets"
loss = {p}
[[traffic]]
name = "short"
kind = "short"
arrival_rate = "{rate} /s"
{what}
packet_size = "500 B"
tcp = {{ preset = "ns2.35", {tcp} }}
"""
LIFETIME, SIZE = 'lifetime = "uniform(1 s, 2 s)"', 'size = "9200 B"'


@cache
def alone(p: float, what: str, tcp: str = "flavour = 'newreno'") -> tuple[float, float]:
    """Return the packets of a flow that arrive, and its duration, under random loss and a round trip of 150 ms."""
    # No arrivals in the last hundred seconds: flows that are cut off have no duration, and those are the longest.
    text = ALONE.format(duration=200, warmup=0, p=p, rate=100, what=what + '\nactive = ["0 s", "100 s"]', tcp=tcp)
    found = aqmlab.run(Scenario.parse(text, "alone.toml")).runs[0].classes["short"]
    assert (found["completed"] or 0) > 0.998 * (found["started"] or 0)
    return (found["throughput"] or 0) * 200 / 4000 / (found["started"] or 0), found["completion_time_mean"] or 0


# 10,000 flows: standard errors of 1 %. The model's rounds take a whole round trip, the losses of a round are detected
# at once, and the packets sent in a recovery are a mean: 8 % of the packets in a lifetime.
@pytest.mark.parametrize("p", [0.05, 0.175])
@pytest.mark.parametrize(
    ("tcp", "sender"),
    [
        ("flavour = 'newreno'", Sender()),
        ("handshake = false", Sender(syn=0)),
        ("impatient = false", Sender(impatient=False)),
        ("min_rto = '1 s'", Sender(T_min=1)),
        ("initial_window = 10", Sender(IW=10)),
    ],
)
def test_a_life_brings_as_many_packets_as_in_the_engine(p: float, tcp: str, sender: Sender) -> None:
    shorts = Shorts(lam=100, lifetime=(1, 2), sender=sender)
    packets, time = alone(p, LIFETIME, tcp)
    assert shorts.load(p, 0.15) == pytest.approx(packets, rel=0.1)
    if sender == Sender():
        # In the model no flow is in a recovery when its lifetime ends: 4 % too fast at 0.05, 14 % at 0.175. The
        # standard error is 1 %.
        assert 0.83 * time < (shorts.time(p, 0.15) or 0) < time


# With a size all packets arrive: only duplicates could differ. Time-outs are the greater part of the time at 0.175.
# With 20,000 flows the model is 2 to 4 % slow at 0.05 and 1 to 9 % fast at 0.175; 10,000 have standard errors of 2 %.
@pytest.mark.parametrize("p", [0.05, 0.175])
@pytest.mark.parametrize(
    ("tcp", "sender"),
    [
        ("flavour = 'newreno'", Sender()),
        ("handshake = false", Sender(syn=0)),
        ("min_rto = '1 s'", Sender(T_min=1)),
        ("initial_rto = '1 s'", Sender(T_syn=1)),
        ("initial_window = 10", Sender(IW=10)),
    ],
)
def test_twenty_packets_take_as_long_as_in_the_engine(p: float, tcp: str, sender: Sender) -> None:
    shorts = Shorts(lam=100, size=20, sender=sender)
    packets, time = alone(p, SIZE, tcp)
    assert shorts.load(p, 0.15) == pytest.approx(packets, rel=0.03)
    assert shorts.time(p, 0.15) == pytest.approx(time, rel=0.13)


# For so many packets the window after a recovery matters: without halving, the model would be 11 % fast. Its recoveries
# take whole rounds, and it is 7 % slow; 10,000 flows have a standard error of 1 %.
def test_a_hundred_packets_take_as_long_as_in_the_engine() -> None:
    _, time = alone(0.03, 'size = "46000 B"')
    assert time < completion(0.03, 0.15, 100) < 1.12 * time


# The part of the SYN and the timers: without them the model is far off.
def test_syn_and_time_outs_have_their_part() -> None:
    p, R = 0.175, 0.15
    _, measured = alone(p, SIZE)
    whole = completion(p, R, 20)
    assert whole == pytest.approx(measured, rel=0.1)
    # The first SYN's loss alone: 3 s and more for one in six, and 6 s for a loss in its first window.
    assert whole - completion(p, R, 20, Sender(T_syn=0.2)) > 0.25 * whole
    # All timers are short: neither waits.
    assert completion(p, R, 20, Sender(T_syn=0.2, T_min=0.001)) < 0.75 * whole
    # In a lifetime of 1 to 2 s a flow whose SYN is lost sends nothing.
    lived = Shorts(lam=1, lifetime=(1, 2))
    unharmed = Shorts(lam=1, lifetime=(1, 2), sender=Sender(T_syn=0.01))
    assert lived.load(p, R) < 0.92 * unharmed.load(p, R)


# LRED's experiment 5, over [55 s, 150 s], without the first 5 s of the short flows. The queue is at its target, within
# a packet. The loss is 4 % too low, since Padhye's model of the 100 long flows is up to 5 % too slow near p = 0.1, and
# the short flows send up to 5 % too few packets at 0.175 and too many at 0.07. With two runs p has an error of 1 %.
@pytest.mark.parametrize("lam", [10, 30, 60, 100])
def test_loss_and_queue_of_experiment_5_are_predicted(lam: int) -> None:
    changes: dict[str, str | bool] = {
        "duration": "150 s",
        "warmup": "55 s",
        "record.series": False,
        "traffic.short.arrival_rate": f"{lam} /s",
    }
    found = aqmlab.run(EXPERIMENT.with_(changes), seeds=2)
    short = {metric: one.mean for metric, one in found.owned("classes")["short"].items()}
    model = equilibrium(Shorts(lam=lam, lifetime=(1, 2)), 20, TP, C, q0=100)
    assert found.metrics["queue_mean"] == pytest.approx(model.q, abs=2)
    assert model.p == pytest.approx(found.metrics["loss_ratio"], rel=0.06)
    assert model.short == pytest.approx((short["throughput"] or 0) / 4000, rel=0.07)
    assert model.completion == pytest.approx(short["completion_time_mean"], rel=0.14)
    assert model.warnings == ()


# The same with 20 packets each: lam (20.3 + SYN) are carried regardless of loss, and the long flows use the rest.
@pytest.mark.parametrize("lam", [20, 60])
def test_short_flows_of_a_size_are_predicted(lam: int) -> None:
    text = Scenario.load("lred/exp5").to_toml()
    scenario = Scenario.parse(text.replace('lifetime = "uniform(1 s, 2 s)"', 'size = "9200 B"'), "sized.toml")
    found = aqmlab.run(
        scenario.with_({"duration": "150 s", "warmup": "55 s", "traffic.short.arrival_rate": f"{lam} /s"}), seeds=2
    )
    short = {metric: one.mean for metric, one in found.owned("classes")["short"].items()}
    model = equilibrium(Shorts(lam=lam, size=20), 20, TP, C, q0=100)
    assert model.p == pytest.approx(found.metrics["loss_ratio"], rel=0.07)
    assert model.short == pytest.approx((short["throughput"] or 0) / 4000, rel=0.03)
    assert model.completion == pytest.approx(short["completion_time_mean"], rel=0.1)


def test_both_classes_fill_the_link() -> None:
    model = equilibrium(Shorts(lam=30, lifetime=(1, 2)), 20, TP, C, q0=100)
    R = TP + 100 / C
    rate = 20 * np.sum(tcp.padhye(model.p, R, np.maximum(0.2, R), full=True))
    assert (1 - model.p) * rate == pytest.approx(model.long, rel=1e-3)
    assert model.short + model.long == pytest.approx(C)
    assert model.short == pytest.approx(30 * model.packets)
    assert model.active == pytest.approx(30 * (model.completion or 0))


def test_the_queue_of_that_loss_is_that_of_the_loss_of_that_queue() -> None:
    shorts = Shorts(lam=30, lifetime=(1, 2))
    p = equilibrium(shorts, 50, 0.2, C, q0=100).p
    # The loss is found to a relative 1e-4, 0.2 packets/s of a thousand.
    assert equilibrium(shorts, 50, 0.2, C, p=p).q == pytest.approx(100, rel=0.01)


def test_longer_flows_have_an_equilibrium_but_no_time() -> None:
    model = equilibrium(Shorts(lam=4, size=200), 20, 0.2, C, q0=100)
    assert 800 < model.short < 820
    assert (model.completion, model.active) == (None, None)


def test_what_has_no_meaning_is_refused() -> None:
    shorts = Shorts(lam=30, lifetime=(1, 2))
    for options, text in (
        ({}, "give exactly one of them"),
        ({"lifetime": (1, 2), "size": 3}, "give exactly one of them"),
        ({"lifetime": (2, 1)}, "the greater bound must come second"),
        ({"lifetime": (0, 1)}, "lifetime = .*: must be positive"),
        ({"size": 0}, "size = 0: must be positive"),
        ({"size": 2.5}, r"size = 2\.5: must be whole"),
        ({"lifetime": (1,)}, "must be two bounds"),
    ):
        with pytest.raises(ValueError, match=text):
            Shorts(lam=30, **options)
    with pytest.raises(ValueError, match="lam = -1: must be finite and not negative"):
        Shorts(lam=-1, size=3)
    with pytest.raises(ValueError, match="IW = 10: must not be above W = 4"):
        Sender(IW=10, W=4)
    with pytest.raises(ValueError, match="q0 = None, p = None: give exactly one of them"):
        equilibrium(shorts, 20, TP, C)
    with pytest.raises(ValueError, match="they alone exceed C = 2500"):
        equilibrium(Shorts(lam=130, size=20), 20, TP, C, q0=100)
    with pytest.raises(ValueError, match="cannot fill the link"):
        equilibrium(Shorts(lam=1, size=20), 0, TP, C, q0=100)
    with pytest.raises(ValueError, match="there is no queue"):
        equilibrium(Shorts(lam=1, size=20), 20, TP, C, p=0.3)
    with pytest.raises(ValueError, match=r"p = 1: must be in \(0, 1\)"):
        life(1, 0.1, 1)
    with pytest.raises(ValueError, match="size = 101: must be at most 100"):
        completion(0.1, 0.1, 101)
    with pytest.raises(ValueError, match=r"waiting = 1\.5: must be a probability"):
        tail(0.1, 0.1, 1, 3, 1.5, Sender())


def test_what_is_beyond_the_models_is_remarked_on() -> None:
    assert (
        "not valid for losses above 0.4" in equilibrium(Shorts(lam=500, lifetime=(1, 2)), 20, TP, C, q0=100).warnings[0]
    )
    with pytest.warns(ValidityWarning, match="not valid for losses above 0.4"):
        life(0.45, 0.1, 1)


# RFC 6298: 3 R after one sample, R + 4 x R/2 x 3/4 after two; and never below the minimum.
def test_the_time_out_comes_down_with_every_round_trip() -> None:
    sender = Sender()
    assert [sender.timeout(age, 0.4) for age in (0.4, 0.8, 1.2)] == pytest.approx([1.2, 1.0, 0.85])
    assert sender.timeout(100, 0.4) == pytest.approx(0.4)
    assert sender.timeout(100, 0.01) == 0.2


# With a round trip of 70 ms and a timer of 200 ms, three losses in a window are enough.
def test_an_impatient_timer_cuts_long_recoveries() -> None:
    impatient, patient = (life(0.05, 0.07, 2, Sender(impatient=one)) for one in (True, False))
    assert impatient.timeouts[-1] > 1.08 * patient.timeouts[-1]
    assert impatient.sent[-1] < patient.sent[-1]
