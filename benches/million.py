"""Sweeps of up to a million runs: ``python -m benches.million [RUNS…]``, by default 10⁴, 10⁵ and 10⁶; half an hour.

Each sweep of a tiny scenario, a point a run, is killed (kill -9) at half of its runs and started again, as a user does,
by the command ``aqmlab sweep``. Measured are its time, CPU time and memory, how soon it goes on, and a query of its
table. In ``out/bench``: a table, the figures as JSON, and a picture with what a hundred nodes would do, by calculation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import aqmlab
from aqmlab import _core
from aqmlab.files import replacing, write_text
from aqmlab.runs.journal import NAME
from aqmlab.runs.store import PART_RUNS
from benches.cluster import costless, cpu_seconds

OUT = Path("out/bench")

TINY = """
title = "A second of one flow"
duration = "1 s"
warmup = "200 ms"

[dumbbell]
rate = "1 Mbit/s"
delay = "5 ms"
buffer = "20 packets"

[aqm]
name = "red"

[[traffic]]
name = "long"
kind = "ftp"
"""

VARIED = "aqm.min_th"

NODES, CORES = 100, 32
"""A cluster, for the calculation."""

BATCH, TRANSFER = 1.0, 0.007
"""Seconds of a batch of runs on a worker, and those that its transfer costs: `benches.cluster`."""


@dataclass(frozen=True)
class Process:
    """What a process used: time and CPU time in s, and the most memory in bytes."""

    seconds: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class Measured:
    """A sweep: the runs, what both of its processes used, and how it went on.

    ``killed`` is the number of runs that were there when it was killed, ``engine`` the CPU time in s of as many runs
    without a sweep, ``resumed`` the seconds from the start of the second process to its first finished run, ``again``
    those of a third, which has nothing to do, and ``query`` is that of a query of the table.
    """

    runs: int
    killed: int
    first: Process
    second: Process
    engine: float
    resumed: float
    again: float
    query: Process

    @property
    def overhead(self) -> float:
        """The CPU time in s of all but the engine, a run."""
        return (self.first.cpu + self.second.cpu - self.engine) / self.runs

    @property
    def memory(self) -> int:
        """The most memory in bytes."""
        return max(self.first.memory, self.second.memory)


def values(runs: int) -> str:
    """Return the values of what varies: from 2 to 10 in equal steps."""
    step = round(Decimal(8) / runs, 9)
    return f"2,{2 + step}..{2 + (runs - 1) * step}"


def command(folder: Path, runs: int) -> list[str]:
    """Return the command line of a sweep."""
    vary = f"{VARIED}={values(runs)}"
    return [sys.executable, "-m", "aqmlab", "sweep", str(folder / "tiny.toml"), "--vary", vary, "--out", str(folder)]


def started(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL)


def ended(process: subprocess.Popen[bytes], began: float) -> Process:
    """Wait for the end of a process."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Process(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def runs_on(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has not ended; its end is left for `ended`."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def journals(folder: Path, pid: int) -> list[Path]:
    """List the journals of a process that have a run."""
    try:
        names = os.listdir(folder / "store/journals")
    except FileNotFoundError:
        return []
    found = [name for name in names if (match := NAME.fullmatch(name)) and int(match["pid"]) == pid]
    return [folder / "store/journals" / name for name in found]


def finished(folder: Path) -> int:
    """Count the runs in the files of a store that are complete."""
    parts = (int(part.name.split("-")[0]) for part in (folder / "store/parts").glob("[0-9]*.parquet"))
    return sum(parts) + PART_RUNS * len(list((folder / "store/journals").glob("*.closed")))


def alone(runs: int = 3000) -> float:
    """Return the CPU time in s of a run without a sweep: its set-up, its simulation, and its results as JSON."""
    scenario = aqmlab.Scenario.parse(TINY)
    scenario.check()
    before = time.process_time()
    for seed in range(runs):
        simulation = _core.Simulation(scenario._core, seed)
        simulation.advance(scenario.duration)
        simulation.results()
    return (time.process_time() - before) / runs


def measured(runs: int) -> Measured:
    """Sweep once, with an interruption."""
    with tempfile.TemporaryDirectory(dir=OUT) as place:
        folder = Path(place)
        (folder / "tiny.toml").write_text(TINY)
        began = time.monotonic()
        process = started(command(folder, runs))
        while runs_on(process) and finished(folder) < runs / 2:
            time.sleep(0.05)
        process.kill()
        first = ended(process, began)
        began = time.monotonic()
        process = started(command(folder, runs))
        while runs_on(process) and not any(path.stat().st_size for path in journals(folder, process.pid)):
            time.sleep(0.02)
        resumed = time.monotonic() - began
        second = ended(process, began)
        if process.returncode:
            raise SystemExit(f"the sweep of {runs} runs failed")
        engine = alone() * runs
        began = time.monotonic()
        third = ended(started(command(folder, runs)), began)
        swept = aqmlab.Sweep.load(folder)
        assert (swept.done, swept.failed) == (runs, 0)
        return Measured(runs, runs - swept.simulated, first, second, engine, resumed, third.seconds, queried(folder))


QUERY = """
import polars, sys
runs = polars.scan_parquet(sys.argv[1])
print(runs.filter(polars.col("loss_ratio") > 0.1).group_by(polars.col("aqm.min_th").floor()).agg(
    polars.len(), polars.col("goodput").mean(), polars.col("queue_delay_p99").max()).collect())
"""


def queried(folder: Path) -> Process:
    """Query the table of a sweep in a process of its own."""
    began = time.monotonic()
    return ended(started([sys.executable, "-c", QUERY, str(folder / "results/*.parquet")]), began)


def client(runs: int) -> float:
    """Return the CPU time in s that runs cost a client of a cluster, each, which cost nothing else."""
    with tempfile.TemporaryDirectory() as store:
        before = cpu_seconds()
        aqmlab.sweep(aqmlab.Scenario.parse(TINY), vary={VARIED: values(runs)}, store=store, executor=costless)
        return (cpu_seconds() - before) / runs


def on_cluster(run: float, each: float, runs: int = 1_000_000) -> float:
    """Calculate the time in s of runs of ``run`` s on a cluster whose client needs ``each`` s for one."""
    return max(runs * run * (1 + TRANSFER / BATCH) / (NODES * CORES), runs * each)


def table(found: list[Measured], each: float) -> str:
    """Write the table as Markdown."""
    lines = [
        "| runs | s | ms a run | overhead, ms of CPU a run | engine, ms of CPU a run | memory, MB | goes on after, s |"
        " nothing to do, s | query, s | its memory, MB |",
        "|" + "--:|" * 10,
    ]
    for one in found:
        wall = one.first.seconds + one.second.seconds
        cells = [
            f"{one.runs:,}".replace(",", " "),
            f"{wall:.0f}",
            f"{wall / one.runs * 1e3:.2f}",
            f"{one.overhead * 1e3:.2f}",
            f"{one.engine / one.runs * 1e3:.2f}",
            f"{one.memory / 1e6:.0f}",
            f"{one.resumed:.1f}",
            f"{one.again:.1f}",
            f"{one.query.seconds:.2f}",
            f"{one.query.memory / 1e6:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(f"\nThe client of a cluster: {each * 1e3:.2f} ms of CPU a run.")
    return "\n".join(lines) + "\n"


def picture(found: list[Measured], each: float) -> Figure:
    """Draw the overhead and the memory over the runs, and a million runs on a cluster over the time of one."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    cost, memory, cluster = figure.subplots(1, 3)
    runs = [one.runs for one in found]
    for axes in (cost, memory):
        axes.set(xscale="log", xlabel="Runs", xticks=runs)
    cost.plot(runs, [one.overhead * 1e3 for one in found], "o-", label="overhead")
    cost.plot(runs, [one.engine / one.runs * 1e3 for one in found], "o-", label="engine")
    cost.axhline(1, color="#666666", linestyle=":", linewidth=1)
    cost.set_title("CPU time a run (ms)", loc="left")
    cost.set_ylim(0)
    cost.legend(frameon=False)
    memory.plot(runs, [one.memory / 1e6 for one in found], "o-", label="the command")
    memory.plot(runs, [one.query.memory / 1e6 for one in found], "o-", label="a query of its table")
    memory.axhline(1000, color="#666666", linestyle=":", linewidth=1)
    memory.set_title("Most memory (MB)", loc="left")
    memory.set_ylim(0)
    memory.legend(frameon=False)
    times = [10 ** (place / 20) for place in range(-80, 41)]
    cluster.plot(times, [on_cluster(one, each) / 60 for one in times])
    cluster.set(xscale="log", yscale="log", xlabel="Time of a run (s)")
    cluster.set_title(f"A million runs on {NODES * CORES} cores (min)", loc="left")
    return figure


def main() -> None:
    """Measure, print the table and write the files."""
    sizes = [int(text) for text in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    OUT.mkdir(parents=True, exist_ok=True)
    found = []
    for runs in sizes:
        found.append(measured(runs))
        print(found[-1], flush=True)
    each = client(100_000)
    text = table(found, each)
    print(text)
    document: dict[str, Any] = {"runs": [asdict(one) for one in found], "client": each}
    write_text(OUT / "million.md", text)
    write_text(OUT / "million.json", json.dumps(document, indent=1))
    mpl.rcParams.update({"axes.spines.right": False, "axes.spines.top": False, "font.size": 9})
    with replacing(OUT / "million.png") as temporary:
        picture(found, each).savefig(temporary, dpi=130)
    print(f"Written: {OUT / 'million.md'}, {OUT / 'million.json'}, {OUT / 'million.png'}")


if __name__ == "__main__":
    main()
