"""The published numbers, the queues that are compared, and the quantities read from runs."""

import polars

from aqmlab.scenario import Settings
from aqmlab_papers import PerSeed, Runs
from aqmlab_papers.describe.paper import Aqms
from aqmlab_papers.run.reading import jain


def _stations(scheduler: str) -> Settings:
    """Return queues of stations with FQ-CoDel, with the target and the quantum of mac80211."""
    return {
        "aqm": "fq:preset=linux,quantum=300 B",
        "aqm.aqm.target": "20 ms",
        "wifi.wlan.queues": "station",
        "wifi.wlan.scheduler": scheduler,
    }


QUEUES: Aqms = {
    "FIFO": "droptail",
    "FQ-CoDel": "fq_codel",
    "FQ-MAC": _stations("round-robin"),
    "Airtime": _stations("airtime"),
}
"""A discipline in front of the driver; queues of stations in turns of one transmission; in turns of equal airtime."""

STATIONS = ("fast1", "fast2", "slow")
BEFORE, AFTER = (19.17, 19.83, 2.58), (25.09, 25.21, 1.77)
"""Throughputs of the three stations (Mbit/s) with queues of stations, without and with turns of equal airtime."""


def _airtime(station: str) -> polars.Expr:
    ways = (f"links.wlan-{station}{back}.utilisation" for back in ("", ":reverse"))
    return polars.sum_horizontal(polars.col(way) for way in ways)


def airtime(runs: Runs, label: str, station: str) -> PerSeed:
    """Return the part of the time that transmissions to and from a station take."""
    return runs.per_seed(_airtime(station), label)


def fairness(runs: Runs, label: str) -> PerSeed:
    """Return Jain's index of the stations' airtimes."""
    return runs.per_seed(jain([_airtime(station) for station in STATIONS]), label)


def received(runs: Runs, label: str, station: str) -> PerSeed:
    """Return what a station receives (Mbit/s)."""
    return runs.per_seed(f"links.wlan-{station}.link_goodput", label)


def together(runs: Runs, label: str, entry: str = "tcp") -> PerSeed:
    """Return what all stations receive (Mbit/s)."""
    return runs.per_seed(f"classes.{entry}.goodput", label)


def wait(runs: Runs, label: str, station: str) -> PerSeed:
    """Return the mean round trip of a ping to the fast or the slow station (ms)."""
    return runs.per_seed(f"classes.ping-{station}.rtt_mean", label)


def over(one: PerSeed, other: PerSeed) -> PerSeed:
    """Return a quantity over the mean of another."""
    return (one / other.mean).called("ratio", "")
