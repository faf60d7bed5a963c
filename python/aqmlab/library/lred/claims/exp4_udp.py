"""Claims of experiment 4 (Figs. 9 and 10): unresponsive UDP flows from 50 s to 150 s."""

from __future__ import annotations

import polars

from aqmlab.library.lred.measures import UDP_RATE, against_others, mean_text, off_target
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, difference


def best(evidence: Evidence) -> Judgement:
    """Compare all four measures, averaged over the densities."""
    runs = evidence["exp4"]
    checks = against_others(runs, "goodput", "goodput", higher=True, unit="Mbit/s", scale=1e-6)
    checks += [
        Check.of(
            f"distance of the mean queue from 100 packets, {label} minus {runs.hero}",
            difference(off_target(runs, label), off_target(runs, runs.hero)),
            unit="packets",
            least=0,
        )
        for label in runs.others
    ]
    checks += against_others(runs, "deviation", "queue_mad", unit="packets")
    checks += against_others(runs, "loss ratio", "loss_ratio")
    deviations = ", ".join(f"{label} {mean_text(runs, 'queue_mad', label)}" for label in runs.labels)
    why = (
        f"Mean deviations: {deviations} packets. UDP comes and goes in a second and takes up to 45 % of the link; "
        "LRED's estimate follows within 4 s, the others' integrators with their response time. Goodput and loss "
        "ratio hardly differ, as the link is full either way, and a longer queue loses less."
    )
    return Judgement(checks, why)


def densest(evidence: Evidence) -> Judgement:
    """Compare LRED's lead at the lowest and the highest density."""
    runs = evidence["exp4"]
    rates = runs.points(UDP_RATE)

    def lead(metric: str, other: str, rate: float, scale: float = 1.0) -> Values:
        return runs.differences(metric, other, runs.hero, {UDP_RATE: rate}, scale=scale)

    checks = []
    for other in runs.others:
        effect = f"lead in deviation on {other} at the highest density minus at the lowest"
        gained = difference(lead("queue_mad", other, rates[-1]), lead("queue_mad", other, rates[0]))
        checks.append(Check.of(effect, gained, unit="packets", least=0))
        effect = f"lead in goodput on {other} at the highest density minus at the lowest"
        gained = difference(lead("goodput", other, rates[0], 1e-6), lead("goodput", other, rates[-1], 1e-6))
        checks.append(Check.of(effect, gained, unit="Mbit/s", least=0))
    why = (
        "The load's step is in proportion to the density, and the time for which a slow integrator has the buffer full "
        "or empty with it. Goodput is lost only while the buffer is empty, after 150 s, and by UDP's own bursts."
    )
    return Judgement(checks, why)


def rem_over_pi(evidence: Evidence) -> Judgement:
    """Compare REM with PI in all four measures."""
    runs = evidence["exp4"]
    checks = [
        Check.of(
            "goodput of REM minus that of PI",
            runs.differences("goodput", "REM", "PI", scale=1e-6),
            unit="Mbit/s",
            least=0,
        ),
        Check.of(
            "distance of the mean queue from 100 packets, PI minus REM",
            difference(off_target(runs, "PI"), off_target(runs, "REM")),
            unit="packets",
            least=0,
        ),
        Check.of(
            "deviation of PI minus that of REM", runs.differences("queue_mad", "PI", "REM"), unit="packets", least=0
        ),
        Check.of("loss ratio of PI minus that of REM", runs.differences("loss_ratio", "PI", "REM"), least=0),
    ]
    why = "REM's probability climbs five times as fast as PI's (200 s and 980 s per unit), and is there so much sooner."
    return Judgement(checks, why)


def _stuck(runs: Runs, label: str, rate: float) -> Values:
    """Return for each seed the time (s) the queue is in the buffer's last tenth during UDP, or in its first after."""
    found: Values = []
    link = runs.study.scenario.resolved["observe"]
    for seed in runs.study.seeds:
        frame = runs.series(label, {UDP_RATE: rate}, seed).select("t", queue=polars.col(f"{link}.queue.mean"))
        seconds = frame.group_by(polars.col("t").floor()).agg(polars.col("queue").mean())
        full = seconds.filter(polars.col("t").is_between(50, 150, closed="left") & (polars.col("queue") >= 180))
        empty = seconds.filter((polars.col("t") >= 150) & (polars.col("queue") <= 20))
        found.append(float(len(full) + len(empty)))
    return found


def blip(evidence: Evidence) -> Judgement:
    """Count the seconds with a full or an empty buffer after UDP has started or stopped."""
    runs = evidence["exp4-time"]
    top = max(runs.points(UDP_RATE))
    hero = _stuck(runs, runs.hero, top)
    # Two response times to a load step: LRED's estimate takes 4 s to forget the previous load.
    checks = [Check.of("seconds with a full or empty buffer, LRED, density 0.9", hero, unit="s", most=8)]
    checks += [
        Check.of(
            f"seconds with a full or empty buffer, density 0.9, {label} minus LRED",
            difference(_stuck(runs, label, top), hero),
            unit="s",
            least=10,  # a twentieth of the run, visible in the figure
        )
        for label in runs.others
    ]
    why = (
        "The loss that the load needs rises when UDP comes and falls when it goes; PI moves its probability by "
        "0.001 in a second with the buffer full or empty, REM by 0.005, LRED's estimate to where it has to be in 4 s."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="udp-best",
        text="With UDP beside TCP LRED has the highest goodput, the mean queue nearest to its target, the smallest "
        "deviation and the lowest loss.",
        where="Section 6.2, Experiment 4, Fig. 9",
        judge=best,
        needs=["exp4"],
        shown=["fig9"],
        comparative=True,
    ),
    Claim(
        name="udp-density",
        text="LRED's lead grows with the density of UDP.",
        where="Section 6.2, Experiment 4, Fig. 9",
        judge=densest,
        needs=["exp4"],
        shown=["fig9"],
    ),
    Claim(
        name="rem-over-pi",
        text="REM performs better than PI beside UDP.",
        where="Section 6.2, Experiment 4, Fig. 9",
        judge=rem_over_pi,
        needs=["exp4"],
        shown=["fig9"],
    ),
    Claim(
        name="udp-blip",
        text="When UDP comes or goes, the buffer is full or empty for long with PI, PI* and REM, and only shortly "
        "with LRED.",
        where="Section 6.2, Experiment 4, Fig. 10",
        judge=blip,
        needs=["exp4-time"],
        shown=["fig10"],
    ),
)
