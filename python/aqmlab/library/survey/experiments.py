"""The experiments of the survey."""

from __future__ import annotations

from aqmlab.library.survey import theory
from aqmlab.library.survey.measures import HOSTS
from aqmlab.papers import Experiment

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
COUNTS = [10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 140, 160]


def counts(nodes: list[int]) -> dict[str, list[int]]:
    """Return the settings that vary with the number of edge nodes: nodes, and flows in proportion.

    They are for the method ``paired``.
    """
    return {HOSTS: nodes, "traffic.ftp.count": [3 * count for count in nodes], "traffic.udp.count": nodes}


def _calibration(name: str, title: str, settings: dict[str, str]) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        scenario="survey/core",
        aqms={"DropTail": "droptail"},
        settings=settings,
        vary=counts(COUNTS),
        quick=counts([40, 70, 100]),
        method="paired",
        rivals={},
    )


CALIBRATIONS = (
    _calibration("calibration", "Drop tail over the number of edge nodes", {}),
    _calibration("calibration-fast", "The same, time-outs of 0.2 s", {"traffic.*.tcp.min_rto": "200 ms"}),
    _calibration("calibration-packets", "The same, a buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
)

EXPERIMENTS = [
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
    *CALIBRATIONS,
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
        vary=counts([20, 40, 70, 100]),
        quick=counts([20, 40]),
        method="paired",
    ),
]
