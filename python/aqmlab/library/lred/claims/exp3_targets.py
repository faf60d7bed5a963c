"""Claims of experiment 3 (Figs. 7 and 8): goodput, queue, deviation and loss over the target queue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aqmlab.library.lred.experiments import TARGETS_FOUR
from aqmlab.library.lred.measures import TARGET, against_others, mean_text
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, average
from aqmlab.results.summary import Summary

FOLLOWING = ("LRED", "PI*", "REM")
"""The disciplines that the paper reports at their target."""


def _fair(runs: Runs) -> Sequence[At]:
    """Return the points to compare at; later disciplines target the delay of 100 packets."""
    return [{TARGET: q0} for q0 in runs.points(TARGET) if set(runs.labels) == set(TARGETS_FOUR) or q0 == 100]


def pi_goodput(evidence: Evidence) -> Judgement:
    """Compare PI's goodput and loss with those of the others."""
    runs = evidence["exp3"]
    checks = []
    for other in FOLLOWING:
        goodput = runs.differences("goodput", "PI", other, scale=1e-6)
        loss = runs.differences("loss_ratio", other, "PI")
        checks.append(Check.of(f"goodput of PI minus that of {other}", goodput, unit="Mbit/s", least=0))
        checks.append(Check.of(f"loss ratio of {other} minus that of PI", loss, least=0))
    more = [
        f"{q0:g}"
        for q0 in runs.points(TARGET)
        if (Summary.of(runs.differences("goodput", "PI", "LRED", {TARGET: q0})).mean or 0) > 0
    ]
    why = (
        f"Over all targets PI's goodput is {mean_text(runs, 'goodput', 'PI', 4, scale=1e-6)} Mbit/s, LRED's "
        f"{mean_text(runs, 'goodput', 'LRED', 4, scale=1e-6)}; it is more than LRED's at targets of "
        f"{', '.join(more) or 'no number of'} packets. A longer queue means longer round trips, for which fewer "
        "losses are needed. Losses come before the link, so that they cost it nothing: while it is never idle, goodput "
        "differs only by what crosses it twice, sent again by a time-out that came too early."
    )
    return Judgement(checks, why)


def pi_queue(evidence: Evidence) -> Judgement:
    """Compare PI's mean queue with its target and with the others' queues."""
    runs = evidence["exp3"]
    above = average(
        [None if mean is None else mean - q0 for mean in runs.values("queue_mean", "PI", {TARGET: q0})]
        for q0 in runs.points(TARGET)
    )
    checks = [Check.of("mean queue of PI minus its target", above, unit="packets", least=0)]
    checks += [
        Check.of(
            f"mean queue of PI minus that of {other}",
            runs.differences("queue_mean", "PI", other),
            unit="packets",
            least=0,
        )
        for other in FOLLOWING
    ]
    why = (
        "PI starts at p = 0 and climbs by 0.001 in a second while the buffer is full: 0.2 is there after 200 s, the "
        "end of the run. Its queue is a transient, and its mean one of how long the run is."
    )
    return Judgement(checks, why)


def on_target(evidence: Evidence) -> Judgement:
    """Compare mean queues of LRED, PI* and REM with their targets, and their losses with each other."""
    runs = evidence["exp3"]
    checks = []
    for label in FOLLOWING:
        away = average(
            [None if mean is None else abs(mean / q0 - 1) for mean in runs.values("queue_mean", label, {TARGET: q0})]
            for q0 in runs.points(TARGET)
        )
        # Half of the band in which a queue counts as settled.
        checks.append(Check.of(f"distance of the mean queue of {label} from its target, over it", away, most=0.1))
    checks += [
        # Indistinguishable on an axis that reaches to 0.3.
        Check.of(
            f"loss ratio of {label} minus that of LRED",
            runs.differences("loss_ratio", label, "LRED"),
            least=-0.01,
            most=0.01,
        )
        for label in FOLLOWING
        if label != "LRED"
    ]
    why = (
        "All three integrate the queue's error, so that only the target is at rest. What REM is off is its start: its "
        "price climbs for some 45 s of the 200 while the buffer is full."
    )
    return Judgement(checks, why)


def small_targets(evidence: Evidence) -> Judgement:
    """Compare goodputs at targets below 60 packets."""
    runs = evidence["exp3"]
    small: Sequence[At] = [{TARGET: q0} for q0 in runs.points(TARGET) if q0 < 60]
    checks = against_others(
        runs, "goodput", "goodput", higher=True, unit="Mbit/s", scale=1e-6, at=small, others=["PI*", "REM"]
    )
    empty = ", ".join(f"{label} {mean_text(runs, 'queue_empty', label, 2, at=small[0])}" for label in FOLLOWING)
    why = (
        "Goodput is lost where the queue runs empty; with the least target it does for these shares of the time: "
        f"{empty}. REM starts with a full buffer, so that its link is not idle for tens of seconds; LRED starts with "
        "an empty one, for as long as its estimate falls, by beta sqrt(L) q0 / T: the shorter the target, the longer."
    )
    return Judgement(checks, why)


def steadiest(evidence: Evidence) -> Judgement:
    """Compare the mean deviation of the queue."""
    runs = evidence["exp3"]
    checks = against_others(runs, "deviation", "queue_mad", unit="packets", at=_fair(runs))
    means = ", ".join(f"{label} {mean_text(runs, 'queue_mad', label)}" for label in runs.labels)
    why = (
        f"Mean deviations over all targets: {means} packets. They have two parts: noise around the target, and the "
        "approach to it, which weighs most where a response takes tens of seconds. A buffer that stays full hardly "
        "deviates, so that a low number is no merit where the mean is far from its target."
    )
    return Judgement(checks, why)


def _advantage(runs: Runs, metric: str, label: str) -> Values:
    """Return LRED's metric minus another discipline's at the same mean queue, for each seed."""
    found: Values = []
    for seed in runs.study.seeds:
        hero = runs.of(runs.hero, {"seed": seed}).sort("queue_mean")
        other = runs.of(label, {"seed": seed})
        queue = other["queue_mean"].to_numpy()
        reached = (queue >= hero["queue_mean"][0]) & (queue <= hero["queue_mean"][-1])
        at_same = np.interp(queue, hero["queue_mean"].to_numpy(), hero[metric].to_numpy())
        gap = (at_same - other[metric].to_numpy())[reached]
        found.append(float(gap.mean()) if len(gap) else None)
    return found


def tradeoff(evidence: Evidence) -> Judgement:
    """Compare goodput and loss at equal mean queues."""
    runs = evidence["exp3"]
    checks = []
    for other in runs.others:
        goodput = [None if gap is None else gap * 1e-6 for gap in _advantage(runs, "goodput", other)]
        loss = [None if gap is None else -gap for gap in _advantage(runs, "loss_ratio", other)]
        checks.append(
            Check.of(f"goodput of {runs.hero} minus that of {other} at the same queue", goodput, unit="Mbit/s", least=0)
        )
        checks.append(Check.of(f"loss ratio of {other} minus that of {runs.hero} at the same queue", loss, least=0))
    why = (
        "LRED's values are interpolated at the mean queue of each point of the others. Loss follows from the round "
        "trip, and so from the mean queue, whatever brings it about; with the link full goodput follows from loss."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="pi-goodput",
        text="PI has the highest goodput and the lowest loss ratio.",
        where="Section 6.1, Experiment 3, Fig. 7a, d",
        judge=pi_goodput,
        needs=["exp3"],
        shown=["fig7"],
    ),
    Claim(
        name="pi-queue",
        text="That is because PI's slow response leaves it a longer queue than its target and the others' queues.",
        where="Section 6.1, Experiment 3, Figs. 7b and 8",
        judge=pi_queue,
        needs=["exp3"],
        shown=["fig7", "fig8"],
    ),
    Claim(
        name="on-target",
        text="LRED, PI* and REM have the expected queue length on average, and almost the same loss ratio.",
        where="Section 6.1, Experiment 3, Fig. 7b, d",
        judge=on_target,
        needs=["exp3"],
        shown=["fig7"],
    ),
    Claim(
        name="small-targets",
        text="Below a target of 60 packets LRED has a higher goodput than PI* and REM.",
        where="Section 6.1, Experiment 3, Fig. 7a",
        judge=small_targets,
        needs=["exp3"],
        shown=["fig7"],
    ),
    Claim(
        name="steadiest",
        text="LRED has the smallest queue deviation.",
        where="Section 6.1, Experiment 3, Fig. 7c",
        judge=steadiest,
        needs=["exp3"],
        shown=["fig7"],
        comparative=True,
    ),
    Claim(
        name="tradeoff",
        text="LRED trades queue length for goodput and loss better than the others.",
        where="Abstract; section 6.1, Experiment 3, Figs. 7 and 8",
        judge=tradeoff,
        needs=["exp3"],
        shown=["fig7", "fig8"],
        comparative=True,
    ),
)
