"""The experiments of the RED+Tail paper."""

from __future__ import annotations

from dataclasses import replace

from aqmlab.library.redtail.measures import (
    ARED,
    DYNAMIC,
    FIRST,
    FIXED,
    FREE,
    HERO,
    INTERVALS,
    LONG_MEAN,
    MAX_TH1,
    PREDICTION,
    RULE,
    STEP,
    TAIL,
)
from aqmlab.library.redtail.theory import ALONE, COUNT, FIXED_LOSS, FLOWS, LOSS, MOVING, PD, PROBES
from aqmlab.papers import Aqms, Experiment

RED_TAIL: Aqms = {HERO: {}}
"""The scenario's discipline, which allows the sensitivity table to change its parameters."""
THREE: Aqms = {**RED_TAIL, ARED: "ared:preset=redtail", TAIL: "droptail"}

MOVING_THRESHOLDS: Aqms = {
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

SIMULATIONS = (
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
        aqms={**RED_TAIL, ARED: THREE[ARED], **MOVING_THRESHOLDS},
        series=True,
        rivals={},
        most_seeds=3,
    ),
    Experiment(
        name="dynamic-web",
        title="The same with thresholds that move in RED+Tail's long queue",
        scenario="redtail/web",
        settings=OURS,
        aqms={**RED_TAIL, **MOVING_THRESHOLDS},
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

MODEL_AND_FUTURE = (
    Experiment(
        name="table1",
        title="Small files of 30 to 210 kB over a link that drops with a fixed probability",
        scenario="redtail/table1",
        aqms={ALONE: "droptail"},
        vary={PD: [0.0, 0.02, 0.04, 0.06, 0.08]},
        quick={PD: [0.0, 0.02, 0.04, 0.08]},
        rivals={},
    ),
    Experiment(
        name="steady",
        title="20 and 40 FTP all along: moving thresholds, and a fixed loss",
        scenario="redtail/steady",
        aqms={MOVING: {}, FIXED_LOSS: {"aqm": "droptail", PD: LOSS}},
        vary={COUNT: [count - len(PROBES) for count in FLOWS]},
        series=True,
        rivals={},
    ),
    Experiment(
        name="prediction",
        title="The short queue's rate by its length, and by a prediction",
        scenario="redtail/prediction",
        aqms={
            RULE: "redtail:allocation=queue",
            PREDICTION: "redtail:allocation=prediction",
            LONG_MEAN: "redtail:allocation=prediction,alpha=0.01,beta=0",
            FIRST: "redtail:allocation=prediction,c1_min=1,c1_max=1",
        },
        vary={MAX_TH1: ["10 kB", "30 kB", "80 kB"]},
        quick={MAX_TH1: ["30 kB", "80 kB"]},
    ),
    Experiment(
        name="forecast",
        title="What is predicted and what comes",
        scenario="redtail/prediction",
        settings={"record.step": f"{STEP} s"},
        aqms={interval: f"redtail:interval={interval}" for interval in INTERVALS},
        series=True,
        rivals={},
    ),
)

EXPERIMENTS = (
    *SIMULATIONS,
    *(replace(one, settings={**TCP, **one.settings}) for one in MODEL_AND_FUTURE),
)
