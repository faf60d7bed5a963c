"""Parameters and labels of the LRED paper's experiments, and the quantities read from its series."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import polars

from aqmlab_papers import At, Check, Effect, PerSeed, Runs, Tolerance
from aqmlab_papers.describe.check import RELATIVE, Better, Outcome
from aqmlab_papers.describe.thresholds import GOODPUT, LOSS, QUEUE, SHORT_QUEUE, seen

COUNT, JOINS = "traffic.long.count", "traffic.joins.count"
TARGET, PERIOD, WEIGHT = "aqm.q0", "aqm.period", "aqm.weight"
BUFFER, UDP_RATE, ARRIVALS, HURST = (
    "dumbbell.buffer",
    "traffic.udp.rate",
    "traffic.short.arrival_rate",
    "traffic.noise.hurst",
)
ROUND_TRIPS = {n: 0.45 if n <= 500 else n / 1000 - 0.1 for n in range(100, 1001, 100)}
"""R+ (s) for which the paper designs PI*, by the number of flows."""
DENSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
RATES = (10, 30, 50, 70, 100)
"""Short flows a second."""
Q0 = 100.0
"""The target queue (packets)."""
OFF = Tolerance(
    QUEUE.value / 100 * Q0,
    "packets",
    "5 % of the target; of a distance near 0 a percentage says nothing",
    negligible=True,
)
"""What counts in the distance of a mean queue or of a peak from the target. The mean of |queue - q0| over time is never
near 0: it is a deviation, compared like others.
"""
SEEN = seen(200)
"""What a figure of a queue shows; all but one experiment have this buffer."""
BAND = Tolerance(20, "packets", "20 % of the target, within which a queue counts as settled")
MUCH = Tolerance(50, RELATIVE, "the paper has no number for much: half of it")
COMPARABLE = Tolerance(100, RELATIVE, "the paper has no number for comparable: at most twice as much")
WEIGHTS = {"1 : 1 : 1": (1, 1, 1), "1 : 2 : 4": (1, 2, 4), "1 : 4 : 16": (1, 4, 16)}


LAWS = {
    "LRED": "lred",
    "linear": "lred:exponent=0,beta=3.29e-4",
    "proportional": "lred:exponent=1,beta=3.04e-3",
    "L alone": "lred:beta=1e-9",
    "queue alone": "lred:period=1000000 s,l_min=0.108",
}
"""LRED, laws with other powers of L, and either part alone; all have LRED's gain where 400 flows lose 10.8 %."""

OFF_TARGET = (polars.col("queue_mean") - Q0).abs().alias("distance of the mean queue from 100 packets")
WORSE_FORMS = ("REM (36)", "PI* (0.7 s)")
"""Disciplines that are shown beside those that the paper compares."""


def udp_rate(density: float) -> str:
    """Return a UDP flow's rate while it is on, for 100 flows that are on half of the time."""
    return f"{density * 200:g} kbit/s"


def density(rate: float) -> float:
    """Return the density of UDP for a flow's rate (bit/s) while it is on."""
    return rate / 200e3


def rivals(runs: Runs, *without: str) -> list[str]:
    """Return the disciplines with which the paper compares LRED, or the later ones."""
    return [label for label in runs.others if label not in {*WORSE_FORMS, *without}]


class Seconds:
    """Means of 1 s of a run: times, queue (packets), drop probability if it has one, and loss ratio of its arrivals."""

    def __init__(self, frame: polars.DataFrame, link: str = "") -> None:
        def column(name: str) -> polars.Expr:
            return polars.col(f"{link}{name}").cast(polars.Float64)

        found = frame.group_by(polars.col("t").floor()).agg(
            column("queue.mean").mean().alias("queue"),
            (column("p.mean").mean() if f"{link}p.mean" in frame.columns else polars.lit(None)).alias("p"),
            (column("drops").sum() / column("arrivals").sum()).alias("lost"),
        )
        found = found.sort("t")
        self.t, self.queue, self.p, self.lost = (found[name].to_numpy() for name in ("t", "queue", "p", "lost"))

    def during(self, begin: float, end: float) -> np.ndarray:
        """Return the queue between two times (s)."""
        return self.queue[(self.t >= begin) & (self.t < end)]

    def away(self, begin: float, end: float) -> float:
        """Return the mean distance of the queue from its target between two times (s)."""
        return float(np.abs(self.during(begin, end) - Q0).mean())

    def settled(self, begin: float, end: float, band: float = 0.2) -> float:
        """Return the time from ``begin`` until the queue is this near its target for 5 s, at most to ``end``."""
        near = np.abs(self.during(begin, end) - Q0) <= band * Q0
        runs = np.convolve(near, np.ones(5))[4:]
        return float(np.argmax(runs == 5)) if (runs == 5).any() else end - begin

    def stuck(self, buffer: float = 200.0, begin: float = 0.0, end: float = np.inf) -> float:
        """Return the time (s) in the first or last tenth of the buffer."""
        queue = self.during(begin, end)
        return float(((queue >= 0.9 * buffer) | (queue <= 0.1 * buffer)).sum())

    def overshoot(self, begin: float = 0.0, end: float = np.inf) -> float:
        """Return the highest mean of 1 s above the target (packets); NaN if there is none."""
        queue = self.during(begin, end)
        return float(queue.max() - Q0) if queue.size else np.nan


def away(runs: Runs, label: str, at: At | None, begin: float, end: float, link: str = "") -> PerSeed:
    """Return the mean distance of the queue from its target between two times (s)."""
    return runs.from_series(label, lambda frame: Seconds(frame, link).away(begin, end), at, unit="packets")


def settled(runs: Runs, label: str, at: At | None, begin: float, end: float) -> PerSeed:
    """Return the response time to a change at ``begin`` (s)."""
    return runs.from_series(label, lambda frame: Seconds(frame).settled(begin, end), at, unit="s")


def lower(words: str, read: Callable[[str], PerSeed], others: Iterable[str], tolerance: Tolerance) -> list[Check]:
    """Check that a quantity of LRED is lower than that of other disciplines."""
    hero = read("LRED")
    over = "over" if tolerance.relative else "minus"
    return [Effect(f"{words}, LRED {over} {label}").better(hero, read(label), "lower", tolerance) for label in others]


def much_lower(words: str, read: Callable[[str], PerSeed], others: Iterable[str]) -> list[Check]:
    """Check that a quantity of LRED is much lower than that of other disciplines."""
    hero = read("LRED")
    return [Effect(f"{words}, LRED over {label}").excess(hero, read(label), most=-MUCH.value) for label in others]


def points(runs: Runs, path: str, below: float = np.inf, above: float = -np.inf) -> Sequence[At]:
    """Return the points of a parameter below one value and from another on."""
    return [{path: value} for value in runs.points(path) if above <= value < below]


FOUR: Mapping[str, tuple[str | polars.Expr, Better, Tolerance]] = {
    "goodput": ("goodput", "higher", GOODPUT),
    "queue": (OFF_TARGET, "lower", OFF),
    "deviation": ("queue_mad", "lower", SHORT_QUEUE),
    "loss": ("loss_ratio", "lower", LOSS),
}
"""The four measures of figures 9, 11 and 13: the metric, its better direction, and the least difference that counts."""

SAID = {
    "goodput": "the highest goodput",
    "queue": "the mean queue nearest to its target",
    "deviation": "the smallest queue deviation",
    "loss": "the lowest loss ratio",
}

CHANGES = {
    "goodput": "Only an idle link costs goodput: when the load falls again at 150 s, PI, PI* and, for a shorter time, "
    "REM still drop for the higher one. Small changes of the load do not empty the queue, and there nothing can differ",
    "queue": "The full buffer after the load rises and the empty one after it falls cancel in the mean from 20 s to "
    "200 s, so that it is near the target with every scheme unless the changes are large",
    "deviation": "After each change of the load PI's and PI*'s queue stays at an end of the buffer until the "
    "integrator has found the new probability, REM's for a shorter time, and LRED's for the shortest",
    "loss": "PI and PI* drop for the higher load after it has gone, the longer the larger the change; but a buffer "
    "that is full for long lowers the loss, as longer round trips slow TCP",
}
"""Why LRED is better or not, measure by measure, where the load rises at 50 s and falls at 150 s."""


def best(
    runs: Runs,
    measure: str,
    others: Sequence[str],
    *,
    at: At | None = None,
    where: str | None = None,
    subject: str = "LRED",
) -> list[Check]:
    """Check that a discipline is better than others in one of the four measures, over all points or at one."""
    metric, better, tolerance = FOUR[measure]
    unit = "packets" if measure == "queue" else None
    name = None if where is None else f"{measure} {where}"
    return runs.compare(metric, subject, others, better=better, tolerance=tolerance, at=at, unit=unit, name=name)


def counted(checks: Sequence[Check]) -> str:
    """Return the counts of checks that hold and that fail, in words."""
    held, failed = (sum(check.outcome == one for check in checks) for one in (Outcome.HOLDS, Outcome.FAILS))
    return f"holds in {held} of {len(checks)} and fails in {failed}"
