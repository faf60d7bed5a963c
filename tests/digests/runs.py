"""Runs by the installed engine and by tests/engines/examples/digest.rs in any build, with the same answers."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl

from aqmlab import _core

Order = dict[str, Any]
Answer = dict[str, Any]


def digest(answer: Answer) -> str:
    """Return a short digest of a run's answer."""
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:16]


def installed(order: Order) -> Answer:
    """Run with aqmlab itself, which is a release build; if `accounted`, with every packet accounted for."""
    scenario, accounted = _core.Scenario.parse(order["text"], "text"), order.get("accounted", False)
    run = _core.Fluid(scenario, "{}") if order.get("fluid") else _core.Simulation(scenario, scenario.seed, accounted)
    slices = order.get("slices", 1)
    slice_ = round(scenario.duration * 1e9) // slices
    for i in range(1, slices):
        run.advance(i * slice_ / 1e9)
    run.advance(float("inf"))
    if accounted and isinstance(run, _core.Simulation):
        violations = run.violations()
        assert not violations, "; ".join(violations)
    results = json.loads(run.results())
    results["engine"]["cpu_seconds"] = None
    sampled = run.cwnd() if isinstance(run, _core.Simulation) else None
    tables = [pl.DataFrame(table) for table in (run.series(), sampled) if table is not None]
    return {"results": results, "series": f"{_sum(tables):016x}"}


def _sum(tables: Iterable[pl.DataFrame]) -> int:
    """Sum the names, lengths and bits of all columns as the program does."""
    total, mask = 0, 2**64 - 1
    for column in (column for table in tables for column in table.get_columns()):
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        bits = np.where(np.isnan(values), np.uint64(mask), values.view(np.uint64))
        name = column.name.encode()
        for word in (len(name), *name, len(bits), *bits.tolist()):
            total = ((total << 5 & mask | total >> 59) ^ word) * 0x9E37_79B9_7F4A_7C15 & mask
    return total


def by_program(command: Sequence[str], orders: Iterable[Order]) -> list[Answer]:
    """Run with a build of the program."""
    asked = "".join(json.dumps(order) + "\n" for order in orders)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: exit status {done.returncode}: {done.stderr[-2000:]}"
    return [json.loads(line) for line in done.stdout.splitlines()]
