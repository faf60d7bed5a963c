"""Queues in the form of ``tc -j -s qdisc show``, for programs that read what Linux's tc prints.

The names of the fields are those of iproute2 6.1 (``tc/q_*.c``). A field that a result does not know is absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aqmlab import _core

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics, Result

Options = Mapping[str, Any]

_KINDS = {"droptail": "pfifo", "headdrop": "pfifo_head_drop", "ared": "red"}
"""The names of disciplines that Linux has under another one; of the others they are the same, or Linux lacks them."""

_LIMITS = {"bfifo": "bytes", "red": "bytes"}
"""The unit of the limit of kinds that do not count packets."""

_INSIDE = {"codel": "fq_codel", "pie": "fq_pie"}
"""The kinds of ``fq`` by the discipline inside."""


def qdiscs(result: Result) -> list[dict[str, Any]]:
    """Describe each queue of a result, as ``tc -j -s qdisc show`` describes the queues of a machine.

    Parameters
    ----------
    result : Result
        A result; of several runs, the first counts.

    Returns
    -------
    list of dict
        For each link with a queue ``kind``, ``handle``, ``dev`` (the name of the link), ``root``, ``options``, the
        counters that all kinds have, and the statistics of the kind. Times are in µs, sizes in bytes. The counters
        are those of the measurement window, without the warm-up. A discipline that Linux lacks has its own name.

    Examples
    --------
    >>> import aqmlab
    >>> result = aqmlab.run(aqmlab.Scenario.load("links/home").with_(duration="2 s", warmup="0 s", aqm="codel"))
    >>> [(queue["dev"], queue["kind"]) for queue in qdiscs(result)]
    [('bottleneck', 'codel'), ('bottleneck:reverse', 'bfifo')]
    """
    return [_qdisc(number, link, result) for number, link in enumerate(result.runs[0].links, 1)]


def text(result: Result) -> bytes:
    """Return `qdiscs` as the content of a file, which is JSON in one line, as tc prints it."""
    return json.dumps(qdiscs(result), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _qdisc(number: int, link: str, result: Result) -> dict[str, Any]:
    metrics = result.runs[0].links[link]
    discipline, limit = _discipline(link, result.scenario.resolved)
    unit = None if limit is None else limit[1]
    kind = _kind(discipline, unit)
    limited = limit is not None and unit == _LIMITS.get(kind, "packets")
    seconds = result.scenario.duration - result.scenario.warmup
    drops = sum(int(metrics[name] or 0) for name in ("drops_early", "drops_overflow"))
    common: dict[str, Any] = {
        "kind": kind,
        "handle": f"{0x8000 + number:x}:",
        "dev": link,
        "root": True,
        "options": {**({"limit": round(limit[0])} if limit and limited else {}), **_options(kind, discipline)},
        "bytes": round((metrics["throughput"] or 0.0) * seconds / 8),
        "packets": int(metrics["arrivals"] or 0) - drops,
        "drops": drops,
        "requeues": 0,
    }
    statistics = _STATISTICS.get(kind)
    own = {} if statistics is None else statistics(metrics, _Course(link, result))
    return {**common, **own, **_counters(result.runs[0].counters.get(link, {}))}


def _counters(found: Mapping[str, float]) -> dict[str, Any]:
    """Return a discipline's own counters as tc nests them: ``tins.0.drops`` is in the first of ``tins``."""
    plain: dict[str, Any] = {}
    tins: dict[int, dict[str, Any]] = {}
    for name, value in found.items():
        group, *path = name.split(".")
        number = int(value) if value.is_integer() else value
        if path:
            tins.setdefault(int(path[0]), {})[path[1]] = number
        else:
            plain[group] = number
    return plain | ({"tins": [tins[i] for i in sorted(tins)]} if tins else {})


def _discipline(link: str, resolved: Mapping[str, Any]) -> tuple[Options, tuple[float, str] | None]:
    """Return the discipline of a link with its parameters, and its limit with its unit, if that is one of tc's."""
    cable = link.removesuffix(":reverse")
    back = cable != link
    entries = {entry["name"]: entry for entry in resolved.get("link", ())}
    table = entries.get(cable, resolved.get("dumbbell", {}))
    owner = entries.get(cable, resolved)
    discipline = owner.get("reverse_aqm" if back else "aqm", {"name": "droptail"})
    buffer = table.get("reverse_buffer", "auto") if back else table["buffer"]
    if buffer == "auto":
        buffer = table["buffer"] if cable in entries or "reverse_aqm" in owner else table["access_buffer"]
    amount = _core.in_base_unit(buffer)
    return discipline, amount if amount and amount[1] in ("packets", "bytes") else None


def _kind(discipline: Options, unit: str | None) -> str:
    name = str(discipline["name"])
    if name == "droptail" and unit == "bytes":
        return "bfifo"
    inside = discipline.get("aqm")
    if isinstance(inside, Mapping):
        return _INSIDE.get(str(inside["name"]), name)
    return _KINDS.get(name, name)


def _options(kind: str, discipline: Options) -> dict[str, Any]:
    """Return the options of a kind that the discipline has, in tc's units."""
    inside = discipline.get("aqm")
    every = {**discipline, **inside} if isinstance(inside, Mapping) else discipline
    found = {name: convert(every[key]) for name, (key, convert) in _OPTIONS.get(kind, {}).items() if key in every}
    return {name: value for name, value in found.items() if value is not None}


def _us(text: str) -> int | None:
    """Return a time in µs; None for one that is chosen automatically."""
    read = _core.in_base_unit(text)
    return None if read is None else round(read[0] * 1e6)


def _bytes(text: str) -> int | None:
    read = _core.in_base_unit(text)
    return round(read[0]) if read and read[1] == "bytes" else None


def _octets(text: str) -> int | str:
    """Return a rate in bytes a second, or tc's word for none."""
    read = _core.in_base_unit(text)
    return "unlimited" if read is None else round(read[0] / 8)


def _sixteenths(text: str) -> int | None:
    """Return a gain of PIE as Linux counts it."""
    read = _core.in_base_unit(text)
    return None if read is None else round(read[0] * 16)


Convert = Callable[[Any], Any]

_CODEL: dict[str, tuple[str, Convert]] = {
    "target": ("target", _us),
    "interval": ("interval", _us),
    "ce_threshold": ("ce_threshold", _us),
    "ecn": ("ecn", bool),
}
_PIE: dict[str, tuple[str, Convert]] = {
    "target": ("target", _us),
    "tupdate": ("t_update", _us),
    "alpha": ("alpha", _sixteenths),
    "beta": ("beta", _sixteenths),
    "ecn": ("ecn", bool),
}
_FAIR: dict[str, tuple[str, Convert]] = {"flows": ("flows", int), "quantum": ("quantum", _bytes)}
_OPTIONS: dict[str, dict[str, tuple[str, Convert]]] = {
    "codel": _CODEL,
    "fq_codel": {**_FAIR, **_CODEL},
    "pie": _PIE,
    "fq_pie": {**_FAIR, **_PIE},
    "red": {"ecn": ("ecn", bool), "harddrop": ("hard_drop", bool)},
    "choke": {"ecn": ("ecn", bool), "harddrop": ("hard_drop", bool)},
    "cake": {
        "bandwidth": ("bandwidth", _octets),
        "diffserv": ("diffserv", str),
        "flowmode": ("flowmode", str),
        "ingress": ("ingress", bool),
        "atm": ("atm", str),
        "rtt": ("rtt", _us),
    },
    "sfq": {
        "quantum": ("quantum", _bytes),
        "depth": ("depth", int),
        "divisor": ("divisor", int),
        "flows": ("flows", int),
    },
}
"""The options of each kind: the discipline's parameter, and how its value is converted."""


class _Course:
    """What the series of a link say about its end and its extremes; None without series."""

    def __init__(self, link: str, result: Result) -> None:
        self._link = link
        recorded = result.recordings.get(result.seeds[0])
        self._series = result.series if recorded and recorded.queue is not None else None
        self._warmup = result.scenario.warmup

    def last(self, signal: str) -> float | None:
        """Return the mean of a signal in the last bin."""
        column = f"{self._link}.{signal}.mean"
        if self._series is None or column not in self._series.columns:
            return None
        values = self._series[column].drop_nulls()
        return float(values[-1]) if len(values) else None

    def longest(self) -> int | None:
        """Return the longest queue, in packets."""
        if self._series is None:
            return None
        greatest = self._series.filter(self._series["t"] >= self._warmup)[f"{self._link}.queue.max"].max()
        return None if greatest is None else int(float(str(greatest)))


Statistics = Callable[["Metrics", _Course], dict[str, Any]]


def _known(fields: Mapping[str, float | None]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _count(metrics: Metrics, name: str) -> int:
    return int(metrics[name] or 0)


def _whole(value: float | None, scale: float = 1.0) -> int | None:
    return None if value is None else round(value * scale)


def _accepted(metrics: Metrics) -> int:
    return _count(metrics, "arrivals") - _count(metrics, "drops_early") - _count(metrics, "drops_overflow")


def _pie(metrics: Metrics, course: _Course) -> dict[str, Any]:
    return _known(
        {
            "prob": course.last("p"),
            "delay": _whole(course.last("delay"), 1e6),
            "pkts_in": _accepted(metrics),
            "overlimit": _count(metrics, "drops_overflow"),
            "dropped": _count(metrics, "drops_early"),
            "maxq": course.longest(),
            "ecn_mark": _count(metrics, "marks"),
        }
    )


def _codel(metrics: Metrics, course: _Course) -> dict[str, Any]:
    return _known(
        {
            "count": _whole(course.last("count")),
            "ldelay": _whole(course.last("sojourn"), 1e6),
            "ecn_mark": _count(metrics, "marks"),
            "drop_overlimit": _count(metrics, "drops_overflow"),
        }
    )


def _fq_codel(metrics: Metrics, _: _Course) -> dict[str, Any]:
    return {"drop_overlimit": _count(metrics, "drops_overflow"), "ecn_mark": _count(metrics, "marks")}


def _fq_pie(metrics: Metrics, _: _Course) -> dict[str, Any]:
    return {
        "pkts_in": _accepted(metrics),
        "overlimit": _count(metrics, "drops_overflow"),
        "dropped": _count(metrics, "drops_early"),
        "ecn_mark": _count(metrics, "marks"),
    }


def _red(metrics: Metrics, _: _Course) -> dict[str, Any]:
    return {
        "marked": _count(metrics, "marks"),
        "early": _count(metrics, "drops_early"),
        "pdrop": _count(metrics, "drops_overflow"),
    }


_STATISTICS: Mapping[str, Statistics] = {
    "pie": _pie,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "fq_pie": _fq_pie,
    "red": _red,
    "choke": _red,
}
"""The statistics of each kind."""
