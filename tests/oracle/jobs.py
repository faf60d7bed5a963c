"""Queue/JoBS of ns-2, per class: runs of jobs.tcl, stored in jobs.csv. `python -m oracle.jobs` makes them anew."""

import csv
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import aqmlab

HERE = Path(__file__).parent
SEEDS = 5
TOLERANCE = 0.03
ERRORS = 5.0
METRICS = ("loss", "delay", "rate")
CLASSES = (1, 2, 3, 4)
DURATION, WARMUP = 60, 5

CONFIGURATIONS = {
    "free": {},
    "lossdel": {"adc": "0.005,-1,-1,-1", "alc": "0.01,-1,-1,-1", "rdc": "-1,4,4,4", "rlc": "-1,2,2,2"},
    "lossdel_light": {
        "peak": "0.24,0.24,0.24,0.24",
        "adc": "0.005,-1,-1,-1",
        "alc": "0.01,-1,-1,-1",
        "rdc": "-1,4,4,4",
        "rlc": "-1,2,2,2",
    },
    "rates": {"arc": "4e6,3e6,2e6,1e6"},
    "relations": {"rdc": "2,2,2,2", "rlc": "2,2,2,2"},
    "relations_slow": {"rdc": "2,2,2,2", "rlc": "2,2,2,2", "sampling": "10", "peak": "0.1,0.2,0.4,0.5"},
    "delays": {"adc": "0.002,0.008,-1,-1", "rdc": "3,3,3,3", "rlc": "-1,-1,3,3", "peak": "0.4,0.4,0.2,0.2"},
    "delays_front": {
        "adc": "0.002,0.008,-1,-1",
        "rdc": "3,3,3,3",
        "rlc": "-1,-1,3,3",
        "peak": "0.4,0.4,0.2,0.2",
        "front": "1",
    },
    "shared": {
        "adc": "0.002,0.008,-1,-1",
        "rdc": "2,2,2,2",
        "rlc": "2,2,2,2",
        "peak": "0.4,0.4,0.2,0.2",
        "relief": "1",
    },
}
"""What is given to jobs.tcl beside its defaults."""


@dataclass(frozen=True)
class Row:
    """A metric of one class: mean over the seeds, and its standard deviation."""

    name: str
    metric: str
    mean: float
    sd: float


def stored() -> list[Row]:
    with (HERE / "jobs.csv").open(encoding="utf-8") as lines:
        return [Row(row["name"], row["metric"], float(row["mean"]), float(row["sd"])) for row in csv.DictReader(lines)]


def off(name: str, runs: Sequence[Mapping[str, Mapping[str, float | None]]]) -> list[str]:
    """Say what differs from ns-2 by more than chance and `TOLERANCE`; of our runs, what each class got."""
    ours = {
        f"{metric}{number}": [(run[f"class{number}"][key] or 0.0) * scale for run in runs]
        for metric, key, scale in (
            ("loss", "loss_ratio", 1.0),
            ("delay", "queue_delay_mean", 1e3),
            ("rate", "throughput", 1e-6),
        )
        for number in CLASSES
    }
    found = []
    for row in stored():
        if row.name != name:
            continue
        mean = statistics.mean(ours[row.metric])
        error = ((row.sd**2 + statistics.variance(ours[row.metric])) / SEEDS) ** 0.5
        if abs(mean - row.mean) > max(TOLERANCE * row.mean, ERRORS * error):
            found.append(f"{row.metric} = {mean:.5g}, not {row.mean:.5g}")
    return found


def _ns2(keys: Mapping[str, str], seed: int) -> dict[str, float]:
    command = ["ns", str(HERE / "jobs.tcl"), f"dur={DURATION}", f"warm={WARMUP}", f"seed={seed}"]
    command += [f"{key}={value}" for key, value in keys.items()]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


def make() -> None:
    """Run ns-2 and store what it gives."""
    runs = [(name, seed) for name in CONFIGURATIONS for seed in range(1, SEEDS + 1)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda run: _ns2(CONFIGURATIONS[run[0]], run[1]), runs))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("name", "metric", "mean", "sd"))
    for name in CONFIGURATIONS:
        of = [values for (run, _), values in zip(runs, found, strict=True) if run == name]
        for metric in (f"{metric}{number}" for metric in METRICS for number in CLASSES):
            values = [run[metric] for run in of]
            out.writerow((name, metric, f"{statistics.mean(values):.5g}", f"{statistics.stdev(values):.3g}"))


def scenario(name: str) -> aqmlab.Scenario:
    """The same in our terms, with ns-2's slips."""
    keys = {"peak": "0.3,0.3,0.3,0.3"} | CONFIGURATIONS[name]
    aqm = ['name = "jobs"', 'form = "ns2"', 'mean_packet = "500 B"', f"sampling = {keys.get('sampling', '1')}"]
    aqm.append(f"drop_front = {'true' if 'front' in keys else 'false'}")
    aqm.append(f'relief = "{"shared" if "relief" in keys else "own"}"')
    for key, parameter, unit in (
        ("adc", "delay", " s"),
        ("arc", "rate", " bit/s"),
        ("alc", "loss", ""),
        ("rdc", "relative_delay", ""),
        ("rlc", "relative_loss", ""),
    ):
        if key in keys:
            entries = ['"auto"' if entry == "-1" else entry for entry in keys[key].split(",")]
            quoted = [f'"{entry}{unit}"' if unit and entry != '"auto"' else entry for entry in entries]
            aqm.append(f"{parameter} = [{', '.join(quoted)}]")
    text = [f'title = "{name}"', f'duration = "{DURATION} s"', f'warmup = "{WARMUP} s"', 'observe = "neck"']
    text += ["[[link]]", 'name = "neck"', 'from = "r1"', 'to = "r2"', 'rate = "10 Mbit/s"', 'delay = "1 ms"']
    text += ['buffer = "60 packets"', "[link.aqm]", *aqm]
    for number, peak in zip(CLASSES, keys["peak"].split(","), strict=True):
        text += ["[[link]]", f'name = "in{number}"', f'from = "u{number}"', 'to = "r1"', 'rate = "100 Mbit/s"']
        text += ['delay = "1 ms"', 'buffer = "5000 packets"', 'aqm = "droptail"']
        text += ["[[traffic]]", f'name = "class{number}"', 'kind = "on-off"', f"class = {number}", "count = 20"]
        text += [f'from = "u{number}"', 'to = "r2"', f'rate = "{peak} Mbit/s"', 'packet_size = "500 B"']
        text += ['on = "exponential(100 ms)"', 'off = "exponential(100 ms)"', 'start = "uniform(0 s, 1 s)"']
    return aqmlab.Scenario.parse("\n".join(text), name)


if __name__ == "__main__":
    make()
