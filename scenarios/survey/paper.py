"""Performance Analysis of Active Queue Management Schemes (Koo, Ahn, Chung): what it shows and claims."""

from __future__ import annotations

from collections.abc import Iterator

import polars

from aqmlab.papers import (
    Axis,
    Choice,
    Claim,
    Curve,
    Evidence,
    Experiment,
    Figure,
    Panel,
    Paper,
    Table,
    Variant,
)
from aqmlab.scenarios.survey import claims, measures, nodes, theory
from aqmlab.summary import Summary

SIX = {
    "DropTail": "droptail",
    "RED": "red:preset=survey",
    "REM": "rem:preset=survey",
    "BLUE": "blue:d1=0.02,d2=0.002,freeze_time=100 ms,ecn=true",
    "PI": "pi:preset=survey",
    "JoBS": "jobs_ecn:preset=survey",
}
LATER = {"PIE": "pie:target=12.4 ms,ecn=true", "CoDel": "codel:ecn=true", "DualPI2": "dualpi2"}
"""PIE's target is PI's: 70 000 bytes at 45 Mbit/s."""

BIN = 0.5
"""Of Fig. 2, s."""
TIME = Axis("Simulation time (s)", 0, 20)


def figure_2(evidence: Evidence) -> Iterator[Curve]:
    """Draw utilisation, delay and loss over time."""
    runs = evidence["schemes"]
    sent = sum((polars.col(f"{name}.throughput").mean() for name in ("ftp", "udp")), polars.lit(0.0))
    lost = polars.col("ftp.drops").sum() / polars.col("ftp.arrivals").sum()
    every = polars.col("drops").sum() / polars.col("arrivals").sum()
    wait = 1e3 * polars.col("ftp.delay").mean()
    panels = {"a": sent / measures.RATE, "b": wait, "c": lost, "c, all": every}
    beyond = (polars.col("classes.ftp.delay_mean") - polars.col("classes.ftp.queue_delay_mean")) * 1e3
    for panel, value in panels.items():
        for label in runs.labels:
            told = measures.over_time(runs, label, BIN, value)
            times = [BIN * (index + 0.5) for index in range(min(len(one) for one in told.values()))]
            yield measures.banded(panel, label, times, list(zip(*told.values(), strict=False)))
            if panel == "b":
                on_the_way = measures.each(runs, beyond, label)
                whole = [[one + on_the_way[seed] for one in column] for seed, column in told.items()]
                yield measures.banded("b, end to end", label, times, list(zip(*whole, strict=False)))


def table_schemes(evidence: Evidence) -> polars.DataFrame:
    """List what every discipline does over the 20 s."""
    runs = evidence["schemes"]
    columns = {
        "utilisation": polars.col("utilisation"),
        "wait (ms)": measures.WAIT * 1e3,
        "end to end (ms)": polars.col("delay_mean") * 1e3,
        "backlog (kB)": claims.BACKLOG / 1e3,
        "lost of TCP %": 100 * measures.LOST,
        "lost of all %": 100 * measures.LOST_OF_ALL,
        "lost of bytes %": 100 * measures.LOST_BYTES,
        "marked of TCP %": 100 * polars.col("classes.ftp.mark_ratio"),
        "time-outs": polars.col("timeouts"),
    }
    rows = []
    for label in runs.labels:
        row: dict[str, str | float | None] = {"scheme": label}
        for name, value in columns.items():
            told = Summary.of(list(measures.each(runs, value, label).values()))
            row |= {name: told.mean, f"{name} ±": told.ci95}
        rows.append(row)
    return polars.DataFrame(rows)


DEFINITIONS = {
    "DropTail": (
        "control",
        "none",
        "global",
        "no parameter; acts when the buffer is full, on the queue's length alone",
    ),
    "RED": ("avoidance", "global", "global", "two thresholds on the average of the one queue"),
    "BLUE": ("avoidance", "none", "global", "one probability, moved by overflows and idle times; L is an option"),
    "REM": ("avoidance", "none", "global", "a price; b* is where it rests, and nothing changes there at a stroke"),
    "PI": ("avoidance", "none", "global", "one probability; Q_ref is a target, as b* is"),
    "JoBS": (
        "avoidance",
        "global",
        "per connection",
        "windows and round trips of each flow; B_lim bounds the projection",
    ),
}
"""Of every scheme congestion, thresholds and state, by its definition."""


def table_1(evidence: Evidence) -> polars.DataFrame:
    """Classify the schemes, beside what the runs show of it."""
    runs = evidence["schemes"]
    early = polars.col("drops_early") + polars.col("marks")
    rows = []
    for label, (congestion, thresholds, state, why) in DEFINITIONS.items():
        rows.append(
            {
                "scheme": label,
                "dots (paper)": {"DropTail": "6 with RED's", "RED": "6 with drop tail's"}.get(label, "3"),
                "congestion": congestion,
                "thresholds": thresholds,
                "state": state,
                "dropped or marked with room (run)": Summary.of(list(measures.each(runs, early, label).values())).mean,
                "why": why,
            }
        )
    return polars.DataFrame(rows)


def figure_load(evidence: Evidence) -> Iterator[Curve]:
    """Draw the six over the number of nodes."""
    runs = evidence["load"]
    panels = {"a": ("utilisation", 1.0), "b": ("queue_delay_mean", 1e3), "c": ("classes.ftp.loss_ratio", 1.0)}
    for panel, (metric, scale) in panels.items():
        for label in runs.labels:
            yield runs.curve(panel, metric, label, nodes.HOSTS, scale=scale)


def figure_gains(evidence: Evidence) -> Iterator[Curve]:
    """Draw PI's loss and wait over its gain, with drop tail's beside them."""
    runs = evidence["gains"]
    beside = {"a": ("classes.ftp.loss_ratio", 1.0), "b": ("queue_delay_mean", 1e3)}
    ends = [runs.points("aqm.a")[0], runs.points("aqm.a")[-1]]
    for panel, (metric, scale) in beside.items():
        yield runs.curve(panel, metric, "PI", "aqm.a", scale=scale)
        level = evidence["schemes"].mean(metric, "DropTail", scale=scale).mean or 0.0
        yield Curve(panel, "DropTail", ends, [level, level], style="dashed")


SCALES = (1 / 3, 1.0, 3.0, 10.0)
RULE = theory.rule_gains()
GAINS = {
    "aqm.a": [RULE[0], *(theory.A * scale for scale in SCALES)],
    "aqm.b": [RULE[1], *(theory.B * scale for scale in SCALES)],
}
FEWEST = {path: [values[0], values[2], values[-1]] for path, values in GAINS.items()}

EDGES = Axis("Edge nodes", 0, 160)
LOSS = Axis("Loss rate", 0, 0.6)

PAPER = Paper(
    name="survey",
    title="Performance Analysis of Active Queue Management Schemes for IP Network",
    source="J. Koo, S. Ahn, J. Chung; ICCS 2004, LNCS 3036, pp. 349-356",
    about="A survey that classifies drop tail, RED, BLUE, REM, PI and JoBS, and runs them at one core router of 45 "
    "Mbit/s with ECN for 20 s. It speaks for JoBS, which estimates the windows and round trips of TCP flows and marks "
    "before the buffer would overflow.",
    hero="JoBS",
    experiments=[
        Experiment(
            name="schemes",
            title="The six disciplines",
            scenario="survey/core",
            aqms=SIX,
            series=True,
            rivals=LATER,
        ),
        Experiment(
            name="settled",
            title="The same, the first 5 s left out",
            scenario="survey/core",
            aqms=SIX,
            settings={"warmup": "5 s"},
            rivals=LATER,
        ),
        *nodes.EXPERIMENTS,
        Experiment(
            name="maxp",
            title="RED's maxp",
            scenario="survey/core",
            aqms={"RED": SIX["RED"]},
            vary={"aqm.max_p": [0.1, 0.2, 0.5, 1.0]},
            quick={"aqm.max_p": [0.1, 1.0]},
        ),
        Experiment(
            name="steps",
            title="BLUE's steps",
            scenario="survey/core",
            aqms={
                "d1 = 0.02, d2 = 0.002": SIX["BLUE"],
                "d1 = 0.02, d2 = 0.02": "blue:d1=0.02,d2=0.02,ecn=true",
                "d1 = 0.002, d2 = 0.02": "blue:d1=0.002,d2=0.02,ecn=true",
            },
        ),
        Experiment(
            name="gains",
            title="PI's gains, from those of its rule to ten times the printed",
            scenario="survey/core",
            aqms={"PI": SIX["PI"]},
            vary=GAINS,
            quick=FEWEST,
            method="paired",
        ),
        Experiment(
            name="load",
            title="The six over the number of edge nodes",
            scenario="survey/core",
            aqms=SIX,
            vary=nodes.counts([20, 40, 70, 100]),
            quick=nodes.counts([20]),
            method="paired",
            most_seeds=3,
        ),
    ],
    items=[
        Table(
            name="table1",
            title="Classification of the schemes, by their definitions",
            rows=table_1,
            needs=["schemes"],
            caption="The printed table has dots in seven columns. Our copy's text keeps the dots and loses where they "
            "were: 18 of them, three a row for BLUE, REM, PI and JoBS, and six in the rows of drop tail and RED "
            "together. That is one for each of congestion, thresholds and state, as here. Control: it acts when the "
            "buffer is full; avoidance: before. A threshold is a length of the queue at which a packet begins to be "
            "treated otherwise; a target that enters an equation is none. BLUE listens to overflows alone, and could "
            "stand under control.",
        ),
        Figure(
            name="fig2",
            title="Link utilisation, average delay and loss rate at the core router",
            needs=["schemes"],
            panels=[
                Panel("a", "Link utilisation", TIME, Axis("Link utilisation", 0, 1.2)),
                Panel("b", "Average delay, in the core's queue", TIME, Axis("Average delay (ms)", 0, 80)),
                Panel("c", "Loss rate, TCP's packets", TIME, LOSS),
                Panel(
                    "b, end to end", "Average delay from sender to receiver", TIME, Axis("Average delay (ms)", 0, 80)
                ),
                Panel("c, all", "Loss rate, all packets", TIME, LOSS),
            ],
            curves=figure_2,
            across=3,
            caption="Means of 0.5 s. The paper says that it monitors the delay at the core router, where 100 000 bytes "
            "take 17.8 ms at most; its axis to 80 ms suits the way from sender to receiver. Losses are drawn as TCP "
            "suffers them, for which the 12 % of drop tail hold, and of all packets.",
        ),
        Table(
            name="schemes",
            title="The six over 20 s",
            rows=table_schemes,
            needs=["schemes"],
            beyond=True,
            caption="Backlog: mean wait times the rate. UDP cannot be marked: what would mark it drops it.",
        ),
        Figure(
            name="calibration",
            title="The loss of drop tail over the number of edge nodes",
            needs=list(nodes.PANELS),
            panels=[
                Panel("a", "Buffer of 100 000 bytes, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
                Panel("b", "The same, time-out 0.2 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
                Panel("c", "Buffer of 100 packets, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
            ],
            curves=nodes.curves,
            across=3,
            caption="What is a loss of 12 %? Of TCP's packets, some 70 nodes make it. Of all packets, no number does "
            "unless the buffer counts packets. Dashed: Padhye's model of TCP with what UDP leaves of the link.",
            beyond=True,
        ),
        Table(
            name="nodes",
            title="Edge nodes at which drop tail loses 12 %",
            rows=nodes.table,
            needs=list(nodes.PANELS),
            beyond=True,
            digits=3,
            caption="Between the numbers that were run on straight lines; empty where no number reaches 12 %.",
        ),
        Figure(
            name="gains",
            title="PI over its gains",
            needs=["gains", "schemes"],
            panels=[
                Panel("a", "Loss", Axis("Gain a (per packet)", log=True), Axis("Loss of TCP's packets", 0, 0.2)),
                Panel("b", "Wait", Axis("Gain a (per packet)", log=True), Axis("Mean wait (ms)", 0, 18)),
            ],
            curves=figure_gains,
            caption="a/b as printed, from the gains that PI's rule has for this link (left) to ten times the printed.",
            beyond=True,
        ),
        Figure(
            name="plant",
            title="PI's open loop on the plant (1)",
            panels=[
                Panel("gain", "Gain", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Gain (dB)", -60, 60)),
                Panel("phase", "Phase", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Phase (degrees)", -540, 0)),
            ],
            curves=theory.bode,
            caption="60 flows, 180 ms, 5625 packets/s. The survey prints the plant without its delay.",
            beyond=True,
        ),
        Figure(
            name="load",
            title="The six over the number of edge nodes",
            needs=["load"],
            panels=[
                Panel("a", "Link utilisation", EDGES, Axis("Link utilisation", 0.7, 1.0)),
                Panel("b", "Wait at the core", EDGES, Axis("Mean wait (ms)", 0, 18)),
                Panel("c", "Loss rate, TCP's packets", EDGES, Axis("Loss rate", 0, 0.2)),
            ],
            curves=figure_load,
            across=3,
            beyond=True,
        ),
    ],
    claims=[
        Claim(
            name="avoidance",
            text="RED, BLUE, REM, PI and JoBS act before congestion, drop tail only on it.",
            where="Sections 2, 3, Table 1",
            judge=claims.avoidance,
            needs=["schemes"],
            shown=["table1"],
        ),
        Claim(
            name="droptail-loss",
            text="Without AQM one can expect loss rates in the order of 12 %.",
            where="Section 4.2, Fig. 2c",
            judge=nodes.of_the_order,
            needs=["calibration"],
            shown=["fig2", "calibration", "nodes"],
        ),
        Claim(
            name="droptail-full",
            text="Drop tail's queue is almost always full.",
            where="Section 4.2, Fig. 2b",
            judge=claims.almost_full,
            needs=["schemes"],
            shown=["fig2", "schemes"],
            sensitive=True,
        ),
        Claim(
            name="red-at-maxth",
            text="RED stabilises the queue around maxth = 80 000 bytes.",
            where="Section 4.2, Fig. 2b",
            judge=claims.red_at_maxth,
            needs=["schemes", "settled"],
            shown=["fig2", "schemes"],
            sensitive=True,
        ),
        Claim(
            name="red-late",
            text="RED does not detect incipient congestion by load changes of short term.",
            where="Section 4.2",
            judge=claims.red_incipient,
            needs=["settled"],
            shown=["fig2"],
        ),
        Claim(
            name="red-maxp",
            text="maxp = 1 is ideal: it minimises both delay and loss of RED.",
            where="Section 4.2",
            judge=claims.best_maxp,
            needs=["maxp"],
        ),
        Claim(
            name="red-full",
            text="RED's thresholds are such that it drops with a probability of one only if the queue is full.",
            where="Section 4.2",
            judge=claims.only_if_full,
        ),
        Claim(
            name="red-synchronisation",
            text="RED avoids synchronisation and the lock-out of drop tail.",
            where="Sections 2.1, 2.2",
            judge=claims.red_synchronisation,
            needs=["settled"],
        ),
        Claim(
            name="red-proportional",
            text="RED drops packets in proportion to the connections' share of the bandwidth.",
            where="Section 2.2",
            judge=claims.red_proportional,
            needs=["settled"],
        ),
        Claim(
            name="blue-steps",
            text="BLUE's d1 must be much larger than d2: losses come only where it manages congestion too little.",
            where="Section 4.2",
            judge=claims.blue_steps,
            needs=["steps"],
        ),
        Claim(
            name="pi-like-droptail",
            text="A crudely configured PI drops almost as much traffic as drop tail.",
            where="Section 4.2, Fig. 2c (the text says 2b)",
            judge=claims.pi_like_droptail,
            needs=["schemes"],
            shown=["fig2", "schemes"],
            sensitive=True,
        ),
        Claim(
            name="pi-sensitive",
            text="PI is very sensitive to its parameters.",
            where="Section 4.2",
            judge=claims.pi_sensitive,
            needs=["gains"],
            shown=["gains"],
        ),
        Claim(
            name="jobs-loses-nothing",
            text="JoBS avoids packet losses completely.",
            where="Section 4.2, Fig. 2c",
            judge=claims.jobs_loses_nothing,
            needs=["schemes", "settled"],
            shown=["fig2", "schemes"],
            sensitive=True,
            comparative=True,
        ),
        Claim(
            name="jobs-shortest",
            text="JoBS has the shortest queue.",
            where="Section 4.2, Fig. 2b",
            judge=claims.jobs_shortest,
            needs=["schemes"],
            shown=["fig2", "schemes"],
            sensitive=True,
            comparative=True,
        ),
        Claim(
            name="jobs-utilisation",
            text="JoBS's utilisation is relatively low.",
            where="Section 4.2, Fig. 2a",
            judge=claims.jobs_utilisation,
            needs=["schemes"],
            shown=["fig2", "schemes"],
            sensitive=True,
            comparative=True,
        ),
        Claim(
            name="differentiation",
            text="PI and JoBS enhance the earlier proposals to differentiate services.",
            where="Section 3",
            judge=claims.untested,
        ),
        Claim(
            name="plant",
            text="The open-loop plant (1) of TCP and queue is that of the PI paper.",
            where="Section 2.5, eq. (1)",
            judge=claims.plant,
            shown=["plant"],
        ),
        Claim(
            name="nodes",
            text="70 edge nodes make drop tail lose 12 %.",
            where="ours",
            judge=nodes.frozen,
            needs=["calibration", "calibration-fast"],
            shown=["calibration", "nodes"],
            beyond=True,
        ),
        Claim(
            name="padhye",
            text="Padhye's model predicts that loss.",
            where="ours",
            judge=nodes.as_padhye,
            needs=["calibration", "calibration-fast"],
            shown=["calibration"],
            beyond=True,
        ),
        Claim(
            name="gains-hot",
            text="PI's gains are several times too large for its link by its own rule.",
            where="ours",
            judge=claims.gains_hot,
            shown=["plant"],
            beyond=True,
        ),
        Claim(
            name="gains-slow",
            text="20 s are too short for PI to learn its probability, with its rule's gains still more so.",
            where="ours",
            judge=claims.gains_slow,
            needs=["schemes", "gains"],
            shown=["gains"],
            beyond=True,
        ),
        Claim(
            name="jobs-at-light-load",
            text="With fewer nodes JoBS leaves some of the link, and has a shorter queue than drop tail.",
            where="ours",
            judge=claims.fewer_nodes,
            needs=["load"],
            shown=["load"],
            beyond=True,
        ),
    ],
    choices=[
        Choice(
            "Edge nodes",
            "",
            "70 on each side: 210 FTP flows, 70 UDP sources",
            "Drop tail loses some 12 %. Of TCP's packets it does at 70 nodes if a time-out is at least 1 s, at some 55 "
            "if 0.2 s. Frozen for all six.",
        ),
        Choice(
            "What a loss rate counts",
            "",
            "TCP's packets",
            "It speaks of TCP's reaction to losses. Of all packets no number of nodes makes drop tail lose 12 % of "
            "them in a buffer of bytes. Both are shown.",
        ),
        Choice(
            "Delay",
            "at the core router; axis to 80 ms",
            "wait in the core's queue; end to end beside it",
            "100 000 bytes at 45 Mbit/s are 17.8 ms.",
        ),
        Choice("Least time-out, clock", "", "1 s, 100 ms", "ns-2's, before 2004; 0.2 s in the sensitivity table."),
        Choice(
            "Start of the flows", "", "uniform in the first second", "At once, all would start in the same round trip."
        ),
        Choice("Packet sizes", "1000 and 100 bytes", "on the wire, headers included", "As ns-2 counts them."),
        Choice("UDP's ON time", "peak 1 Mbit/s, average 200 kbit/s, OFF 80 ms", "20 ms", "It follows."),
        Choice("Edge delays", "random, 5 to 20 ms", "uniform, drawn for each host and run", "Either side its own."),
        Choice(
            "Queue of RED and PI", "thresholds and target in bytes", "bytes over 1000", "As ns-2 has them in byte mode."
        ),
        Choice("RED", "", "gentle, ns-2's spacing of drops, marks below probability 1", "ns-2's of 2002 and later."),
        Choice(
            "REM",
            "phi, alpha, gamma, b* = 20",
            "ns-2's rate form, packets, every 2 ms, marks as packets leave",
            "ns-2's.",
        ),
        Choice(
            "JoBS",
            "K = 10, alpha = 0.9",
            "a reconstruction: K arrivals to a projection, alpha the weight of the old in means, B_lim the buffer",
            "The paper cited and ns-2's program have no projection of TCP.",
        ),
        Choice(
            "Figure of PI's losses",
            "the text has Fig. 2b show PI's losses",
            "Fig. 2c",
            "Fig. 2b is the delay.",
        ),
    ],
    variants=[
        Variant("min RTO 0.2 s", {"traffic.*.tcp.min_rto": "200 ms"}),
        Variant(
            "min RTO 0.2 s, 55 nodes",
            {
                "traffic.*.tcp.min_rto": "200 ms",
                "dumbbell.hosts": 55,
                "traffic.ftp.count": 165,
                "traffic.udp.count": 55,
            },
        ),
        Variant("Reno", {"traffic.*.tcp.flavour": "reno"}),
        Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
        Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
        Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
        Variant("buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
    ],
)
