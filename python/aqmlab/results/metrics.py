"""The metrics of a run: name, unit and definition, each written once.

Tables, figures, the report and docs/reference/results.md are made from these definitions; the engine computes the
metrics.
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
        Its name in tables and figures.
    unit : str
        The unit of the value in results; empty for a pure number.
    definition : str
        Its definition, in one sentence.
    shown : str
        The unit in which people read it; empty if it is `unit`.
    scale : float
        The factor that converts a value to that unit.
    digits : int
        The number of decimals to show.
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
        """Label and unit, for the axis of a figure."""
        unit = self.shown or self.unit
        return f"{self.label} ({unit})" if unit else self.label

    def text(self, value: float | None) -> str:
        """Format a value in the unit in which people read it.

        Parameters
        ----------
        value : float or None
            The value in `unit`.

        Returns
        -------
        str
            The scaled number without its unit, or a dash for None.
        """
        return "-" if value is None else f"{value * self.scale:.{self.digits}f}"


@dataclass(frozen=True, slots=True)
class Distribution(Metric):
    """A distribution: a metric with many values, and how to read them.

    Parameters
    ----------
    name : str
        Its key in results.
    label : str
        Its name in tables and figures.
    unit : str
        The unit of the values that are distributed.
    definition : str
        Its definition, in one sentence.
    shown : str
        The unit in which people read the values; empty if it is `unit`.
    scale : float
        The factor that converts a value to that unit.
    digits : int
        The number of decimals to show.
    counted : bool
        Whether results count how often each of 1, 2, ... occurred; otherwise they have the percentiles 0, 1, ..., 100.
    """

    counted: bool = False


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


def _completion(which: str, definition: str) -> Metric:
    label = "Completion time" if which == "mean" else f"Completion {which}"
    return Metric(f"completion_time_{which}", label, "s", definition, digits=3)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _packets(
            "queue_mean",
            "Mean queue",
            "Time average of the packets waiting, the one in transmission left out.",
        ),
        _packets("queue_std", "Queue std. dev.", "Standard deviation of the queue length, weighted by time."),
        _packets("queue_mad", "Queue dev.", "Mean absolute deviation from `queue_mean`, weighted by time."),
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
        _fraction(
            "loss_ratio",
            "Loss ratio",
            "Packets dropped at the queue / packets that arrived there, both of the packets that arrived in the "
            "window: so it is in [0, 1], where `drops_early` and `drops_overflow` count the drops in the window, also "
            "of packets that arrived before it.",
        ),
        Metric(
            "loss_run_mean",
            "Loss run",
            "packets",
            "Mean number of packets that a flow loses in a row: consecutive in the order in which its packets arrived "
            "at the queue, dropped there on arrival or later; a packet sent ends a run. Of a link or class only.",
            digits=3,
        ),
        Metric(
            "loss_burst_mean",
            "Loss burst",
            "packets",
            "The same of consecutive arrivals whatever their flow; of a link only.",
            digits=3,
        ),
        _count(
            "loss_events",
            "Loss events",
            "events",
            "A loss at the queue begins an event, and all losses within `record.loss_event` from it belong to it; the "
            "next one begins another. Of a link only.",
        ),
        _fraction(
            "loss_synchronisation",
            "Loss sync.",
            "Mean over the loss events of flows that lose packets in it / flows that are active: that had a packet at "
            "the queue in the current second of simulated time or the one before (RFC 7928, section 2.4; in units of "
            "`record.loss_event` if that is longer). Of a link only.",
        ),
        _fraction(
            "mark_ratio",
            "Mark ratio",
            "Packets marked CE / packets that arrived, both of the packets that arrived in the window.",
        ),
        _fraction(
            "utilisation",
            "Utilisation",
            "Bits sent / bits that the link could have sent: those and, at the rate of each moment, as many as the "
            "time without a packet had room for. A packet in transmission when the rate changes keeps its own to the "
            "end; one at an end of the window counts with the part that lies within.",
        ),
        _rate("throughput", "Throughput", "Bits sent on the link per second, headers and the link's framing included."),
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
        _seconds(
            "delay_mean",
            "One-way delay",
            "Mean time from the sending of a data packet or datagram to its arrival at the receiver. A packet sent "
            "again counts from then; SYN and ACK do not count, nor what is lost.",
        ),
        _seconds("delay_p50", "One-way p50", "Median of those times, to three digits."),
        _seconds("delay_p95", "One-way p95", "95th percentile of those times, to three digits."),
        _seconds("delay_p99", "One-way p99", "99th percentile of those times, to three digits."),
        _seconds("delay_max", "One-way max", "The longest of those times."),
        Metric(
            "jitter",
            "Jitter",
            "s",
            "Mean absolute difference of the one-way delays of a flow's packets, each and the next that arrives (the D "
            "of RFC 3550, section 6.4.1, not smoothed).",
            shown="ms",
            scale=1e3,
            digits=2,
        ),
        _count("timeouts", "Timeouts", "events", "Retransmission time-outs of all senders."),
        _count("retransmits", "Retransmits", "packets", "Packets sent again."),
        _count("timeouts_total", "All timeouts", "events", "`timeouts` over the whole run, the warm-up included."),
        _count("retransmits_total", "All retransmits", "packets", "`retransmits` over the whole run."),
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
            "random_losses",
            "Random losses",
            "packets",
            "Packets that the link lost by chance (`loss`) before they came to the queue, over the whole run.",
        ),
        _count(
            "drops_elsewhere",
            "Drops elsewhere",
            "packets",
            "Packets dropped or lost by chance on links without a queue discipline, over the whole run; of all flows "
            "only.",
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
        _completion(
            "mean",
            "Mean time from start to last acknowledgement of the completed flows, or from request to last byte of the "
            "objects; of a class only.",
        ),
        _completion("p50", "Median of those times, to three digits; of a class only."),
        _completion("p95", "95th percentile of those times, to three digits; of a class only."),
        _completion("p99", "99th percentile of those times, to three digits; of a class only."),
        _completion("max", "The longest of those times; of a class only."),
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

DISTRIBUTIONS: dict[str, Distribution] = {
    distribution.name: distribution
    for distribution in (
        Distribution(
            "loss_runs",
            "Loss run",
            "packets",
            "How many times a flow lost 1, 2, ... packets in a row (see `loss_run_mean`), up to the longest run; the "
            "100th bin has all from 100 on.",
            counted=True,
        ),
        Distribution(
            "loss_bursts",
            "Loss burst",
            "packets",
            "The same of consecutive arrivals whatever their flow; of a link only.",
            counted=True,
        ),
        Distribution(
            "delay",
            "One-way delay",
            "s",
            "Percentiles of the one-way delay (see `delay_mean`); of a class only.",
            shown="ms",
            scale=1e3,
        ),
        Distribution(
            "completion_time",
            "Completion time",
            "s",
            "Percentiles of the time from start to last acknowledgement of the flows completed in the whole run; of a "
            "class only.",
        ),
    )
}
