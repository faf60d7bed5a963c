"""ns-2, if it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.measure import Sample, measured

SCRIPT = Path(__file__).parents[1] / "tests" / "oracle" / "dumbbell.tcl"
"""The dumbbell of the oracle: the timed program is the one compared there."""

QUIET = ("acc_mbps=100", "sample=0", "fmon=0")
"""Access links of experiment 1; nothing sampled, no flow followed."""

RED = ("aqm=RED", "red_min=50", "red_max=150", "red_maxp=0.1", "red_wq=0.002", "red_gentle=1", "red_bytes=0")
"""RED of the rows over flows."""


@dataclass(frozen=True)
class Ns2:
    """ns-2: the path of the program, and its name with version."""

    program: str
    name: str

    def run_once(self, arguments: Sequence[str]) -> Sample:
        """Run the dumbbell once with these arguments."""
        output, process = measured([self.program, str(SCRIPT), *arguments, *QUIET])
        found = json.loads(output.splitlines()[-1])
        return Sample(
            packets=int(found["departures"]),
            events=0,
            loop=found["cpu_user_s"] + found["cpu_sys_s"],
            whole=process,
            process=process,
            memory=int(found["rss_kb"]) * 1024,
        )


def find() -> Ns2 | str:
    """Find ns-2, or return instructions for installing it."""
    program = shutil.which("ns")
    if program is None:
        return "ns-2 is not installed (Debian: apt install ns2)"
    asked = subprocess.run([program], input="puts [ns-version]; exit\n", capture_output=True, text=True, check=False)
    version = asked.stdout.strip().lstrip("% ")
    if not version.startswith("2."):
        return f"{program} is not ns-2: it does not tell its version"
    return Ns2(program, f"ns-{version}")
