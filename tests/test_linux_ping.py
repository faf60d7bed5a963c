"""Pings on the Linux engine: requests and answers over real sockets."""

import pytest

import aqmlab
from aqmlab import Scenario

pytestmark = pytest.mark.linux

ALONE = """\
duration = "3 s"
warmup = "0.5 s"
record.series = false
[dumbbell]
rate = "2 Mbit/s"
delay = "7 ms"
sender_delay = ["1 ms", "4 ms"]
[[traffic]]
name = "ping"
kind = "ping"
count = 2
interval = "50 ms"
"""


@pytest.mark.parametrize("ip", ["4", "6"])
def test_a_ping_alone_takes_the_idle_time(guest: None, ip: str) -> None:
    engine = "linux" if ip == "4" else "linux:ip=6"
    ping, simulated = (
        aqmlab.run(Scenario.parse(ALONE), engine=on).runs[0].classes["ping"] for on in (engine, "packet")
    )
    # In virtual time computing takes no time, but timers have their grain.
    assert ping["rtt_mean"] == pytest.approx(ping["rtt_idle"], abs=10e-6)
    assert ping["rtt_idle"] == simulated["rtt_idle"]
    assert ping["path_loss_ratio"] == simulated["path_loss_ratio"] == 0
    assert ping["arrivals"] == simulated["arrivals"]
    assert ping["goodput"] == pytest.approx(simulated["goodput"], rel=0.05 if ip == "4" else 0.5)


def test_pings_under_load_take_as_long_as_in_the_simulation(guest: None) -> None:
    load = '[[traffic]]\nname = "up"\nfrom = "receivers"\nto = "senders"\ntcp = "linux"\n'
    scenario = Scenario.parse(ALONE.replace("3 s", "10 s") + load + '[reverse_aqm]\nname = "codel"\n')
    found, simulated = (aqmlab.run(scenario, engine=on).runs[0].classes["ping"] for on in ("linux", "packet"))
    assert found["rtt_mean"] == pytest.approx(simulated["rtt_mean"], rel=0.1)
    assert found["rtt_mean"] > 1.2 * found["rtt_idle"]
