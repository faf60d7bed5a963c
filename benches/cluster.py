"""CPU time per run outside the simulation itself, on a Dask cluster and locally.

    MALLOC_TOP_PAD_=16777216 python benches/cluster.py [RUNS]

Does 10,000 tiny runs on a cluster of two workers on this machine, and on this machine's cores. Prints the CPU time of
all processes together, including scheduler and client, which hardly depends on other load. Then it does a hundred
thousand runs that cost nothing, to measure the client's memory.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import distributed
import psutil

import aqmlab
from aqmlab.execute.task import Outcome, Task, simulate

TINY = """
duration = "2 s"
warmup = "1 s"

[dumbbell]
rate = "2 Mbit/s"

[[traffic]]
name = "long"
kind = "ftp"
count = 3
"""
POINTS = 100


def sweep(runs: int, **options: Any) -> aqmlab.Sweep:
    """Do a number of runs at 100 points."""
    scenario = aqmlab.Scenario.parse(TINY)
    with tempfile.TemporaryDirectory() as folder:
        vary = {"dumbbell.buffer": f"11,12..{10 + POINTS} packets"}
        return aqmlab.sweep(scenario, vary=vary, seeds=runs // POINTS, store=folder, **options)


def cpu_seconds() -> float:
    """Return the CPU time of this process and its children."""
    own = psutil.Process()
    return sum(sum(one.cpu_times()[:2]) for one in (own, *own.children(recursive=True)))


def cost(runs: int, **options: Any) -> float:
    """Return the CPU time of a sweep per run, in ms."""
    before = cpu_seconds()
    swept = sweep(runs, **options)
    assert swept.done == runs
    return (cpu_seconds() - before) / runs * 1e3


def costless(tasks: Iterator[Task], on_done: Callable[[Task, Outcome], None], watch: Callable[[float], None]) -> None:
    """Return the results of one run for all runs."""
    results = b""
    for task in tasks:
        if not results:
            outcome = simulate(task)
            assert outcome
            results = outcome.payload[len(task.key) :]
        on_done(task, Outcome(task.key + results))
    watch(0.0)


def main() -> None:
    """Measure, and print the results."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as workers:
        sweep(POINTS, cluster=workers.scheduler_address)  # import modules before measuring
        there = cost(runs, cluster=workers.scheduler_address)
    here = cost(runs, jobs=2)
    print(f"CPU time of all processes, {runs} tiny runs: cluster {there:.3f} ms a run, here {here:.3f} ms a run")
    print(f"the cluster costs {there - here:.3f} ms a run, {(there / here - 1) * 100:.1f} % of these")
    for count in (100_000,):
        client = cost(count, executor=costless)
        memory = psutil.Process().memory_info()
        print(
            f"{count} runs that cost nothing: {client:.3f} ms each of the client, {memory.rss / 1e6:.0f} MB at the end"
        )


if __name__ == "__main__":
    main()
