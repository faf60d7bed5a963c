"""The experiments of RAQM's paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from aqmlab.library.raqm.measures import (
    ACCEPTED,
    BOTH,
    CORRECTED,
    CROSS,
    FED,
    FLOOD,
    FLOWS,
    MARKS,
    PLAIN,
    SHARED,
    STILL,
    TAIL,
    TARGET,
    UNSHED,
)
from aqmlab.papers import Aqms, Experiment

THREE = {"RAQM": "raqm:q0=50", "PI": "pi:q0=50", "REM": "rem:form=ns2,q0=50"}

# 50 packets are 20 ms of the link, and 5 ms are about the length of RAQM's queue with 100 flows.
RIVALS = {name: f"{name.lower()}:target=20 ms" for name in ("PIE", "CoDel", "DualPI2")}
SHORT_RIVALS = {name: f"{name.lower()}:target=5 ms" for name in RIVALS}
NONE: Aqms = MappingProxyType({})

SAVED = {BOTH: "raqm:counts=unshed,fed=mean", STILL: "raqm:counts=unshed,fed=mean,alpha=static,m=0"}
READINGS: Aqms = {
    UNSHED: "raqm:counts=unshed",
    ACCEPTED: "raqm:counts=accepted",
    FED: "raqm:fed=mean",
    **SAVED,
    MARKS: {"aqm.name": "raqm", "aqm.ecn": True, "traffic.long.tcp.ecn": True},
}
FORMS = {"REM, its paper's form": "rem:q0=50", "REM, ns-2's with 1000-byte packets": "rem:preset=ns2.35,q0=50"}

# The network is the same in the three cases but for the delays of the clients.
TITLES = {1: "short round trips", 2: "long round trips", 3: "diverse round trips", 4: "hybrid traffic"}
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
            settings={"response.target": 50},  # also for disciplines without a target, or with a delay for one
            vary={FLOWS: LOADS[case]},
            quick=QUICK.get(case, {}),
            series=True,
            rivals=rivals,
        )
        for case in cases
    ]


def _targets(suffix: str, about: str, aqms: Aqms, targets: str, quick: str, rivals: Aqms = NONE) -> Experiment:
    return Experiment(
        name=f"case3b{suffix}",
        title=f"Case 3 with 100 flows{about}: the target queue length",
        scenario="raqm/case3",
        aqms=aqms,
        settings={FLOWS: 100},
        vary={TARGET: targets},
        quick={TARGET: quick},
        rivals=rivals,
    )


def _one(
    name: str,
    title: str,
    case: int,
    flows: int,
    aqms: Aqms,
    vary: Mapping[str, str],
    quick: Mapping[str, str],
    duration: float = 200,
) -> Experiment:
    """Describe an experiment on a parameter of RAQM, at one load."""
    return Experiment(
        name=name,
        title=f"Case {case} with {flows} flows: {title}",
        scenario=f"raqm/case{case}",
        aqms=aqms,
        settings={FLOWS: flows, "duration": f"{duration} s", "warmup": f"{duration / 2} s"},
        vary=vary,
        quick=quick,
        series=True,
        rivals=NONE,
    )


RATE = "raqm:mode=queue-independent"
PAPER_TARGETS = ("20,30..90", "20,60,90")

EXPERIMENTS = (
    *_cases("", "", THREE, (1, 2, 3, 4), rivals=RIVALS),
    *_cases("-taildrop", ", tail drop", {TAIL: "droptail"}),
    _targets("", "", THREE, *PAPER_TARGETS, RIVALS),
    _targets("-low", ", targets below the paper's, where RAQM's own queue is", THREE, "5,10,15", "5,10", SHORT_RIVALS),
    Experiment(
        name="case3b-taildrop",
        title="Case 3 with 100 flows, tail drop: the buffer",
        scenario="raqm/case3",
        aqms={TAIL: "droptail"},
        settings={FLOWS: 100},
        vary={"dumbbell.buffer": [f"{packets} packets" for packets in (40, 60, 80, 100)]},
        quick={"dumbbell.buffer": ["60 packets", "100 packets"]},
        rivals=NONE,
    ),
    # Section 2: the law, its gain and its period.
    *_cases("-rate", ", queue-independent mode", {"RAQM": RATE}),
    _one("gamma", "the expected rate", 1, 40, {"RAQM": RATE}, {"aqm.gamma": "0.8,0.9,0.95,1"}, {"aqm.gamma": "0.8,1"}),
    _one(
        "static",
        "a static alpha in the queue-independent mode",
        1,
        40,
        {"static": f"{RATE},alpha=static", "adaptive": RATE},
        {"aqm.m": "0.5,1,2,3,3.9,6,10"},
        {"aqm.m": "0.5,2,10"},
    ),
    _one("gain", "the gain", 1, 40, {"RAQM": "raqm"}, {"aqm.eps": "0.5,0.75,0.9,1"}, {"aqm.eps": "0.5,0.9"}),
    _one(
        "gain-rate",
        "the gain in the queue-independent mode",
        1,
        400,
        {"RAQM": RATE},
        {"aqm.eps": "0.3,0.5,0.75,0.9,1"},
        {"aqm.eps": "0.5,0.9"},
    ),
    _one(
        "period",
        "the period of measurement in the queue-independent mode",
        3,
        100,
        {"RAQM": RATE},
        {"aqm.period": "100 ms,200 ms,500 ms,1 s,2 s"},
        {"aqm.period": "100 ms,1 s,2 s"},
        duration=600,  # with T = 2 s p_k takes twice as long to its place
    ),
    # Beyond the paper: what the target does, and other readings.
    Experiment(
        name="invariance",
        title="Case 3 with 40 flows: two targets, with p_0 and the floor of p_k in proportion",
        scenario="raqm/case3",
        aqms={"q0 = 50": "raqm:q0=50,p=0.0002,p_min=1e-6", "q0 = 25": "raqm:q0=25,p=0.0001,p_min=5e-7"},
        rivals=NONE,
    ),
    *_cases("-readings", ", other readings of the law", READINGS),
    *_cases("-readings", ", other readings of the law", SAVED, [4]),
    _targets("-readings", ", other readings of the law", {UNSHED: READINGS[UNSHED], **SAVED}, *PAPER_TARGETS),
    *_cases("-rem", ", other forms of REM", FORMS),
    Experiment(
        name="bottlenecks",
        title="Three bottlenecks in a row",
        scenario="raqm/bottlenecks",
        aqms=THREE,
        vary={path: [20, 100] for path in CROSS.values()},
        method="paired",
    ),
    Experiment(
        name="bottlenecks-shares",
        title="Three bottlenecks in a row: the flows that cross all are an aggregate of their own",
        scenario="raqm/bottlenecks",
        aqms={PLAIN: "raqm:q0=50", SHARED: "raqm:q0=50,shares=[0.3,0.7]"},
        settings={f"traffic.{name}.class": 2 for name in ("cross1", "cross2", "cross3")},
        vary={path: [20, 100] for path in CROSS.values()},
        method="paired",
        rivals=NONE,
    ),
    Experiment(
        name="sub-aggregates",
        title="Sub-aggregates with shares of the link",
        scenario="raqm/sub-aggregates",
        aqms={
            PLAIN: "raqm:shares=[1],r0=literal",
            SHARED: "raqm:r0=literal",
            CORRECTED: "raqm:r0=corrected",
        },
        vary={FLOOD: ["200 kbit/s", "8 Mbit/s"]},
        rivals=NONE,
    ),
)
