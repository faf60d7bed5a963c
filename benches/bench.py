"""How fast the engine is, beside ns-2 where it is installed, and what each queue discipline costs: `make bench`.

Each scenario runs as a process of its own, ours and ns-2's in turn, several times; the medians are shown. Machines
share their cores with others, so only ratios of one bench mean anything. The disciplines run one after the other in one
process, round after round.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aqmlab import Scenario, disciplines, run

ROOT = Path(__file__).parents[1]
AQMLAB = Path(sys.executable).with_name("aqmlab")
NS2_SCRIPT = ROOT / "tests" / "oracle" / "dumbbell.tcl"
ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """A scenario, and the arguments that make ns-2 run the same."""

    name: str
    scenario: str
    options: Sequence[str]
    ns2: Sequence[str] = ()


@dataclass
class Cost:
    """What a process took, one entry a round."""

    packets: int = 0
    cpu: list[float] = field(default_factory=list)
    loop: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def per_packet(self, seconds: list[float]) -> float:
        """Nanoseconds a packet that the bottleneck sent."""
        return statistics.median(seconds) / self.packets * 1e9


EXPERIMENT_1 = "lred/exp1"
LARGE = [
    option
    for change in (
        "traffic.long.count=10000",
        "dumbbell.rate=1 Gbit/s",
        "dumbbell.access_rate=10 Gbit/s",
        "dumbbell.buffer=20000 packets",
        "dumbbell.access_buffer=500000 packets",
        "duration=20 s",
        "warmup=5 s",
    )
    for option in ("--set", change)
]
CASES = [
    Case("exp1, PI, N = 400", EXPERIMENT_1, ["--aqm", "pi:q_ref=100"], ["aqm=PI", "n_tcp=400"]),
    Case(
        "the same, no series",
        EXPERIMENT_1,
        ["--aqm", "pi:q_ref=100", "--set", "record.series=false"],
        ["aqm=PI", "n_tcp=400"],
    ),
    Case("exp1, LRED, N = 400", EXPERIMENT_1, []),
    Case(
        "exp1, DropTail, N = 100",
        EXPERIMENT_1,
        ["--aqm", "droptail", "--set", "traffic.long.count=100"],
        ["aqm=DropTail", "n_tcp=100"],
    ),
    Case(
        "exp1, REM, N = 800",
        EXPERIMENT_1,
        ["--aqm", "rem:b_star=100,form=ns2", "--set", "traffic.long.count=800"],
        ["aqm=REM", "n_tcp=800"],
    ),
    Case("parking lot", "parking-lot", []),
    Case("1 Gbit/s, 10 000 flows, 20 s", EXPERIMENT_1, ["--aqm", "pi:q_ref=5000", *LARGE]),
]


def measured(command: Sequence[str]) -> tuple[str, float, float]:
    """Run a command; give its output, its CPU seconds and its peak memory in bytes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def run_ours(case: Case, cost: Cost) -> None:
    """Run it once with aqmlab; what counts is the engine, its set-up and all statistics."""
    output, _, memory = measured([str(AQMLAB), "run", case.scenario, *case.options, "--json"])
    engine = json.loads(output)["engine"]
    cost.packets = engine["packets"]
    cost.cpu.append(engine["cpu_seconds"])
    cost.memory.append(memory)


def run_ns2(case: Case, cost: Cost) -> None:
    """Run it once with ns-2, nothing traced; what counts is the process, and its run loop alone."""
    output, cpu, memory = measured(["ns", str(NS2_SCRIPT), *case.ns2, "acc_mbps=100", "dur=200", "sample=0", "fmon=0"])
    found = json.loads(output.splitlines()[-1])
    cost.packets = int(found["departures"])
    cost.cpu.append(cpu)
    cost.loop.append(found["cpu_user_s"] + found["cpu_sys_s"])
    cost.memory.append(memory)


DISCIPLINES = Scenario.load(EXPERIMENT_1).with_({"record.series": False}, duration="60 s", warmup="20 s")
"""What each queue discipline is timed on."""


def median_costs() -> dict[str, tuple[float, float]]:
    """Time every discipline; give nanoseconds a packet and the part of the packets that were lost."""
    costs: dict[str, list[float]] = {name: [] for name in disciplines()}
    losses = {}
    for _ in range(ROUNDS):
        for name, taken in costs.items():
            result = run(DISCIPLINES.with_aqm(name), jobs=1)
            taken.append(result.engine["cpu_seconds"] / result.engine["packets"] * 1e9)
            losses[name] = result.metrics["loss_ratio"] or 0.0
    return {name: (statistics.median(taken), losses[name]) for name, taken in costs.items()}


def print_disciplines() -> None:
    """Print what a packet costs with each discipline, in the order of the list."""
    costs = median_costs()
    least = costs["droptail"][0]
    print(f"\n{'exp1, N = 400, 60 s, no series':30}{'ns/packet':>11}{'to droptail':>13}{'lost':>8}")
    for name, (cost, lost) in costs.items():
        print(f"{name:30}{cost:11.0f}{cost / least:13.2f}{lost:8.1%}")


def main() -> None:
    """Print the tables."""
    installed = shutil.which("ns") is not None
    if not installed:
        print("ns-2 is not installed (Debian: apt install ns2): only aqmlab is timed\n")
    header = f"{'scenario':30}{'packets/CPU s':>15}{'ns/packet':>11}{'MiB':>7}"
    print(header + (f"{'ns-2: packets/CPU s':>21}{'MiB':>7}{'ratio':>8}{'to its loop':>13}" if installed else ""))
    for case in CASES:
        ours, ns2 = Cost(), Cost()
        for _ in range(ROUNDS):
            run_ours(case, ours)
            if installed and case.ns2:
                run_ns2(case, ns2)
        took = ours.per_packet(ours.cpu)
        row = f"{case.name:30}{1e9 / took:15,.0f}{took:11.0f}{statistics.median(ours.memory) / 2**20:7.0f}"
        if ns2.cpu:
            theirs, loop = ns2.per_packet(ns2.cpu), ns2.per_packet(ns2.loop)
            memory = statistics.median(ns2.memory) / 2**20
            row += f"{1e9 / theirs:21,.0f}{memory:7.0f}{theirs / took:8.1f}{loop / took:13.1f}"
        print(row, flush=True)
    print_disciplines()


if __name__ == "__main__":
    main()
