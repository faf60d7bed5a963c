"""The number of runs that this machine performs at a time: its cores, and the memory that they need."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import NamedTuple

from aqmlab.execute import threads
from aqmlab.execute.caution import MachineWarning
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.limits import free_memory
from aqmlab.runs.seeds import whole
from aqmlab.scenario import Scenario

_GUEST, _CONNECTION = 90_000_000, 100_000
"""Bytes of a guest's kernel with its programs, and of a connection's two ends: 90 MB with 5 flows, 130 MB with 400."""

_PACKET = 1000
"""More bytes than a run keeps for each packet that it carries: in queues, of segments, and of the flows that come."""


def chosen_workers(jobs: int | None, tasks: int) -> int:
    """Return the number of runs at a time: `jobs` or, by default, the number of cores, but at most `tasks`."""
    if jobs is not None:
        jobs = whole("jobs", jobs)
        if jobs < 1:
            raise ValueError(f"jobs = {jobs}: must be at least 1")
    return min(jobs or threads.cores(), tasks)


def memory(engine: Engine, scenario: Scenario) -> int:
    """Estimate the bytes that a run needs; 0 for one that needs little."""
    return scenario._memory if engine == PACKETS else known_memory(engine, scenario)


def known_memory(engine: Engine, scenario: Scenario) -> int:
    """Return the bytes of `memory` that are known without a trial, which costs some 30 ms."""
    if engine == PACKETS:
        return scenario._known_memory
    if not engine.has_guest:
        return 0
    connections: int = sum(
        entry.get("count", 1) * entry.get("connections", 1) for entry in scenario.resolved["traffic"]
    )
    return _GUEST + _CONNECTION * connections + scenario._known_memory


def may_fill(known: int, packets: float) -> bool:
    """Return whether runs may keep more than the free memory: bytes that are known, and those of packets on the way."""
    return known + packets * _PACKET > free_memory()


def at_a_time(engine: Engine, workers: int, largest: int) -> int:
    """Return the number of an engine's runs at a time, at most `workers`; warn if there is room for fewer guests.

    `largest` is the memory of the largest run in bytes.
    """
    if not engine.has_guest:
        return min(workers, engine.most_jobs or workers)
    cores, free = threads.cores(), _free_for_guests()
    most = max(1, min(workers, cores, free // largest))
    if most < workers:
        reason = f"this machine has {cores} core{'s' if cores > 1 else ''}"
        if most < cores:
            reason = f"each needs about {largest / 1e6:.0f} MB of memory, and {free / 1e9:.1f} GB are free"
        text = f"{most} guest{'s' if most > 1 else ''} at a time instead of {workers}: {reason}"
        warnings.warn(text, MachineWarning, stacklevel=2)
    return most


def _free_for_guests() -> int:
    """Return the bytes that the memory of guests may take: it is in files."""
    from aqmlab.execute.preflight import Machine
    from aqmlab.execute.preflight.guest import memory_space

    return min(free_memory(), memory_space(Machine()))


class Runs(NamedTuple):
    """The runs of a scenario: how many, how many of the engine at a time, and the bytes of one, during and after it.

    `key` is the one to lower if a single run needs too much.
    """

    number: int
    at_a_time: int
    during: int
    after: int
    key: str = "buffer"


def refuse_too_much_memory(scenarios: Iterable[Runs]) -> None:
    """Raise MemoryError if the largest simultaneous runs, and the series kept of all runs, exceed the free memory."""
    kept = largest_run = 0
    key = ""
    together: dict[int, list[int]] = {}  # only engines with equal numbers have runs beside each other
    for runs in scenarios:
        kept += runs.after * runs.number
        if runs.during >= largest_run:
            largest_run, key = runs.during, runs.key
        together.setdefault(runs.at_a_time, []).extend([runs.during] * min(runs.number, runs.at_a_time))
    largest = (sorted(sizes)[-number:] for number, sizes in together.items())
    most = max(largest, key=sum, default=[])
    need, free = kept + sum(most), free_memory()
    if need > free:
        at_once = f" for {len(most)} simultaneous runs" if len(most) > 1 else ""
        remedy = "use fewer jobs" if len(most) > 1 else f"lower {key}"
        if kept > free / 2:
            remedy += ", or let record.series = false: the series of all runs are kept in memory"
        raise MemoryError(
            f"about {need / 1e9:.1f} GB of memory are needed{at_once}, and {free / 1e9:.1f} GB are free: {remedy}"
        )
