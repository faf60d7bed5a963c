"""The experiments: two flows with a round trip of 10 ms share 100 Mbit/s for a minute."""

from collections.abc import Iterable
from functools import partial

from aqmlab_papers import Experiment
from aqmlab_papers.describe.paper import Aqms
from aqmlab_papers.l4s_tests.experiments import DUALPI2, FQ
from aqmlab_papers.partial_l4s.measures import BUFFERS, DEFAULT, JITTERED, MIDDLE, PRAGUES, SENDERS

STEP = "step:by=delay,delay=5 ms,others=pass"
QUEUES: Aqms = {
    "FIFO": "droptail",
    "FIFO+ECN": STEP,
    "CoDel (drops)": "codel:preset=linux",
    "PIE (drops)": "pie:preset=linux,target=5 ms",
    "CoDel": "codel:preset=linux,ecn=true",
    "FQ": {"aqm": "fq:drop_batch=0,quantum=3028 B", "aqm.aqm": STEP},
    "FQ-CoDel": FQ,
}
LAST: Aqms = {"DualPI2": f"{DUALPI2},target=5 ms"}
ALL = (*QUEUES, *LAST)
"""The labels of all queues."""


def _points(firsts: Iterable[str], seconds: Iterable[str], buffers: Iterable[int]) -> dict[str, list[str]]:
    return {
        "traffic.first.tcp": [PRAGUES[one] for one in firsts],
        "traffic.second.tcp": [SENDERS[one] for one in seconds],
        "link.bottleneck.buffer": [f"{one} packets" for one in buffers],
    }


Two = partial(
    Experiment,
    scenario="l4s-tests/two-flows",
    settings={
        "duration": "60 s",
        "warmup": "0 s",
        "link.bottleneck.rate": "100 Mbit/s",
        "link.first.delay": "5 ms",
        "link.second.delay": "5 ms",
    },
    quick={"link.bottleneck.buffer": [f"{MIDDLE} packets"]},
    rivals={},
)

EXPERIMENTS = [
    Two("buffers", "Prague beside another flow", QUEUES, _points(["prague"], SENDERS, BUFFERS.values())),
    Two("dualpi2", "The same behind DualPI2", LAST, _points(PRAGUES, SENDERS, [DEFAULT]), quick={}),
    Two(
        "fallback",
        "Prague with its fallback beside CUBIC",
        {name: one for name, one in QUEUES.items() if "drops" not in name},
        _points(["fallback"], ["cubic-ecn"], BUFFERS.values()),
    ),
    Two("instead", "Another flow in Prague's place", QUEUES, _points(["cubic", "older"], SENDERS, [MIDDLE]), quick={}),
    Two(
        "noise",
        "DualPI2, and BBR on a host that sends with jitter",
        LAST,
        {**_points(["prague"], ["bbr"], [DEFAULT]), "traffic.second.send_jitter": list(JITTERED)},
        quick={},
    ),
]
