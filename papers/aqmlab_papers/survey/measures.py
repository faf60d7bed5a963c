"""The survey's core router, and the quantities read from its runs."""

from collections.abc import Callable

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab_papers import At, Check, Effect, Evidence, PerSeed, Runs, Tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.describe.check import RELATIVE

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
HOSTS = "dumbbell.hosts"
LOSS = 12.0
"""The printed loss of drop tail (%)."""
BIN = 0.5
"""Length of the intervals of Fig. 2 (s)."""

LOST = "classes.ftp.loss_ratio"
"""The share of TCP's packets that are lost."""
NOTHING = 0.1
"""Next to nothing, as a share of the mean goodput of TCP's flows."""

WAIT = "queue_delay_mean"
BACKLOG = RATE / 8e3 * polars.col(WAIT)
"""The mean backlog (kB) for which a packet waits in a queue without priorities."""
BACKLOG_NOW = RATE / 8e3 * polars.col("ftp.delay").mean()
"""The same in an interval of a series."""
P = polars.col("p.mean").mean()
"""A discipline's probability in an interval of a series."""
LOST_NOW = 100 * polars.col("ftp.drops").sum() / polars.col("ftp.arrivals").sum()
"""The share of TCP's packets that are lost in a part of a series (%)."""
USED_NOW = 100 / RATE * (polars.col("ftp.throughput").mean() + polars.col("udp.throughput").mean())
"""The utilisation in a part of a series (%)."""
SIGNALLED = 100 * (polars.col("classes.ftp.loss_ratio") + polars.col("classes.ftp.mark_ratio"))
"""The share of TCP's packets that are marked or dropped (%)."""


def _bytes() -> polars.Expr:
    sizes = {"ftp": TCP_SIZE, "udp": UDP_SIZE}
    sent = {name: polars.col(f"classes.{name}.arrivals") * size for name, size in sizes.items()}
    lost = sum((one * polars.col(f"classes.{name}.loss_ratio") for name, one in sent.items()), polars.lit(0.0))
    return 100 * lost / sum(sent.values(), polars.lit(0.0))


READINGS: dict[str, str | polars.Expr] = {"TCP packets": LOST, "all packets": "loss_ratio", "bytes": _bytes()}
"""Readings of the loss rate, by the packets or bytes that it counts."""

NO_LOSS = Tolerance(
    thresholds.LOSS.value / 100 * LOSS, "%", "no loss: below 1 % of the 12 % without AQM", negligible=True
)
NONE = Tolerance(thresholds.LOSS.value, RELATIVE, "no loss: below 1 % of the same loss with drop tail", negligible=True)
IDLE = Tolerance(thresholds.GOODPUT.value, "%", f"of the link: {thresholds.GOODPUT.reason}", negligible=True)
FIFTH = Tolerance(20, "% of it", "the paper calls 80 000 of 100 000 bytes full: it tells no fifth apart")


def lost(runs: Runs, reading: str, label: str, at: At | None = None) -> PerSeed:
    """Return a loss in one of `READINGS` (%)."""
    return runs.per_seed(READINGS[reading], label, at, unit="%", name=f"loss of {reading}")


def loses_nothing(effect: str, own: PerSeed, plain: PerSeed) -> Check:
    """Check that a loss is none, against the same loss with drop tail."""
    return Effect(effect).of(own, most=plain.mean * NONE.value / 100)


def backlog(runs: Runs, label: str, at: At | None = None) -> PerSeed:
    """Return the mean backlog (kB)."""
    return runs.per_seed(BACKLOG, label, at, unit="kB", name="backlog")


def goodputs(
    runs: Runs, label: str, read: Callable[[NDArray[np.float64]], float], unit: str = "", name: str = ""
) -> PerSeed:
    """Return a number read from the goodputs of TCP's flows, over their mean, in runs that record flows."""

    def flows(frame: polars.DataFrame) -> float:
        tcp = frame.drop_nulls("retransmits")
        rates = (tcp["bytes"] / (runs.duration - tcp["start"])).to_numpy()
        return float(read(rates / rates.mean()))

    return runs.from_series(label, flows, unit=unit, name=name)


def locked_out(runs: Runs, label: str, share: float = NOTHING) -> PerSeed:
    """Return the part of TCP's flows that get less than a share of the mean goodput (%)."""
    name = f"flows below {share:g} of the mean goodput"
    return goodputs(runs, label, lambda rates: 100 * (rates < share).mean(), "%", name)


def suiting(evidence: Evidence) -> list[tuple[Runs, At]]:
    """Return the other numbers of nodes with which drop tail loses half to twice 12 % of TCP's packets.

    They are read from the experiment ``load``, and empty without it: as it is none of those that a claim needs, the
    settings of the sensitivity table, which have their own number of nodes, go without.
    """
    if not evidence.has(["load"]):
        return []
    load = evidence["load"]
    points: list[At] = [{HOSTS: count} for count in load.points(HOSTS) if count != NODES]
    return [(load, at) for at in points if LOSS / 2 <= load.per_seed(LOST, "DropTail", at).mean <= 2 * LOSS]


def range_of(losses: list[PerSeed], where: str, tolerance: Tolerance) -> Check:
    """Check that the greatest of several losses exceeds the least, which may be 0, by a tolerance in percent of it."""
    ratio = PerSeed.least(losses) / PerSeed.most(losses)
    return Effect(f"least loss of TCP packets over the greatest, {where}").of(
        ratio, most=1 / (1 + tolerance.value / 100)
    )


def intervals(frame: polars.DataFrame, value: polars.Expr, width: float = BIN) -> NDArray[np.float64]:
    """Return a value in intervals of a series; it is evaluated on the rows of each."""
    group = (polars.col("t") / width + 1e-9).floor().alias("interval")
    found = frame.group_by(group, maintain_order=True).agg(value.cast(polars.Float64).alias("value"))
    return found["value"].fill_null(float("nan")).to_numpy()


def over_time(runs: Runs, label: str, value: polars.Expr, width: float = BIN) -> dict[int, NDArray[np.float64]]:
    """Return a value in intervals of time, by seed."""
    found: dict[int, NDArray[np.float64]] = {}
    for seed in sorted(runs.of(label)["seed"].to_list()):
        frame = runs.series(label, seed=seed)
        frame = frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns})
        found[seed] = intervals(frame, value, width)
    return found


def between(start: float, end: float, value: polars.Expr) -> Callable[[polars.DataFrame], float | None]:
    """Return a function that evaluates a value on the part of a series from ``start`` to ``end`` (s)."""

    def read(frame: polars.DataFrame) -> float | None:
        part = frame.filter(polars.col("t").is_between(start - 1e-9, end - 1e-9, closed="left"))
        found = part.select(value.cast(polars.Float64)).item()
        return None if found is None else float(found)

    return read
