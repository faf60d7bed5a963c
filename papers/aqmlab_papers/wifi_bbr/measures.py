"""The queues that are compared, and the quantities read from runs."""

import math
from collections.abc import Iterator

import polars

from aqmlab_papers import Aqms, At, Curve, PerSeed, Runs
from aqmlab_papers.run.reading import jain

QUEUES: Aqms = {
    "FIFO": {"wifi.wlan.aqm": "droptail"},
    "FQ-CoDel": {"wifi.wlan.aqm": "fq_codel", "wifi.wlan.buffer": "10240 packets"},
    "CAKE": {"wifi.wlan.aqm": "cake", "wifi.wlan.buffer": "10240 packets"},
    "mac80211": {
        "wifi.wlan.aqm": "fq:preset=linux,quantum=300 B",
        "wifi.wlan.aqm.aqm.target": "20 ms",
        "wifi.wlan.buffer": "8192 packets",
    },
}
"""The paper's three, and what Linux gives each station without being asked. CAKE's memory limit comes first."""

MANAGED = ("FQ-CoDel", "CAKE")
"""The paper's two disciplines that manage a queue."""

PATHS = ("link.bbr-wire.delay", "link.cubic-wire.delay")
DELAYS = {"1 ms": 0.5e-3, "20 ms": 10e-3}
"""Delays of the wires (s), by the round trip that they add."""

SPAN = 0.1
"""The bins (s) over which rates are taken."""
FASTER = 1.15
"""Pace over the usual one from which on BBR counts as probing: to probe it sends 1.25 times as fast."""
AROUND = 21
"""The bins around a time of which the usual pace is the median: 2 s."""
EVEN = 0.4
"""The part of both that each of two flows has at least where they have converged."""
HELD = 3
"""The seconds for which they must have it."""


def _of(tcp: str) -> polars.Expr:
    """Return what the flows of a congestion control receive, in both directions (bit/s)."""
    return polars.sum_horizontal(f"classes.{tcp}.goodput", f"classes.{tcp}-back.goodput")


def at(trip: str) -> At:
    """Return the point of a round trip."""
    return dict.fromkeys(PATHS, DELAYS[trip])


def share(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return CUBIC's part of what both receive."""
    return runs.per_seed(_of("cubic") / (_of("cubic") + _of("bbr")), label, at(trip))


def fairness(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return Jain's index of what BBR and CUBIC receive."""
    return runs.per_seed(jain([_of("bbr"), _of("cubic")]), label, at(trip))


def together(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return what all receive (Mbit/s)."""
    return runs.per_seed((_of("bbr") + _of("cubic")) * 1e-6, label, at(trip), unit="Mbit/s")


def own_wait(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return the mean round trip of BBR's packets (ms)."""
    return runs.per_seed("classes.bbr.rtt_mean", label, at(trip))


def wait(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return the mean round trip of a ping (ms)."""
    return runs.per_seed("classes.ping.rtt_mean", label, at(trip))


def sent_again(runs: Runs, label: str, trip: str) -> PerSeed:
    """Return the packets that BBR sends again."""
    return runs.per_seed("classes.bbr.retransmits", label, at(trip))


MBIT = 1.2
"""The rate (Mbit/s) of a packet of 1500 bytes in a step of 10 ms."""


def _bins(frame: polars.DataFrame, warmup: float) -> polars.DataFrame:
    """Return what BBR sends, and what the access point forwards and drops of it, in the bins after the warm-up.

    ``pace`` is the most that BBR sends in a step of a bin.
    """
    bins = (polars.col("t") / SPAN + 1e-6).floor() * SPAN
    sent, gone, lost = (
        polars.col(name).cast(polars.Float64) for name in ("bbr-wire.arrivals", "bbr.departures", "bbr.drops")
    )
    late = frame.filter(polars.col("t") >= warmup).group_by(t=bins, maintain_order=True)
    return late.agg(sent=sent.sum(), pace=sent.max(), gone=gone.sum(), lost=lost.sum()).with_columns(
        usual=polars.col("pace").rolling_median(AROUND, center=True, min_samples=1)
    )


def _read(one_way: Runs, label: str, trip: str, value: polars.Expr) -> PerSeed:
    """Return the value of an expression of the bins; None where it has none or is not finite."""
    warmup = one_way.study.scenario.warmup

    def read(frame: polars.DataFrame) -> float | None:
        found = _bins(frame, warmup).select(value.cast(polars.Float64)).item()
        return found if found is not None and math.isfinite(found) else None

    return one_way.from_series(label, read, at(trip))


SENT, PACE, GONE, LOST = (polars.col(name) for name in ("sent", "pace", "gone", "lost"))
_UP = PACE / polars.col("usual") > FASTER
PROBING = _UP | _UP.shift(1, fill_value=False)
"""Whether BBR probes in a bin, or did so in the one before."""


def variation(one_way: Runs, label: str, trip: str) -> PerSeed:
    """Return the coefficient of variation of the rate at which BBR sends."""
    return _read(one_way, label, trip, SENT.std() / SENT.mean())


def mismatch(one_way: Runs, label: str, trip: str) -> PerSeed:
    """Return the mean difference between what BBR sends and what the access point delivers, over the latter."""
    return _read(one_way, label, trip, (SENT - GONE).abs().mean() / GONE.mean())


def burst(one_way: Runs, label: str, trip: str) -> PerSeed:
    """Return the packets that BBR loses in the bin with most."""
    return _read(one_way, label, trip, LOST.max())


def in_probes(one_way: Runs, label: str, trip: str) -> PerSeed:
    """Return BBR's loss ratio while it probes over that at other times."""
    during, otherwise = (LOST.filter(when).sum() / SENT.filter(when).sum() for when in (PROBING, ~PROBING))
    return _read(one_way, label, trip, during / otherwise)


def paces(panel: str, one_way: Runs, label: str, trip: str) -> Iterator[Curve]:
    """Draw BBR's pace and losses in the first run; the letter of the axis of losses has a prime."""
    own = f"{one_way.study.scenario.resolved['observe']}."
    frame = one_way.series(label, at(trip))
    bins = _bins(
        frame.rename({column: column.removeprefix(own) for column in frame.columns}), one_way.study.scenario.warmup
    )
    drops = bins.filter(LOST > 0)
    run = one_way.seeds[0]
    yield Curve(panel, "pace", bins["t"].to_numpy(), bins["pace"].to_numpy() * MBIT, run=run)
    yield Curve(f"{panel}'", "losses", drops["t"].to_numpy(), drops["lost"].to_numpy(), style="points", run=run)


def converged(one_way: Runs, label: str, trip: str) -> PerSeed:
    """Return the second from which on both flows have an even part for some time (s); the duration if they never do."""
    part = polars.col("bbr") / (polars.col("bbr") + polars.col("cubic"))

    def read(frame: polars.DataFrame) -> float:
        sums = {name: polars.col(f"{name}.departures").sum() for name in ("bbr", "cubic")}
        seconds = frame.group_by(polars.col("t").floor().alias("second"), maintain_order=True).agg(**sums)
        held = part.is_between(EVEN, 1 - EVEN).cast(polars.Int8).rolling_sum(HELD)
        found = seconds.filter(held == HELD)["second"]
        return float(found[0]) + 1 - HELD if len(found) else one_way.duration

    return one_way.from_series(label, read, at(trip), unit="s")
