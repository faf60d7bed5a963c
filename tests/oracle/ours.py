"""Our runs of ns-2's configurations, measured as dumbbell.tcl measures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean

from aqmlab.results.result import Result, Run
from aqmlab.runs.replication import compare_scenarios
from oracle.dumbbell import HEADER, OF_UDP, NotYet, scenario
from oracle.reference import Row
from oracle.window import period

WHOLE = " from 0 s"
"""Marks the run without a warm-up, for what ns-2 counts from the start."""


def run(
    rows: Iterable[Row], seeds: int, progress: Callable[[float], None] | None = None
) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Our metrics of each row, by its name, and why some rows cannot be run."""
    rows = list(rows)
    scenarios, refused = {}, {}
    for row in rows:
        try:
            made = scenario(row.name, row.keys)
        except NotYet as reason:
            refused[row.name] = str(reason)
            continue
        scenarios[row.name] = made
        if _needs_whole(row.keys):
            scenarios[row.name + WHOLE] = made.with_(warmup="0 s")
    results = compare_scenarios(scenarios, seeds, progress=progress) if scenarios else {}
    metrics = {
        row.name: _metrics(row, results[row.name], results.get(row.name + WHOLE)) for row in rows if row.name in results
    }
    return metrics, refused


def _needs_whole(keys: Mapping[str, str]) -> bool:
    """Drops of one flow, and UDP packets, count from the start; mostly UDP starts after the warm-up."""
    return keys["n_tcp"] == "1" or (keys["n_udp"] != "0" and float(keys["udp_start"]) < float(keys["warm"]))


def _metrics(row: Row, result: Result, whole: Result | None) -> dict[str, float]:
    def over_seeds(metric: Callable[[Run], float | None], runs: Sequence[Run] = result.runs) -> float:
        return mean(metric(run) or 0.0 for run in runs)

    ours = {
        "goodput": over_seeds(lambda run: _goodput(run, row.keys)),
        "util": over_seeds(lambda run: run.metrics["utilisation"]),
        "loss": over_seeds(lambda run: run.metrics["loss_ratio"]),
        "q_mean": over_seeds(lambda run: run.metrics["queue_mean"]),
        "q_mad": over_seeds(lambda run: run.metrics["queue_mad"]),
        "timeouts": over_seeds(lambda run: run.classes["tcp"]["timeouts_total"]),
    }
    if row.keys["n_tfrc"] != "0":
        # ns-2's monitor counts those lost at random too.
        ours["loss"] = over_seeds(lambda run: run.metrics["path_loss_ratio"])
        ours["goodput_tfrc"] = over_seeds(lambda run: _goodput_of(run, "tfrc", row.keys))
        ours["goodput_tcp"] = over_seeds(lambda run: _goodput_of(run, "tcp", row.keys))
    if whole:
        ours["drops"] = over_seeds(_drops, whole.runs)
        if row.keys["n_udp"] != "0":
            full, window = float(row.keys["dur"]), float(row.keys["dur"]) - float(row.keys["warm"])
            udp = over_seeds(lambda run: run.classes["udp"]["throughput"], whole.runs) * full / window
            ours["goodput"] += 1e-6 * (udp - over_seeds(lambda run: run.classes["udp"]["throughput"]))
    if row.one_flow:
        frame = result.cwnd_of(result.seeds[0])
        ours["period"] = period(list(zip(frame["t"], frame["cwnd"], strict=True))) or 0.0
    return ours


def _drops(run: Run) -> float:
    """What ns-2's monitor counts as dropped: by chance too."""
    return sum(run.metrics[name] or 0 for name in ("drops_early", "drops_overflow", "random_losses"))


def _goodput(run: Run, keys: Mapping[str, str]) -> float:
    """In Mbit/s: in order at the receivers, headers counted, and UDP that left the queue."""
    return sum(_goodput_of(run, name, keys) for name in run.classes if not name.endswith("back"))


def _goodput_of(run: Run, name: str, keys: Mapping[str, str]) -> float:
    size = int(keys["psize"])
    if name == "udp":
        return (run.classes[name]["throughput"] or 0) * 1e-6
    header = OF_UDP if name == "tfrc" else HEADER
    return (run.classes[name]["goodput"] or 0) * size / (size - header) * 1e-6
