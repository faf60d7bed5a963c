"""The experiments: the pairs of flows of scenarios 1 and 6 of the batch."""

from functools import partial
from itertools import product

from aqmlab.scenario import Settings
from aqmlab_papers import Experiment
from aqmlab_papers.l4s_tests.measures import pair, points

ROUND_TRIPS = [(10, 10), (20, 10), (20, 20), (80, 80), (80, 20), (160, 10)]
"""Those of the two flows (ms)."""

EQUAL = [(one, other) for one, other in ROUND_TRIPS if one == other]
UNEQUAL = [(one, other) for one, other in ROUND_TRIPS if one != other]
PAIRS = [pair(trip, *ccs) for trip in ROUND_TRIPS for ccs in product(("prague", "cubic"), repeat=2)]
FEW = [pair((20, 20), "prague", "cubic"), *(pair((160, 10), cc, cc) for cc in ("prague", "cubic"))]
BESIDE = [f"{kind}-{ecn}" for kind in ("cubic", "reno") for ecn in ("ecn", "noecn")]
"""The flows beside Prague's in shared queues."""

DUALPI2 = "dualpi2:preset=linux,min_qlen_step=2"


def _queue(aqm: str, buffer: str, **more: str) -> Settings:
    return {"aqm": aqm, "link.bottleneck.buffer": buffer, **{f"aqm.aqm.{key}": value for key, value in more.items()}}


def _red(buffer: str) -> Settings:
    return _queue("ared:preset=linux,mean_packet=1000 B,bandwidth=50 Mbit/s,ages=false,ecn=true", buffer)


FQ = "fq:preset=linux"
SHARED = {
    "fq_codel(1q)": _queue(f"{FQ},flows=1", "10240 packets"),
    "fq_codel(1q,1ms/20ms)": _queue(f"{FQ},flows=1", "10240 packets", target="1 ms", interval="20 ms"),
    "pie": _queue("pie:preset=linux,ecn=true", "1000 packets"),
    "pie(100p/5ms)": _queue("pie:preset=linux,ecn=true,target=5 ms,t_update=32 ms", "100 packets"),
    "red(150000b)": _red("150000 B"),
    "red(400000b)": _red("400000 B"),
}

Two = partial(Experiment, scenario="l4s-tests/two-flows", method="paired", rivals={})


def _fairness(rate: int, buffer: str) -> Experiment:
    return Two(
        f"fairness-{rate}",
        f"RTT fairness: CUBIC and Prague at {rate} Mbit/s",
        {
            "dualpi2": _queue(DUALPI2, "10000 packets"),
            "pfifo": _queue("droptail", buffer),
            "fq_codel": _queue(FQ, "10240 packets"),
        },
        points(PAIRS),
        points(FEW),
        settings={RATE: f"{rate} Mbit/s"},
    )


RATE = "link.bottleneck.rate"
RATES = (10, 50)

EXPERIMENTS = [
    _fairness(10, "200 packets"),
    _fairness(50, "1000 packets"),
    Two(
        "rfc3168",
        "Prague beside another flow in queues that mark by RFC 3168",
        SHARED,
        points(pair((20, 20), "prague", one) for one in BESIDE),
        settings={"duration": "58 s", "warmup": "18 s"},
    ),
    Two(
        "now",
        "Two flows of Prague with its present virtual round trip",
        {"dualpi2": _queue(DUALPI2, "10000 packets")},
        {
            **points(pair(trip, "prague-now", "prague-now") for _ in RATES for trip in UNEQUAL),
            RATE: [f"{rate} Mbit/s" for rate in RATES for _ in UNEQUAL],
        },
        varied=False,
    ),
    Two(
        "step",
        "DualPI2 whose step has no least queue, at 10 Mbit/s",
        {"dualpi2": _queue("dualpi2:preset=linux", "10000 packets")},
        points(pair(trip, "prague", "cubic") for trip in EQUAL),
        settings={RATE: "10 Mbit/s"},
        varied=False,
    ),
]
