"""The experiments of RAQM's paper."""

from __future__ import annotations

from aqmlab.library.raqm.measures import CORRECTED, CROSS, FLOOD, FLOWS, PLAIN, SHARED, TARGET
from aqmlab.papers import Experiment

THREE = {"RAQM": "raqm", "PI": "pi", "REM": "rem"}

# 50 packets are 20 ms of the link.
RIVALS = {"PIE": "pie:target=20 ms", "CoDel": "codel:target=20 ms", "DualPI2": "dualpi2:target=20 ms"}

# About the length of RAQM's queue with 100 flows, for comparisons at the same queue.
SHORT_RIVALS = {"PIE": "pie:target=5 ms", "CoDel": "codel:target=5 ms", "DualPI2": "dualpi2:target=5 ms"}
BOTH = {FLOWS: "40,400"}


def _case(number: int, title: str) -> Experiment:
    return Experiment(
        name=f"case{number}",
        title=f"Case {number}: {title}",
        scenario=f"raqm/case{number}",
        aqms={label: f"{name}:q0=50" for label, name in THREE.items()},
        settings={"response.target": 50},  # also for PIE and CoDel, whose targets are delays
        vary=BOTH,
        series=True,
        rivals=RIVALS,
    )


EXPERIMENTS = (
    _case(1, "short round trips"),
    _case(2, "long round trips"),
    _case(3, "diverse round trips"),
    Experiment(
        name="case3b",
        title="Case 3 with 100 flows: the target queue length",
        scenario="raqm/case3",
        aqms=THREE,
        settings={FLOWS: 100},
        vary={TARGET: "20,30..90"},
        quick={TARGET: "20,60,90"},
        rivals=RIVALS,
    ),
    Experiment(
        name="case3b-low",
        title="The same with targets below the paper's, where RAQM's own queue is",
        scenario="raqm/case3",
        aqms=THREE,
        settings={FLOWS: 100},
        vary={TARGET: "5,10,15"},
        quick={TARGET: "5,10"},
        rivals=SHORT_RIVALS,
    ),
    _case(4, "hybrid traffic"),
    Experiment(
        name="corrected",
        title="Case 3 with 100 flows and the corrected rate target: the target queue length",
        scenario="raqm/case3",
        aqms={"RAQM, r0 = C / (1 - l)": "raqm:r0=corrected"},
        settings={FLOWS: 100},
        vary={TARGET: "20,30..90"},
        quick={TARGET: "20,60,90"},
        rivals={},
    ),
    Experiment(
        name="gain",
        title="Case 1 with 40 flows: the gain",
        scenario="raqm/case1",
        aqms={"RAQM": "raqm"},
        vary={"aqm.eps": "0.5,0.75,0.9,1"},
        quick={"aqm.eps": "0.5,0.9"},
        series=True,
        rivals={},
    ),
    Experiment(
        name="period",
        title="Case 3 with 100 flows: the period of measurement",
        scenario="raqm/case3",
        aqms={"RAQM": "raqm"},
        settings={FLOWS: 100},
        vary={"aqm.period": "100 ms,200 ms,500 ms,1 s,2 s"},
        quick={"aqm.period": "100 ms,1 s"},
        rivals={},
    ),
    Experiment(
        name="bottlenecks",
        title="Three bottlenecks in a row",
        scenario="raqm/bottlenecks",
        aqms={PLAIN: "raqm:q0=50", "PI": "pi:q0=50", "REM": "rem:q0=50"},
        vary={path: [20, 100] for path in CROSS.values()},
        method="paired",
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
    ),
)
