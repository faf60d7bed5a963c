"""Measures of a run: the end-to-end metrics of RFC 7928, section 2, with the least difference of interest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars

LINK = "bottleneck"
"""The link whose queue the time series are of."""


Better = Literal["more", "less"]
"""Whether more or less of a measure is better."""


class NoValueError(LookupError):
    """Raised when a run has no value of a metric."""


class Run:
    """The results of one run.

    Parameters
    ----------
    values : callable
        Returns the metric of a column of `Sweep.frame`; None if the run has none.
    series : callable
        Reads the run's time series.
    percentiles : callable
        Reads the percentiles 0 to 100 of the delay of a traffic entry, in s; an empty list if it has none.
    """

    def __init__(
        self,
        values: Callable[[str], Any],
        series: Callable[[], polars.DataFrame],
        percentiles: Callable[[str], list[float]],
    ) -> None:
        self._values = values
        self.series = series
        self.percentiles = percentiles

    def __getitem__(self, column: str) -> float:
        value = self._values(column)
        if value is None:
            raise NoValueError(column)
        return float(value)


@dataclass(frozen=True)
class Measure:
    """A number of a run.

    Parameters
    ----------
    name : str
        Its name in tables.
    unit : str
        The unit of its values; empty for a pure number.
    better : str
        Whether ``more`` or ``less`` of it is better.
    least : float
        The least difference of interest, in `unit`: smaller differences are neither better nor worse.
    read : callable
        Reads it from a `Run`; raises `NoValueError` if the run has none.
    digits : int
        The number of decimals to show.
    """

    name: str
    unit: str
    better: Better
    least: float
    read: Callable[[Run], float]
    digits: int = 1

    @property
    def axis(self) -> str:
        """Name and unit, for the axis of a figure."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def of(self, run: Run) -> float | None:
        """Return its value in a run.

        Parameters
        ----------
        run : Run
            The run.

        Returns
        -------
        float or None
            The value; None if the run has none.
        """
        try:
            return self.read(run)
        except NoValueError:
            return None


def goodput(entry: str, name: str = "Goodput") -> Measure:
    """Goodput of a traffic entry (section 2.5); one percent of 10 Mbit/s is of interest."""
    return Measure(name, "Mbit/s", "more", 0.1, lambda run: run[f"classes.{entry}.goodput"] * 1e-6, 2)


def waiting(entry: str, name: str = "Delay", of: str = "mean") -> Measure:
    """One-way delay of a traffic entry's packets in excess of the idle network's (2.6, 2.7); 1 ms is of interest."""
    return Measure(
        name,
        "ms",
        "less",
        1.0,
        lambda run: (run[f"classes.{entry}.delay_{of}"] - run[f"classes.{entry}.delay_idle"]) * 1e3,
    )


def loss(entry: str, name: str = "Loss") -> Measure:
    """Loss ratio of a traffic entry on its whole path (2.3); one packet in a thousand is of interest."""
    return Measure(name, "%", "less", 0.1, lambda run: run[f"classes.{entry}.path_loss_ratio"] * 100, 2)


def loss_runs(entry: str, name: str = "Losses in a row") -> Measure:
    """Mean number of packets that a flow loses in a row (2.3)."""
    return Measure(name, "packets", "less", 0.1, lambda run: run[f"classes.{entry}.loss_run_mean"], 2)


def synchronisation(name: str = "Loss synchronisation") -> Measure:
    """Mean share of the flows that lose packets in one loss event (2.4); 5 % is of interest."""
    return Measure(name, "%", "less", 5.0, lambda run: run[f"links.{LINK}.loss_synchronisation"] * 100)


def jitter(entry: str, name: str = "Jitter") -> Measure:
    """Mean difference of the delays of consecutive packets of a flow (2.6); 0.1 ms is of interest."""
    return Measure(name, "ms", "less", 0.1, lambda run: run[f"classes.{entry}.jitter"] * 1e3, 2)


def completion(entry: str, name: str = "Completion time") -> Measure:
    """Mean completion time of a traffic entry's flows (2.1); 20 ms is of interest."""
    return Measure(name, "ms", "less", 20.0, lambda run: run[f"classes.{entry}.completion_time_mean"] * 1e3, 0)


def slow_completion(entry: str, name: str) -> Measure:
    """95th percentile of the completion times, in which lost SYNs and last segments show (2.1, 2.2); 20 ms count."""
    return Measure(name, "ms", "less", 20.0, lambda run: run[f"classes.{entry}.completion_time_p95"] * 1e3, 0)


def page(entry: str = "web", name: str = "Page time") -> Measure:
    """Mean time in which a whole web page arrives (2.1); 50 ms is of interest."""
    return Measure(name, "ms", "less", 50.0, lambda run: run[f"classes.{entry}.session_time_mean"] * 1e3, 0)


def voice(entry: str, name: str) -> Measure:
    """Mean opinion score of a call; 0.1 is of interest."""
    return Measure(name, "", "more", 0.1, lambda run: run[f"classes.{entry}.mos"], 2)


def bitrate(entry: str, name: str) -> Measure:
    """Mean bitrate of the video that clients choose; 0.1 Mbit/s is of interest."""
    return Measure(name, "Mbit/s", "more", 0.1, lambda run: run[f"classes.{entry}.video_bitrate"] / 1e6, 2)


def stalled(entry: str, name: str) -> Measure:
    """Share of the time in which a video waits for its next chunk; 1 % is of interest."""
    return Measure(name, "%", "less", 1.0, lambda run: run[f"classes.{entry}.stall_ratio"] * 100)


def fairness(name: str = "Jain index") -> Measure:
    """Jain's index of the goodputs of all flows that last; 0.02 is of interest."""
    return Measure(name, "", "more", 0.02, lambda run: run["jain"], 3)


def share(entry: str, others: Sequence[str], name: str, better: Better) -> Measure:
    """Share of a traffic entry in the goodput of several; 5 % is of interest."""

    def read(run: Run) -> float:
        own, *rest = (run[f"classes.{one}.goodput"] for one in (entry, *others))
        if own + sum(rest) == 0:
            raise NoValueError(entry)
        return own / (own + sum(rest)) * 100

    return Measure(name, "%", better, 5.0, read)


def ratio(first: str, second: str, name: str) -> Measure:
    """Goodput of the second traffic entry over that of the first (6.3), for figures: it has no better direction."""

    def read(run: Run) -> float:
        below = run[f"classes.{first}.goodput"]
        if below == 0:
            raise NoValueError(first)
        return run[f"classes.{second}.goodput"] / below

    return Measure(name, "", "more", 0.0, read, 2)


def size_bias(small: str, large: str, name: str = "Difference of losses") -> Measure:
    """How far the loss ratios of small and large packets are apart (4.4); one packet in a thousand is of interest."""
    return Measure(
        name,
        "% points",
        "less",
        0.1,
        lambda run: abs(run[f"classes.{small}.path_loss_ratio"] - run[f"classes.{large}.path_loss_ratio"]) * 100,
        2,
    )


@dataclass(frozen=True)
class Phase:
    """A recurring part of a run, from `start` for `length` seconds, and again after each `period`."""

    name: str
    start: float
    length: float
    period: float

    def of(self, frame: polars.DataFrame, warmup: float) -> polars.DataFrame:
        """Select the rows of a time series that lie in the phase, after the warm-up."""
        import polars

        middle = polars.col("t") + (frame["t"][1] - frame["t"][0]) / 2
        return frame.filter((middle > warmup) & ((middle - self.start) % self.period < self.length))


def phase_waiting(phase: Phase, entry: str, warmup: float) -> Measure:
    """Mean over a phase of the wait at the queue, from its bins; 1 ms is of interest."""

    def read(run: Run) -> float:
        found = phase.of(run.series(), warmup)[f"{LINK}.{entry}.delay"].mean()
        if found is None:
            raise NoValueError(entry)
        return float(found) * 1e3  # type: ignore[arg-type]

    return Measure(f"Wait, {phase.name}", "ms", "less", 1.0, read)


def phase_throughput(phase: Phase, entries: Sequence[str], capacity: float, warmup: float) -> Measure:
    """Utilisation in a phase: bits sent over `capacity` in Mbit/s; 1 % is of interest."""

    def read(run: Run) -> float:
        import polars

        frame = phase.of(run.series(), warmup)
        frame = frame.select(polars.col(f"{LINK}.{entry}.throughput").fill_null(0.0) for entry in entries)
        sent = sum(frame.mean().row(0))
        return float(sent) * 1e-6 / capacity * 100

    return Measure(f"Utilisation, {phase.name}", "%", "more", 1.0, read)
