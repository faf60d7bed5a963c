"""The presentation of a run's metrics: label, unit and decimals in tables and figures.

The engine declares each metric's name, unit and definition, in `crates/run/src/metrics.rs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aqmlab import _core

Better = Literal["more", "less", ""]
"""Whether more or less of a metric is better; empty if that depends on the question."""


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
    better : str
        ``more`` or ``less``, whichever is better; empty if neither is as such.
    """

    name: str
    label: str
    unit: str
    definition: str
    shown: str = ""
    scale: float = 1.0
    digits: int = 0
    better: Better = ""

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
    better : str
        Empty.
    counted : bool
        Whether results count how often each of 1, 2, ... occurred; otherwise they have the percentiles 0, 1, ..., 100.
    """

    counted: bool = False


@dataclass(frozen=True, slots=True)
class _Presentation:
    """The form in which people read a metric."""

    label: str
    """Its name in tables and figures."""
    better: Better = ""
    """The direction that users of a network wish for."""
    digits: int | None = None
    """The number of decimals; None for that of the unit."""
    converted: bool = True
    """Whether it is converted to the unit that `_UNITS` lists for its unit."""


_UNITS = {"s": ("ms", 1e3, 1), "fraction": ("%", 100, 2), "bit/s": ("Mbit/s", 1e-6, 3)}
"""For a unit of results: the unit in which people read it, the factor that converts it, and the number of decimals."""

_UNCONVERTED = ("", 1.0, 0)

# Tables have this order. A metric that is not listed comes last, with its name as its label.
_METRICS: dict[str, _Presentation] = {
    "queue_delay_mean": _Presentation("Mean delay", "less"),
    "queue_delay_p50": _Presentation("Delay p50", "less"),
    "queue_delay_p95": _Presentation("Delay p95", "less"),
    "queue_delay_p99": _Presentation("Delay p99", "less"),
    "queue_delay_max": _Presentation("Delay max", "less"),
    "queue_mean": _Presentation("Mean queue", "less", digits=1),
    "queue_std": _Presentation("Queue std. dev.", "less", digits=1),
    "queue_mad": _Presentation("Queue dev.", "less", digits=1),
    "queue_empty": _Presentation("Empty"),
    "queue_full": _Presentation("Full", "less"),
    "loss_ratio": _Presentation("Loss ratio", "less"),
    "loss_run_mean": _Presentation("Loss run", "less", digits=3),
    "loss_burst_mean": _Presentation("Loss burst", "less", digits=3),
    "loss_events": _Presentation("Loss events", "less"),
    "loss_synchronisation": _Presentation("Loss sync."),
    "mark_ratio": _Presentation("Mark ratio"),
    "utilisation": _Presentation("Utilisation", "more"),
    "throughput": _Presentation("Throughput", "more"),
    "link_goodput": _Presentation("Link goodput", "more"),
    "aggregate_mean": _Presentation("Aggregate", digits=1),
    "harq_rounds_mean": _Presentation("HARQ rounds", "less", digits=2),
    "in_order_wait_mean": _Presentation("In-order wait", "less"),
    "channel_share": _Presentation("Channel share"),
    "grants_unused": _Presentation("Grants unused", "less"),
    "collisions": _Presentation("Collisions", "less"),
    "collision_drops": _Presentation("Given up", "less"),
    "goodput": _Presentation("Goodput", "more"),
    "path_loss_ratio": _Presentation("Path loss", "less"),
    "jain": _Presentation("Jain index", "more", digits=3),
    "rtt_bias": _Presentation("RTT bias", digits=2),
    "rtt_idle": _Presentation("Idle RTT"),
    "rtt_mean": _Presentation("Mean RTT", "less"),
    "rtt_p50": _Presentation("RTT p50", "less"),
    "rtt_p95": _Presentation("RTT p95", "less"),
    "rtt_p99": _Presentation("RTT p99", "less"),
    "rtt_max": _Presentation("RTT max", "less"),
    "rpm": _Presentation("RPM", "more"),
    "qoo": _Presentation("QoO", "more", digits=0),
    "mos": _Presentation("MOS", "more", digits=2),
    "video_bitrate": _Presentation("Video bitrate", "more"),
    "stall_ratio": _Presentation("Stalled", "less"),
    "switch_ratio": _Presentation("Switches", "less"),
    "delay_idle": _Presentation("Idle one-way"),
    "delay_mean": _Presentation("One-way delay", "less"),
    "delay_p50": _Presentation("One-way p50", "less"),
    "delay_p95": _Presentation("One-way p95", "less"),
    "delay_p99": _Presentation("One-way p99", "less"),
    "delay_max": _Presentation("One-way max", "less"),
    "jitter": _Presentation("Jitter", "less", digits=2),
    "timeouts": _Presentation("Timeouts", "less"),
    "retransmits": _Presentation("Retransmits", "less"),
    "timeouts_total": _Presentation("All timeouts", "less"),
    "retransmits_total": _Presentation("All retransmits", "less"),
    "response_time": _Presentation("Response time", "less", digits=1, converted=False),
    "arrivals": _Presentation("Arrivals"),
    "drops_early": _Presentation("Early drops"),
    "drops_overflow": _Presentation("Overflow drops", "less"),
    "random_losses": _Presentation("Random losses"),
    "drops_elsewhere": _Presentation("Drops elsewhere", "less"),
    "flows": _Presentation("Flows"),
    "started": _Presentation("Started"),
    "completed": _Presentation("Completed", "more"),
    "completion_time_mean": _Presentation("Completion time", "less", digits=3, converted=False),
    "completion_time_p50": _Presentation("Completion p50", "less", digits=3, converted=False),
    "completion_time_p95": _Presentation("Completion p95", "less", digits=3, converted=False),
    "completion_time_p99": _Presentation("Completion p99", "less", digits=3, converted=False),
    "completion_time_max": _Presentation("Completion max", "less", digits=3, converted=False),
    "sessions": _Presentation("Sessions", "more"),
    "session_time_mean": _Presentation("Page time", "less", digits=3, converted=False),
    "session_time_p50": _Presentation("Page p50", "less", digits=3, converted=False),
    "session_time_p95": _Presentation("Page p95", "less", digits=3, converted=False),
    "session_time_max": _Presentation("Page max", "less", digits=3, converted=False),
    "marks": _Presentation("Marks"),
}

_DISTRIBUTIONS: dict[str, _Presentation] = {
    "loss_runs": _Presentation("Loss run"),
    "loss_bursts": _Presentation("Loss burst"),
    "delay": _Presentation("One-way delay", digits=0),
    "completion_time": _Presentation("Completion time", converted=False),
}

_COUNTED = ("loss_runs", "loss_bursts")
"""The distributions that are counts."""


def _presented(
    declared: Iterable[Mapping[str, str]], presentations: Mapping[str, _Presentation]
) -> Iterator[dict[str, Any]]:
    """Combine declarations with their presentations, and yield the fields of each metric."""
    places = {name: place for place, name in enumerate(presentations)}
    for metric in sorted(declared, key=lambda metric: places.get(metric["name"], len(places))):
        name, unit = metric["name"], metric["unit"]
        presentation = presentations.get(name) or _Presentation(name.replace("_", " ").capitalize())
        shown, scale, digits = _UNITS.get(unit, _UNCONVERTED) if presentation.converted else _UNCONVERTED
        yield {
            "name": name,
            "label": presentation.label,
            "unit": unit,
            "definition": metric["doc"],
            "shown": shown,
            "scale": scale,
            "digits": digits if presentation.digits is None else presentation.digits,
            "better": presentation.better,
        }


_DECLARED: dict[str, list[dict[str, str]]] = json.loads(_core.metrics())

METRICS: dict[str, Metric] = {fields["name"]: Metric(**fields) for fields in _presented(_DECLARED["metrics"], _METRICS)}

DISTRIBUTIONS: dict[str, Distribution] = {
    fields["name"]: Distribution(**fields, counted=fields["name"] in _COUNTED)
    for fields in _presented(_DECLARED["distributions"], _DISTRIBUTIONS)
}
