"""Claims on the estimate of the loss ratio (sections 1 and 3, Fig. 2)."""

from functools import partial

import numpy as np
import polars

from aqmlab_papers import Check, Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.check import RELATIVE, Better
from aqmlab_papers.lred.measures import OFF, Q0, UDP_RATE, Seconds
from aqmlab_papers.theory import lred

SETTLED = 20.0
"""The time (s) from which figure 2 is judged, like all metrics."""
_APART = Tolerance(5, RELATIVE, "a twentieth is what a reader of a curve can tell apart")
_DIGIT = Tolerance(0.5, "%", "half of the last digit of the 0.12 that the text reads off figure 2")
_ENDS: tuple[tuple[str, bool, Better], ...] = (("last", True, "higher"), ("first", False, "lower"))
"""The ends of the buffer, whether it is full there, and how the loss ratio is to compare with p."""


@claim("the loss ratio should be close to the desired drop probability in a steady-state", "Section 1", "fig2")
@tolerance(_DIGIT)
def loss_near_p(fig2: Runs, *, tolerance: Tolerance) -> Judgement:
    """In a steady state the measured loss ratio is close to the drop probability, second by second."""

    def distance(frame: polars.DataFrame, every: float) -> float:
        apart = polars.col("p.mean").mean() - polars.col("loss_ratio.mean").mean()
        late = frame.filter(polars.col("t") >= SETTLED).group_by((polars.col("t") / every).floor())
        return float(100 * late.agg(apart.abs().alias("apart"))["apart"].to_numpy().mean())

    def check(words: str, every: float) -> Check:
        found = fig2.from_series("LRED", partial(distance, every=every), unit="%")
        return Effect(f"mean distance of p from the estimate, {words}").of(found, most=tolerance.value)

    return Judgement(
        [check("means of 1 s", 1.0)],
        "Each drop is drawn with probability p, and a window of 4 s has some ten thousand arrivals. Compared are means "
        "of 1 s, the period in which LRED measures: p also follows the queue at each packet, so that in means of "
        "0.2 s, beside, it is farther off. The load is figure 2's, for which we took 450 flows.",
        [check("means of 0.2 s", 0.2)],
    )


@claim(
    "it deviates from the desired drop probability if the buffer is (or tends to) overflow or empty",
    "Section 1",
    "fig10",
)
@tolerance(_APART)
def loss_deviates(exp4: Runs, *, tolerance: Tolerance) -> Judgement:
    """The measured loss ratio departs from the drop probability where the buffer overflows and where it runs empty."""

    def mean(frame: polars.DataFrame, quantity: str, *, full: bool) -> float | None:
        run = Seconds(frame)
        there = (run.t >= SETTLED) & (run.queue >= 180 if full else run.queue <= 20)
        return float(getattr(run, quantity)[there].mean()) if there.any() else None

    at = {UDP_RATE: max(exp4.points(UDP_RATE))}
    checks = []
    for label in exp4.labels:
        for end, full, better in _ENDS:
            lost, p = (
                exp4.from_series(label, partial(mean, quantity=quantity, full=full), at) for quantity in ("lost", "p")
            )
            effect = f"{label}: loss ratio over p in seconds in the {end} tenth of the buffer"
            checks.append(Effect(effect).better(lost, p, better, tolerance))
    return Judgement(
        checks,
        "An overflow adds drops that p does not ask for. An empty queue takes no drops away: arrivals are still "
        "dropped with probability p, so that the loss ratio stays near p.",
    )


@claim("l(40) = l(41) = l(42) = l(43) = 0.12", "Section 3, Fig. 2b", "fig2")
@tolerance(_DIGIT)
def estimate_settles(fig2: Runs, *, tolerance: Tolerance) -> Judgement:
    """In a steady state the estimate is the same from second to second, to two digits."""

    def change(frame: polars.DataFrame, second: int) -> float:
        estimate = frame["loss_ratio.max"].drop_nulls().to_numpy()
        step = frame["t"][1] - frame["t"][0]
        begin, end = (estimate[round((at + 0.5) / step)] for at in (40, second))
        return float(100 * abs(end - begin))

    checks = [
        Effect(f"|L({second}) - L(40)|").of(
            fig2.from_series("LRED", partial(change, second=second), unit="%"), most=tolerance.value
        )
        for second in (41, 42, 43)
    ]
    return Judgement(
        checks, "Of ten thousand arrivals, of which 12 % are dropped, the loss ratio has a standard error of 0.3 %."
    )


@claim("LRED is closer to a proportional controller", "Section 3", "fig2")
@tolerance(50, "%", "closer to: most of the variance of p is to be the queue's")
def proportional(fig2: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED is closer to a proportional controller: p follows the queue's distance from its target more than anything
    else.
    """

    def share(frame: polars.DataFrame, every: float) -> float:
        late = frame.filter(polars.col("t") >= SETTLED).group_by((polars.col("t") / every).floor())
        means = late.agg(polars.col("p.mean", "queue.mean").mean()).drop_nulls()
        return float(100 * np.corrcoef(means["p.mean"], means["queue.mean"])[0, 1] ** 2)

    def check(words: str, every: float) -> Check:
        found = fig2.from_series("LRED", partial(share, every=every), unit="%")
        return Effect(f"share of the variance of p that the queue explains, {words}").of(found, least=tolerance.value)

    return Judgement(
        [check("bins of 20 ms", 0.02)],
        "What the queue does not explain are the estimate's changes. They are slow, with a lag of 2.6 s, but they "
        "sum up the queue's error, and without them the mean queue would miss its target. So the share falls with the "
        "seconds over which p is averaged: the paper's law is of each packet, and longer means are beside.",
        [check("means of 1 s", 1.0), check("means of 4 s", 4.0)],
    )


@ours("Section 3; ours", "fig5")
@tolerance(OFF)
def integral(exp1: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED's estimate is an integrator: only a mean queue at the target is at rest, whatever the load."""
    path = "traffic.long.count"
    checks = [
        Effect(f"mean queue less its target, {count} flows").of(
            exp1.per_seed("queue_mean", "LRED", {path: count}) - Q0, least=-tolerance.value, most=tolerance.value
        )
        for count in exp1.points(path)
    ]
    return Judgement(
        checks,
        "Drops with p feed back into the estimate, so that dL/dt = beta sqrt(L) (q - q0) / T with T = 2.6 s: L rests "
        "only where q is q0. If p were in proportion to the queue alone, the loads would need queues hundreds of "
        "packets apart.",
    )


@ours("Section 3, (1), (2), Fig. 1", "fig1")
@tolerance(0.001, "%", "rounding of the series")
def measured(fig2: Runs, *, tolerance: Tolerance) -> Judgement:
    """The engine's estimate is that of (1) and (2), second by second."""
    found = fig2.from_series("LRED", lambda frame: 100 * float(np.abs(np.subtract(*estimates(frame))).max()), unit="%")
    return Judgement(
        [Effect("largest difference of the estimates").of(found, most=tolerance.value)],
        "Both are computed from the same arrivals and drops of each second.",
    )


def estimates(frame: polars.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the engine's estimate after each period, and that of (1) and (2)."""
    counted = frame.group_by(polars.col("t").floor()).agg(polars.col("drops", "arrivals").sum()).sort("t")
    ours = lred.law.smoothed(lred.law.loss_ratio(counted["drops"], counted["arrivals"]))
    during = frame.group_by(polars.col("t").floor()).agg(polars.col("loss_ratio.max").median()).sort("t")
    engine = during["loss_ratio.max"].to_numpy()
    return engine[1:], ours[:-1]
