"""The experiments of the study."""

from __future__ import annotations

from collections.abc import Iterable

from aqmlab.library.impact.measures import APPROXIMATED, GENTLE, HERO, RED, SPLITS, SURGE_BEGIN, SURGE_END, TD
from aqmlab.papers import Aqms, Experiment

# RED is the scenarios' discipline, which allows a variant to move its thresholds.
SHARP: Aqms = {TD: "droptail", RED: {}}
GENTLE_REDS: Aqms = {APPROXIMATED: {"aqm.max_th": 130, "aqm.max_p": 1.0}, GENTLE: {"aqm.gentle": True}}
ALL: Aqms = {**SHARP, **GENTLE_REDS, HERO: "gredi"}

# About the delay of GRED-I with 200 greedy sources: the same point on the trade-off of delay and loss.
RIVALS: Aqms = {
    "PIE": "pie:target=45 ms",
    "CoDel": "codel:target=45 ms",
    "DualPI2": "dualpi2:target=45 ms",
}


def split(flows: Iterable[int]) -> dict[str, list[int] | list[str]]:
    """Return the values that split 1 Mbit/s of UDP into given numbers of flows; gaps vary by half."""
    flows = list(flows)
    return {
        "traffic.udp.count": flows,
        "traffic.udp.rate": [f"{2000 / count:g} kbit/s" for count in flows],
        "traffic.udp.on": [f"{4 * count} ms" for count in flows],
        "traffic.udp.off": [f"uniform(0 s, {8 * count} ms)" for count in flows],
    }


EXPERIMENTS = [
    Experiment(
        name="tcp",
        title="Experiments 1 to 5: 256, 128, 64, 32 and 16 sources of TCP",
        scenario="impact/tcp",
        aqms=SHARP,
        vary={
            "traffic.ftp.count": [205, 102, 51, 26, 13],
            "traffic.gif.count": [26, 13, 7, 3, 2],
            "traffic.text.count": [25, 13, 6, 3, 1],
        },
        quick={
            "traffic.ftp.count": [205, 26, 13],
            "traffic.gif.count": [26, 3, 2],
            "traffic.text.count": [25, 3, 1],
        },
        method="paired",
        rivals={},
    ),
    Experiment(
        name="mixed",
        title="Experiments 6 to 8 with the testbed's traffic: web, files and UDP",
        scenario="impact/mixed",
        aqms={**SHARP, **GENTLE_REDS},
        vary={
            "traffic.ftp.count": [80, 40, 40],
            "traffic.gif.count": [160, 80, 80],
            "traffic.text.count": [160, 80, 80],
            "traffic.udp.count": [10, 10, 5],
        },
        quick={
            "traffic.ftp.count": [80, 40],
            "traffic.gif.count": [160, 80],
            "traffic.text.count": [160, 80],
            "traffic.udp.count": [10, 5],
        },
        method="paired",
        rivals={},
    ),
    Experiment(
        name="simulation",
        title="Experiments 6 to 8 in simulation: greedy TCP and UDP",
        scenario="impact/simulation",
        aqms=ALL,
        vary={"traffic.tcp.count": [400, 200, 200], "traffic.udp.count": [10, 10, 5]},
        quick={"traffic.tcp.count": [400, 200], "traffic.udp.count": [10, 10]},
        method="paired",
        rivals=RIVALS,
    ),
    Experiment(
        name="queue",
        title="The queue over time: 200 greedy TCP sources, 10 % of UDP",
        scenario="impact/simulation",
        aqms=ALL,
        series=True,
        most_seeds=1,
        rivals={},
    ),
    Experiment(
        name="averaging",
        title="RED's averaging weight: 200 greedy TCP sources, 10 % of UDP",
        scenario="impact/simulation",
        aqms={RED: {}},
        vary={"aqm.w_q": [0.001, 0.01, 0.1, 1.0]},
        rivals={},
    ),
    Experiment(
        name="short",
        title="RED beside tail drop with a buffer of max_th packets",
        scenario="impact/simulation",
        aqms={RED: {}, "tail drop of 90 packets": {"aqm": "droptail", "dumbbell.buffer": "90 packets"}},
        rivals={},
    ),
    Experiment(
        name="surge",
        title="A surge: 5 Mbit/s of UDP for 10 s beside 50 greedy TCP sources",
        scenario="impact/simulation",
        aqms={RED: {}, HERO: "gredi"},
        settings={
            "duration": "100 s",
            "traffic.tcp.count": 50,
            "traffic.udp.rate": "1 Mbit/s",
            "traffic.udp.on": "8 ms",
            "traffic.udp.off": "uniform(0 s, 16 ms)",
            "traffic.udp.active": [f"{SURGE_BEGIN} s", f"{SURGE_END} s"],
        },
        series=True,
        most_seeds=5,
        rivals={},
    ),
    Experiment(
        name="split",
        title="Beyond the paper: 1 Mbit/s of UDP in 1 to 40 flows, beside 400 sources of the testbed's traffic",
        scenario="impact/mixed",
        aqms=SHARP,
        settings={"duration": "300 s"},
        vary=split(SPLITS),
        quick=split((1, 40)),
        method="paired",
        rivals={},
        most_seeds=3,
    ),
]
