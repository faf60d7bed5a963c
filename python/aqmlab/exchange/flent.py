"""Series in the file format of flent, version 4, which flent and flent-gui open and plot.

The file is that of flent's test ``tcp_ndown``: the throughput of downloads, and a ping, by flent's names and in its
units.
"""

from __future__ import annotations

import bisect
import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.exchange.course import course, recorded
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.results.result import Result

TEST = "tcp_ndown"
"""The test of flent whose series and plots the file has."""

STEP = 0.2
"""The least time in s between values, which is also that of flent itself."""

PING = "Ping (ms) ICMP"
"""The series of delays."""

_START = "1970-01-01T00:00:00.000000Z"
"""The date of the run: simulated time has none, and equal results are to be equal files."""

_TCP = ("ftp", "transfer", "short", "web", "dash")
"""The kinds of traffic over TCP."""

_DATA = 0.5
"""If data crosses a link, it carries more than this part of the goodput; of acknowledgements it carries less."""


def content(result: Result) -> bytes:
    """Return `document` as the content of a file ``NAME.flent.gz``."""
    text = json.dumps(document(result), sort_keys=True, allow_nan=False)
    return gzip.compress(text.encode(), mtime=0)


def document(result: Result) -> dict[str, Any]:
    """Describe the first run of a result as flent describes a test, from the end of the warm-up, which is 0.

    ``version``, ``metadata``, ``x_values`` in s, ``results`` by the names of flent's series and ``raw_values``. For the
    traffic entries whose data cross the observed link, ``TCP download::1`` and so on, or ``UDP download::1``, are their
    throughputs at that link, in Mbit/s, and ``TCP download sum`` and ``avg`` those of TCP together. The ``SERIES_META``
    of each names the entry. ``Ping (ms) ICMP`` has the round-trip times in ms of the first ``ping`` entry that got
    answers. Without one, it is the mean wait in the observed queue of the packets sent in a bin; the delays of the
    links are not in it. Raise LookupError if the run recorded no series.
    """
    since = result.scenario.warmup
    entries = [entry["name"] for entry in result.scenario.resolved["traffic"]]
    whole = course(result, entries, least=STEP, since=since)
    columns, about = _throughputs(result)
    times = [round(float(t) - since, 9) for t in whole.start]
    probe = _probe(result)
    if probe is None:
        columns[PING] = [None if np.isnan(wait) else float(wait) * 1e3 for wait in whole.wait]
        about[PING] = {"UNITS": "ms", "LINK": result.link}
        pings = None
    else:
        entry, pings = probe
        columns[PING] = _means(pings, times)
        about[PING] = {"UNITS": "ms", "CLASS": entry}
    title = printable(result.scenario.title) or result.discipline
    metadata = {
        "NAME": TEST,
        "TITLE": title,
        "TIME": _START,
        "T0": _START,
        "LENGTH": result.scenario.duration - since,
        "TOTAL_LENGTH": result.scenario.duration - since,
        "STEP_SIZE": round(whole.step, 9),
        "NOTE": f"aqmlab {result.version}, {result.discipline}, seed {result.seeds[0]}",
        "FLENT_VERSION": "2.0.0",
        "IP_VERSION": 4,
        "HOST": result.link,
        "LOCAL_HOST": "aqmlab",
        "HOSTS": [result.link],
        "TEST_PARAMETERS": {"download_streams": str(sum("TCP download::" in name for name in columns))},
        "BATCH_NAME": None,
        "DATA_FILENAME": f"{TEST}.flent.gz",
        "SERIES_META": about,
    }
    raw = {
        name: [{"t": t, "val": value} for t, value in zip(times, values, strict=True) if value is not None]
        for name, values in columns.items()
    }
    if pings is not None:
        raw[PING] = [{"t": t, "val": value} for t, value in pings]
    for name, points in raw.items():
        if points:
            about[name]["MEAN_VALUE"] = math.fsum(point["val"] for point in points) / len(points)
    return {"version": 4, "metadata": metadata, "x_values": times, "results": columns, "raw_values": raw}


Values = list[float | None]


def _probe(result: Result) -> tuple[str, list[tuple[float, float]]] | None:
    """Return the first ``ping`` entry that got answers, and when it had which round-trip time, in s and ms."""
    since = result.scenario.warmup
    series = recorded(result, since)
    for entry in result.scenario.resolved["traffic"]:
        if entry["kind"] == "ping" and f"{entry['name']}.rtt" in series.columns:
            trips = zip(series["t"], series[f"{entry['name']}.rtt"].fill_nan(None), strict=True)
            found = [(round(float(t) - since, 9), float(trip) * 1e3) for t, trip in trips if trip is not None]
            if found:
                return entry["name"], found
    return None


def _means(points: list[tuple[float, float]], times: list[float]) -> Values:
    """Return the mean of the points from each time to the next."""
    bins: list[list[float]] = [[] for _ in times]
    for t, value in points:
        bins[bisect.bisect_right(times, t) - 1].append(value)
    return [math.fsum(values) / len(values) if values else None for values in bins]


def _throughputs(result: Result) -> tuple[dict[str, Values], dict[str, dict[str, Any]]]:
    """Return the throughputs by the names of their series, and what each is."""
    columns: dict[str, Values] = {}
    about: dict[str, dict[str, Any]] = {}
    since = result.scenario.warmup
    for entry in result.scenario.resolved["traffic"]:
        name, protocol = entry["name"], "TCP" if entry["kind"] in _TCP else "UDP"
        metrics = result.runs[0].classes[name]
        if (metrics["throughput"] or 0.0) <= _DATA * (metrics["goodput"] or 0.0):
            continue
        number = 1 + sum(key.startswith(f"{protocol} download::") for key in columns)
        key = f"{protocol} download::{number}"
        columns[key] = [float(rate) / 1e6 for rate in course(result, [name], least=STEP, since=since).rate]
        about[key] = {"UNITS": "Mbits/s", "CLASS": name}
    streams = [values for name, values in columns.items() if name.startswith("TCP")]
    if streams:
        sums = [sum(value or 0.0 for value in rates) for rates in zip(*streams, strict=True)]
        columns["TCP download sum"] = list(sums)
        columns["TCP download avg"] = [value / len(streams) for value in sums]
        about |= {f"TCP download {which}": {"UNITS": "Mbits/s"} for which in ("sum", "avg")}
    return columns, about
