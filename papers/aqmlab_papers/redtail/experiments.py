"""The experiments of the RED+Tail paper."""

from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import RIVALS, Aqms, Experiment
from aqmlab_papers.redtail import measures as m
from aqmlab_papers.redtail.theory import ALONE, FIXED_LOSS, FLOWS, LOSS, MOVING, PD, PROBES

FLAT = "by_size=false"
"""Drops without regard to the size of a packet, as ns-2's RED drew them until October 2004."""
RED_TAIL: Aqms = {m.HERO: {}}
"""The scenario's discipline, which allows the sensitivity table to change its parameters."""
THREE: Aqms = {**RED_TAIL, m.ARED: f"ared:preset=redtail,{FLAT}", m.TAIL: "droptail"}
# The ceiling is far above the buffer of 160 packets: the paper has no bound of the thresholds.
MOVING_THRESHOLDS: Aqms = {m.DYNAMIC: {"aqm.long": f"dtared:preset=redtail,ceiling=1000,{FLAT}"}}
LATER: Aqms = {
    "PIE": "pie:target=80 ms",
    "CoDel": "codel:target=80 ms",
    "DualPI2": "dualpi2:target=80 ms",
    "FQ-CoDel": "fq_codel",
}
"""Later disciplines, with the delay RED+Tail targets for its short queue, max_th1/C."""

TCP = {
    "traffic.*.tcp": "ns2-2002:flavour=reno,initial_ssthresh=64,initial_window=1,initial_rto=6 s,limited_transmit=off"
}
"""The TCP that reproduces the paper's Table I: docs/theory/transfers.md."""
OURS = {"aqm": "redtail", "aqm.long": f"ared:preset=redtail,{FLAT}", **m.CHOSEN, **TCP}
FTP_ALONE: Settings = {
    "traffic.web.count": 0,
    "traffic.cbr.count": 0,
    "duration": "300 s",
    "warmup": "20 s",
    "record.loss_event": "500 ms",
}
LOSSES = [0.0, 0.02, 0.04, 0.08]
SIZES = [f"{size} kB" for size in range(30, 211, 30)]
FEW_SIZES = ["30 kB", "90 kB", "150 kB"]
RED = {f"RED, max_p {p:g}": f"red:min_th=20,max_th=80,max_p={p:g},spacing=wait" for p in (0.02, 0.1, 0.5)}
ADAPTIVE = {f"Adaptive RED, max_p {p:g}": f"ared:preset=redtail,max_p={p:g},{FLAT}" for p in (0.02, 0.1, 0.5)}


Web = partial(Experiment, scenario="redtail/web", settings=OURS, rivals={})
Files = partial(
    Experiment, scenario="redtail/files", settings=OURS, vary={m.SIZE: SIZES}, quick={m.SIZE: FEW_SIZES}, rivals=LATER
)
Alone = partial(Experiment, settings=TCP, rivals={})
"""An experiment without RED+Tail's own parameters, and without later disciplines."""


EXPERIMENTS = (
    Web("web", "10 FTP, 800 web clients and CBR: losses, delays, rates", THREE, rivals=LATER),
    Web("time", "The same over time", {**RED_TAIL, m.ARED: THREE[m.ARED], **MOVING_THRESHOLDS}, series=True),
    Web(
        "n",
        "RED+Tail over N, after which a connection is long",
        {**RED_TAIL, **MOVING_THRESHOLDS},
        vary={m.N: [64, 128, 256, 1000]},
        quick={m.N: [64, 256]},
        series=True,
    ),
    Web(
        "dynamic-web", "The same with thresholds that move in RED+Tail's long queue", {**RED_TAIL, **MOVING_THRESHOLDS}
    ),
    Web(
        "weights-web",
        "Moving thresholds in RED+Tail over the weight of the averaged drop probability",
        MOVING_THRESHOLDS,
        vary={m.LONG_WEIGHT: m.WEIGHTS[:-1]},
        quick={m.LONG_WEIGHT: m.WEIGHTS[:1]},
        series=True,
    ),
    Web(
        "silence",
        "RED+Tail over T, after whose silence a connection is new",
        RED_TAIL,
        vary={m.T: ["5 s", "10 s", "50 s", "200 s"]},
        quick={m.T: ["5 s", "200 s"]},
    ),
    Web(
        "c1max",
        "RED+Tail over C1max",
        RED_TAIL,
        vary={m.C1_MAX: [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]},
        quick={m.C1_MAX: [0.5, 0.8, 1.0]},
    ),
    Web(
        "optimum",
        "RED+Tail over N and C1max",
        RED_TAIL,
        vary={m.N: [64, 256, 1000], m.C1_MAX: [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]},
        quick={m.N: [64, 256], m.C1_MAX: [0.5, 0.8, 1.0]},
        most_seeds=5,
        varied=False,
    ),
    Web(
        "maxth1",
        "The web scenario over max_th1",
        RED_TAIL,
        vary={m.MAX_TH1: [f"{size} kB" for size in range(10, 81, 10)]},
        quick={m.MAX_TH1: ["10 kB", "30 kB", "80 kB"]},
    ),
    Web(
        "equation-1",
        "The same by equation (1): C1min = 0, C1max = C",
        RED_TAIL,
        settings={**OURS, "aqm.min_th1": "0 B", "aqm.c1_min": 0, m.C1_MAX: 1},
        vary={m.MAX_TH1: [f"{size} kB" for size in range(10, 81, 10)]},
        quick={m.MAX_TH1: ["10 kB", "30 kB", "80 kB"]},
    ),
    Web(
        "room",
        "Moving thresholds with a larger buffer and a smaller max_th1",
        MOVING_THRESHOLDS,
        vary={"dumbbell.buffer": ["160 kB", "240 kB"], m.MAX_TH1: ["15 kB", "30 kB"]},
    ),
    Web(
        "targets",
        "Delays by choice of the thresholds",
        {
            f"{low} to {high}": {"aqm.long": f"ared:min_bytes={low},max_bytes={high},spacing=wait,bytes=true,{FLAT}"}
            for low, high in (("10 kB", "40 kB"), ("20 kB", "80 kB"), ("30 kB", "90 kB"))
        },
        vary={m.MAX_TH1: ["15 kB", "30 kB", "45 kB"]},
        quick={m.MAX_TH1: ["30 kB"]},
    ),
    Web(
        "ftp-alone",
        "10 and 40 FTP alone: synchronisation, and the setting of max_p",
        {m.TAIL: "droptail", **RED, **ADAPTIVE},
        settings={**OURS, **FTP_ALONE},
        vary={m.COUNT: [10, 40]},
        quick={m.COUNT: [10]},
    ),
    Web(
        "random-loss",
        "FTP and web over a fast link that loses at random",
        {ALONE: "droptail"},
        settings={
            **OURS,
            "dumbbell.rate": "1 Gbit/s",
            "dumbbell.access_rate": "100 Mbit/s",
            "dumbbell.buffer": "10000 packets",
        },
        vary={PD: [0.01, 0.04]},
        varied=False,
    ),
    Web(
        "causes",
        "RED+Tail with a split buffer, and with early drops in its short queue too",
        {
            **RED_TAIL,
            # RED with one step, at the present queue, drops all from half of the buffer on.
            "Split buffer": {"aqm.short": "red:min_th=80,max_th=80,w_q=1,max_p=1,gentle=false,spacing=none"},
            "Early drops": {"aqm.short": f"ared:preset=redtail,{FLAT}"},
        },
    ),
    Web("by-size", "Adaptive RED that draws its drops by the size of a packet", {m.ARED: "ared:preset=redtail"}),
    Web("rivals", "The web scenario with later disciplines", {**RED_TAIL, **LATER}),
    Experiment(
        "voice", "Voice and video in the place of CBR", THREE, scenario="redtail/voice", settings=OURS, rivals=LATER
    ),
    Files("files", "Small files beside that traffic", THREE),
    Files(
        "short-buffer",
        "Small files beside that traffic, with a drop-tail buffer of about Adaptive RED's delay",
        {"Short DropTail": {"aqm": "droptail", "dumbbell.buffer": "60 kB"}},
        rivals={},
    ),
    Files(
        "alone",
        "Small files on an empty link",
        {"No other traffic": "droptail"},
        settings={**TCP, "traffic.web.count": 0, "traffic.ftp.count": 0, "traffic.cbr.count": 0},
        rivals=RIVALS,
    ),
    Experiment(
        "dynamic",
        "20 FTP, and 20 more from 100 to 300 s: fixed and moving thresholds",
        {m.DYNAMIC: {}, m.FIXED: THREE[m.ARED]},
        scenario="redtail/dynamic",
        settings=TCP,
        series=True,
    ),
    Alone(
        "weights",
        "The same over the weight of the averaged drop probability",
        {m.DYNAMIC: {}},
        scenario="redtail/dynamic",
        vary={m.OWN_WEIGHT: m.WEIGHTS},
        quick={m.OWN_WEIGHT: [m.WEIGHTS[0], m.WEIGHTS[-1]]},
        series=True,
    ),
    Alone(
        "bands",
        "Moving thresholds over the band of P",
        {m.DYNAMIC: {}},
        scenario="redtail/dynamic",
        vary={"aqm.p_l": [0.005, 0.01, 0.02], "aqm.p_u": [0.01, 0.02, 0.04]},
        method="paired",
    ),
    Alone(
        "mixed",
        "Flows of 16 and of 240 ms in one queue",
        {m.DYNAMIC: {}, m.FIXED: THREE[m.ARED]},
        scenario="redtail/mixed",
    ),
    Alone(
        "queues",
        "Two queues of short and of long round trips under deficit round robin, and one queue",
        {
            m.DYNAMIC: {},
            m.FIXED: {"aqm.aqm": THREE[m.ARED]},
            m.ONE_DYNAMIC: {"aqm.flows": 1},
            m.ONE_FIXED: {"aqm.flows": 1, "aqm.aqm": THREE[m.ARED]},
        },
        scenario="redtail/queues",
        varied=False,
    ),
    Alone(
        "table1",
        "Small files of 30 to 210 kB over a link that drops with a fixed probability",
        {ALONE: "droptail"},
        scenario="redtail/table1",
        vary={PD: [0.0, 0.02, 0.04, 0.06, 0.08]},
        quick={PD: [0.0, 0.02, 0.04, 0.08]},
    ),
    Alone(
        "request",
        "Table I's files with a request ahead of each, and the same losses on the way back",
        {ALONE: "droptail"},
        scenario="redtail/table1",
        settings={**TCP, "traffic.*.request": "300 B"},
        vary={PD: LOSSES, "dumbbell.reverse_loss": LOSSES},
        method="paired",
        varied=False,
    ),
    Alone(
        "steady",
        "20 and 40 FTP all along: moving thresholds, and a fixed loss",
        {MOVING: {}, FIXED_LOSS: {"aqm": "droptail", PD: LOSS}},
        scenario="redtail/steady",
        vary={m.COUNT: [count - len(PROBES) for count in FLOWS]},
        series=True,
    ),
    Experiment(
        "prediction",
        "The short queue's rate by its length, and by a prediction",
        {
            m.RULE: {"aqm.allocation": "queue"},
            m.PREDICTION: {},
            m.LONG_MEAN: {"aqm.alpha": 0.01, "aqm.beta": 0},
            m.FIRST: {"aqm.c1_min": 1, m.C1_MAX: 1},
        },
        scenario="redtail/prediction",
        settings=TCP,
        vary={m.MAX_TH1: ["10 kB", "30 kB", "80 kB"]},
        quick={m.MAX_TH1: ["30 kB", "80 kB"]},
    ),
    Experiment(
        "forecast",
        "What is predicted and what comes",
        {interval: {"aqm.interval": interval} for interval in m.INTERVALS},
        scenario="redtail/prediction",
        settings={"record.step": f"{m.STEP} s", **TCP},
        series=True,
        rivals={},
    ),
)
