"""Claims of experiment 3 (Figs. 7 and 8): goodput, queue, deviation and loss over the target queue."""

from collections.abc import Sequence

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE, Better
from aqmlab_papers.describe.thresholds import GOODPUT, LOSS, QUEUE, SHORT_QUEUE
from aqmlab_papers.lred.measures import SEEN, TARGET, points, rivals

_WHERE = "Section 6.1, Experiment 3, Fig. 7"
_FOLLOWING = ("LRED", "PI*", "REM")
_ENDS = ("PI", "LRED")


def _printed(runs: Runs) -> list[dict[str, float]]:
    """Return the paper's targets; later disciplines target the delay of 100 packets."""
    return [{TARGET: q0} for q0 in runs.points(TARGET) if q0 % 20 == 0 and ("PI" in runs.labels or q0 == 100)]


def _each(
    runs: Runs,
    name: str,
    metric: str,
    subject: str,
    others: Sequence[str],
    better: Better,
    tolerance: Tolerance,
    targets: Sequence[At] | None = None,
) -> list[Check]:
    """Compare a discipline with others at each target of figure 7, or at each of those given."""
    return [
        check
        for at in (_printed(runs) if targets is None else targets)
        for check in runs.compare(
            metric, subject, others, better=better, tolerance=tolerance, at=at, name=f"{name}, q0 = {at[TARGET]:g},"
        )
    ]


def _settled(runs: Runs | None, name: str, metric: str, better: Better, tolerance: Tolerance) -> list[Check]:
    """Compare PI with the others once it has settled, if there are such runs."""
    name = f"settled {name}"
    return runs.compare(metric, "PI", _FOLLOWING, better=better, tolerance=tolerance, name=name) if runs else []


@claim("PI achieves higher throughput", _WHERE, "fig7")
@tolerance(GOODPUT)
def pi_goodput(exp3: Runs, exp3_settled: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """PI has a higher goodput than LRED, PI* and REM, at most targets."""
    parts = _each(exp3, "goodput", "goodput", "PI", _FOLLOWING, "higher", tolerance)
    beside = _settled(exp3_settled, "goodput", "goodput", "higher", tolerance)
    empty = ", ".join(
        f"with q0 = {q0:g} " + " and ".join(f"{exp3.per_seed('queue_empty', one, {TARGET: q0}):.2g} %" for one in _ENDS)
        for q0 in [at[TARGET] for at in _printed(exp3)][:2]
    )
    return Judgement(
        parts,
        "Packets are dropped before the link, so that drops cost no goodput unless the queue runs empty, and from "
        "q0 = 60 on hardly any does: there nothing can differ. PI's and LRED's queues are empty for this part of the "
        f"time: {empty}. So with q0 = 20 PI gains on LRED and REM, and is open beside PI*; with 40 it gains on REM, "
        "and has less than LRED and PI*.",
        beside,
        need=0.8,
    )


@claim("and lower loss ratio", _WHERE, "fig7")
@tolerance(LOSS)
def pi_loss(exp3: Runs, exp3_settled: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """PI has a lower loss ratio than LRED, PI* and REM, at most targets."""
    parts = _each(exp3, "loss", "loss_ratio", "PI", _FOLLOWING, "lower", tolerance)
    beside = _settled(exp3_settled, "loss", "loss_ratio", "lower", tolerance)
    means = ", ".join(f"{label} {exp3.per_seed('loss_ratio', label):.3g} %" for label in ("PI", *_FOLLOWING))
    return Judgement(
        parts,
        "A longer queue means longer round trips, with which fewer losses hold the flows to the link's rate. With a "
        f"target of 160 packets all queues are long, and the losses alike. Means over the targets: {means}.",
        beside,
        need=0.8,
    )


@claim(
    "its slow response leads to longer queue length than the other three schemes",
    "Section 6.1, Experiment 3, Figs. 7b and 8",
    "fig7 fig8",
)
@tolerance(QUEUE)
def pi_queue(exp3: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI's slow response leaves it a longer queue than the others."""
    return Judgement(
        _each(exp3, "queue", "queue_mean", "PI", _FOLLOWING, "higher", tolerance),
        "While the buffer is full PI's p climbs by 0.001 a second, and it has to reach 0.11: the buffer is full for "
        "more than half of the run.",
    )


@claim("LRED, PI*, and REM effectively realize the expected average queue length", _WHERE, "fig7")
@tolerance(SEEN)
def on_target(exp3: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED, PI* and REM have the expected queue length on average."""
    parts, beside = (
        [
            Effect(f"mean queue of {label} less its target, q0 = {at[TARGET]:g}").better(
                exp3.per_seed("queue_mean", label, at),
                exp3.per_seed(polars.col(TARGET), label, at, unit="packets"),
                "equal",
                tolerance,
            )
            for label in labels
            for at in _printed(exp3)
        ]
        for labels in (_FOLLOWING, ("REM (36)",))
    )
    return Judgement(
        parts,
        "All three integrate the queue's error, LRED in its estimate. ns-2's REM counts the packets that it drops as "
        "arrivals, so that it rests below its target by (c / alpha) l / (1 - l), 6 packets at a loss l of 0.11, with "
        "the c = 5 packets that leave in its period and alpha = 0.1: less than a figure of the queue shows. With long "
        "targets its start, above the target, makes up for it in the mean from 20 s to 200 s; the REM of (36) is "
        "beside.",
        beside,
    )


@claim("have almost the same packet loss ratio", _WHERE, "fig7")
@tolerance(5, RELATIVE, "almost: a twentieth is what a reader of a curve can tell apart")
def same_loss(exp3: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED, PI* and REM have almost the same loss ratio."""
    parts = [
        check
        for one, others in (("LRED", ("PI*", "REM")), ("PI*", ("REM",)))
        for check in _each(exp3, "loss", "loss_ratio", one, others, "equal", tolerance)
    ]
    return Judgement(
        parts,
        "The loss follows from the round trip, and so from the mean queue, which is near the target with all three.",
    )


@claim("LRED has a higher goodput when q0 is smaller than 60", _WHERE, "fig7")
@tolerance(GOODPUT)
def small_targets(exp3: Runs, *, tolerance: Tolerance) -> Judgement:
    """Below a target of 60 packets LRED has a higher goodput than PI* and REM."""

    def against(targets: Sequence[At], *others: str) -> list[Check]:
        return _each(exp3, "goodput", "goodput", "LRED", others, "higher", tolerance, targets)

    every = points(exp3, TARGET, below=60)
    printed = [at for at in every if at in _printed(exp3)]
    empty = ", ".join(
        f"{label} {exp3.per_seed('queue_empty', label, {TARGET: 20.0}):.2g} %" for label in (*_FOLLOWING, "REM (36)")
    )
    return Judgement(
        against(printed, "PI*", "REM"),
        f"Goodput is lost where the queue runs empty, at q0 = 20 for {empty} of the time: against REM LRED gains, "
        "against PI* it loses with 20 packets, and with 40 they are alike. LRED's is empty at the start: slow starts "
        "leave an estimate that is too high, and the shorter the target the slower it falls.",
        against([at for at in every if at not in printed], "PI*", "REM") + against(every, "REM (36)"),
    )


@claim("LRED has the smallest queue deviation", _WHERE, "fig7", comparative=True)
@tolerance(SHORT_QUEUE)
def steadiest(exp3: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED has the smallest queue deviation, whatever the target."""
    parts, beside = (
        _each(exp3, "deviation", "queue_mad", "LRED", others, "lower", tolerance)
        for others in (rivals(exp3), [one for one in ("REM (36)",) if one in exp3.labels])
    )
    return Judgement(
        parts,
        "PI's deviation is that of its long way to the target; with targets of 140 and 160 packets it is small, as "
        "PI's queue is near the end of the buffer for most of the run and has no room to deviate. Near the target what "
        "remains is noise, which LRED and PI* damp alike, PI* a little better. With a target of 20 REM's queue is "
        "shorter than LRED's, and deviates as little.",
        beside,
    )


def _at_same_queue(runs: Runs, metric: str, label: str) -> tuple[PerSeed, PerSeed]:
    """Return LRED's metric at the mean queues that another discipline has with the targets of figure 7, and its own."""
    targets = [at[TARGET] for at in _printed(runs)]
    found: dict[int, tuple[float | None, float | None]] = {}
    for seed in runs.study.seeds:
        hero = runs.of(runs.hero, {"seed": seed}).sort("queue_mean")
        other = runs.of(label, {"seed": seed}).filter(polars.col(TARGET).is_in(targets))
        queue = other["queue_mean"].to_numpy()
        reached = (queue >= hero["queue_mean"][0]) & (queue <= hero["queue_mean"][-1])
        at_same = np.interp(queue, hero["queue_mean"].to_numpy(), hero[metric].to_numpy())
        both = (
            float(values[reached].mean()) if reached.any() else None for values in (at_same, other[metric].to_numpy())
        )
        found[seed] = next(both), next(both)
    own, theirs = (PerSeed.of({seed: pair[side] for seed, pair in found.items()}) for side in (0, 1))
    return own, theirs


def _traded(runs: Runs, metric: str, better: Better, tolerance: Tolerance, which: str = "") -> list[Check]:
    """Check that LRED is better than each other discipline at the same mean queue."""
    return [
        Effect(f"{which}{metric.replace('_', ' ')} of {runs.hero} over that of {label} at the same mean queue").better(
            *_at_same_queue(runs, metric, label), better, tolerance
        )
        for label in rivals(runs)
    ]


@claim(
    "better tradeoff between the average queue length and other QoS performance measures, including goodput",
    "Abstract; section 6.1, Experiment 3, Figs. 7 and 8",
    "tradeoff fig7",
    comparative=True,
)
@tolerance(GOODPUT)
def tradeoff(exp3: Runs, exp3_settled: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """LRED trades queue length for goodput better than the others."""
    parts = _traded(exp3, "goodput", "higher", tolerance)
    beside = _traded(exp3_settled, "goodput", "higher", tolerance, "settled ") if exp3_settled else []
    return Judgement(
        parts,
        "While the link is never idle goodput cannot differ: what differences there are stem from short queues that "
        "run empty. PI's mean queue from 20 s to 200 s is one of a full buffer at first and of its target later, and "
        "so at the same mean it runs empty more often than LRED's. PI* and REM are as good as LRED.",
        beside,
    )


@claim(
    "better tradeoff between the average queue length and other QoS performance measures, including goodput "
    "and loss ratio",
    "Abstract; section 6.1, Experiment 3, Figs. 7 and 8",
    "tradeoff fig7",
    comparative=True,
)
@tolerance(LOSS)
def tradeoff_loss(exp3: Runs, exp3_settled: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """LRED trades queue length for loss better than the others."""
    parts = _traded(exp3, "loss_ratio", "lower", tolerance)
    beside = _traded(exp3_settled, "loss_ratio", "lower", tolerance, "settled ") if exp3_settled else []
    return Judgement(
        parts,
        "A long TCP flow loses what its round trip, and so the queue, makes it lose, whatever holds the queue. PI's "
        "mean from 20 s to 200 s is one of a full buffer at first and of its target later, and such a mixture loses "
        "more than a queue that is always at the mean, since loss falls fast with short queues and slowly with long "
        "ones. Once PI has settled, beside, the difference is negligible.",
        beside,
    )
