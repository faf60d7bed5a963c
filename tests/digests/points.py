"""The thirty scenarios: every family of queue disciplines, senders of each kind, both clocks, every kind of traffic."""

from typing import Any

from aqmlab import Scenario

MIXED = """
duration = "8 s"
warmup = "1 s"
seed = 11

[dumbbell]
rate = "4 Mbit/s"
buffer = "80 packets"
receiver_delay = ["5 ms", "37 ms", "exponential(40 ms)"]
changes = ["3 s: 2 Mbit/s", "5 s: 8 Mbit/s"]
loss = { good_to_bad = 0.001, bad_to_good = 0.4 }

[[traffic]]
name = "long"
count = 8
start = "uniform(0 s, 1 s)"

[[traffic]]
name = "short"
kind = "short"
arrival_rate = "12 /s"
size = "pareto(9 kB, 1.3)"
class = 2

[[traffic]]
name = "web"
kind = "web"
count = 6
objects = 3
connections = 2
think = "exponential(1 s)"
class = 3

[[traffic]]
name = "noise"
kind = "fgn"
rate = "300 kbit/s"
packet_size = "300 B"
class = 4

[[traffic]]
name = "back"
kind = "on-off"
from = "receivers"
to = "senders"
rate = "500 kbit/s"
ecn = "ect0"
"""

MIXTURES = (
    ("red:ecn=true", "linux"),
    ("red:preset=ns2.35", "ns2.35"),
    ("red:preset=linux", "dctcp"),
    ("ared", "ns2-2002"),
    ("dtared", "reno"),
    ("feng", "tahoe"),
    ("nlred", "newreno"),
    ("wred", "sack"),
    ("pi", "rfc5681"),
    ("pi2:ecn=true", "bbr"),
    ("pie", "ledbat"),
    ("rem", "ns2.35:flavour=sack"),
    ("avq", "cubic"),
    ("step", "dctcp"),
    ("codel:ecn=true", "linux:ecn=true"),
    ("blue", "rfc5681:flavour=sack"),
    ("cobalt", "cubic:hystart=false"),
    ("fred", "ns2.35:flavour=tahoe"),
    ("sred", "linux:congestion=reno"),
    ("sfb", "rfc5681:delayed_ack=false"),
    ("choke", "newreno"),
    ("jobs_ecn", "rfc5681:ecn=true"),
    ("fq_codel", "bbr"),
    ("headdrop", "linux:sack_blocks=1"),
    ("dualpi2", "prague"),
    ("dualpi2:preset=linux", "bbr3-l4s"),
    ("curvyred", "prague"),
)
"""Disciplines and the senders of `long`, on the mixture above."""

SHIPPED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("classes", {"duration": "6 s", "warmup": "1 s"}),
    ("l4s", {"duration": "3 s", "warmup": "1 s"}),
    ("parking-lot", {"duration": "6 s", "warmup": "1 s", "traffic.udp.start": "2 s"}),
    ("raqm/case1", {"duration": "6 s", "warmup": "1 s"}),
    ("redtail/steady", {"duration": "6 s", "warmup": "1 s"}),
)
"""Shipped scenarios, shortened."""

FLUID = (("lred/exp1", {"duration": "20 s", "warmup": "5 s"}),)
"""Scenarios for which the fluid equations are solved."""


def orders() -> dict[str, dict[str, Any]]:
    """Return the input of tests/engines/examples/digest.rs, by scenario name."""
    made: dict[str, dict[str, Any]] = {}
    for aqm, tcp in MIXTURES:
        scenario = Scenario.parse(MIXED, "mixed").with_(aqm=aqm)._with_text("traffic.long.tcp", tcp)
        made[f"mixed {aqm} {tcp}"] = {"text": scenario.to_toml()}
    for name, settings in SHIPPED:
        made[name] = {"text": Scenario.load(name).with_(settings).to_toml()}
    for name, settings in FLUID:
        made[f"fluid {name}"] = {"text": Scenario.load(name).with_(settings).to_toml(), "fluid": True}
    return made
