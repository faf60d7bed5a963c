"""What the survey measures at its core router, over a run and over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars

from aqmlab.papers import Curve, Runs
from aqmlab.results.summary import Summary

RATE = 45e6
"""Of the link, bit/s."""
BUFFER = 100_000
"""Bytes."""
FULL = 8 * BUFFER / RATE
"""How long a packet waits in a full buffer, s."""
TCP_SIZE, UDP_SIZE = 1000, 100
"""Bytes of a packet."""
NODES = 70
"""Edge nodes of the scenario."""
LOSS = 0.12
"""The loss of drop tail that the paper prints."""

LOST = polars.col("classes.ftp.loss_ratio")
"""The share of TCP's packets that are lost."""
LOST_OF_ALL = polars.col("loss_ratio")
"""The same of all packets."""
WAIT = polars.col("queue_delay_mean")
"""The mean wait of a packet, s."""
BACKLOG = RATE / 8 * WAIT
"""The mean backlog, bytes: what a packet waits for in a queue without priorities."""


def _bytes(ratio: str) -> polars.Expr:
    tcp, udp = (polars.col(f"classes.{name}.arrivals") * size for name, size in (("ftp", TCP_SIZE), ("udp", UDP_SIZE)))
    lost = tcp * polars.col(f"classes.ftp.{ratio}") + udp * polars.col(f"classes.udp.{ratio}")
    return lost / (tcp + udp)


LOST_BYTES = _bytes("loss_ratio")
"""The same of all bytes."""


def ratios(runs: Runs, value: polars.Expr, label: str, to: str) -> list[float]:
    """Give of each seed a discipline's number over another's.

    Parameters
    ----------
    runs : Runs
        Of an experiment.
    value : polars.Expr
        What, of a run's metrics.
    label : str
        One.
    to : str
        The other.

    Returns
    -------
    list of float
        In the order of the seeds; without those in which the other has none.
    """
    one, other = runs.each(value, label), runs.each(value, to)
    return [number / other[seed] for seed, number in one.items() if other.get(seed)]


def less(runs: Runs, value: polars.Expr, label: str, to: str) -> list[float]:
    """Give of each seed a discipline's number less another's.

    Parameters
    ----------
    runs : Runs
        Of an experiment.
    value : polars.Expr
        What, of a run's metrics.
    label : str
        One.
    to : str
        The other.

    Returns
    -------
    list of float
        In the order of the seeds.
    """
    one, other = runs.each(value, label), runs.each(value, to)
    return [number - other[seed] for seed, number in one.items() if seed in other]


def over_time(runs: Runs, label: str, width: float, value: polars.Expr) -> dict[int, polars.Series]:
    """Give a number in each bin of each run.

    Parameters
    ----------
    runs : Runs
        Of an experiment that keeps series.
    label : str
        Of which discipline.
    width : float
        Of a bin, s.
    value : polars.Expr
        What, of the series' bins in it; of the columns of the link its name is left out.

    Returns
    -------
    dict
        By the seed.
    """
    group = (polars.col("t") / width + 1e-9).floor().alias("bin")
    found = {}
    for seed in sorted(runs.of(label)["seed"].to_list()):
        frame = runs.series(label, seed=seed)
        frame = frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns})
        found[seed] = frame.group_by(group, maintain_order=True).agg(value.alias("value"))["value"]
    return found


def banded(panel: str, name: str, x: Sequence[float], columns: Sequence[Sequence[float | None]]) -> Curve:
    """Draw the mean over seeds with its 95 % interval.

    Parameters
    ----------
    panel : str
        The letter of the panel.
    name : str
        What the legend says.
    x : sequence of float
        Where.
    columns : sequence of sequence of float or None
        Of each place the numbers of all seeds.

    Returns
    -------
    Curve
        The curve; a band only where there are several seeds.
    """
    told = [Summary.of(column) for column in columns]
    means = [math.nan if one.mean is None else one.mean for one in told]
    if any(one.ci95 is None for one in told):
        return Curve(panel, name, x, means)
    half = [one.ci95 or 0.0 for one in told]
    low = [mean - one for mean, one in zip(means, half, strict=True)]
    return Curve(panel, name, x, means, low, [mean + one for mean, one in zip(means, half, strict=True)])
