"""The metrics of a run: name, unit and definition, each written once.

Tables, figures, the report and docs/results.md are made from here; the engine computes them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and how to show it.

    Parameters
    ----------
    name : str
        Its key in results.
    label : str
        What tables and figures call it.
    unit : str
        The unit of the value in results; empty for a pure number.
    definition : str
        What it is, in one sentence.
    shown : str
        The unit that people read; empty for that of the value.
    scale : float
        What to multiply a value with to have it in that unit.
    digits : int
        Decimals to show.
    """

    name: str
    label: str
    unit: str
    definition: str
    shown: str = ""
    scale: float = 1.0
    digits: int = 0

    @property
    def axis(self) -> str:
        """Label and unit, as for the axis of a figure."""
        unit = self.shown or self.unit
        return f"{self.label} ({unit})" if unit else self.label

    def text(self, value: float | None) -> str:
        """Write a value in the unit that people read.

        Parameters
        ----------
        value : float or None
            The value in `unit`.

        Returns
        -------
        str
            The scaled number without its unit, or a dash for none.
        """
        return "-" if value is None else f"{value * self.scale:.{self.digits}f}"


def _packets(name: str, label: str, definition: str) -> Metric:
    return Metric(name, label, "packets", definition, digits=1)


def _seconds(name: str, label: str, definition: str) -> Metric:
    return Metric(name, label, "s", definition, shown="ms", scale=1e3, digits=1)


def _fraction(name: str, label: str, definition: str) -> Metric:
    return Metric(name, label, "fraction", definition, shown="%", scale=100, digits=2)


def _rate(name: str, label: str, definition: str) -> Metric:
    return Metric(name, label, "bit/s", definition, shown="Mbit/s", scale=1e-6, digits=3)


def _count(name: str, label: str, unit: str, definition: str) -> Metric:
    return Metric(name, label, unit, definition)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _packets(
            "queue_mean",
            "Mean queue",
            "Time average of the packets waiting, the one in transmission left out.",
        ),
        _packets("queue_std", "Queue std. dev.", "Standard deviation of the queue length, weighted by time."),
        _packets("queue_mad", "Queue abs. dev.", "Mean absolute deviation from `queue_mean`, weighted by time."),
        _fraction("queue_empty", "Empty", "Share of the time in which no packet waits."),
        _fraction("queue_full", "Full", "Share of the time in which no further packet of the usual size fits."),
        _seconds(
            "queue_delay_mean",
            "Mean delay",
            "Mean time that a sent packet waited, its transmission left out.",
        ),
        _seconds("queue_delay_p50", "Delay p50", "Median of the waiting times of the packets sent, to three digits."),
        _seconds("queue_delay_p95", "Delay p95", "95th percentile of those waiting times, to three digits."),
        _seconds("queue_delay_p99", "Delay p99", "99th percentile of those waiting times, to three digits."),
        _seconds("queue_delay_max", "Delay max", "The longest of those waiting times."),
        _fraction("loss_ratio", "Loss ratio", "Packets dropped at the queue / packets that arrived there."),
        _fraction("mark_ratio", "Mark ratio", "Packets marked CE / packets that arrived."),
        _fraction("utilisation", "Utilisation", "Bits sent / bits that the link could have sent."),
        _rate("throughput", "Throughput", "Bits sent on the link per second, headers included."),
        _rate(
            "goodput",
            "Goodput",
            "Distinct payload bits delivered in order to the receivers, per second. Bits count when those before them "
            "are there, as in ns-2: a short window may have more than the link carries, received out of order before.",
        ),
        Metric(
            "jain",
            "Jain index",
            "",
            "Fairness of the goodputs x of the flows that are there for the whole run: (sum x)^2 / (n sum x^2); none "
            "where all flows come and go.",
            digits=3,
        ),
        _count("timeouts", "Timeouts", "events", "Retransmission time-outs of all senders."),
        _count(
            "timeouts_from_start",
            "Timeouts from start",
            "events",
            "Retransmission time-outs of the class, over the whole run; of a class only.",
        ),
        _count("retransmits", "Retransmits", "packets", "Packets sent again."),
        Metric(
            "response_time",
            "Response time",
            "s",
            "The first time from which the mean queue of each 1 s stays within 20 % of the target for 5 s "
            "(`response.bin`, `.band`, `.hold`); none when it never does or there is no target.",
            digits=1,
        ),
        _count("arrivals", "Arrivals", "packets", "Packets that arrived at the queue, dropped ones included."),
        _count("drops_early", "Early drops", "packets", "Packets that the algorithm dropped."),
        _count("drops_overflow", "Overflow drops", "packets", "Packets that did not fit into the buffer."),
        _count(
            "drops_elsewhere",
            "Drops elsewhere",
            "packets",
            "Packets dropped on links without a queue discipline, over the whole run; of all flows only.",
        ),
        _count(
            "flows",
            "Flows",
            "flows",
            "How many flows the traffic entry has (of `short`: arrival processes, of `web`: clients); of a class only.",
        ),
        _count(
            "started",
            "Started",
            "flows",
            "Flows that started, or requests of `web` clients, over the whole run; of a class only.",
        ),
        _count(
            "completed",
            "Completed",
            "flows",
            "Flows that delivered all they had, or `web` objects that arrived, over the whole run; of a class only.",
        ),
        Metric(
            "completion_time_mean",
            "Completion time",
            "s",
            "Mean time from start to last acknowledgement of the completed flows, or from request to last byte of the "
            "objects; of a class only.",
            digits=3,
        ),
        _count(
            "sessions",
            "Sessions",
            "sessions",
            "Sessions of `web` clients whose every object arrived, over the whole run; of a class only.",
        ),
        Metric(
            "session_time_mean",
            "Session time",
            "s",
            "Mean time from the first request to the last byte of those sessions: the time of a page; of a class only.",
            digits=3,
        ),
        _count("marks", "Marks", "packets", "Packets that the algorithm marked CE."),
    )
}
