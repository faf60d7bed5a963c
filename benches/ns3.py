"""ns-3, if it is installed: finds it, compiles our program with it, and runs that."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.measure import Sample, measured

ROOT = Path(__file__).parents[1]
DUMBBELL, WIFI = (Path(__file__).with_name(f"ns3_{name}.cc") for name in ("dumbbell", "wifi"))
DISCS = ROOT / "examples" / "ns3" / "dumbbell.cc"
BUILD = ROOT / "target" / "bench"
MODULES = ("applications", "traffic-control", "internet", "network", "core")
OWN = {
    DUMBBELL: ("point-to-point",),
    WIFI: ("wifi", "mobility", "flow-monitor"),
    DISCS: ("point-to-point",),
}
"""The modules that all programs need, and those that one needs too. A library stands before those that it needs."""
LIBAQM = ROOT / "target" / "release" / "libaqm_c.a"
"""What `DISCS` needs besides."""


@dataclass(frozen=True)
class Ns3:
    """A program of ours, compiled with ns-3: source, executable, and ns-3's name with version."""

    source: Path
    program: Path
    name: str

    def run_once(self, arguments: Sequence[str]) -> Sample:
        """Run it once with these arguments."""
        found, process = self.found(arguments)
        return Sample(
            packets=found["packets"],
            events=found["events"],
            loop=found["loop"],
            whole=process,
            process=process,
            memory=found["memory"],
        )

    def found(self, arguments: Sequence[str]) -> tuple[dict[str, Any], float]:
        """Return what a run with these arguments prints, and its CPU seconds. Raise `Failed` if it fails."""
        output, process = measured([str(self.program), *arguments])
        return json.loads(output), process


def find(source: Path = DUMBBELL) -> Ns3 | str:
    """Find ns-3 and compile a program with it, or return a description of what is missing."""
    compiler = shutil.which("c++")
    packager = shutil.which("pkg-config")
    if compiler is None or packager is None:
        missing = "a C++ compiler" if compiler is None else "pkg-config"
        return f"ns-3 is not timed: {missing} is missing (Debian: apt install g++ pkg-config libns3-dev)"
    listed = _output([packager, "--list-all"])
    core = next(iter(re.findall(r"^((?:lib)?ns3[\w.]*-core\S*)", listed, re.MULTILINE)), None)
    if core is None:
        return "ns-3 is not installed (Debian: apt install libns3-dev)"
    # Some builds put the version before the module's name and the build type after it.
    packages = [core.replace("-core", f"-{module}") for module in OWN[source] + MODULES]
    version = _output([packager, "--modversion", core]).strip()
    # Debian's files also name libraries with which ns-3 was built, and which may be absent here.
    asked = shlex.split(_output([packager, "--cflags", "--libs", *packages]))
    flags = [flag for flag in asked if flag.startswith(("-D", "-I", "-L", "-l"))]
    parts = [source]
    if source == DISCS:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "aqm-c"], cwd=ROOT, check=True)
        parts += [source.with_name("aqmlab-queue-disc.h"), LIBAQM]
        flags = ["-I", str(ROOT / "crates" / "aqm-c" / "include"), str(LIBAQM), *flags]
    program = BUILD / f"{source.parent.name}-{source.stem}-{version}"
    if not program.exists() or program.stat().st_mtime < max(part.stat().st_mtime for part in parts):
        BUILD.mkdir(parents=True, exist_ok=True)
        command = [compiler, "-std=c++17", "-O2", "-DNDEBUG", str(source), "-o", str(program), *flags]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"ns-3 {version} is not timed: {shlex.join(command)} failed\n{made.stderr.strip()}"
    return Ns3(source, program, f"ns-{version}")


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
