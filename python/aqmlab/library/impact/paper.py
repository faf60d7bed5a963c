"""The study of tail drop, RED, GRED and GRED-I: its runs, figures and claims."""

from collections.abc import Iterable

from aqmlab.library.impact.claimed import CHOICES, CLAIMS
from aqmlab.library.impact.curves import SPLITS
from aqmlab.library.impact.drawing import ITEMS
from aqmlab.library.impact.measures import APPROXIMATED, GENTLE, HERO, RED, SURGE_BEGIN, SURGE_END, TD
from aqmlab.papers import Aqms, Experiment, Paper, Variant

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

BED = ("tcp", "mixed")
# The data path has 10 to 200 ms including the other links; ACKs take as long.
ONE_WAY = [f"{8 + round(190 / 7 * place)} ms" for place in range(8)]
VARIANTS = [
    Variant(
        "the other least time-out (simulation 0.2 s, testbed 1 s)",
        {"traffic.*.tcp.min_rto": "200 ms"},
        only={name: {"traffic.*.tcp.min_rto": "1 s"} for name in BED},
    ),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant(
        "the other ACKs (simulation delayed, testbed each)",
        {"traffic.*.tcp.delayed_ack": True},
        only={name: {"traffic.*.tcp.delayed_ack": False} for name in BED},
    ),
    Variant("drops spaced as in ns-2", {"aqm.spacing": "wait"}),
    Variant("independent drops", {"aqm.spacing": "none"}),
    Variant(
        "UDP at a strictly constant rate",
        {"traffic.udp.rate": "100 kbit/s", "traffic.udp.on": "80 ms", "traffic.udp.off": "0 s"},
        only={"tcp": {}},
    ),
    Variant("RED's thresholds 5 and 15", {"aqm.min_th": 5, "aqm.max_th": 15}),
    Variant(
        "delays of the testbed one way",
        {},
        only={name: {"dumbbell.sender_delay": ONE_WAY} for name in BED},
    ),
]

PAPER = Paper(
    name="impact",
    title="The Impact of Active Queue Management on the Performance of Aggregate Traffic",
    source="A research report of 2000 or later; our copy lacks the title page, the title is its French summary's",
    about="Compares tail drop, RED, gentle RED (GRED) and gentle RED of the instantaneous queue (GRED-I) on a testbed "
    "of routers, by simulation and by a model: goodput, the loss of UDP, delay, and losses in a row. It finds little "
    "use in RED, blames averaging together with the drop function's edge, and speaks for GRED-I.",
    hero=HERO,
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
    later="Experiments 1 to 8 on real routers and hosts, with the live engine: figures 4, 5, 6 (right) and 8 are of a "
    "testbed, and simulated here with a copy of its traffic. Its level of UDP loss, 29 to 38 %, is not reached: that "
    "takes its own sources, and greedy TCP cannot do it either.",
)
