"""What ns-2 gave: means over seeds of each metric, and how much they vary. Stored, or made now by `ns` itself."""

import csv
import json
import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from oracle.dumbbell import DEFAULTS
from oracle.window import Trace

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Measured:
    """A metric's mean over seeds, and the standard error of that mean."""

    mean: float
    error: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float]) -> "Measured":
        if len(values) < 2:
            return cls(*values)
        return cls(statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5)


@dataclass(frozen=True)
class Row:
    """A configuration and what ns-2 made of it."""

    name: str
    keys: Mapping[str, str]
    metrics: Mapping[str, Measured]
    window: Trace | None = None

    @property
    def one_flow(self) -> bool:
        return self.keys["n_tcp"] == "1"


METRICS = ("goodput", "util", "loss", "q_mean", "q_mad", "timeouts", "drops", "goodput_tfrc", "goodput_tcp")


CLEAN = {"acc_mbps": "100"}
"""Access links so fast that the queue under study is the only one, as in the rows whose names say nothing else."""


def stored() -> list[Row]:
    """The runs of reference.csv."""
    traces = windows()
    return [_row(row, {}, traces.get(row["name"])) for row in _read("reference.csv")]


def staggered() -> list[Row]:
    """Runs in which no two packets of different groups of flows arrive at the same instant."""
    return [_row(row, CLEAN, None) for row in _read("staggered.csv")]


def tfrc() -> list[Row]:
    """Runs of TFRC beside TCP over a bottleneck in front of which packets are lost at random."""
    return [_row(row, CLEAN, None) for row in _read("tfrc.csv")]


def _row(row: Mapping[str, str], keys: Mapping[str, str], window: Trace | None) -> Row:
    seeds = int(row["seeds"])
    # The column `loss` is the metric; the key of this name has a column of its own.
    given = {key: row[key] for key in DEFAULTS if row.get(key)} | {"loss": row.get("bernoulli_loss", "0")}
    keys = DEFAULTS | given | dict(keys)
    # In the other files goodput_tcp repeats goodput.
    known = METRICS if keys["n_tfrc"] != "0" else METRICS[:-2]
    names = [name for name in known if row.get(name) and (float(keys["sample"]) or not name.startswith("q_"))]
    metrics = {name: Measured(float(row[name]), float(row[f"{name}_sd"] or 0) / seeds**0.5) for name in names}
    return Row(row["name"], keys, metrics, window)


def windows() -> dict[str, Trace]:
    """Congestion windows of one flow, every 0.1 s, by the names of rows; those in _delack have delayed ACKs."""
    rows = _read("cwnd.csv")
    return {name: [(float(row["t"]), float(row[name])) for row in rows] for name in rows[0] if name != "t"}


def _read(file: str) -> list[dict[str, str]]:
    with (HERE / file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def live(
    name: str, keys: Mapping[str, str], seeds: Iterable[int], jobs: int, progress: Callable[[float], None] | None
) -> Row:
    """Run `ns` now, one seed beside the other."""
    seeds = list(seeds)
    done = 0

    def run(seed: int) -> tuple[dict[str, float], Trace]:
        nonlocal done
        with TemporaryDirectory() as folder:
            window = Path(folder) / "cwnd.csv"
            given = {**keys, "seed": str(seed), "cwnd": str(window)}
            command = ["ns", str(HERE / "dumbbell.tcl"), *(f"{key}={value}" for key, value in given.items())]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                raise RuntimeError(f"{' '.join(command)}\n{ran.stderr}")
            with window.open() as file:
                trace = [(float(row["t"]), float(row["cwnd"])) for row in csv.DictReader(file)]
        done += 1
        if progress:
            progress(done / len(seeds))
        return json.loads(ran.stdout), trace

    with ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(run, seeds))
    metrics = {metric: Measured.of([float(values[metric]) for values, _ in runs]) for metric in METRICS}
    return Row(name, DEFAULTS | dict(keys), metrics, runs[0][1])
