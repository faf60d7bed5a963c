"""Instruction counts of the engine, by valgrind, compared with the recorded counts: `make counts`.

Unlike time, the count is reproducible to a few parts in a million on a busy machine. It depends on the compiler, which
is recorded too; with another compiler the check only reports.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from aqmlab import shipped
from aqmlab.files import write_text
from benches.measure import Row
from benches.report import grid

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("counts.json")
ALLOWED = 0.05
"""The allowed relative increase of a count."""

ROWS = [
    Row(
        "exp1, PI",
        "lred/exp1",
        "pi:q_ref=100",
        {"duration": "20 s", "warmup": "5 s", "record.series": False},
    ),
    Row(
        "exp1, CoDel, Linux's TCP, series",
        "lred/exp1",
        "codel",
        {"duration": "20 s", "warmup": "5 s", "traffic.long.tcp": "linux"},
    ),
    Row("web, RED+Tail", "redtail/web", settings={"duration": "200 s"}),
]
"""Covered: ns-2's clock and TCP with nothing recorded; the other clock, the most complex TCP, and series; transient
flows."""


@dataclass(frozen=True)
class Count:
    """The counts of a scenario.

    ``instructions`` include set-up, run and results; ``packets`` are those sent by the bottleneck.
    """

    instructions: int
    packets: int
    events: int


@dataclass(frozen=True)
class Counts:
    """Counts by the names of `ROWS`, with the compiler's name and version and its target."""

    compiler: str
    target: str
    counts: Mapping[str, Count]

    @classmethod
    def load(cls, file: Path) -> Counts:
        """Read recorded counts."""
        found = json.loads(file.read_text(encoding="utf-8"))
        counts = {name: Count(**count) for name, count in found["counts"].items()}
        return cls(found["compiler"], found["target"], counts)

    def save(self, file: Path) -> None:
        """Record the counts."""
        write_text(file, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")


def check(found: Counts, recorded: Counts) -> tuple[str, bool]:
    """Compare counts with the recorded ones.

    Return the report and whether the check passed; with another compiler it always passes.
    """
    risen, fallen, missing = [], [], []
    for name, count in found.counts.items():
        change = _change(count, recorded.counts.get(name))
        if change is None:
            missing.append(name)
        elif change > ALLOWED:
            risen.append(f"{name} by {change:.1%}")
        elif change < -ALLOWED:
            fallen.append(name)
    said = []
    if (found.compiler, found.target) != (recorded.compiler, recorded.target):
        said += [
            "The compiler is not that of the record, and counts depend on it: nothing is checked.",
            f"  recorded: {recorded.compiler}, {recorded.target}",
            f"  here:     {found.compiler}, {found.target}",
            "To check a change, record what was before it (git stash; make counts RECORD=1; git stash pop), then count "
            "again.",
        ]
        return "\n".join(said), True
    if risen:
        said.append(
            f"More instructions than recorded, and more than {ALLOWED:.0%} are not allowed: {'; '.join(risen)}."
        )
        said.append("If that is the price of something worth it: make counts RECORD=1, and say why in the commit.")
    if missing:
        said.append(f"Not recorded: {'; '.join(missing)}. To record: make counts RECORD=1")
    if fallen:
        said.append(f"Fewer than recorded: {'; '.join(fallen)}. To keep it so: make counts RECORD=1")
    if not (risen or missing or fallen):
        said.append(f"As recorded, within {ALLOWED:.0%}.")
    return "\n".join(said), not (risen or missing)


def table(found: Counts, recorded: Counts) -> str:
    """Return a table of counts beside the recorded ones."""
    rows = []
    for name, count in found.counts.items():
        before = recorded.counts.get(name)
        change = _change(count, before)
        rows.append(
            [
                name,
                f"{count.instructions:,}".replace(",", " "),
                f"{count.instructions / count.packets:.0f}",
                f"{count.instructions / count.events:.0f}",
                f"{before.instructions:,}".replace(",", " ") if before else "-",
                "-" if change is None else f"{round(change, 4) + 0:+.2%}",
            ]
        )
    return grid(["", "instructions", "a packet", "an event", "recorded", "change"], rows)


def _change(count: Count, before: Count | None) -> float | None:
    """Return the relative increase of a count, None if it was not recorded."""
    return count.instructions / before.instructions - 1 if before else None


def count_all() -> Counts:
    """Compile the engine and count all rows."""
    name, target = compiler()
    program = build("netsim", "run")
    return Counts(name, target, {row.name: _counted(program, row) for row in ROWS})


def _counted(program: str, row: Row) -> Count:
    print(f"counting: {row.name}", file=sys.stderr)
    command = [
        program,
        str(shipped()[row.scenario]),
        *([f"aqm={row.aqm}"] if row.aqm else []),
        *row.assignments(),
    ]
    instructions, engine = collected(row.name, "run::simulate*", command)
    return Count(instructions, engine["packets"], engine["events"])


def collected(name: str, functions: str, command: Sequence[str]) -> tuple[int, dict[str, int]]:
    """Run a command; return the instructions of its `functions`, with all that they call, and its answer in JSON."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SystemExit("valgrind is not installed (Debian: apt install valgrind): nothing can be counted")
    options = ["--tool=callgrind", "--callgrind-out-file=/dev/null", f"--toggle-collect={functions}"]
    done = subprocess.run([valgrind, *options, *command], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None or found[1] == "0":
        raise SystemExit(f"{name} could not be counted:\n{done.stdout}{done.stderr}")
    return int(found[1]), json.loads(done.stdout)


def build(package: str, example: str) -> str:
    """Compile an example of a crate; return its path."""
    command = ["cargo", "build", "--release", "--package", package, "--example", example, "--message-format", "json"]
    made = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        raise SystemExit("the engine does not compile")
    messages = [json.loads(line) for line in made.stdout.splitlines()]
    executables: list[str] = [message["executable"] for message in messages if message.get("executable")]
    return executables[-1]


def compiler() -> tuple[str, str]:
    """Return the name and version of the compiler, and its target."""
    told = subprocess.run(
        ["rustc", "--version", "--verbose"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    first, *others = told.splitlines()
    facts = dict(line.split(": ", 1) for line in others)
    return f"{first}, LLVM {facts['LLVM version']}", facts["host"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, and record or check. Return the exit status: 1 if a count has risen too far, or was never recorded."""
    parser = argparse.ArgumentParser(prog="python -m benches.counts", description="Count the engine's instructions.")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name} instead of checking against it")
    asked = parser.parse_args(arguments)
    found = count_all()
    recorded = Counts.load(RECORD) if RECORD.exists() else Counts(found.compiler, found.target, {})
    print(table(found, recorded))
    if asked.record:
        found.save(RECORD)
        print(f"\nWritten: {RECORD}")
        return 0
    said, well = check(found, recorded)
    print(f"\n{said}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
