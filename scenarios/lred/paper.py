"""LRED: An Adaptive Active Queue Management Scheme (Wang, Lin, et al.): what it shows and claims."""

from aqmlab.papers import Axis, Check, Choice, Claim, Evidence, Experiment, Figure, Judgement, Panel, Paper, Variant
from aqmlab.papers.sketch import over

PISTAR = "pistar:design={n=400, rtt='450 ms'}"
FOUR = {"LRED": "lred", "PI": "pi", "PI*": PISTAR, "REM": "rem"}

TARGET = Axis("Target queue length q0 (packets)", 20, 160)


def steadiest(evidence: Evidence) -> Judgement:
    """Compare the mean deviation of the queue."""
    runs = evidence["exp3"]
    checks = [
        Check.of(
            f"deviation of {other} less that of LRED",
            runs.differences("queue_mad", other, "LRED"),
            unit="packets",
            least=0,
        )
        for other in runs.others
    ]
    return Judgement(checks, "Means over all targets of the paired differences of each seed.")


PAPER = Paper(
    name="lred",
    title="LRED: A Robust and Responsive AQM Algorithm Using Packet Loss Ratio Measurement",
    source="",
    about="",
    hero="LRED",
    experiments=[
        Experiment(
            name="exp3",
            title="Experiment 3: the target queue length",
            scenario="lred/exp3",
            aqms=FOUR,
            vary={"aqm.q0": "20,40..160"},
            quick={"aqm.q0": "40,100,160"},
            rivals={"PIE": "pie:target=40 ms"},
        ),
    ],
    items=[
        Figure(
            name="fig7",
            title="Goodput and average queue length over the target",
            needs=["exp3"],
            panels=[
                Panel("a", "Goodput", TARGET, Axis("Goodput (Mbit/s)")),
                Panel("b", "Average queue length", TARGET, Axis("Average queue length (packets)", 0, 200)),
            ],
            curves=over("exp3", "aqm.q0", {"a": ("goodput", 1e-6), "b": "queue_mean"}),
        ),
    ],
    claims=[
        Claim(
            name="steadiest",
            text="LRED's queue deviates least from its mean.",
            where="Section 6.1, Fig. 8",
            judge=steadiest,
            needs=["exp3"],
            shown=["fig7"],
            sensitive=True,
            comparative=True,
        ),
    ],
    choices=[Choice("R1-R2 delay", "", "2.5 ms", "fits both stated maxima of the round trip")],
    variants=[Variant("window limit 20", {"traffic.*.tcp.max_window": 20})],
)
