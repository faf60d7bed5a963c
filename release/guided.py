"""A profile-guided engine: compiled to count how often each branch is taken, and again, laid out by these counts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from benches.measure import Row
from release import ROOT, WORK
from release.build import wheel
from release.target import Target

NAME = "profile-guided"
"""The name of such a build, which `aqmlab --version` prints."""

SHORT = {"duration": "20 s", "warmup": "5 s"}
TRAINING = [
    Row("PI, ns-2's clock", "lred/exp1", "pi:q_ref=100", SHORT | {"record.series": False}),
    Row("PI, integer clock", "lred/exp1", "pi:q_ref=100", SHORT | {"record.series": False, "clock": "integer"}),
    Row("CoDel, Linux's TCP", "lred/exp1", "codel", SHORT | {"traffic.long.tcp": "linux"}),
    Row("FQ-CoDel, SACK", "lred/exp1", "fq_codel", SHORT | {"traffic.long.tcp": "sack"}),
    Row("LRED, on-off UDP", "lred/exp4", settings={"duration": "70 s"}),
    Row("short flows", "redtail/web", settings={"duration": "200 s"}),
]
"""The training runs: both clocks, the TCPs, a queue that decides on arrivals and one that does on departures, lanes,
transient flows."""


def profile(source: Path, target: Target, place: Path, merger: Path) -> Path:
    """Build an engine that counts, and run the training runs with it; return their profile, which ``merger`` makes."""
    raw, merged = WORK / "raw", WORK / "profile.profdata"
    # zig's linker does not know the option by which rustc asks for the part that writes the counts.
    package = _unpacked(wheel(source, target, place, [f"-Cprofile-generate={raw}"], "counting", local=True))
    environment = os.environ | {"PYTHONPATH": str(package)}
    told = [sys.executable, "-c", "from aqmlab import _core; print(_core.build)"]
    build = subprocess.run(told, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    if build != "counting":
        raise SystemExit(f"build {build!r} was imported in place of the one that counts in {package}")
    shutil.rmtree(raw, ignore_errors=True)  # build scripts count, too
    for row in TRAINING:
        print(f"training: {row.name}", file=sys.stderr)
        subprocess.run(row.command(), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    subprocess.run([merger, "merge", "-o", merged, *raw.glob("*.profraw")], check=True)
    return merged


def _unpacked(made: Path) -> Path:
    """Unpack a wheel; return the folder to import it from."""
    folder = WORK / "counting"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(folder)
    return folder
