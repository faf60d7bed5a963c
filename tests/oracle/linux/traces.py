"""Windows, round trips and queues over time, of the kernel and of ours, in the same form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from aqmlab.results.result import Result
from oracle.linux import dumbbell, ours
from oracle.linux.guest.tcp_info import STATES
from oracle.linux.points import Conf
from oracle.reference import Measured

INFINITE = 0x7FFFFFFF
"""The kernel's ssthresh before the first loss."""

FALL, RISE = 0.8, 1.05
"""A peak of the window is followed by less than `FALL` of it, and its foot by more than `RISE` of that."""


@dataclass(frozen=True)
class Trace:
    """One run over time."""

    flows: Mapping[str, pl.DataFrame]
    """Of each flow `t`, `cwnd` and `ssthresh` in segments, `rtt` in ms; of the kernel also `state` and more."""

    queue: pl.DataFrame
    """`t`, `packets`, and `drops` since the start."""


def of_linux(result: Mapping[str, Any]) -> Trace:
    flows = {}
    for g, group in enumerate(result["groups"]):
        frame = pl.DataFrame(group["trace"], schema=group["trace_columns"], orient="row", infer_schema_length=None)
        frame = frame.with_columns(
            ssthresh=pl.when(pl.col("ssthresh") < INFINITE).then(pl.col("ssthresh")),
            rtt=pl.when(pl.col("rtt") > 0).then(pl.col("rtt") / 1000),
            state=pl.col("ca_state").replace_strict(dict(enumerate(STATES)), return_dtype=pl.String),
        )
        for (flow,), rows in sorted(frame.partition_by("flow", as_dict=True).items()):
            flows[dumbbell.name(g, int(flow))] = rows.drop("flow")
    queue = pl.DataFrame(result["queue"]["trace"], schema=["t", "packets", "bytes", "drops"], orient="row")
    return Trace(flows, queue)


def of_ours(conf: Conf, result: Result) -> Trace:
    """A round trip is what lasts always and the queue of that moment: the engine records none of each flow."""
    queue = ours.backlog(conf, result, begin=0).with_columns(drops=result.series[f"{result.link}.drops"].cum_sum())
    windows = result.cwnd_of(result.seeds[0]).sort("t").join_asof(queue.select("t", "delay"), on="t")
    flows = {}
    for g, group in enumerate(conf["groups"]):
        for i in range(group["n"]):
            own = windows.filter(pl.col("class") == dumbbell.name(g, i))
            flows[dumbbell.name(g, i)] = own.select(
                "t", "cwnd", "ssthresh", rtt=pl.col("delay").fill_null(0) + group["rtt_ms"]
            )
    return Trace(flows, queue)


def period(runs: Iterable[Trace], begin: float) -> dict[str, Measured]:
    """The mean time between peaks of the windows, over the flows, if all have enough of them."""
    means = []
    for run in runs:
        found = [_period(frame.filter(pl.col("t") >= begin)) for frame in run.flows.values()]
        known = [each for each in found if each is not None]
        if not known or len(known) < len(found):
            return {}
        means.append(sum(known) / len(known))
    return {"period": Measured.of(means)} if means else {}


def _period(frame: pl.DataFrame) -> float | None:
    times = list(peaks(zip(frame["t"], frame["cwnd"], strict=True)))
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 2 else None


def peaks(window: Iterable[tuple[float, float]]) -> list[float]:
    """When the window began to fall; by how much counts, not how fast: PRR takes a round trip for it."""
    found: list[float] = []
    rising, (at, most), least = True, (0.0, 0.0), float("inf")
    for t, cwnd in window:
        if rising:
            if cwnd >= most:
                at, most = t, cwnd
            elif cwnd < FALL * most:
                found.append(at)
                rising, least = False, cwnd
        elif cwnd < least:
            least = cwnd
        elif cwnd > RISE * least:
            rising, (at, most) = True, (t, cwnd)
    return found
