"""Instructions a packet and bytes of state of disciplines, for the record that papers read: `make counts RECORD=1`."""

from __future__ import annotations

import datetime
import platform
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from aqmlab.files import json_text, write_text
from aqmlab_papers.run.complexity import RECORD, Complexity, Cost
from benches.counts import ROOT, build, collected, compiler

QUEUE = "droptail"
"""The discipline whose instructions are those of the queue."""
DISCIPLINES = [
    "red",
    "gred",
    "gredi",
    "ared",
    "blue",
    "rem",
    "pi",
    "pistar",
    "avq",
    "lred",
    "raqm",
    "redtail",
    "jobs_ecn",
    "fq",
    "choke",
    "pie",
    "codel",
    "dualpi2",
    "curvyred",
    "dtared",
    "feng",
    "nlred",
    "wred",
    "pi2",
    "step",
    "cobalt",
    "fred",
    "sred",
    "sfb",
    "headdrop",
    "jobs",
    "fq_codel",
    "fq_pie",
    "sfq",
    "cake",
]
FLOWS = [100, 1000]
SCENARIO = (
    "100 Mbit/s, packets of 500 bytes, a buffer of 1000 packets, flows with additive increase, multiplicative decrease "
    "and a round-trip time of 200 ms without the queue, 4 s after 4 s (crates/aqm/examples/cost.rs)"
)
PAGE = ROOT / "docs/internals/performance.md"
HEAD = f"| discipline | {' | '.join(f'N = {flows}' for flows in FLOWS)} | state, bytes |"


def measure() -> Complexity:
    """Compile the engine, and measure all disciplines."""
    name, target = compiler()
    program = build("aqm", "cost")
    counts = {discipline: _instructions(program, discipline) for discipline in [QUEUE, *DISCIPLINES]}
    state = _state()
    queue = counts.pop(QUEUE)
    return Complexity(
        build={"date": str(datetime.date.today()), "compiler": name, "target": target, "processor": _processor()},
        scenario=SCENARIO,
        queue={flows: round(count, 1) for flows, count in queue.items()},
        costs={
            discipline: Cost({flows: round(found[flows] - queue[flows], 1) for flows in FLOWS}, state[discipline])
            for discipline, found in counts.items()
        },
    )


def _instructions(program: str, discipline: str) -> dict[int, float]:
    """Count the instructions an arrival of queue and discipline."""
    found = {}
    for flows in FLOWS:
        print(f"counting: {discipline}, {flows} flows", file=sys.stderr)
        count, answer = collected(f"{discipline}, {flows} flows", "cost::counted_*", [program, discipline, str(flows)])
        found[flows] = count / answer["packets"]
    return found


def _state() -> dict[str, int]:
    """Return the bytes of state of every discipline, as the test of the engine's memory prints them."""
    command = ["cargo", "test", "--release", "--package", "aqm", "--test", "memory", "--", "state", "--nocapture"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name: int(size) for name, size in re.findall(r"^state (\w+) (\d+)$", done.stdout, re.MULTILINE)}


def _processor() -> str:
    """Return the vendor and the family of the processor, as far as the system knows them."""
    file = Path("/proc/cpuinfo")
    text = file.read_text() if file.exists() else ""
    facts = dict(re.findall(r"^(vendor_id|cpu family)\s*: (.+)$", text, re.MULTILINE))
    family = f"{facts['vendor_id']} family {facts['cpu family']}" if len(facts) == 2 else ""
    return ", ".join(part for part in (platform.machine(), family) if part)


def table(found: Complexity) -> str:
    """Return the costs as a table in Markdown."""
    rows = [f"| `{QUEUE}`, the queue itself | {' | '.join(f'{found.queue[flows]:.0f}' for flows in FLOWS)} | 0 |"]
    for name, cost in found.costs.items():
        size = f"{cost.bytes:,}".replace(",", " ")
        rows.append(f"| `{name}` | {' | '.join(f'+{cost.instructions[flows]:.0f}' for flows in FLOWS)} | {size} |")
    return "\n".join([HEAD, "|---" + "|--:" * (len(FLOWS) + 1) + "|", *rows])


def record(found: Complexity) -> None:
    """Write the record that is shipped, and the table of the page on performance."""
    document = asdict(found)
    document["disciplines"] = document.pop("costs")
    write_text(RECORD, json_text(document))
    page = PAGE.read_text(encoding="utf-8")
    start = page.index(HEAD)
    write_text(PAGE, page[:start] + table(found) + page[page.index("\n\n", start) :])


def main() -> int:
    """Measure, record and print."""
    found = measure()
    record(found)
    print(f"{table(found)}\n\nWritten: {RECORD}, {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
