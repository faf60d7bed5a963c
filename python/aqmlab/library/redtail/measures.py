"""Labels and printed values of the RED+Tail paper, and the quantities read from its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.papers import At, Runs

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

HERO = "RED+Tail"
ARED = "Adaptive RED"
TAIL = "DropTail"
DYNAMIC = "Dynamic thresholds"
FREE = "Dynamic, no bound"
"""Thresholds that move as far as the buffer allows, in RED+Tail; those of `DYNAMIC` have a bound of ours."""
FIXED = "Fixed thresholds"
CLASSES: Mapping[str, str] = {"FTP": "ftp", "WEB": "web", "CBR": "cbr"}
"""The paper's names of the traffic entries."""
LOSS, DELAY, RATE = "loss_ratio", "queue_delay_mean", "throughput"

COLUMNS: Mapping[str, tuple[str, float]] = {
    "Loss (%)": (LOSS, 100.0),
    "Delay (s)": (DELAY, 1.0),
    "Rate (kB/s)": (RATE, 1 / 8000),
}
"""Columns of Tables III and IV, with the corresponding metric and its factor."""

Printed = Mapping[str, tuple[float, float, float]]

PRINTED_TABLE_3: Mapping[str, Printed] = {
    HERO: {"FTP": (2.747, 0.184, 209.465), "WEB": (1.278, 0.114, 144.455), "CBR": (0.300, 0.109, 19.867)},
    ARED: {"FTP": (4.149, 0.143, 217.531), "WEB": (4.514, 0.143, 137.124), "CBR": (3.950, 0.141, 19.140)},
    TAIL: {"FTP": (1.916, 0.349, 215.243), "WEB": (4.234, 0.340, 138.983), "CBR": (1.550, 0.342, 19.601)},
}

PRINTED_TABLE_4: Printed = {
    "FTP": (0.899, 0.318, 209.455),
    "WEB": (2.306, 0.093, 144.505),
    "CBR": (0.519, 0.091, 19.827),
}

RATE_BYTES = 375e3
"""The bottleneck of the web scenario (bytes/s)."""
FULL = 1000.0
PAYLOAD = FULL - 40
"""A full packet, and its payload (bytes)."""
BAND = (20.0, 80.0)
"""The thresholds of Table II (packets of 1000 bytes)."""
ALONE_BAND = (0.01, 0.02)
BESIDE_BAND = (0.005, 0.01)
"""P_L and P_U of moving thresholds, alone and in RED+Tail."""
DEFAULT_N = 64.0
"""Number of packets after which a pair is long here; the paper does not state it."""
LONG, SHORT = "lanes.bottleneck.long.", "lanes.bottleneck.short."
"""Metrics of RED+Tail's queues of long and of short flows, as prefixes of columns of `Runs.frame`."""
MAX_TH1 = "aqm.max_th1"
RULE, PREDICTION, LONG_MEAN, FIRST = "RED+Tail", "RED+Tail, prediction", "RED+Tail, long mean", "short queue first"
STEP = 0.1
"""Step of the recorded series (s)."""
INTERVALS = {"100 ms": 0.1, "500 ms": 0.5, "1 s": 1.0}
WEB_BEGIN = 100.0
"""Start of the web traffic (s)."""
LINK = 3e6
"""The link's rate (bit/s)."""
SHORT_DELAY = "lanes.bottleneck.short.queue_delay_mean"


def of(owner: str, metric: str) -> str:
    """Return the column of a traffic entry's metric. ``owner`` is ``FTP``, ``WEB`` or ``CBR``, or the entry's name."""
    return f"classes.{CLASSES.get(owner, owner)}.{metric}"


def per_seed(runs: Runs, metric: str, label: str, at: At | None = None, scale: float = 1.0) -> dict[int, float]:
    """Return a metric by seed, averaged over the points ``at`` and scaled. Seeds without a value are omitted."""
    import polars

    return {seed: value * scale for seed, value in runs.each(polars.col(metric), label, at).items()}


def over_series(runs: Runs, label: str, read: Callable[[polars.DataFrame], float]) -> dict[int, float]:
    """Read a number from the series of each seed.

    ``read`` receives the series of a run, without the link's name before its columns.
    """
    found = {}
    for seed in runs.of(label)["seed"].unique().sort():
        frame = runs.series(label, seed=seed)
        found[seed] = read(frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns}))
    return found


def between(frame: polars.DataFrame, start: float, end: float) -> polars.DataFrame:
    """Return the bins of a series that begin between two times (s)."""
    import polars

    return frame.filter((polars.col("t") >= start) & (polars.col("t") < end))


def forecast_rates(runs: Runs, label: str, seed: int, begin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return predicted and actual rates of each interval from `begin` on (bit/s)."""
    frame = runs.series(label, seed=seed)
    frame = frame.filter(frame["t"] > begin - STEP / 2)
    group = round(INTERVALS[label] / STEP)
    whole = len(frame) // group * group
    predicted, last = (
        frame[f"bottleneck.{name}.mean"].to_numpy()[:whole].reshape(-1, group).mean(axis=1) for name in ("demand", "r")
    )
    # The arrivals of an interval are available in the next one.
    return predicted[:-1], last[1:]


def bound(size: float) -> float:
    """Return max_th1 / C in ms."""
    return 8e3 * size / LINK
