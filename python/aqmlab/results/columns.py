"""The columns of tables, each with its unit and its meaning: for the page on files, and for exported files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from aqmlab.results.metrics import METRICS


@dataclass(frozen=True)
class Column:
    """A column of a table or a key of a document, of which a dot separates the levels.

    `name` has words in capitals in place of names: ``LINK.queue.mean``. `unit` is empty for a pure number, and for what
    is no number.
    """

    name: str
    unit: str
    meaning: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the columns that it describes."""
        return re.compile(re.sub(r"\b[A-Z]+\b", r"[^.]+", re.escape(self.name)))


RUN = (Column("seed", "", "The seed of the run."),)

COMPARED = (
    Column("label", "", "The label of the result in the comparison."),
    Column("aqm", "", "The queue discipline: the label without the engine."),
    Column("engine", "", "The engine."),
)
"""The first columns of a table of a comparison."""

SWEPT_AQM = Column("aqm", "", "The queue discipline, as requested.")
SWEPT_KEY = Column("key", "", "The run's key in the store.")

COST = (
    Column("engine.packets", "packets", "Packets that the observed link sent, in the warm-up too."),
    Column("engine.events", "events", "Events of the engine."),
    Column("engine.cpu_seconds", "s", "CPU time of the run, with its set-up."),
)
"""What a run cost."""

LINUX_COST = (
    Column("engine.timing_error_p50", "s", "On the linux engine: median of the delay with which packets reach hosts."),
    Column("engine.timing_error_p99", "s", "The 99th percentile of that delay."),
    Column("engine.timing_error_max", "s", "The greatest such delay."),
    Column("engine.failed_sockets", "", "Failed ends of connections and datagrams that were not sent."),
)
"""What a run on the linux engine has as well."""

METRIC_COLUMNS = (
    Column("METRIC", "", "A metric of the observed queue and all flows."),
    Column("classes.CLASS.METRIC", "", "That of a traffic entry."),
    Column("links.LINK.METRIC", "", "That of a link with a queue discipline."),
    Column("lanes.LINK.LANE.METRIC", "", "That of a queue which the discipline of a link names."),
)

_COUNTS = (("arrivals", "Packets that arrived in the bin"), ("drops", "Packets dropped in the bin"))


def _quantity(name: str, unit: str, what: str) -> tuple[Column, ...]:
    words = {"min": "Least", "mean": "Time average of the", "max": "Greatest"}
    return tuple(Column(f"{name}.{end}", unit, f"{word} {what} in the bin.") for end, word in words.items())


def _counted(owner: str, of: str) -> tuple[Column, ...]:
    return tuple(Column(f"{owner}.{name}", "packets", f"{text}{of}.") for name, text in _COUNTS)


def _sent(owner: str, of: str) -> tuple[Column, ...]:
    when = "when its transmission begins, on a half-duplex link when it is sent"
    rate = f"Bits sent per second{of}; a packet counts whole {when}."
    wait = f"Mean wait of the packets{of} that were sent in the bin; null if there were none."
    return (
        *_counted(owner, of),
        Column(f"{owner}.departures", "packets", f"Packets{of} whose transmission began in the bin."),
        Column(f"{owner}.throughput", "bit/s", rate),
        Column(f"{owner}.delay", "s", wait),
    )


SERIES = (
    Column("t", "s", "The start of the bin."),
    *_quantity("LINK.lane.LANE.queue", "packets", "number of waiting packets of a queue which the discipline names"),
    *_sent("LINK.lane.LANE", " of that queue"),
    *_quantity("LINK.queue", "packets", "number of waiting packets of a link"),
    *_quantity("LINK.SIGNAL", "", "value of a signal of the discipline"),
    *_counted("LINK", " at the link"),
    *_sent("LINK.CLASS", " of a traffic entry at the observed link"),
    Column(
        "LINK.travel",
        "s",
        "Mean delay on a measured link whose delay varies, of the packets that were sent in the bin, or null.",
    ),
    Column("CLASS.rtt", "s", "Mean round-trip time of the answers to a `ping` that came in the bin, or null."),
)

CWND = (
    Column("t", "s", "The time of the sample."),
    Column("flow", "", "The number of the flow, from 0."),
    Column("class", "", "The traffic entry; in the file its number, from 0."),
    Column("cwnd", "segments", "The congestion window."),
    Column("ssthresh", "segments", "The slow-start threshold."),
)

FLOWS = (
    Column("seed", "", "The seed of the run."),
    Column("class", "", "The traffic entry."),
    Column(
        "flow",
        "",
        "The number of the flow in its entry, from 0; of a `short` flow that of its arrival, of a `web` object that of "
        "the client.",
    ),
    Column("from", "", "The node that sends its data."),
    Column("to", "", "The node that receives its data."),
    Column("start", "s", "Its start; of a `web` object, and a transfer with a `request`, that of the request."),
    Column("end", "s", "Its end; of a `web` object the last byte. Null if it was not over."),
    Column("bytes", "bytes", "Payload that arrived, each byte once."),
    Column("goodput", "bit/s", "That payload per second, from the start to the end, or to that of the run."),
    Column("rtt_min", "s", "The least of the round-trip times that end between start and end; null without."),
    Column("rtt_mean", "s", "Their mean."),
    Column("rtt_p95", "s", "Their 95th percentile."),
    Column("rtt_max", "s", "The greatest of them."),
    Column("losses", "packets", "Segments or datagrams lost anywhere on the path."),
    Column("marks", "packets", "Segments or datagrams that arrived with CE."),
    Column("retransmits", "packets", "Retransmissions of its sender; null of UDP."),
    Column("timeouts", "events", "Retransmission time-outs of its sender; null of UDP."),
    Column(
        "completion_time",
        "s",
        "From start to last acknowledgement, or from when the object was wanted to its end; null if it has none.",
    ),
)


def described(name: str, columns: Iterable[Column]) -> Column | None:
    """Return the description of a column, with its own name: of a metric its definition, otherwise one of `columns`."""
    known = next((column for column in columns if column.pattern.fullmatch(name)), None)
    if known is not None:
        return replace(known, name=name)
    metric = METRICS.get(name.rpartition(".")[2])
    return None if metric is None else Column(name, metric.unit, metric.definition)
