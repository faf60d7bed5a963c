"""Design and Analysis of a Rate-based Algorithm for Active Queue Management (RAQM): figures and claims."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.raqm import balance, cases, future, start, targets, theory
from aqmlab.library.raqm.reading import FLOWS, FULL, TARGET, at
from aqmlab.papers import Axis, Choice, Curve, Evidence, Experiment, Figure, Panel, Paper, Variant
from aqmlab.papers.run.sketch import Curves

THREE = {"RAQM": "raqm", "PI": "pi", "REM": "rem"}

# 50 packets are 20 ms of the link.
RIVALS = {"PIE": "pie:target=20 ms", "CoDel": "codel:target=20 ms", "DualPI2": "dualpi2:target=20 ms"}

# About the length of RAQM's queue with 100 flows, for comparisons at the same queue.
SHORT_RIVALS = {"PIE": "pie:target=5 ms", "CoDel": "codel:target=5 ms", "DualPI2": "dualpi2:target=5 ms"}

BOTH = {FLOWS: "40,400"}

TIME = Axis("Time (s)", 0, 200)
QUEUE = Axis("Queue length (packets)", 0, 100)
AVERAGE = Axis("Average queue length (packets)", 0, 100)


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


def _over_time(experiment: str) -> Curves:
    """Draw the queue with 40 flows in panel a, with 400 in panel b."""

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, flows in zip("ab", runs.points(FLOWS), strict=True):
            for label in runs.labels:
                yield runs.over_time(panel, label, at=at(flows), bin=1.0)

    return curves


def _queues(name: str, number: int, title: str, caption: str) -> Figure:
    return Figure(
        name=name,
        title=f"Queue length in case {number} with {title}",
        panels=[
            Panel("a", "The number of long-lived TCP flows is 40", TIME, QUEUE),
            Panel("b", "The number of long-lived TCP flows is 400", TIME, QUEUE),
        ],
        curves=_over_time(f"case{number}"),
        needs=[f"case{number}"],
        caption=caption,
    )


def _against_queue(evidence: Evidence) -> Iterator[Curve]:
    """Draw goodput and drop ratio over the average queue, as the target varies."""
    runs, low = evidence["case3b"], evidence["case3b-low"]
    for panel, metric, scale in (("a", "goodput", 1 / FULL), ("b", "loss_ratio", 1.0)):
        for label in runs.labels:
            yield runs.curve(panel, metric, label, "queue_mean", scale=scale)
        for label in low.others:
            name = f"{label}, q0 = 5 to 15"
            yield low.curve(panel, metric, label, "queue_mean", scale=scale, name=name, style="points")


SAMPLED = "The first seed; means of 1 s. The dips and peaks of the printed curves, of single packets, are within them."

PAPER = Paper(
    name="raqm",
    title="Design and Analysis of a Rate-based Algorithm for Active Queue Management",
    source="C. Wang, B. Li, Y. T. Hou, K. Sohraby, W. Tang; the print at hand has neither venue nor year",
    about="RAQM measures the rate of arrivals once a second and multiplies its drop probability by an exponential of "
    "the rate's excess over an expected rate; the queue over its target enters as a factor. The paper bounds the gain "
    "by a Lyapunov function and compares RAQM with PI and REM in four cases.",
    hero="RAQM",
    experiments=[
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
        *future.EXPERIMENTS,
    ],
    items=[
        theory.FIGURE_2,
        _queues("fig4", 1, "small RTT", SAMPLED),
        _queues("fig5", 2, "large RTT", SAMPLED),
        _queues("fig6", 3, "diverse RTT", SAMPLED),
        Figure(
            name="fig7",
            title="Goodput and packet drop ratio in case 3 with diverse RTT",
            panels=[
                Panel("a", "Goodput vs. average queue length", AVERAGE, Axis("Goodput (of a full link's)", 0.8, 1)),
                Panel("b", "Packet drop ratio vs. average queue length", AVERAGE, Axis("Packet drop ratio", 0, 0.06)),
            ],
            curves=_against_queue,
            needs=["case3b", "case3b-low"],
            caption="A point for each target from 20 to 90 packets, at its mean queue; the dots are targets that the "
            "paper does not have, for a comparison where RAQM's queue is. The last 100 s.",
        ),
        _queues(
            "fig8",
            4,
            "hybrid traffics",
            f"Short flows and UDP from 50 s to 150 s. The paper does not say how many long flows there are. {SAMPLED}",
        ),
        theory.NUMBERS,
        theory.CONVERGENCE,
        balance.REGULATION,
        balance.BALANCE,
        start.START,
        balance.PERIODS,
        *future.FIGURES,
    ],
    claims=[*theory.CLAIMS, *cases.CLAIMS, *targets.CLAIMS, *balance.CLAIMS, *start.CLAIMS, *future.CLAIMS],
    choices=[
        Choice(
            "Delays of R1-R2 and of the servers' links",
            "",
            "2.5 ms each",
            "As in the LRED paper by the same authors on the same topology, whose round trips they fit.",
        ),
        Choice(
            "Rate of the access links",
            "10 Mbit/s on every link, and one congested link only",
            "100 Mbit/s",
            "Both cannot be: a host that sends 10 Mbit/s keeps its windows in front of its own link, without losses if "
            "the buffer there is long: case 3 with 40 flows then has the bottleneck's buffer full for 100 s. A variant "
            "has 10 Mbit/s, and 100 packets.",
        ),
        Choice(
            "Buffers beside the bottleneck", "100 packets everywhere", "5000 packets", "No loss but at the bottleneck."
        ),
        Choice("TCP flavour", "", "Reno", "That of the paper's model of TCP; NewReno and SACK are variants."),
        Choice(
            "Least time-out and clock of TCP",
            "",
            "1 s and 100 ms",
            "ns-2's of its time: its latest reference is of October 2003. ns-2.35's 0.2 s is a variant.",
        ),
        Choice("Window limit", "", "1000 segments", "None that binds; ns-2's default of 20 is a variant."),
        Choice("Delayed ACKs", "", "none", "ns-2's default sink; a variant has them."),
        Choice("Packet size", "500 bytes", "500 bytes on the wire", "2500 packets a second; 460 bytes are payload."),
        Choice("Starts of the flows", "", "uniform in 0 to 1 s", "All at once would have them slow-start in step."),
        Choice(
            "What is averaged",
            "",
            "the last 100 s; in case 4 from 50 s on",
            "RAQM takes some 70 s from p(0) = .0002 to its place in case 1 with 40 flows, most of the run in case 3; "
            "PI and REM similarly. A variant has 20 s on.",
        ),
        Choice(
            "Goodput's unit",
            "about 0.96",
            "part of the goodput of a full link",
            "The text gives none; .96 cannot be Mbit/s of 10.",
        ),
        Choice(
            "Exponent of p_k",
            "e^mismatch in the pseudocode, e^(alpha mismatch) in (3)",
            "(3)",
            "A rate in bytes/s would overflow the former.",
        ),
        Choice(
            "Which alpha p_k takes",
            "Fig. 1 does not say where alpha is computed",
            "that of the present rate, alpha^(r_k)",
            "Theorem 1 has it so. The rate before (`lagged`) differs by under 2 % near r0.",
        ),
        Choice("eps", "smaller than 1 but close to it", "0.9", "Close to 1; figure `start` has others."),
        Choice(
            "alpha^ at rates from 2 r0 on",
            "not defined there",
            "its lower bound, 4 / r0; nowhere above 20 / r0",
            "Theorem 1 lets V fall at any gain up to 4 / r0, there too.",
        ),
        Choice("Floor of p_k", "0", "1e-6", "p_k = 0 would stay 0, the law being a product."),
        Choice("Gains of PI", "a and b of ns-2, 170 Hz", "the same", "q_ref is set to q0."),
        Choice(
            "Form of REM",
            "phi, alpha, gamma of ns-2, 2 ms",
            "REM's paper's, by the queue's change",
            "ns-2's counts lost packets and settles below its target.",
        ),
        Choice("Long flows in case 4", "", "40 and 400", "By `other parameters are the same to that in case 3`."),
        Choice("UDP while on", "40 kbit/s in the mean", "80 kbit/s", "On and off last equally long."),
        Choice(
            "Response time, overshoot",
            "",
            "four means of 5 s within 20 % of q0; how long such means are above that band, at first and in all",
            "The queue varies by half its target: shorter means would be noise, and a queue that passes is not there.",
        ),
    ],
    variants=[
        Variant("min RTO 0.2 s", {"traffic.*.tcp.min_rto": "200 ms", "traffic.*.tcp.tick": "10 ms"}),
        Variant("NewReno", {"traffic.*.tcp.flavour": "newreno"}),
        Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
        Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
        Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
        Variant("access 10 Mbit/s", {"dumbbell.access_rate": "10 Mbit/s", "dumbbell.access_buffer": "100 packets"}),
        Variant("averaged from 20 s", {"warmup": "20 s"}),
    ],
)
