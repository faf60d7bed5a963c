"""Section 8: stability under other loads and capacities, and to parameters."""

from collections.abc import Sequence

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Plot
from aqmlab_papers.evaluation.describe.sensitivity import FACTORS, MOST_PARAMETERS, scaled

_LOSSES = "The RFC expects a loss of about {} % under drop-tail; the reference shows what these senders cause."
_WARMUP = 20.0
"""The RFC's time 0 of this section, in s of the run."""


def _congestion(scenario: str) -> Case:
    return Case(
        "",
        f"rfc7928/{scenario}",
        [
            m.goodput("bulk"),
            m.waiting("bulk"),
            m.waiting("bulk", "Delay p99", "p99"),
            m.loss("bulk"),
            m.loss_runs("bulk"),
            m.synchronisation(),
            m.fairness(),
        ],
        [Plot.of("", "bulk")],
        distribution="bulk",
    )


def _phased(
    name: str, scenario: str, phases: Sequence[tuple[m.Phase, float]], entries: Sequence[str], end: float
) -> Case:
    """Return a case whose results are taken per phase; each has its capacity in Mbit/s. Curves go on to `end`."""
    pairs = [
        (phase, m.phase_waiting(phase, "bulk", _WARMUP), m.phase_throughput(phase, entries, capacity, _WARMUP))
        for phase, capacity in phases
    ]
    return Case(
        name,
        f"rfc7928/{scenario}",
        [measure for _, wait, throughput in pairs for measure in (throughput, wait)],
        [
            Plot(f"{name}: {phase.name}".removeprefix(": ").capitalize(), wait, throughput)
            for phase, wait, throughput in pairs
        ],
        series=True,
        over_time=(_WARMUP, end),
    )


_LOAD_ENTRIES = ["bulk", "medium1", "heavy1", "medium2", "heavy2"]

GUIDELINES = [
    Guideline(
        "8.2.2",
        "Mild congestion",
        "should be considered",
        f"Six long NewReno flows: 0.036 S. {_LOSSES.format(0.1)}",
        [_congestion("mild")],
    ),
    Guideline(
        "8.2.3",
        "Medium congestion",
        "should be considered",
        f"Fourteen long NewReno flows: 0.081 S. {_LOSSES.format(0.5)}",
        [_congestion("medium")],
    ),
    Guideline(
        "8.2.4",
        "Heavy congestion",
        "should be considered",
        f"Nineteen long NewReno flows: 0.114 S. {_LOSSES.format(1)}",
        [_congestion("heavy")],
    ),
    Guideline(
        "8.2.5",
        "Varying congestion levels",
        "must be considered",
        "Mild, medium and heavy congestion for 20 s each, twice; results are means over both times of a phase.",
        [
            _phased(
                "",
                "varying-load",
                [
                    (m.Phase(name, start, 20.0, 60.0), 10.0)
                    for name, start in (("mild", 20.0), ("medium", 40.0), ("heavy", 60.0))
                ],
                _LOAD_ENTRIES,
                140.0,
            )
        ],
    ),
    Guideline(
        "8.2.6",
        "Varying available capacity",
        "must be considered",
        "Twenty long NewReno flows on a link of 100 and 10 Mbit/s in turn, of 20 s each (experiment 1) and of 100 ms "
        "each (experiment 2). Disciplines that are set by the link's rate know that of 100 Mbit/s.",
        [
            _phased(
                "phases of 20 s",
                "varying-capacity",
                [(m.Phase("100 Mbit/s", 40.0, 20.0, 40.0), 100.0), (m.Phase("10 Mbit/s", 20.0, 20.0, 40.0), 10.0)],
                ["bulk"],
                100.0,
            ),
            _phased(
                "phases of 100 ms",
                "varying-capacity-fast",
                [(m.Phase("100 Mbit/s", 0.0, 0.1, 0.2), 100.0), (m.Phase("10 Mbit/s", 0.1, 0.1, 0.2), 10.0)],
                ["bulk"],
                24.0,
            ),
        ],
        departures=[
            "Slow start is left out: the first 20 s are not measured.",
            "A packet counts when its transmission begins, also if the rate changes during it: the utilisation of "
            "short phases may exceed 100 % by a packet.",
        ],
    ),
    Guideline(
        "8.3",
        "Parameter sensitivity",
        "should be discussed",
        "Each number among a discipline's parameters, halved and doubled, under medium congestion. Parameters that "
        "follow from others are left as they follow. `aqmlab analyse` has the stability margins of the control laws.",
        [
            Case(
                f"{number + 1} x {factor:g}",
                "rfc7928/medium",
                [m.goodput("bulk"), m.waiting("bulk")],
                placement=scaled(number, factor),
                against=("8.2.3", ""),
                judged=False,
            )
            for number in range(MOST_PARAMETERS)
            for factor in FACTORS
        ],
        kind="sensitivity",
    ),
]
