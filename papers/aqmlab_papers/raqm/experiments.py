"""The experiments of RAQM's paper."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from aqmlab_papers import Aqms, Experiment
from aqmlab_papers.raqm import measures
from aqmlab_papers.raqm.measures import BOTH, CROSS, FED, FLOOD, FLOWS, PLAIN, STILL, TAIL, TARGET, UNSHED

THREE = {"RAQM": "raqm:q0=50", "PI": "pi:q0=50", "REM": "rem:form=ns2,q0=50"}

# 50 packets are 20 ms of the link, and 5 ms are about the length of RAQM's queue with 100 flows.
RIVALS = {name: f"{name.lower()}:target=20 ms" for name in ("PIE", "CoDel", "DualPI2")}
SHORT_RIVALS = {name: f"{name.lower()}:target=5 ms" for name in RIVALS}
NONE: Aqms = MappingProxyType({})

SAVED = {BOTH: "raqm:counts=unshed,fed=mean", STILL: "raqm:counts=unshed,fed=mean,alpha=static,m=0"}
READINGS: Aqms = {
    UNSHED: "raqm:counts=unshed",
    measures.ACCEPTED: "raqm:counts=accepted",
    FED: "raqm:fed=mean",
    **SAVED,
    measures.MARKS: {"aqm.name": "raqm", "aqm.ecn": True, "traffic.long.tcp.ecn": True},
}
FORMS = {"REM, its paper's form": "rem:q0=50", "REM, ns-2's with 1000-byte packets": "rem:preset=ns2.35,q0=50"}

# The network is the same in the three cases but for the delays of the clients.
TITLES = {1: "short round trips", 2: "long round trips", 3: "diverse round trips", 4: "hybrid traffic"}
BUFFER = "dumbbell.buffer"
# A loss event is a round trip with the target queue; of the diverse ones, the mean.
EVENTS = {1: "70 ms", 2: "250 ms", 3: "250 ms", 4: "250 ms"}
LOADS = {1: "40,400", 2: "40,400", 3: "40,400", 4: "40,100,400"}
QUICK = {4: {FLOWS: "100"}}


def _cases(
    suffix: str, about: str, aqms: Aqms, cases: Sequence[int] = (1, 2, 3), rivals: Aqms = NONE
) -> list[Experiment]:
    """List the experiments of cases 1 to 3, or of others, with these disciplines."""
    return [
        Experiment(
            name=f"case{case}{suffix}",
            title=f"Case {case}: {TITLES[case]}{about}",
            scenario=f"raqm/case{case}",
            aqms=aqms,
            # The target also for disciplines without one, or with a delay for one.
            settings={"response.target": 50, "record.loss_event": EVENTS[case]},
            vary={FLOWS: LOADS[case]},
            quick=QUICK.get(case, {}),
            series=True,
            rivals=rivals,
        )
        for case in cases
    ]


def _over(
    name: str,
    title: str,
    load: tuple[int, int],
    aqms: Aqms,
    path: str,
    values: str | Sequence[str],
    quick: str | Sequence[str],
    rivals: Aqms = NONE,
    duration: int = 200,
) -> Experiment:
    """Describe an experiment on a parameter, in one case with one number of flows."""
    case, flows = load
    return Experiment(
        name,
        f"Case {case} with {flows} flows: {title}",
        aqms,
        scenario=f"raqm/case{case}",
        settings={FLOWS: flows, "duration": f"{duration} s", "warmup": f"{duration // 2} s"},
        vary={path: values},
        quick={path: quick},
        series=path not in (TARGET, BUFFER),
        rivals=rivals,
    )


RATE = "raqm:mode=queue-independent"
PAPER_TARGETS = ("20,30..90", "20,60,90")

RAQM, BY_RATE = {"RAQM": "raqm"}, {"RAQM": RATE}
FEW, MANY, HUNDRED = (1, 40), (1, 400), (3, 100)
BUFFERS = ["40 packets", "60 packets", "80 packets", "100 packets"]

EXPERIMENTS = (
    *_cases("", "", THREE, (1, 2, 3, 4), rivals=RIVALS),
    *_cases("-taildrop", ", tail drop", {TAIL: "droptail"}),
    _over("case3b", "the target queue length", HUNDRED, THREE, TARGET, *PAPER_TARGETS, RIVALS),
    _over("case3b-low", "targets where RAQM's own queue is", HUNDRED, THREE, TARGET, "5,10,15", "5,10", SHORT_RIVALS),
    _over("case3b-taildrop", "tail drop, the buffer", HUNDRED, {TAIL: "droptail"}, BUFFER, BUFFERS, BUFFERS[1::2]),
    # Section 2: the law, its gain and its period.
    *_cases("-rate", ", queue-independent mode", BY_RATE),
    _over("gamma", "the expected rate", FEW, BY_RATE, "aqm.gamma", "0.8,0.9,0.95,1", "0.8,1"),
    _over(
        "static",
        "a static alpha in the queue-independent mode",
        FEW,
        {"static": f"{RATE},alpha=static", "adaptive": RATE},
        "aqm.m",
        "0.5,1,2,3,3.9,6,10",
        "0.5,2,10",
    ),
    _over("gain", "the gain", FEW, RAQM, "aqm.eps", "0.5,0.75,0.9,1", "0.5,0.9"),
    _over("gain-rate", "the gain by the rate alone", MANY, BY_RATE, "aqm.eps", "0.3,0.5,0.75,0.9,1", "0.5,0.9"),
    # With T = 2 s p_k takes twice as long to its place.
    replace(
        _over(
            "period",
            "T",
            HUNDRED,
            BY_RATE,
            "aqm.period",
            "100 ms,200 ms,500 ms,1 s,2 s",
            "100 ms,1 s,2 s",
            duration=600,
        ),
        varied=False,
    ),
    # Beyond the paper: what the target does, and other readings.
    Experiment(
        "invariance",
        "Case 3 with 40 flows: two targets, with p_0 and the floor of p_k in proportion",
        {"q0 = 50": "raqm:q0=50,p=0.0002,p_min=1e-6", "q0 = 25": "raqm:q0=25,p=0.0001,p_min=5e-7"},
        scenario="raqm/case3",
        rivals=NONE,
    ),
    *_cases("-readings", ", other readings of the law", READINGS),
    *_cases("-readings", ", other readings of the law", SAVED, [4]),
    _over("case3b-readings", "other readings", HUNDRED, {UNSHED: READINGS[UNSHED], **SAVED}, TARGET, *PAPER_TARGETS),
    *_cases("-rem", ", other forms of REM", FORMS),
    Experiment(
        "bottlenecks",
        "Three bottlenecks in a row",
        THREE,
        scenario="raqm/bottlenecks",
        vary={path: [20, 100] for path in CROSS.values()},
        method="paired",
    ),
    Experiment(
        "bottlenecks-shares",
        "Three bottlenecks in a row: the flows that cross all are an aggregate of their own",
        {PLAIN: "raqm:q0=50", measures.SHARED: "raqm:q0=50,shares=[0.3,0.7]"},
        scenario="raqm/bottlenecks",
        settings={f"traffic.{name}.class": 2 for name in ("cross1", "cross2", "cross3")},
        vary={path: [20, 100] for path in CROSS.values()},
        method="paired",
        rivals=NONE,
    ),
    Experiment(
        "sub-aggregates",
        "Sub-aggregates with shares of the link",
        {
            PLAIN: "raqm:shares=[1],r0=literal",
            measures.SHARED: "raqm:shares=[0.5,0.3,0.2],r0=literal",
            measures.CORRECTED: "raqm:shares=[0.5,0.3,0.2],r0=corrected",
        },
        scenario="raqm/sub-aggregates",
        vary={FLOOD: ["200 kbit/s", "8 Mbit/s"]},
        rivals=NONE,
    ),
)
