"""The study of tail drop, RED, GRED and GRED-I: what it shows and claims."""

from aqmlab.papers import Aqms, Axis, Choice, Claim, Experiment, Figure, Panel, Paper, Table, Variant
from aqmlab.scenarios.impact import claims, claims_gentle, curves
from aqmlab.scenarios.impact.measures import APPROXIMATED, GENTLE, GREDS, HERO, LONGEST, RED, TD

# RED is what the scenarios have, so that a variant can move its thresholds.
SHARP: Aqms = {TD: "droptail", RED: {}}
GENTLE_REDS: Aqms = {APPROXIMATED: {"aqm.max_th": 130, "aqm.max_p": 1.0}, GENTLE: {"aqm.gentle": True}}
ALL: Aqms = {**SHARP, **GENTLE_REDS, HERO: "gredi"}

# About the delay that GRED-I has with 200 greedy sources: the same point on the line between delay and loss.
RIVALS: Aqms = {
    "PIE": "pie:target=45 ms",
    "CoDel": "codel:target=45 ms",
    "DualPI2": "dualpi2:target=45 ms",
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
        name="split",
        title="Beyond the paper: 1 Mbit/s of UDP in 1 to 40 flows, beside 400 sources of the testbed's traffic",
        scenario="impact/mixed",
        aqms=SHARP,
        settings={"duration": "300 s"},
        vary={
            "traffic.udp.count": list(curves.SPLITS),
            "traffic.udp.rate": [f"{1000 / flows:g} kbit/s" for flows in curves.SPLITS],
        },
        quick={"traffic.udp.count": [1, 40], "traffic.udp.rate": ["1000 kbit/s", "25 kbit/s"]},
        method="paired",
        rivals={},
    ),
]

GOODPUT = "TCP goodput (Mbit/s)"
UDP = "UDP loss probability (%)"
TIME = Axis("Time (s)", *curves.WINDOW)
DELAY = Axis("Queueing delay (s)", 0, 0.2)
LENGTH = Axis("Consecutive losses n (packets)", 1, LONGEST)
CHANCE = Axis("P(at least n)", 1e-6, 1, log=True)
WEIGHT = Axis("Averaging w", 0.001, 1, log=True)
MODEL = (
    f"Dashed is the open-loop model: Poisson arrivals at {curves.LOAD} times what the link serves (the load is lost in "
    "print), buffer 200; the band is its simulation's error."
)

ITEMS = [
    Figure(
        name="fig1",
        title="The evolution of the RED dropping functions",
        panels=[Panel("", "Drop function", Axis("Average queue (packets)", 0, 200), Axis("Drop probability", 0, 1))],
        curves=curves.functions,
        caption="Thresholds 30 and 90, which are not those of the printed sketches.",
        across=1,
    ),
    Table(
        name="table1",
        title="The design space",
        rows=curves.design_space,
        caption="Ours is computed from the disciplines as they are run: sharp is a function of which one packet more "
        "adds a tenth or more to the drop probability. The testbed's GRED is sharp RED in name only.",
    ),
    Figure(
        name="fig4",
        title="Aggregate goodput with RED and tail drop, experiments 1 to 5",
        needs=["tcp"],
        panels=[Panel("TCP", "Goodput", Axis("Experiment"), Axis("Throughput (Mbit/s)", 9.0, 9.6))],
        curves=curves.goodput_and_loss("tcp", (TD, RED), loss=False),
        caption="The printed axis begins at 9.15. Most that there can be is 9.6: 40 of 1000 bytes are headers.",
        across=1,
    ),
    Figure(
        name="fig5",
        title="TCP goodput and UDP loss with RED and tail drop, experiments 6 to 8",
        needs=["mixed"],
        panels=[
            Panel("TCP", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
            Panel("UDP", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
        ],
        curves=curves.goodput_and_loss("mixed", (RED, TD)),
        caption="One chart with two axes in print: 7 to 8.4 Mbit/s, and 29 to 38 %. The testbed's level of loss is that "
        "of its own traffic and is not reached here: compare differences.",
    ),
    Figure(
        name="fig6",
        title="Queueing delay and consecutive losses with RED and tail drop",
        needs=["queue", "mixed"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Consecutive losses of a UDP flow, 400 sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_a_flow,
        caption=f"{MODEL} It deals packets out to {curves.FLOWS} flows at random; the simulated flow is one of ten, and "
        "has a packet every 80 ms.",
    ),
    Figure(
        name="fig7",
        title="Impact of the averaging parameter on TCP goodput and UDP loss",
        needs=["averaging"],
        panels=[
            Panel("TCP", "TCP goodput", WEIGHT, Axis(GOODPUT, 8, 9)),
            Panel("UDP", "UDP loss", WEIGHT, Axis(UDP, 0, 20)),
        ],
        curves=curves.averaging,
        caption="The printed chart has no numbers on its vertical axes.",
    ),
    Figure(
        name="fig8",
        title="TCP goodput and UDP loss with tail drop, RED and gentle RED, experiments 6 to 8",
        needs=["mixed"],
        panels=[
            Panel("TCP", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
            Panel("UDP", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
        ],
        curves=curves.goodput_and_loss("mixed", (TD, RED, *GREDS)),
        caption="The printed GRED is the testbed's: sharp RED from 0 at 30 packets to 1 at 130. True gentle RED beside it.",
    ),
    Figure(
        name="fig9",
        title="The queue and consecutive losses with gentle RED",
        needs=["queue", "simulation"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Consecutive losses of all flows, 200 greedy sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_all(GREDS),
        caption=MODEL,
    ),
    Figure(
        name="fig10",
        title="TCP goodput and UDP loss with tail drop, RED, GRED and GRED-I, simulation",
        needs=["simulation"],
        panels=[
            Panel("TCP", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 8, 9.4)),
            Panel("UDP", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 30)),
        ],
        curves=curves.goodput_and_loss("simulation", (TD, RED, *GREDS, HERO)),
        caption="The paper does not say which GRED it simulated: both are here.",
    ),
    Figure(
        name="fig11",
        title="The queue and consecutive losses with GRED-I",
        needs=["queue", "simulation"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Consecutive losses of all flows, 200 greedy sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_all((HERO,)),
        caption=MODEL,
    ),
    Table(
        name="metrics",
        title="All metrics in simulation, 200 greedy TCP sources",
        needs=["simulation"],
        rows=curves.metrics,
        caption="With the metric that the paper names as missing: Jain's index of the TCP flows' goodputs.",
        beyond=True,
    ),
    Table(
        name="runs",
        title="Losses in a row, 400 sources: of a UDP flow, and of all packets whatever their flow",
        needs=["mixed", "simulation"],
        rows=curves.run_lengths,
        caption=f"P(run >= n); the model has the load {curves.LOAD}, and a flow has one packet in {curves.FLOWS}.",
        digits=2,
        beyond=True,
    ),
    Figure(
        name="split",
        title="How often a UDP flow loses more than 5 packets in a row, by how many flows UDP is split into",
        needs=["split"],
        panels=[
            Panel("", "400 sources", Axis("UDP flows of 1 Mbit/s in all", 1, 40, log=True), Axis("P(> 5)", 1e-6, 1, log=True))
        ],
        curves=curves.split,
        caption="The paper does not say how many there are; where a point is missing, no run was so long.",
        across=1,
        beyond=True,
    ),
]

CLAIMS = [
    Claim(
        name="tail-drop-for-many",
        text="With 32 and more TCP sources tail drop gives more goodput than RED.",
        where="Section III-A.1, Fig. 4, Exp1 to Exp4",
        judge=claims.many_sources,
        needs=["tcp"],
        shown=["fig4"],
        sensitive=True,
    ),
    Claim(
        name="red-for-few",
        text="With 16 TCP sources RED gives more goodput than tail drop.",
        where="Section III-A.1, Fig. 4, Exp5",
        judge=claims.few_sources,
        needs=["tcp"],
        shown=["fig4"],
        sensitive=True,
    ),
    Claim(
        name="tcp-as-good",
        text="Beside UDP, TCP's goodput with RED is comparable with that with tail drop.",
        where="Section III-A.2, Fig. 5",
        judge=claims.tcp_comparable,
        needs=["mixed"],
        shown=["fig5"],
    ),
    Claim(
        name="red-drops-udp",
        text="UDP loses 5 to 12 % more with RED than with tail drop.",
        where="Section III-A.2, Fig. 5; III-C",
        judge=claims.udp_loses_more,
        needs=["mixed", "simulation"],
        shown=["fig5", "fig10"],
        sensitive=True,
    ),
    Claim(
        name="red-gains-nothing",
        text="RED does not increase the goodput of the router's interface.",
        where="Section III-C",
        judge=claims.no_gain,
        needs=["mixed", "simulation"],
        shown=["fig5", "fig10"],
    ),
    Claim(
        name="tail-drop-full",
        text="Tail drop's buffer stays close to full.",
        where="Section III-A.3, Fig. 6 left",
        judge=claims.tail_drop_full,
        needs=["simulation"],
        shown=["fig6"],
    ),
    Claim(
        name="red-at-max-th",
        text="RED's average queue stays close to max_th.",
        where="Section III-A.3, Fig. 6 left",
        judge=claims.at_max_threshold,
        needs=["simulation"],
        shown=["fig6"],
    ),
    Claim(
        name="red-oscillates",
        text="The queue varies more with RED than with tail drop.",
        where="Section III-A.3, Fig. 6 left; III-C",
        judge=claims.red_oscillates,
        needs=["simulation"],
        shown=["fig6"],
    ),
    Claim(
        name="red-as-short-tail-drop",
        text="RED behaves like tail drop with a buffer of max_th packets.",
        where="Section III-A.3",
        judge=claims.as_short_tail_drop,
        needs=["short"],
        shown=["fig6"],
    ),
    Claim(
        name="red-runs",
        text="A UDP flow loses more than 5 packets in a row ten times as often with RED as with tail drop.",
        where="Section III-A.4, Fig. 6 right",
        judge=claims.more_than_five,
        needs=["mixed"],
        shown=["fig6", "runs"],
    ),
    Claim(
        name="longest-runs",
        text="More than 15 losses in a row occur with RED, never more than 7 with tail drop.",
        where="Section III-A.4",
        judge=claims.longest_runs,
        needs=["mixed"],
        shown=["fig6", "runs"],
    ),
    Claim(
        name="flows-alike",
        text="TCP and UDP flows lose in runs of the same lengths.",
        where="Section III-A.4",
        judge=claims.alike,
        needs=["mixed"],
        shown=["fig6"],
    ),
    Claim(
        name="goodput-whatever-w",
        text="TCP's goodput hardly depends on RED's averaging weight.",
        where="Section III-B, Fig. 7",
        judge=claims.flat_goodput,
        needs=["averaging"],
        shown=["fig7"],
    ),
    Claim(
        name="udp-loss-falls-with-w",
        text="UDP loses the less the larger RED's averaging weight; least if the queue is not averaged.",
        where="Section III-B, Fig. 7",
        judge=claims.falling_loss,
        needs=["averaging"],
        shown=["fig7"],
        sensitive=True,
    ),
    Claim(
        name="gred-spares-udp",
        text="UDP loses about 10 % less with GRED than with RED.",
        where="Section IV, Fig. 8",
        judge=claims_gentle.gred_loses_less,
        needs=["mixed"],
        shown=["fig8"],
    ),
    Claim(
        name="gred-costs-tcp",
        text="TCP's goodput is about 3 % higher with RED than with GRED.",
        where="Section IV, Fig. 8",
        judge=claims_gentle.gred_delivers_less,
        needs=["mixed"],
        shown=["fig8"],
    ),
    Claim(
        name="gred-oscillates",
        text="The queue oscillates heavily with GRED, in spite of different round trips.",
        where="Section IV, Fig. 9 left",
        judge=claims_gentle.gred_swings,
        needs=["simulation"],
        shown=["fig9", "metrics"],
    ),
    Claim(
        name="gred-synchronises",
        text="GRED synchronises TCP flows.",
        where="Section IV",
        judge=claims_gentle.gred_synchronises,
        needs=["simulation"],
        shown=["fig9"],
    ),
    Claim(
        name="gred-multiple-drops",
        text="GRED makes more multiple drops than tail drop.",
        where="Section IV, Fig. 9 right",
        judge=claims_gentle.gred_multiple,
        needs=["simulation"],
        shown=["fig9", "runs"],
    ),
    Claim(
        name="gred-no-better",
        text="GRED is no improvement on RED, which is better in all metrics.",
        where="Section VI",
        judge=claims_gentle.gred_no_better,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
    Claim(
        name="gred-i-best-goodput",
        text="GRED-I gives the best TCP goodput.",
        where="Section V, Fig. 10",
        judge=claims_gentle.best_goodput,
        needs=["simulation"],
        shown=["fig10", "metrics"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="gred-i-over-gred",
        text="GRED-I gives more TCP goodput and less UDP loss than GRED.",
        where="Section V, Fig. 10",
        judge=claims_gentle.better_than_gred,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
    Claim(
        name="tail-drop-spares-udp",
        text="Tail drop has the lowest UDP loss; GRED-I's is higher.",
        where="Section V, Fig. 10; VI",
        judge=claims_gentle.tail_drop_spares_udp,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
    Claim(
        name="gred-i-steady",
        text="To look at the queue itself reduces its oscillation.",
        where="Section V, Fig. 11 left",
        judge=claims_gentle.steady,
        needs=["simulation"],
        shown=["fig11", "metrics"],
        comparative=True,
    ),
    Claim(
        name="gred-i-half-the-delay",
        text="The mean delay with GRED-I is 50 % shorter than with tail drop.",
        where="Section V, Fig. 11 left",
        judge=claims_gentle.half_the_delay,
        needs=["simulation"],
        shown=["fig11", "metrics"],
        sensitive=True,
    ),
    Claim(
        name="gred-i-runs",
        text="GRED-I makes slightly more consecutive losses than tail drop, and far fewer than GRED.",
        where="Section V, Fig. 11 right",
        judge=claims_gentle.gredi_runs,
        needs=["simulation"],
        shown=["fig11", "runs"],
    ),
    Claim(
        name="small-gain",
        text="What TCP gains from GRED-I is small.",
        where="Section VI",
        judge=claims_gentle.small_gain,
        needs=["simulation"],
        shown=["fig10", "metrics"],
    ),
    Claim(
        name="recommended",
        text="If not tail drop, GRED-I is the discipline with the best performance.",
        where="Section VI",
        judge=claims_gentle.recommended,
        needs=["simulation"],
        shown=["fig10", "fig11", "metrics"],
        comparative=True,
    ),
    Claim(
        name="testbed-levels",
        text="On the testbed UDP loses 29 to 38 %, and TCP delivers 7 to 8.4 Mbit/s.",
        where="Section III-A.2, Fig. 5",
        judge=claims.levels,
        shown=["fig5"],
    ),
    Claim(
        name="runs-by-rate",
        text="How long runs of losses are depends on how fast a flow is: more than 5 are far likelier for one fast UDP flow "
        "than for many slow ones.",
        where="Beyond Section III-A.4",
        judge=claims.split_matters,
        needs=["split"],
        shown=["split"],
        beyond=True,
    ),
]

CHOICES = [
    Choice(
        "RED's thresholds, max_p and w",
        "lost in our copy; those of Cisco's documents and of Floyd's note of 1997",
        "30 and 90 packets, 0.1, 0.002",
        "what these texts recommend, scaled to the buffer; below 130, which is called a higher value. Varied below.",
    ),
    Choice(
        "GRED in simulation",
        "the testbed's is sharp RED with max_p = 1 and max_th = 130; of the simulations nothing is said",
        "both that and true gentle RED: 0.1 at 90, 1 at 180 packets",
        "the two differ by more than either does from RED",
    ),
    Choice("GRED-I's min_th", "lost in our copy", "30 packets, as RED's", "only max_th is said to differ, 200 packets"),
    Choice(
        "GRED-I's spacing of drops",
        "",
        "none: drops are independent",
        "the paper's model has none, and the function is meant to be the drop probability",
    ),
    Choice("RED's spacing of drops", "", "that of 1993, with the count since the last drop", "what routers then had"),
    Choice(
        "sources of the testbed",
        "scripts of Chariot for HTTP and FTP",
        "each fetches a file, then the next at once, over a new connection",
        "the scripts repeat transactions; pauses are not said",
    ),
    Choice(
        "sizes of HTTP objects",
        "text, small and large pictures",
        "1 kB and 10 kB, as many sources of each",
        "a text and a picture of the time; FTP's 100 kB are said",
    ),
    Choice(
        "shares of traffic",
        "80 % large transfers (Exp1 to 5), 20 % of the TCP traffic FTP (Exp6 to 8), elsewhere 20 % of the flows",
        "of the sources",
        "the number of sources is what the experiments are defined by",
    ),
    Choice(
        "UDP flows",
        "10 or 5 % of the link in all",
        "10 or 5 of 100 kbit/s, packets of 1000 B every 80 ms, beside the TCP sources",
        "decides the runs of losses of a flow: see the figure beyond the paper",
    ),
    Choice(
        "the testbed's delays",
        "10 to 200 ms for different links",
        "round trips of 10 to 200 ms, evenly over 8 links",
        "whether the delay box delays one way or both is not said; 200 packets, which it calls the bandwidth-delay "
        "product, are 160 ms. Varied below.",
    ),
    Choice("access links of the testbed", "10 Mbit/s, half duplex", "10 Mbit/s, full duplex", "the engine has no collisions"),
    Choice(
        "TCP of the testbed",
        "Linux 2.2 and Windows NT with NewReno",
        "NewReno, delayed ACKs, least time-out 0.2 s, first one 3 s, initial window 2",
        "a Linux of the time",
    ),
    Choice(
        "TCP in simulation",
        "NewReno of ns 2.0, modified",
        "the preset ns2-2002 (least time-out 1 s, clock 100 ms), window up to 1000",
        "the defaults of that time, but for the window of 20, which is varied below",
    ),
    Choice(
        "round trips in simulation",
        "120 to 220 ms, by the links to the sources",
        "without queues; each of 32 links draws its own, again for each seed",
        "whether queueing is counted in is not said",
    ),
    Choice("the model's offered load", "lost in our copy", "1.2", "the lightest load at which RED's step makes itself felt"),
    Choice(
        "length of runs",
        "10 minutes, 10 times; more than 200 s in simulation",
        "10 minutes and 200 s; the first 60 and 20 s do not count",
        "start-up is not to count, as in the paper",
    ),
]

BED = ("tcp", "mixed")
VARIANTS = [
    Variant(
        "the other least time-out (simulation 0.2 s, testbed 1 s)",
        {"traffic.*.tcp.min_rto": "200 ms"},
        only=dict.fromkeys(BED, {"traffic.*.tcp.min_rto": "1 s"}),
    ),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant(
        "the other ACKs (simulation delayed, testbed each)",
        {"traffic.*.tcp.delayed_ack": True},
        only=dict.fromkeys(BED, {"traffic.*.tcp.delayed_ack": False}),
    ),
    Variant("RED's thresholds 5 and 15", {"aqm.min_th": 5, "aqm.max_th": 15}),
    Variant(
        "delays of the testbed one way",
        {},
        only=dict.fromkeys(
            BED, {"dumbbell.sender_delay": [f"{8 + round(190 / 7 * place)} ms" for place in range(8)]}
        ),
    ),
]

PAPER = Paper(
    name="impact",
    title="The Impact of Active Queue Management on the Performance of Aggregate Traffic",
    source="A research report of 2000 or later; our copy has lost its title page, and the title is that of its French summary",
    about="Compares tail drop, RED, gentle RED (GRED) and gentle RED of the instantaneous queue (GRED-I) on a testbed of "
    "routers, by simulation and by a model: goodput, the loss of UDP, delay, and losses in a row. It finds little use in "
    "RED, blames averaging together with the drop function's edge, and speaks for GRED-I.",
    hero=HERO,
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
    later="Experiments 1 to 8 on real routers and hosts, with the live engine: figures 4, 5, 6 (right) and 8 are of a "
    "testbed, and simulated here with a copy of its traffic. Its level of UDP loss, 29 to 38 %, is not reached: that takes "
    "its own sources, and greedy TCP cannot do it either.",
)
