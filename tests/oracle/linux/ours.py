"""Our runs of the guest's configurations, measured as the guest measures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import aqmlab
from aqmlab.results.result import Result, Run
from aqmlab.runs.replication import compare_scenarios
from oracle.dumbbell import NotYet
from oracle.linux import dumbbell
from oracle.linux.check import checks
from oracle.linux.points import Conf
from oracle.linux.reference import Metrics, Point, over_seeds, shares
from oracle.reference import Measured
from oracle.verdict import Check

Found = dict[str, dict[str, Measured]]

MANY = range(1, 13)
"""The seeds of a point of which a metric differs with those of the stored runs."""


def judged(
    points: Sequence[Point], progress: Callable[[float], None] | None = None
) -> tuple[dict[Point, list[Check]], dict[str, str]]:
    """Compare our runs with Linux's, with many seeds where a metric differs; why some points cannot be run."""
    found, refused = _compared(points, None, progress)
    differing = [point for point, each in found.items() if not all(check.passed for check in each)]
    again, _ = _compared([point for point in differing if not point.open_loop], MANY, progress)
    return found | again, refused


def _compared(
    points: Sequence[Point], seeds: Sequence[int] | None, progress: Callable[[float], None] | None
) -> tuple[dict[Point, list[Check]], dict[str, str]]:
    found, refused = run(points, seeds, progress)
    compared = {
        point: list(checks(point, point.metrics(), found[point.name])) for point in points if point.name in found
    }
    return compared, refused


def run(
    points: Sequence[Point], seeds: Sequence[int] | None = None, progress: Callable[[float], None] | None = None
) -> tuple[Found, dict[str, str]]:
    """Our metrics of each point by its name, and why some cannot be run; `seeds` by default those of the point."""
    found: Found = {}
    refused: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        # Point after point: the series of all together would be gigabytes.
        for done, point in enumerate(points):
            try:
                made = scenarios(point, seeds or point.seeds, Path(folder))
            except NotYet as reason:
                refused[point.name] = str(reason)
                continue
            results = compare_scenarios(made).values()
            measured = open_loop if point.open_loop else closed
            found[point.name] = over_seeds([measured(point.conf, result) for result in results])
            if progress:
                progress((done + 1) / len(points))
    return found, refused


def scenarios(point: Point, seeds: Sequence[int], folder: Path) -> dict[str, aqmlab.Scenario]:
    """A scenario for each seed, which also decides when flows start and when the packets of a trace come."""
    confs = {str(seed): {**point.conf, "seed": seed} for seed in seeds}
    if point.open_loop:
        made = {seed: dumbbell.open_loop(point.name, conf, folder) for seed, conf in confs.items()}
        return {seed: scenario.with_({"record.series": False}) for seed, scenario in made.items()}
    return {seed: dumbbell.closed(point.name, conf) for seed, conf in confs.items()}


def closed(conf: Conf, result: Result) -> Metrics:
    """What `reference.closed` gives of the guest."""
    (run,) = result.runs
    groups = [[run.classes[dumbbell.name(g, i)] for i in range(group["n"])] for g, group in enumerate(conf["groups"])]
    return {
        "util": (run.metrics["utilisation"] or 0.0) * dumbbell.bits(conf) / (conf["rate_mbit"] * 1e6),
        "drops": _drops(run) + (run.metrics["marks"] or 0.0),
        "q_mean": run.metrics["queue_mean"] or 0.0,
        "delay_p95": backlog(conf, result)["delay"].quantile(0.95, "lower") or 0.0,
        "timeouts": run.metrics["timeouts"] or 0.0,
        "retransmits": run.metrics["retransmits"] or 0.0,
        **({"acks": result.owned("links")[f"{result.link}:reverse"]["arrivals"].mean} if "receive_us" in conf else {}),
        **shares([sum(flow["goodput"] or 0.0 for flow in group) for group in groups]),
    }


def _drops(run: Run) -> float:
    return sum(run.metrics[name] or 0.0 for name in ("drops_early", "drops_overflow"))


def backlog(conf: Conf, result: Result, begin: float | None = None) -> pl.DataFrame:
    """The queue over time: `t`, `packets`, and `delay` in ms, bytes that wait over the link's rate, as in the guest."""
    (run,) = result.runs
    ms = _mean_size(conf, run) * 8 / conf["rate_mbit"] / 1000
    packets = pl.col(f"{result.link}.queue.mean")
    since = conf["warm"] if begin is None else begin
    return result.series.filter(pl.col("t") >= since).select("t", packets=packets, delay=packets * ms)


def _mean_size(conf: Conf, run: Run) -> float:
    """Bytes of a packet that waits: small ones of a class that waits less, as the probe before FQ, count for less."""
    waiting = {name: _waiting(metrics) for name, metrics in run.classes.items()}
    sizes = {name: dumbbell.PROBE_SIZE if name == dumbbell.PROBE else dumbbell.full(conf) for name in waiting}
    total = sum(waiting.values())
    return sum(waiting[name] * sizes[name] for name in waiting) / total if total else dumbbell.full(conf)


def _waiting(metrics: Mapping[str, float | None]) -> float:
    sent = (metrics["arrivals"] or 0.0) * (1 - (metrics["loss_ratio"] or 0.0))
    return sent * (metrics["queue_delay_mean"] or 0.0)


def open_loop(_: Conf, result: Result) -> Metrics:
    """What `reference.open_loop` gives of the guest."""
    (run,) = result.runs
    return {
        "lost": _drops(run),
        "marked": run.metrics["marks"] or 0.0,
        "delay_mean": 1000 * (run.metrics["queue_delay_mean"] or 0.0),
        "delay_p95": 1000 * (run.metrics["queue_delay_p95"] or 0.0),
    }
