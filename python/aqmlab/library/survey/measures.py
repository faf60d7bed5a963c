"""The survey's core router, and the quantities read from its runs."""

from __future__ import annotations

from operator import sub, truediv

import numpy as np
import polars

from aqmlab.papers import At, Runs
from aqmlab.papers.run.seeds import mean, paired

RATE = 45e6
"""Link rate (bit/s)."""
BUFFER = 100_000
"""Buffer (bytes)."""
FULL = 8 * BUFFER / RATE
"""Waiting time of a packet in a full buffer (s)."""
TCP_SIZE, UDP_SIZE = 1000, 100
"""Packet size (bytes)."""
NODES = 70
"""Number of edge nodes in the scenario."""
LOSS = 0.12
"""The printed loss of drop tail."""
LOST = polars.col("classes.ftp.loss_ratio")
"""The fraction of TCP's packets that are lost."""
LOST_OF_ALL = polars.col("loss_ratio")
"""The fraction of all packets that are lost."""
WAIT = polars.col("queue_delay_mean")
"""The mean wait of a packet (s)."""
BACKLOG = RATE / 8 * WAIT
"""The mean backlog (bytes) for which a packet waits in a queue without priorities."""


def _bytes(ratio: str) -> polars.Expr:
    tcp, udp = (polars.col(f"classes.{name}.arrivals") * size for name, size in (("ftp", TCP_SIZE), ("udp", UDP_SIZE)))
    lost = tcp * polars.col(f"classes.ftp.{ratio}") + udp * polars.col(f"classes.udp.{ratio}")
    return lost / (tcp + udp)


LOST_BYTES = _bytes("loss_ratio")
"""The fraction of all bytes that are lost."""
SIGNALLED = polars.col("classes.ftp.loss_ratio") + polars.col("classes.ftp.mark_ratio")
"""The fraction of TCP's packets that are marked or dropped."""
HOSTS = "dumbbell.hosts"
TCP, ALL, BYTES = "TCP packets", "all packets", "bytes"
READINGS = {TCP: LOST, ALL: LOST_OF_ALL, BYTES: LOST_BYTES}
"""Readings of the loss rate: the packets or bytes it counts."""
PANELS = {"calibration": "a", "calibration-fast": "b", "calibration-packets": "c"}
"""The panel of each experiment."""
MIN_RTO = {"calibration": 1.0, "calibration-fast": 0.2, "calibration-packets": 1.0}
"""The least time-out of each experiment (s)."""


def ratios(runs: Runs, value: polars.Expr, label: str, to: str) -> list[float]:
    """Return a number of ``label`` divided by that of ``to``, in the order of the seeds, where the divisor is not 0."""
    other = {seed: number for seed, number in runs.each(value, to).items() if number}
    return paired(truediv, runs.each(value, label), other)


def difference(runs: Runs, value: polars.Expr, label: str, to: str) -> list[float]:
    """Return a number of ``label`` minus that of ``to``, in the order of the seeds."""
    return paired(sub, runs.each(value, label), runs.each(value, to))


def over_time(runs: Runs, label: str, width: float, value: polars.Expr) -> dict[int, polars.Series]:
    """Return by seed a value in time bins of a given width (s).

    ``value`` is evaluated on the series of each bin; the link's name is omitted from its columns.
    """
    group = (polars.col("t") / width + 1e-9).floor().alias("bin")
    found = {}
    for seed in sorted(runs.of(label)["seed"].to_list()):
        frame = runs.series(label, seed=seed)
        frame = frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns})
        found[seed] = frame.group_by(group, maintain_order=True).agg(value.alias("value"))["value"]
    return found


def mean_of(value: polars.Expr, runs: Runs, label: str, at: At | None = None) -> float:
    """Return the mean of a number over the seeds."""
    return mean(runs.each(value, label, at))


def losses(runs: Runs, value: polars.Expr) -> dict[int, list[float]]:
    """Return drop tail's loss of every seed by the number of nodes, ascending."""
    return {count: list(runs.each(value, "DropTail", {HOSTS: count}).values()) for count in runs.points(HOSTS)}


def reached(runs: Runs, value: polars.Expr) -> list[float | None]:
    """Return for each seed the number of nodes at which drop tail loses 12 %, by linear interpolation.

    It is None where 12 % is not reached, or is exceeded at the first number.
    """
    points = [float(point) for point in runs.points(HOSTS)]
    by_seed = [runs.each(value, "DropTail", {HOSTS: point}) for point in points]
    found: list[float | None] = []
    for seed in sorted(set.intersection(*(set(one) for one in by_seed))):
        y = [one[seed] for one in by_seed]
        above = [index for index in range(1, len(y)) if y[index - 1] < LOSS <= y[index]]
        if not above:
            found.append(None)
            continue
        pair = slice(above[0] - 1, above[0] + 1)
        found.append(float(np.interp(LOSS, y[pair], points[pair])))
    return found
