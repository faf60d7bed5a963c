"""The whole bench: what to run, in which order, and what came of it so far."""

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
"""What `--tables` calls the comparison with ns-2 and ns-3."""

BUSY = 0.3
"""The load from which on times are not to be trusted."""


@dataclass
class Bench:
    """Everything that is timed.

    Parameters
    ----------
    quick : bool
        Whether little time is simulated.
    rounds : int
        How often each row runs.
    tables : list of Table
        aqmlab alone.
    timed : dict
        What each row of each table took, by their names.
    pairs : list of Pair
        aqmlab beside others.
    machine : dict
        Where it runs.
    notes : list of str
        What readers should know.
    """

    quick: bool
    rounds: int
    tables: list[Table]
    timed: dict[tuple[str, str], Timed]
    pairs: list[Pair]
    machine: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Give every run, with the name of its row: round after round, so that noise meets all rows alike."""
        for table in self.tables:
            for _ in range(self.rounds):
                for row in table.rows:
                    timed = self.timed[table.name, row.name]
                    yield row.name, lambda row=row, timed=timed: timed.add(run_once(row))  # type: ignore[misc]
        for _ in range(self.rounds):
            for pair in self.pairs:
                yield f"{pair.row.name}, beside {pair.rival.name}", pair.run_once

    def note(self, text: str) -> None:
        """Keep what readers should know, and say it at once."""
        if text not in self.notes:
            self.notes.append(text)
            print(text, file=sys.stderr)

    def finished(self, table: Table) -> Iterator[tuple[int, Timed]]:
        """Give the rows of a table that ran, by their places."""
        for place, row in enumerate(table.rows):
            if timed := self.timed[table.name, row.name]:
                yield place, timed


def names() -> list[str]:
    """Name the tables."""
    return [*(table.name for table in tables(quick=True)), RIVALS]


def prepare(quick: bool, wanted: list[str]) -> Bench:
    """Decide what to run.

    Parameters
    ----------
    quick : bool
        Whether to simulate little time.
    wanted : list of str
        The tables, of `names`.

    Returns
    -------
    Bench
        Nothing of it has run.
    """
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
