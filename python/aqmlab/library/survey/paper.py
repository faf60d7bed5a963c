"""Performance Analysis of Active Queue Management Schemes (Koo, Ahn, Chung): figures and claims."""

from __future__ import annotations

from aqmlab.library.survey import claims, figures, nodes, theory
from aqmlab.papers import Choice, Claim, Experiment, Paper, Variant

SIX = {
    "DropTail": "droptail",
    "RED": "red:preset=survey",
    "REM": "rem:preset=survey",
    "BLUE": "blue:d1=0.02,d2=0.002,freeze_time=100 ms,ecn=true",
    "PI": "pi:preset=survey",
    "JoBS": "jobs_ecn:preset=survey",
}
LATER = {"PIE": "pie:target=12.4 ms,ecn=true", "CoDel": "codel:ecn=true", "DualPI2": "dualpi2"}
"""PIE's target equals PI's: 70 000 bytes at 45 Mbit/s."""

SCALES = (1 / 3, 1.0, 3.0, 10.0)
RULE = theory.rule_gains()
GAINS = {
    "aqm.a": [RULE[0], *(theory.A * scale for scale in SCALES)],
    "aqm.b": [RULE[1], *(theory.B * scale for scale in SCALES)],
}
FEWEST = {path: [values[0], values[2], values[-1]] for path, values in GAINS.items()}

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
            quick=nodes.counts([20, 40]),
            method="paired",
        ),
    ],
    items=figures.ITEMS,
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
            needs=["schemes", "settled"],
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
            name="jobs-with-fewer-nodes",
            text="With 20 or 40 nodes JoBS has the shortest queue and leaves some of the link, as the paper says.",
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
        Choice(
            "What a full buffer lets in",
            "",
            "RED and PI: a packet before which less than the limit waits; the others: one that fits",
            "As ns-2 has them. Where a packet has to fit, one of 100 bytes mostly does.",
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
        Variant("40 nodes", {"dumbbell.hosts": 40, "traffic.ftp.count": 120, "traffic.udp.count": 40}),
        Variant("Reno", {"traffic.*.tcp.flavour": "reno"}),
        Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
        Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
        Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
        Variant("buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
    ],
)
