"""Measures of a run: the end-to-end metrics of RFC 7928, section 2, with the least difference of interest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars

if TYPE_CHECKING:
    from aqmlab_papers.run.runs import Runs

LINK = "bottleneck"
"""The link whose queue the time series are of."""

Better = Literal["more", "less"]
"""Whether more or less of a measure is better."""

Values = Mapping[int, float | None]
"""A number of each run of a discipline, by seed; None where the run has none."""


@dataclass(frozen=True)
class Measure:
    """A number of a run.

    ``least`` is the least difference of interest, in ``unit`` (empty for a pure number): smaller differences are
    neither better nor worse. ``read`` takes the runs and the label of a discipline. ``digits`` is the number of
    decimals to show. ``bound`` is the RFC's, the most of a measure of which less is better.
    """

    name: str
    unit: str
    better: Better
    least: float
    read: Callable[[Runs, str], Values]
    digits: int = 1
    bound: float | None = None

    @property
    def axis(self) -> str:
        """Name and unit, for the axis of a figure."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


def computed(
    name: str, unit: str, better: Better, least: float, value: polars.Expr, digits: int = 1, over: float = 1.0
) -> Measure:
    """Return a measure that is computed from the metrics of each run, columns of `Runs.frame`, and divided by a number.

    polars would multiply by the inverse of the number, which makes another last digit.
    """

    def read(runs: Runs, label: str) -> Values:
        rows = runs.of(label)
        # A metric that no run has, such as the loss of a class without packets, has no column.
        if not set(value.meta.root_names()) <= set(rows.columns):
            return dict.fromkeys(rows["seed"])
        found = rows.select("seed", value.cast(polars.Float64).alias("value")).iter_rows()
        return {seed: None if number is None else number / over for seed, number in found}

    return Measure(name, unit, better, least, read, digits)


def metric(entry: str, name: str) -> polars.Expr:
    """Return a metric of a traffic entry."""
    return polars.col(f"classes.{entry}.{name}")


def goodput(entry: str, name: str = "Goodput") -> Measure:
    """Goodput of a traffic entry (section 2.5); one percent of 10 Mbit/s is of interest."""
    return computed(name, "Mbit/s", "more", 0.1, metric(entry, "goodput") * 1e-6, 2)


def waiting(entry: str, name: str = "Delay", of: str = "mean") -> Measure:
    """One-way delay of a traffic entry's packets in excess of the idle network's (2.6, 2.7); 1 ms is of interest."""
    return computed(name, "ms", "less", 1.0, (metric(entry, f"delay_{of}") - metric(entry, "delay_idle")) * 1e3)


def loss(entry: str, name: str = "Loss") -> Measure:
    """Loss ratio of a traffic entry on its whole path (2.3); one packet in a thousand is of interest."""
    return computed(name, "%", "less", 0.1, metric(entry, "path_loss_ratio") * 100, 2)


def loss_runs(entry: str, name: str = "Losses in a row") -> Measure:
    """Mean number of packets that a flow loses in a row (2.3)."""
    return computed(name, "packets", "less", 0.1, metric(entry, "loss_run_mean"), 2)


def synchronisation(name: str = "Loss synchronisation") -> Measure:
    """Mean share of the flows that lose packets in one loss event (2.4); 5 % is of interest."""
    return computed(name, "%", "less", 5.0, polars.col(f"links.{LINK}.loss_synchronisation") * 100)


def jitter(entry: str, name: str = "Jitter") -> Measure:
    """Mean difference of the delays of consecutive packets of a flow (2.6); 0.1 ms is of interest."""
    return computed(name, "ms", "less", 0.1, metric(entry, "jitter") * 1e3, 2)


def completion(entry: str, name: str = "Completion time") -> Measure:
    """Mean completion time of a traffic entry's flows (2.1); 20 ms is of interest."""
    return computed(name, "ms", "less", 20.0, metric(entry, "completion_time_mean") * 1e3, 0)


def slow_completion(entry: str, name: str) -> Measure:
    """95th percentile of the completion times, in which lost SYNs and last segments show (2.1, 2.2); 20 ms count."""
    return computed(name, "ms", "less", 20.0, metric(entry, "completion_time_p95") * 1e3, 0)


def page(entry: str = "web", name: str = "Page time") -> Measure:
    """Mean time in which a whole web page arrives (2.1); 50 ms is of interest."""
    return computed(name, "ms", "less", 50.0, metric(entry, "session_time_mean") * 1e3, 0)


def voice(entry: str, name: str) -> Measure:
    """Mean opinion score of a call; 0.1 is of interest."""
    return computed(name, "", "more", 0.1, metric(entry, "mos"), 2)


def bitrate(entry: str, name: str) -> Measure:
    """Mean bitrate of the video that clients choose; 0.1 Mbit/s is of interest."""
    return computed(name, "Mbit/s", "more", 0.1, metric(entry, "video_bitrate"), 2, over=1e6)


def stalled(entry: str, name: str) -> Measure:
    """Share of the time in which a video waits for its next chunk; 1 % is of interest."""
    return computed(name, "%", "less", 1.0, metric(entry, "stall_ratio") * 100)


def fairness(name: str = "Jain index") -> Measure:
    """Jain's index of the goodputs of all flows that last; 0.02 is of interest."""
    return computed(name, "", "more", 0.02, polars.col("jain"), 3)


def share(entry: str, others: Sequence[str], name: str, better: Better) -> Measure:
    """Share of a traffic entry in the goodput of several; 5 % is of interest."""
    whole = metric(entry, "goodput") + sum(metric(one, "goodput") for one in others)
    return computed(name, "%", better, 5.0, _over(metric(entry, "goodput"), whole) * 100)


def ratio(first: str, second: str, name: str) -> Measure:
    """Goodput of the second traffic entry over that of the first (6.3), for figures: it has no better direction."""
    return computed(name, "", "more", 0.0, _over(metric(second, "goodput"), metric(first, "goodput")), 2)


def _over(own: polars.Expr, whole: polars.Expr) -> polars.Expr:
    return polars.when(whole != 0).then(own / whole)


def size_bias(small: str, large: str, name: str = "Difference of losses") -> Measure:
    """How far the loss ratios of small and large packets are apart (4.4); one packet in a thousand is of interest."""
    apart = (metric(small, "path_loss_ratio") - metric(large, "path_loss_ratio")).abs()
    return computed(name, "% points", "less", 0.1, apart * 100, 2)


@dataclass(frozen=True)
class Phase:
    """A recurring part of a run, from `start` for `length` seconds, and again after each `period`."""

    name: str
    start: float
    length: float
    period: float

    def of(self, frame: polars.DataFrame, warmup: float) -> polars.DataFrame:
        """Select the rows of a time series that lie in the phase, after the warm-up."""
        middle = polars.col("t") + (frame["t"][1] - frame["t"][0]) / 2
        return frame.filter((middle > warmup) & ((middle - self.start) % self.period < self.length))


def _in_phase(
    name: str, unit: str, better: Better, phase: Phase, warmup: float, value: Callable[[polars.DataFrame], float | None]
) -> Measure:
    """Return a measure of a phase, read from the rows of the series that lie in it; 1 of its unit is of interest."""

    def read(runs: Runs, label: str) -> Values:
        return runs.from_series(label, lambda frame: value(phase.of(frame, warmup))).values

    return Measure(f"{name}, {phase.name}", unit, better, 1.0, read)


def phase_waiting(phase: Phase, entry: str, warmup: float) -> Measure:
    """Mean over a phase of the wait at the queue, from its bins."""

    def value(frame: polars.DataFrame) -> float | None:
        found: Any = frame[f"{entry}.delay"].mean()
        return None if found is None else float(found) * 1e3

    return _in_phase("Wait", "ms", "less", phase, warmup, value)


def phase_throughput(phase: Phase, entries: Sequence[str], capacity: float, warmup: float) -> Measure:
    """Utilisation in a phase: bits sent over `capacity` in Mbit/s."""

    def value(frame: polars.DataFrame) -> float:
        frame = frame.select(f"{entry}.throughput" for entry in entries).fill_null(0.0)
        return float(sum(frame.mean().row(0))) * 1e-6 / capacity * 100

    return _in_phase("Utilisation", "%", "more", phase, warmup, value)
