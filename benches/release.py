"""A release: a wheel in dist, profile-guided where the compiler's tools are installed: `make release`.

Such a build is compiled twice. The first counts how often each branch is taken in the training runs below; the second
is laid out by these counts. It must give the recorded digests, bit for bit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from benches.measure import Row

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target" / "release-build"
DIST = ROOT / "dist"
TARGET = 'cfg(target_arch = "x86_64")'

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


def main() -> int:
    """Build the wheel and check it. Return the exit status: 1 if a digest differs from the recorded one."""
    tool = merger()
    shutil.rmtree(WORK / "raw", ignore_errors=True)
    if tool is None:
        print("not profile-guided: llvm-profdata is missing (rustup component add llvm-tools)", file=sys.stderr)
        made = wheel({})
    else:
        counting = wheel({"RUSTFLAGS": flags(f"-Cprofile-generate={WORK / 'raw'}")})
        package = unpacked(counting)
        for row in TRAINING:
            print(f"training: {row.name}", file=sys.stderr)
            subprocess.run(row.command(), env=importing(package), stdout=subprocess.DEVNULL, check=True)
        profile = WORK / "profile.profdata"
        subprocess.run([tool, "merge", "-o", profile, WORK / "raw"], check=True)
        made = wheel({"RUSTFLAGS": flags(f"-Cprofile-use={profile}"), "AQMLAB_BUILD": "profile-guided"})
    command = [sys.executable, "-m", "digests", "--installed"]
    checked = subprocess.run(command, env=importing(unpacked(made)), check=False)
    if checked.returncode != 0:
        return 1
    DIST.mkdir(exist_ok=True)
    shutil.copy(made, DIST)
    print(f"written: {DIST / made.name}")
    return 0


def merger() -> str | None:
    """Return the program that merges profiles, of the compiler's own version."""
    told = subprocess.run(["rustc", "--print", "target-libdir"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = Path(told.stdout.strip()).parent / "bin" / "llvm-profdata"
    return str(found) if found.is_file() else None


def flags(more: str) -> str:
    """Return the compiler's options with another. The environment's replace those of .cargo/config.toml."""
    config = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    return " ".join([*config["target"][TARGET]["rustflags"], more])


def wheel(environment: dict[str, str]) -> Path:
    """Compile the package; return the wheel."""
    out = WORK / "wheels"
    shutil.rmtree(out, ignore_errors=True)
    tools = f"{ROOT / 'target' / 'uv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "maturin", "build", "--release", "--out", str(out)]
    places = {"CARGO_TARGET_DIR": str(WORK / "target"), "PATH": tools}
    subprocess.run(command, cwd=ROOT, env=os.environ | places | environment, stdout=sys.stderr, check=True)
    return next(out.glob("*.whl"))


def unpacked(made: Path) -> Path:
    """Unpack a wheel; return the folder to import it from."""
    folder = WORK / "package"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(folder)
    return folder


def importing(package: Path) -> dict[str, str]:
    """Return the environment in which Python imports the package in this folder."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(package), str(ROOT / "tests"), str(ROOT)])}


if __name__ == "__main__":
    sys.exit(main())
