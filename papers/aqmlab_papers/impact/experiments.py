"""The experiments of the study."""

from collections.abc import Iterable
from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import Aqms, Experiment
from aqmlab_papers.impact import measures as m

# RED is the scenarios' discipline. The others are changes of it, so that a variant moves the spacing of all drops.
SHARP: Aqms = {m.TD: "droptail", m.RED: {}}
SMOOTH: Settings = {"aqm.max_th": 200, "aqm.max_p": 1.0}
GENTLE_REDS: Aqms = {m.APPROXIMATED: {"aqm.max_th": 130, "aqm.max_p": 1.0}, m.GENTLE: {"aqm.gentle": True}}
GRED_I: Settings = {**SMOOTH, "aqm.w_q": 1.0}
ALL: Aqms = {**SHARP, **GENTLE_REDS, m.HERO: GRED_I}

# About the delay of GRED-I with 200 greedy sources: the same point on the trade-off of delay and loss.
RIVALS: Aqms = {"PIE": "pie:target=45 ms", "CoDel": "codel:target=45 ms", "DualPI2": "dualpi2:target=45 ms"}

LARGE, SMALL = [205, 102, 51, 26, 13], ([26, 13, 7, 3, 2], [25, 13, 6, 3, 1])
PURE = {"traffic.ftp.count": LARGE, "traffic.gif.count": SMALL[0], "traffic.text.count": SMALL[1]}
MIX = {
    "traffic.ftp.count": [80, 40, 40],
    "traffic.gif.count": [160, 80, 80],
    "traffic.text.count": [160, 80, 80],
    "traffic.udp.count": [10, 10, 5],
}
EXP6 = {path: values[:1] for path, values in MIX.items()}


def split(flows: Iterable[int]) -> dict[str, list[int] | list[str]]:
    """Return the values that split 1 Mbit/s of UDP into given numbers of flows; gaps vary by half."""
    flows = list(flows)
    return {
        "traffic.udp.count": flows,
        "traffic.udp.rate": [f"{2000 / count:g} kbit/s" for count in flows],
        "traffic.udp.on": [f"{4 * count} ms" for count in flows],
        "traffic.udp.off": [f"uniform(0 s, {8 * count} ms)" for count in flows],
    }


Moving = partial(Experiment, method="paired", rivals={})
"""An experiment whose parameters move together, without later disciplines unless they are given."""
Greedy = partial(Moving, scenario="impact/simulation")


EXPERIMENTS = [
    Moving("tcp", "Experiments 1 to 5: 256, 128, 64, 32 and 16 sources of TCP", SHARP, PURE, scenario="impact/tcp"),
    Moving(
        "presets",
        "Experiments 1 to 5 with RED at other thresholds",
        {
            "30, 90": {},
            "5, 15": {"aqm.min_th": 5, "aqm.max_th": 15},
            "20, 40": {"aqm.min_th": 20, "aqm.max_th": 40},
            "30, 90, 2 %": {"aqm.max_p": 0.02},
            "5, 15, 2 %": {"aqm.min_th": 5, "aqm.max_th": 15, "aqm.max_p": 0.02},
        },
        PURE,
        scenario="impact/tcp",
        varied=False,
    ),
    Moving(
        "mixed",
        "Experiments 6 to 8 with the testbed's traffic: web, files and UDP",
        {**SHARP, **GENTLE_REDS},
        MIX,
        scenario="impact/mixed",
    ),
    Moving(
        "voice",
        "Experiment 6 with five telephone calls, twenty that adapt their rate, and twenty TCP-friendly sources",
        SHARP,
        scenario="impact/mixed",
        settings={"traffic.voice.count": 5, "traffic.adaptive.count": 20, "traffic.friendly.count": 20},
    ),
    Greedy(
        "simulation",
        "Experiments 6 to 8 in simulation: greedy TCP and UDP",
        ALL,
        {"traffic.tcp.count": [400, 200, 200], "traffic.udp.count": [10, 10, 5]},
        rivals=RIVALS,
    ),
    Greedy(
        "queue",
        "The queue over time: 200 greedy TCP sources, 10 % of UDP",
        ALL,
        settings={"record.step": "20 ms"},
        series=True,
    ),
    Greedy(
        "averaging",
        "RED's averaging weight: 200 greedy TCP sources, 10 % of UDP",
        {m.RED: {}},
        {"aqm.w_q": [0.0001, 0.001, 0.01, 0.1, 1.0]},
    ),
    Greedy(
        "short",
        "Tail drop with a buffer of max_th packets, beside RED with and without its average and its edge",
        {
            m.RED: {},
            m.AVERAGE_GONE: {"aqm.w_q": 1.0},
            m.SLOPE_ALONE: SMOOTH,
            m.SHORT: {"aqm": "droptail", "dumbbell.buffer": "90 packets"},
        },
    ),
    Greedy(
        "corners",
        "Independent drops, as in the model: averaging alone, the slope alone, both, none; 400 greedy TCP sources",
        {**ALL, m.SLOPE_ALONE: SMOOTH, m.AVERAGE_GONE: {"aqm.w_q": 1.0}},
        settings={"traffic.tcp.count": 400, "aqm.spacing": "none"},
    ),
    Greedy(
        "flows",
        "RED with 50 to 2000 greedy TCP sources, max_p of 2 and 10 %",
        {"max_p = 2 %": {"aqm.max_p": 0.02}, "max_p = 10 %": {}},
        {"traffic.tcp.count": [50, 200, 1000, 2000]},
        quick={"traffic.tcp.count": [50, 1000]},
    ),
    Greedy(
        "equal",
        "Round trips of 165 to 175 ms: 200 greedy TCP sources, 10 % of UDP",
        ALL,
        settings={"dumbbell.sender_delay": ["uniform(72.5 ms, 77.5 ms)"]},
    ),
    Greedy(
        "bursts",
        "Smooth and bursty UDP side by side, 5 % of each: 200 greedy TCP sources",
        {m.TD: "droptail", m.RED: {}, m.AVERAGE_GONE: {"aqm.w_q": 1.0}, m.HERO: GRED_I},
        settings={"traffic.udp.count": 5, "traffic.bursty.count": 5},
    ),
    *(
        Moving(
            name,
            f"A link failure: the load of a half-used link {rises} for 5 s",
            ALL,
            {"traffic.web.count": [450, 500, 545]},
            scenario="impact/failure",
            quick={"traffic.web.count": [545]},
            settings={"dumbbell.changes": [f"{m.FAILS} s: {rate} Mbit/s", f"{m.RETURNS} s: 10 Mbit/s"]},
            series=True,
        )
        for name, rises, rate in (("fifth", "rises by a fifth", 8.333), ("double", "doubles", 5))
    ),
    Moving(
        "links",
        "Round trips of 10 to 200 ms: four groups of 16 greedy flows",
        {**ALL, "Fair queues": "drr"},
        scenario="impact/links",
    ),
    Greedy(
        "isolation",
        "A flow of 5 Mbit/s that does not slow down, beside 50 greedy TCP sources",
        {
            **ALL,
            "FRED": "fred:min_th=30,max_th=90",
            "SFB": "sfb",
            "CHOKe": "choke:min_th=30,max_th=90,max_p=0.1,w_q=0.002,gentle=false",
            "Fair queues": "drr",
        },
        settings={
            "traffic.tcp.count": 50,
            "traffic.udp.count": 1,
            "traffic.udp.rate": "10 Mbit/s",
            "traffic.udp.on": "0.8 ms",
            "traffic.udp.off": "uniform(0 s, 1.6 ms)",
        },
        varied=False,
    ),
    Greedy(
        "buffer",
        "The buffer, which is GRED-I's max_th too: 200 greedy TCP sources, 10 % of UDP",
        {
            m.of_buffer(label, buffer): {
                **({"aqm": "droptail"} if label == m.TD else {**GRED_I, "aqm.max_th": buffer}),
                "dumbbell.buffer": f"{buffer} packets",
            }
            for buffer in m.BUFFERS
            for label in (m.TD, m.HERO)
        },
    ),
    Greedy(
        "line",
        "GRED-I's own line: min_th and the queue at which it drops all, 200 greedy TCP sources",
        {m.HERO: GRED_I},
        {"aqm.min_th": [1, 30, 60], "aqm.max_th": [100, 150, 200]},
        method="grid",
    ),
    Moving(
        "split",
        "Beyond the paper: 1 Mbit/s of UDP in 1 to 40 flows, beside 400 sources of the testbed's traffic",
        SHARP,
        split(m.SPLITS),
        scenario="impact/mixed",
        quick=split((1, 10)),
    ),
]
