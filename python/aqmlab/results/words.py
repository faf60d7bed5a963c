"""Metrics in a user's words, and values of them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from contextlib import suppress

from aqmlab import _core
from aqmlab.results.metrics import METRICS, Metric

ALIASES: Mapping[str, str] = {
    "delay": "queue_delay_mean",
    "mean delay": "queue_delay_mean",
    "median delay": "queue_delay_p50",
    "p50 delay": "queue_delay_p50",
    "p95 delay": "queue_delay_p95",
    "p99 delay": "queue_delay_p99",
    "max delay": "queue_delay_max",
    "queue": "queue_mean",
    "loss": "loss_ratio",
    "marks": "mark_ratio",
    "fairness": "jain",
    "page time": "session_time_mean",
}
"""Words for metrics; ``call.delay_p95`` is the metric of a traffic entry."""


def name_of(words: str) -> str:
    """Return the name in results of a metric's words; raise ValueError if there is none."""
    owner, dot, last = words.strip().rpartition(".")
    name = ALIASES.get(" ".join(last.split()), last)
    if name not in METRICS:
        near = difflib.get_close_matches(last, [*METRICS, *ALIASES], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join([*ALIASES, *METRICS])}"
        raise ValueError(f"{words}: there is no such metric; {hint}")
    if dot and not owner.startswith(("classes.", "links.", "lanes.")):
        owner = f"classes.{owner}"
    return f"{owner}{dot}{name}"


def metric_of(name: str) -> Metric:
    """Return the metric of a name in results, whatever it is of."""
    return METRICS[name.rpartition(".")[2]]


def quantity(text: str, unit: str = "1") -> float | None:
    """Return a value in a metric's unit, written with a unit or without; None if a text is none."""
    with suppress(ValueError):
        return float(text.removesuffix("" if unit == "1" else unit))
    converted = _core.in_base_unit(text)
    return converted[0] if converted and converted[1] == unit else None


def difference(text: str, metric: Metric) -> tuple[float, bool]:
    """Return a size, above 0, of a difference of a metric, and whether it is a fraction of a mean.

    A percentage is such a fraction, also of a metric that is itself one. Raise ValueError for other texts.

    Examples
    --------
    >>> difference("10 %", METRICS["goodput"]), difference("2 ms", METRICS["rtt_mean"])
    ((0.1, True), (0.002, False))
    """
    relative = text.endswith("%")
    size = quantity(text[:-1]) if relative else quantity(text, metric.unit)
    if size is None or not 0 < size < math.inf:
        example = {"s": "2 ms", "bit/s": "0.1 Mbit/s", "fraction": "0.001"}.get(metric.unit, "0.5")
        raise ValueError(f"must be above 0, in % of the mean, as in 1 %, or as in {example}")
    return (size / 100 if relative else size), relative
