"""RED+Tail, a queue for short flows beside Adaptive RED for long ones: figures and claims of its paper."""

from collections.abc import Mapping
from dataclasses import replace

from aqmlab.library.redtail import (
    claims,
    classifier,
    figures,
    files,
    future,
    short_queue,
    theory,
    theory_claims,
    thresholds,
)
from aqmlab.library.redtail.readings import ARED, DYNAMIC, FIXED, FREE, HERO, TAIL
from aqmlab.papers import Aqms, Choice, Experiment, Item, Paper, Variant
from aqmlab.scenario import Settings

RED_TAIL: Aqms = {HERO: {}}
"""The scenario's discipline, which allows the sensitivity table to change its parameters."""
THREE: Aqms = {**RED_TAIL, ARED: "ared:preset=redtail", TAIL: "droptail"}
MOVING: Aqms = {
    DYNAMIC: {"aqm.long": "dtared:preset=redtail"},
    # Far above the buffer of 160 packets.
    FREE: {"aqm.long": "dtared:preset=redtail,ceiling=1000"},
}

LATER: Aqms = {
    "PIE": "pie:target=80 ms",
    "CoDel": "codel:target=80 ms",
    "DualPI2": "dualpi2:target=80 ms",
    "FQ-CoDel": "fq_codel",
}
"""Later disciplines, with the delay RED+Tail targets for its short queue, max_th1/C."""

SIZES = [f"{size} kB" for size in range(30, 211, 30)]
FEW_SIZES = ["30 kB", "90 kB", "150 kB"]
SIZE = "traffic.file.size"
TCP = {
    "traffic.*.tcp": "ns2-2002:flavour=reno,initial_ssthresh=64,initial_window=1,initial_rto=6 s,limited_transmit=off"
}
"""The TCP that reproduces the paper's Table I: docs/theory/transfers.md."""
OURS = {"aqm": "redtail", **TCP}

EXPERIMENTS = (
    Experiment(
        name="web",
        title="10 FTP, 800 web clients and CBR: losses, delays, rates",
        scenario="redtail/web",
        settings=OURS,
        aqms=THREE,
        rivals=LATER,
    ),
    Experiment(
        name="time",
        title="The same over time",
        scenario="redtail/web",
        settings=OURS,
        aqms={**RED_TAIL, ARED: THREE[ARED], **MOVING},
        series=True,
        rivals={},
        most_seeds=3,
    ),
    Experiment(
        name="dynamic-web",
        title="The same with thresholds that move in RED+Tail's long queue",
        scenario="redtail/web",
        settings=OURS,
        aqms={**RED_TAIL, **MOVING},
        rivals={},
    ),
    Experiment(
        name="files",
        title="Small files beside that traffic",
        scenario="redtail/files",
        settings=OURS,
        aqms=THREE,
        vary={SIZE: SIZES},
        quick={SIZE: FEW_SIZES},
        rivals=LATER,
    ),
    Experiment(
        name="alone",
        title="Small files on an empty link",
        scenario="redtail/files",
        settings={**TCP, "traffic.web.count": 0, "traffic.ftp.count": 0, "traffic.cbr.count": 0},
        aqms={"No other traffic": "droptail"},
        vary={SIZE: SIZES},
        quick={SIZE: FEW_SIZES},
    ),
    Experiment(
        name="dynamic",
        title="20 FTP, and 20 more from 100 to 300 s: fixed and moving thresholds",
        scenario="redtail/dynamic",
        settings=TCP,
        aqms={DYNAMIC: {}, FIXED: "ared:preset=redtail"},
        series=True,
    ),
    Experiment(
        name="maxth1",
        title="The web scenario over max_th1",
        scenario="redtail/web",
        settings=OURS,
        aqms=RED_TAIL,
        vary={"aqm.max_th1": [f"{size} kB" for size in range(10, 81, 10)]},
        quick={"aqm.max_th1": ["10 kB", "30 kB", "80 kB"]},
        rivals={},
    ),
    Experiment(
        name="rivals",
        title="The web scenario with later disciplines",
        scenario="redtail/web",
        settings=OURS,
        aqms={**RED_TAIL, **LATER},
        rivals={},
    ),
)

REST = [replace(one, settings={**TCP, **one.settings}) for one in (*theory.EXPERIMENTS, *future.EXPERIMENTS)]
"""The experiments of theory and of future work, with the same TCP."""

CHOICES = (
    Choice(
        "N, packets after which a connection is long",
        "",
        "64",
        "The initial slow-start threshold; with this T the smallest that takes fewer than 2 % of the connections for "
        "long ones, which the paper reports.",
    ),
    Choice(
        "T, silence after which it is new", "", "10 s", "Less than a reader thinks (50 s), more than a time-out takes."
    ),
    Choice(
        "What the counter belongs to",
        "source-destination pair",
        "a pair of hosts; UDP is always short",
        "By counting alone the CBR source would be long after 64 packets, and the paper has it in the short queue.",
    ),
    Choice(
        "C1min, C1max",
        "",
        "C min_th1/max_th1 = C/15; 0.9 C",
        "C1 has no step at min_th1; the long queue keeps a tenth.",
    ),
    Choice(
        "How one link serves two rates",
        "",
        "an account of bytes; a queue alone has the whole link",
        "The paper reports 100 % utilisation. See `aqmlab show redtail`.",
    ),
    Choice(
        "Duration of the web scenario",
        "",
        "500 s, numbers from 100 s on",
        "The axes of the figures are lost; 400 s have some 6000 files.",
    ),
    Choice(
        "TCP",
        "ns-2, initial ssthresh 64 kB; Tahoe and Reno are explained",
        "Reno as in ns-2 of 2002: time-outs of at least 1 s, at first 6 s; clock 0.1 s, initial window 1, no limited "
        "transmit",
        "That of Fig. 2 and Table I, whose delays tell it: with a least time-out of 0.2 s, delayed ACKs or NewReno "
        "they do not come out. NewReno of ns-2.35 is in the sensitivity table.",
    ),
    Choice(
        "KB",
        "Kbytes, KB",
        "1000 bytes",
        "The rates of each policy in Table III add up to 373.8 KB/s: of 375 with 1000 bytes, while 1024 leave 366.2. "
        "30 Kbytes at 3 Mbit/s are the paper's 80 ms so, too.",
    ),
    Choice(
        "Web sessions",
        "HTTP 1.1, one request, Pareto files",
        "one file in a session, a connection each; requests of 300 B",
        "With a mean of 10 kB and 50 s of thought 800 clients make the 1.2 Mbit/s that the paper states.",
    ),
    Choice(
        "Adaptive RED's weight",
        "",
        "0.00266 at 3 Mbit/s, 0.00133 at 6",
        "ns-2's automatic value, 1 - exp(-1/(10 rtt C)).",
    ),
    Choice(
        "Adaptive RED above max_th",
        "gentle: from Pmax to 1",
        "from the present max_p, moved by a timer of 0.5 s",
        "As the paper's text has it; ns-2's own code keeps the first Pmax.",
    ),
    Choice(
        "Delay and rate of Table III",
        "",
        "time in the router, mean over packets sent; bits sent",
        "The printed rates add up to C.",
    ),
    Choice(
        "How small files are measured",
        "",
        "20 files of one size at random times in [110, 470] s, 128 ms there and back",
        "Size by size they add 0.4 to 2.8 % to the load, so that the traffic stays what it is; the round trip is "
        "Fig. 2's.",
    ),
    Choice(
        "Delivery time",
        "",
        "from the SYN to the last acknowledgement",
        "Without the browser's request, which takes 64 ms more.",
    ),
    Choice("Buffer of Figs. 10 and 11", "", "800 kB", "40 flows that lose 1.4 % need some 370 packets of queue."),
    Choice(
        "When thresholds move",
        "average drop probability by EWMA",
        "every 0.5 s after max_p; weight 0.002 of each arrival's p",
        "As often as max_p, and as slowly as the averaged queue.",
    ),
    Choice(
        "How far they move",
        "",
        "min_th from 1 packet, max_th to 10 packets short of the buffer; in RED+Tail to 0.8 of it, or as far as the "
        "buffer lets it (no bound); Pmax from 0.005",
        "The short queue needs room, but whether P comes into its band depends on this bound: Table IV has both. With "
        "Pmax above 0.01 P cannot be brought below P_U.",
    ),
    Choice(
        "FTP's loss with moving thresholds",
        "0.988 % in the text, 0.899 % in Table IV",
        "Table IV's",
        "They contradict each other; the table's other numbers agree with the text.",
    ),
    Choice(
        "Mean of the long queue",
        "60 kB in section V, (20 + 80)/2 = 50 kB in section VI",
        "both tested",
        "The printed delay times rate is 38.5 kB.",
    ),
    Choice("Figs. 7 and 8", "captions lost", "Adaptive RED and RED+Tail", "In the order of the text."),
    Choice(
        "Later disciplines",
        "",
        "target 80 ms; FQ-CoDel as RFC 8290 has it",
        "max_th1/C is the delay that RED+Tail wants for short flows; flows of a queue of their own need no longer one.",
    ),
)

NOT_DYNAMIC: Mapping[str, Settings] = {"dynamic": {}}
VARIANTS = (
    Variant("least time-out 0.2 s", {"traffic.*.tcp.min_rto": "200 ms", "traffic.*.tcp.tick": "10 ms"}),
    Variant("Tahoe", {"traffic.*.tcp.flavour": "tahoe"}),
    Variant("NewReno", {"traffic.*.tcp.flavour": "newreno"}),
    Variant("NewReno of ns-2.35, all its defaults", {"traffic.*.tcp": "ns2.35:flavour=newreno,initial_ssthresh=64"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
    Variant("no initial ssthresh", {"traffic.*.tcp.initial_ssthresh": "auto"}),
    Variant(
        "5 files a session, 250 s of thought",
        {"traffic.web.objects": 5, "traffic.web.think": "exponential(250 s)"},
        NOT_DYNAMIC,
    ),
    Variant("N = 20 packets", {"aqm.n": 20}, NOT_DYNAMIC),
    Variant("T = 100 s", {"aqm.t": "100 s"}, NOT_DYNAMIC),
    Variant("C1 at most C/2", {"aqm.c1_max": 0.5}, NOT_DYNAMIC),
)

EVERY = (
    *claims.CLAIMS,
    *classifier.CLAIMS,
    *files.CLAIMS,
    *thresholds.CLAIMS,
    *short_queue.CLAIMS,
    *theory_claims.CLAIMS,
    *classifier.BEYOND,
    *future.CLAIMS,
)
"""All claims, by topic."""

IN_PRINT = (
    *("fig1", "fig2", "table1", "fig4", "fig5", "fig6", "fig7", "fig8", "table3", "fig9", "fig10", "fig11"),
    *("fig12", "fig13", "fig14", "table4", "fig16", "fig17", "fig18", "fig19", "fig20", "fig21"),
)
"""Figures and tables in the paper's order; all others go beyond the paper."""


def _place(item: Item) -> int:
    return IN_PRINT.index(item.name) if item.name in IN_PRINT else len(IN_PRINT)


PAPER = Paper(
    name="redtail",
    title="RED+Tail: parallel virtual queues for active queue management",
    source="The copy at hand has neither title page nor authors; supported by DARPA, contract N66001-00-C-8063.",
    about=(
        "Short flows (web, UDP) and long ones (FTP) have a virtual queue each in one shared buffer: drop-tail, served "
        "the faster the longer it is, and Adaptive RED. A second proposal moves Adaptive RED's thresholds, so that "
        "the drop probability stays in a band and the queue takes up the load."
    ),
    hero=HERO,
    experiments=(*EXPERIMENTS, *REST),
    items=sorted((*figures.FIGURES, *theory.FIGURES, *figures.BEYOND, *future.FIGURES), key=_place),
    claims=(
        *(claim for claim in EVERY if not claim.beyond),
        *(claim for claim in EVERY if claim.beyond),
    ),
    choices=(*CHOICES, *theory.CHOICES),
    variants=VARIANTS,
)
