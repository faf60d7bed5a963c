"""Senders whose packets leave in bursts, and receivers that take several in at once."""

import pytest

import aqmlab
from aqmlab import Scenario, ScenarioError

FAST = """
duration = "3 s"
warmup = "1 s"

[dumbbell]
rate = "100 Mbit/s"
buffer = "1000 packets"
access_rate = "10 Gbit/s"
sender_delay = "10 ms"

[[traffic]]
name = "download"
"""


def metrics(**tcp: object) -> dict[str, float | None]:
    scenario = Scenario.parse(FAST).with_({f"traffic.download.tcp.{key}": value for key, value in tcp.items()})
    return dict(aqmlab.run(scenario).runs[0].metrics)


def test_a_sender_that_offloads_fills_a_queue_with_bursts() -> None:
    alone, bursts = (metrics(preset="bbr", offload=offload) for offload in (False, True))
    # A millisecond of 100 Mbit/s is eight packets, of which half wait on average.
    assert 1 < (bursts["queue_mean"] or 0) - (alone["queue_mean"] or 0) < 8
    assert bursts["goodput"] == pytest.approx(alone["goodput"], rel=0.02)


def test_fq_paces_every_control() -> None:
    # With a window that the path has room for nothing waits but what is sent at one time: two segments for an ACK.
    unpaced, paced = (metrics(pacing=pacing, max_window=40)["queue_delay_max"] for pacing in ("own", "fq"))
    assert (unpaced, paced) == (pytest.approx(1500 * 8 / 100e6, rel=0.02), 0)


def test_a_receiver_that_joins_segments_sends_fewer_acknowledgements() -> None:
    def acks(wait: str) -> float:
        text = FAST + f'tcp.receive_offload = "{wait}"\n\n[reverse_aqm]\nname = "droptail"\n'
        return aqmlab.run(Scenario.parse(text)).owned("links")["bottleneck:reverse"]["arrivals"].mean or 0

    # Eight segments come in a millisecond, and are not joined if their timestamps, in ms, differ.
    assert acks("1 ms") < acks("0 s") / 2


@pytest.mark.parametrize(
    ("key", "value"), [("offload", True), ("pacing", "fq"), ("receive_offload", "50 us")], ids=lambda part: str(part)
)
def test_only_senders_that_follow_linux_offload(key: str, value: object) -> None:
    settings = {"traffic.download.tcp.preset": "ns2.35", f"traffic.download.tcp.{key}": value}
    with pytest.raises(ScenarioError, match=rf"{key}.*flavour"):
        Scenario.parse(FAST).with_(settings).check()


def test_a_burst_is_a_key_of_cbr_alone() -> None:
    with pytest.raises(ScenarioError, match="pacing_burst"):
        Scenario.parse(FAST + "pacing_burst = 4\n").check()
    with pytest.raises(ScenarioError, match="pacing_burst"):
        Scenario.parse(FAST + 'kind = "cbr"\npacing_burst = 0\n').check()
