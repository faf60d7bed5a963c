"""The whole bench: the rows to run, their order, and the results so far."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from aqmlab import _core
from benches import rivals
from benches.measure import Timed, run_once
from benches.rivals import Pair
from benches.suite import Table, tables

RIVALS = "rivals"
"""The name of the comparison with ns-2 and ns-3 in `--tables`."""

BUSY = 0.3
"""The load above which times are not reliable."""


@dataclass
class Bench:
    """All measurements.

    ``tables`` are of aqmlab alone, ``pairs`` of aqmlab beside others; ``timed`` has the results by table and row name.
    ``notes`` are for readers of the report; ``quick`` simulates less time, in ``rounds`` runs of each row.
    """

    quick: bool
    rounds: int
    tables: list[Table]
    timed: dict[tuple[str, str], Timed]
    pairs: list[Pair]
    machine: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield every run with the name of its row, round by round, which spreads noise evenly over the rows."""
        for table in self.tables:
            for _ in range(self.rounds):
                for row in table.rows:
                    timed = self.timed[table.name, row.name]
                    yield row.name, lambda row=row, timed=timed: timed.add(run_once(row))  # type: ignore[misc]
        for _ in range(self.rounds):
            for pair in self.pairs:
                yield f"{pair.row.name}, beside {pair.rival.name}", pair.run_once

    def note(self, text: str) -> None:
        """Record a note for readers, and print it at once."""
        if text not in self.notes:
            self.notes.append(text)
            print(text, file=sys.stderr)

    def finished(self, table: Table) -> Iterator[tuple[int, Timed]]:
        """Yield the rows of a table that ran, with their indices."""
        for place, row in enumerate(table.rows):
            if timed := self.timed[table.name, row.name]:
                yield place, timed


def names() -> list[str]:
    """List the names of the tables."""
    return [*(table.name for table in tables(quick=True)), RIVALS]


def prepare(quick: bool, wanted: list[str]) -> Bench:
    """Return the bench of the wanted tables, before any run."""
    found, missing = rivals.found() if RIVALS in wanted else ([], [])
    chosen = [table for table in tables(quick) if table.name in wanted]
    bench = Bench(
        quick,
        rounds=2 if quick else 5,
        tables=chosen,
        timed={(table.name, row.name): Timed() for table in chosen for row in table.rows},
        pairs=rivals.pairs(found, quick),
        machine=_machine(),
    )
    for text in missing:
        bench.note(text)
    load, cores = bench.machine["load"], bench.machine["cores"]
    if load > BUSY:
        bench.note(
            f"The machine was busy: a load of {load:.1f} on {cores} cores when the bench began. Times may be far off; "
            "ratios of paired runs and least values are less so."
        )
    return bench


def _machine() -> dict[str, Any]:
    commit = ""
    if git := shutil.which("git"):
        described = [git, "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
        commit = subprocess.run(described, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "aqmlab": _core.__version__,
        "commit": commit or None,
        "cpu": _cpu(),
        "cores": psutil.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": os.getloadavg()[0],
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
