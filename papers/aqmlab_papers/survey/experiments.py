"""The experiments of the survey."""

from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import Experiment
from aqmlab_papers.survey import theory
from aqmlab_papers.survey.measures import HOSTS, NODES

SIX = {
    "DropTail": "droptail",
    "RED": "red:preset=survey",
    "REM": "rem:preset=survey",
    "BLUE": "blue:d1=0.02,d2=0.002,freeze_time=100 ms,ecn=true",
    "PI": "pi:preset=survey",
    "JoBS": "jobs_ecn:preset=survey",
}

EVERY, TURNED, BOTH = "JoBS, K = 1", "JoBS, alpha = 0.1", "JoBS, K = 1, alpha = 0.1"
READINGS = {EVERY: f"{SIX['JoBS']},k=1", TURNED: f"{SIX['JoBS']},alpha=0.1", BOTH: f"{SIX['JoBS']},k=1,alpha=0.1"}
"""Other readings of K = 10 and alpha = 0.9: a projection at every arrival, alpha the weight of the new value."""

LATER = {"PIE": "pie:target=12.4 ms,ecn=true", "CoDel": "codel:ecn=true", "DualPI2": "dualpi2"}
"""PIE's target equals PI's: 70 000 bytes at 45 Mbit/s."""


def guaranteed(delay: str, loss: float, factor: float) -> Settings:
    """Return JoBS's guarantees: bounds for class 1, and the factor by which each class from 3 on is worse."""
    relative: list[str | float] = ["auto", factor, factor, factor]
    return {
        "aqm.delay": [delay, "auto", "auto", "auto"],
        "aqm.loss": [loss, "auto", "auto", "auto"],
        "aqm.relative_delay": relative,
        "aqm.relative_loss": relative,
    }


GUARANTEES = {"JoBS": ("5 ms", 0.005, 2), "JoBS, stricter": ("2 ms", 0.004, 1.5), "JoBS, wider": ("2 ms", 0.004, 3)}
"""Bounds of the wait and of the loss of class 1, and factors; the first is the scenario's."""


def _others(label: str, settings: dict[str, str]) -> dict[str, str]:
    """Return a discipline as printed, and with each of some other settings."""
    names = {f"{label}, {name}": f"{SIX[label]},{setting}" for name, setting in settings.items()}
    return {label: SIX[label], **names}


CONFIGURATIONS = {
    "RED": _others(
        "RED",
        {
            **{f"max_p = {value}": f"max_p={value}" for value in (0.1, 0.2, 0.5)},
            **{f"W_q = {value}": f"w_q={value}" for value in (0.0002, 0.02, 1)},
            "10 to 40 kB": "min_bytes=10 kB,max_bytes=40 kB",
            "40 to 90 kB": "min_bytes=40 kB,max_bytes=90 kB",
        },
    ),
    "BLUE": {
        "BLUE": SIX["BLUE"],
        "BLUE, freeze_time = 10 ms": "blue:freeze_time=10 ms,ecn=true",
        "BLUE, freeze_time = 1 s": "blue:freeze_time=1 s,ecn=true",
        "BLUE, d1 = d2 = 0.02": "blue:d2=0.02,ecn=true",
        "BLUE, d1 and d2 exchanged": "blue:d1=0.002,d2=0.02,ecn=true",
    },
    "REM": _others(
        "REM",
        {
            **{f"gamma = {value}": f"gamma={value}" for value in (0.0001, 0.01)},
            **{f"phi = {value}": f"phi={value}" for value in (1.0001, 1.01)},
            "in bytes": "bytes=true",
            "by the queue": "form=paper",
        },
    ),
    "PI": _others(
        "PI",
        {
            **{f"Q_ref = {value} kB": f"q_ref={value}" for value in (20, 40, 85)},
            **{f"{value} Hz": f"frequency={value} Hz" for value in (16, 50, 500)},
        },
    ),
    "JoBS": {
        "JoBS": SIX["JoBS"],
        **READINGS,
        **_others("JoBS", {"K = 100": "k=100", "alpha = 0.5": "alpha=0.5", "B_lim = 70 kB": "b_lim=70 kB"}),
    },
}
"""The five disciplines with parameters, as printed and with one parameter changed."""

ROUND_TRIPS = [0.06, 0.09, 0.12, 0.18, 0.27, 0.36]
"""Bounds of the round-trip time (s) for which PI's rule is taken; the printed gains are those for 0.18."""
COUNTS = [10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 140, 160]
CHANGES = {
    "edge to edge 1 ms": ("dumbbell.delay", "1 ms", 0.001),
    "edge to edge 50 ms": ("dumbbell.delay", "50 ms", 0.05),
    "a tenth of the UDP": ("traffic.udp.rate", "100 kbit/s", 1e5),
    "twice the UDP": ("traffic.udp.rate", "2 Mbit/s", 2e6),
    "100 Mbit/s": ("dumbbell.rate", "100 Mbit/s", 1e8),
}
"""The points of the experiment ``conditions``: each changes one value of the scenario."""
POINTS = {name: {path: value} for name, (path, _, value) in CHANGES.items()}
RATES = [0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6]
"""Fixed probabilities of a signal."""


Core = partial(Experiment, scenario="survey/core", rivals={})
Mixed = partial(Experiment, scenario="survey/mixed", rivals={})


def counts(nodes: list[int], udp: float = 1) -> dict[str, list[int]]:
    """Return the settings that vary with the number of edge nodes, for the method ``paired``.

    They are nodes, FTP flows in proportion, and ``udp`` UDP sources a node.
    """
    return {
        HOSTS: nodes,
        "traffic.ftp.count": [3 * count for count in nodes],
        "traffic.udp.count": [round(udp * count) for count in nodes],
    }


def gains(round_trips: list[float]) -> dict[str, list[float]]:
    """Return PI's gains by its rule for several bounds of the round-trip time (s), for the method ``paired``."""
    a, b = zip(*(theory.rule_gains(theory.GAINS_FOR, rtt) for rtt in round_trips), strict=True)
    return {"aqm.a": list(a), "aqm.b": list(b)}


def _calibration(name: str, title: str, settings: dict[str, str]) -> Experiment:
    return Core(
        name,
        title,
        {"DropTail": "droptail"},
        settings=settings,
        vary=counts(COUNTS),
        quick=counts([40, 70, 100]),
        method="paired",
    )


CALIBRATIONS = (
    _calibration("calibration", "Drop tail over the number of edge nodes", {}),
    _calibration("calibration-fast", "The same, time-outs of 0.2 s", {"traffic.*.tcp.min_rto": "200 ms"}),
    _calibration("calibration-packets", "The same, a buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
)


EXPERIMENTS = [
    Core("schemes", "The six disciplines", SIX, series=True, rivals=LATER),
    Core("readings", "Other readings of JoBS's K and alpha", READINGS, series=True),
    Core("settled", "The six, the first 5 s left out", SIX, settings={"warmup": "5 s"}, rivals=LATER),
    Core("flows", "The six, flow by flow", SIX, settings={"record.flows": True}, series=True),
    Core("drop-tail", "Drop tail alone", {"DropTail": "droptail"}),
    *CALIBRATIONS,
    Core(
        "configuration",
        "Other parameters of each discipline",
        {label: spec for group in CONFIGURATIONS.values() for label, spec in group.items()},
        series=True,
    ),
    Core(
        "gains",
        "PI's gains by its rule, over the bound of the round-trip time",
        {"PI": SIX["PI"]},
        vary=gains(ROUND_TRIPS),
        quick=gains([0.06, 0.09, 0.18, 0.36]),
        method="paired",
    ),
    Core(
        "long",
        "PI for 200 s, and without its proportional part",
        {"PI": SIX["PI"], "PI, integral alone": f"{SIX['PI']},a={theory.A - theory.B:.3g},b=0"},
        settings={"duration": "200 s"},
        series=True,
        varied=False,
    ),
    Core(
        "rem-long",
        "REM with 20 nodes, from 50 to 100 s",
        {label: CONFIGURATIONS["REM"][label] for label in ("REM", "REM, in bytes", "REM, by the queue")},
        settings={**{path: value for path, (value,) in counts([20]).items()}, "duration": "100 s", "warmup": "50 s"},
        varied=False,
    ),
    Core(
        "load",
        "The six over the number of edge nodes",
        {**SIX, EVERY: READINGS[EVERY]},
        vary=counts([20, 40, NODES, 100]),
        quick=counts([20, 40]),
        method="paired",
    ),
    Core(
        "conditions",
        "The six with other round trips, UDP and rates",
        {**SIX, EVERY: READINGS[EVERY]},
        vary={
            path: [text if path == varied else own for varied, text, _ in CHANGES.values()]
            for path, own in (
                ("dumbbell.delay", "10 ms"),
                ("traffic.udp.rate", "1 Mbit/s"),
                ("dumbbell.rate", "45 Mbit/s"),
            )
        },
        method="paired",
    ),
    Core(
        "fixed",
        "A fixed probability of signals",
        {"fixed": "raqm:mode=queue-independent,alpha=static,m=1e-9,ecn=true"},
        settings={"warmup": "5 s"},
        vary={"aqm.p": RATES},
        quick={"aqm.p": [0.02, 0.2, 0.3, 0.35, 0.4, 0.6]},
    ),
    Core(
        "synchronisation",
        "TCP alone without ECN, where every signal is a loss",
        {label: SIX[label] for label in ("DropTail", "RED")},
        settings={"warmup": "5 s", "traffic.ftp.tcp.ecn": False},
        vary=counts([10, 20, 40, NODES, 100], udp=0),
        quick=counts([20, NODES], udp=0),
        method="paired",
    ),
    Mixed(
        "bursts",
        "Bursty and smooth UDP sources of the same rate",
        {label: SIX[label] for label in ("DropTail", "RED")},
        settings={"traffic.more.count": 0},
    ),
    Mixed(
        "change",
        "A change of load for a short time, to a link that is just not full",
        {label: CONFIGURATIONS["RED"][label] for label in ("RED", "RED, W_q = 1")},
        settings={
            **{path: value for path, (value,) in counts([20]).items()},
            "traffic.smooth.count": 0,
            "traffic.ftp.tcp.max_window": 5,
            "duration": "13 s",
        },
        vary={"traffic.more.stop": ["10.05 s", "10.2 s", "12 s"]},
        series=True,
    ),
    Core(
        "fine",
        "RED and JoBS in steps of 2 ms",
        {"RED": SIX["RED"], "JoBS": SIX["JoBS"], EVERY: READINGS[EVERY]},
        settings={"duration": "10 s", "record.step": "2 ms"},
        series=True,
    ),
    Core(
        "no-ecn",
        "RED in steps of 2 ms without ECN, where every signal is a drop",
        {"RED": SIX["RED"]},
        settings={"traffic.ftp.tcp.ecn": False, "record.step": "2 ms"},
        series=True,
    ),
    Core(
        "shares",
        "Connections with windows of 2, 4 and any number of packets",
        {"RED": SIX["RED"]},
        scenario="survey/classes",
        settings={"traffic.second.tcp.max_window": 2, "traffic.third.tcp.max_window": 4},
    ),
    Core(
        "classes",
        "Four classes of service",
        {
            **{label: guaranteed(*given) for label, given in GUARANTEES.items()},
            **{label: SIX[label] for label in ("DropTail", "RED", "REM", "BLUE", "PI")},
        },
        scenario="survey/classes",
    ),
]
