"""What the RED+Tail paper prints, and how its numbers are read from runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aqmlab.papers import At, Runs

if TYPE_CHECKING:
    import polars

HERO = "RED+Tail"
ARED = "Adaptive RED"
TAIL = "DropTail"
DYNAMIC = "Dynamic thresholds"
FREE = "Dynamic, no bound"
"""Thresholds that move as far as the buffer lets them, in RED+Tail; those of `DYNAMIC` have a bound of ours."""
FIXED = "Fixed thresholds"

CLASSES: Mapping[str, str] = {"FTP": "ftp", "WEB": "web", "CBR": "cbr"}
"""What the paper calls the traffic entries."""

LOSS, DELAY, RATE = "loss_ratio", "queue_delay_mean", "throughput"
COLUMNS: Mapping[str, tuple[str, float]] = {
    "Loss (%)": (LOSS, 100.0),
    "Delay (s)": (DELAY, 1.0),
    "Rate (kB/s)": (RATE, 1 / 8000),
}
"""Columns of Tables III and IV, with what they are here: a metric, and what to multiply it with."""

Printed = Mapping[str, tuple[float, float, float]]

TABLE_3: Mapping[str, Printed] = {
    HERO: {"FTP": (2.747, 0.184, 209.465), "WEB": (1.278, 0.114, 144.455), "CBR": (0.300, 0.109, 19.867)},
    ARED: {"FTP": (4.149, 0.143, 217.531), "WEB": (4.514, 0.143, 137.124), "CBR": (3.950, 0.141, 19.140)},
    TAIL: {"FTP": (1.916, 0.349, 215.243), "WEB": (4.234, 0.340, 138.983), "CBR": (1.550, 0.342, 19.601)},
}
TABLE_4: Printed = {"FTP": (0.899, 0.318, 209.455), "WEB": (2.306, 0.093, 144.505), "CBR": (0.519, 0.091, 19.827)}

RATE_BYTES = 375e3
"""The bottleneck of the web scenario, in bytes/s."""

FULL = 1000.0
PAYLOAD = FULL - 40
"""A full packet, and what it carries, in bytes."""

BAND = (20.0, 80.0)
"""The thresholds of Table II, in packets of 1000 bytes."""

ALONE_BAND = (0.01, 0.02)
BESIDE_BAND = (0.005, 0.01)
"""P_L and P_U of thresholds that move, alone and in RED+Tail."""

DEFAULT_N = 64.0
"""After how many packets a pair is long here, in packets; the paper does not say."""

LONG, SHORT = "lanes.bottleneck.long.", "lanes.bottleneck.short."
"""Metrics of RED+Tail's queues of long and of short flows; a column of `Runs.frame` begins so."""

PerSeed = dict[int, float]


def of(owner: str, metric: str) -> str:
    """Name a metric of a traffic entry.

    Parameters
    ----------
    owner : str
        ``FTP``, ``WEB`` or ``CBR``, or the entry's own name.
    metric : str
        Which.

    Returns
    -------
    str
        Its column.
    """
    return f"classes.{CLASSES.get(owner, owner)}.{metric}"


def per_seed(runs: Runs, metric: str, label: str, at: At | None = None, scale: float = 1.0) -> PerSeed:
    """Read a metric of each seed.

    Parameters
    ----------
    runs : Runs
        The runs.
    metric : str
        Which.
    label : str
        Of which discipline.
    at : mapping
        At which points; the mean over them.
    scale : float
        What to multiply it with.

    Returns
    -------
    dict
        By the seed; those that have a value.
    """
    import polars

    rows = runs.of(label, at).group_by("seed").agg(polars.col(metric).mean().alias("value")).sort("seed")
    return {seed: value * scale for seed, value in rows.select("seed", "value").iter_rows() if value is not None}


def together(combine: Callable[..., float], *read: PerSeed) -> list[float]:
    """Combine what was read of the same seed.

    Parameters
    ----------
    combine : callable
        Takes a number of each reading.
    *read : dict
        Readings.

    Returns
    -------
    list of float
        For each seed that all readings have.
    """
    seeds = set(read[0]).intersection(*read[1:])
    return [combine(*(one[seed] for one in read)) for seed in sorted(seeds)]


def over_series(runs: Runs, label: str, read: Callable[[polars.DataFrame], float]) -> PerSeed:
    """Read a number from the series of each seed.

    Parameters
    ----------
    runs : Runs
        The runs.
    label : str
        Of which discipline.
    read : callable
        Takes the series of a run, without the link's name before its columns.

    Returns
    -------
    dict
        By the seed.
    """
    found = {}
    for seed in runs.of(label)["seed"].unique().sort():
        frame = runs.series(label, seed=seed)
        found[seed] = read(frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns}))
    return found


def between(frame: polars.DataFrame, start: float, end: float) -> polars.DataFrame:
    """Cut a series.

    Parameters
    ----------
    frame : polars.DataFrame
        The series.
    start : float
        From when, in s.
    end : float
        Until when, in s.

    Returns
    -------
    polars.DataFrame
        Its bins that begin in this time.
    """
    import polars

    return frame.filter((polars.col("t") >= start) & (polars.col("t") < end))


def mean(read: PerSeed) -> float:
    """Average over the seeds, for a sentence.

    Parameters
    ----------
    read : dict
        A reading.

    Returns
    -------
    float
        Its mean; NaN if there is none.
    """
    return sum(read.values()) / len(read) if read else float("nan")


def less(one: float, other: float) -> float:
    """Subtract, for `together`."""
    return one - other


def ratio(one: float, other: float) -> float:
    """Divide, for `together`."""
    return one / other
