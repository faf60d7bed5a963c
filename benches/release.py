"""A release: a wheel in dist, profile-guided where the compiler's tools are installed: `make release`.

Such a build is compiled twice. The first counts how often each branch is taken in the training runs below; the second
is laid out by these counts. It must give the recorded digests, bit for bit.
"""

from __future__ import annotations

import os
import platform
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
GUIDED = "profile-guided"
TARGET = 'cfg(target_arch = "x86_64")'

SHORT = {"duration": "20 s", "warmup": "5 s"}
PLAYGROUND = ("index.html", "widget.js")
"""Files of the playground, which `make playground` builds where there is a toolchain for JavaScript."""
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
    if tool is None:
        print("not profile-guided: llvm-profdata is missing (rustup component add llvm-tools)", file=sys.stderr)
        made = wheel({})
    else:
        made = wheel(flags(f"-Cprofile-use={trained(tool)}") | {"AQMLAB_BUILD": GUIDED})
    package = unpacked(made)
    require(package, GUIDED if tool else "")
    if missing := [name for name in PLAYGROUND if not (package / "aqmlab" / "playground" / name).is_file()]:
        print(f"without the playground: {', '.join(missing)} missing (make playground)", file=sys.stderr)
    command = [sys.executable, "-m", "digests", "--installed"]
    if subprocess.run(command, cwd=ROOT, env=importing(package), check=False).returncode != 0:
        return 1
    DIST.mkdir(exist_ok=True)
    shutil.copy(made, DIST)
    print(f"written: {DIST / made.name}")
    return 0


def trained(tool: str) -> Path:
    """Build an engine that counts, and run the training runs with it; return their profile."""
    raw, profile = WORK / "raw", WORK / "profile.profdata"
    package = unpacked(wheel(flags(f"-Cprofile-generate={raw}") | {"AQMLAB_BUILD": "counting"}))
    require(package, "counting")
    shutil.rmtree(raw, ignore_errors=True)  # build scripts count, too
    for row in TRAINING:
        print(f"training: {row.name}", file=sys.stderr)
        subprocess.run(row.command(), cwd=ROOT, env=importing(package), stdout=subprocess.DEVNULL, check=True)
    subprocess.run([tool, "merge", "-o", profile, *raw.glob("*.profraw")], check=True)
    return profile


def require(package: Path, build: str) -> None:
    """Check that Python imports this package, and that it is this build."""
    print_build = "from aqmlab import _core; print(_core.__file__, _core.build, sep='\\n')"
    command = [sys.executable, "-c", print_build]
    told = subprocess.run(command, cwd=ROOT, env=importing(package), capture_output=True, text=True, check=True)
    file, found = told.stdout.split("\n")[:2]
    if not Path(file).is_relative_to(package) or found != build:
        raise SystemExit(f"{file}, build {found!r}, was imported in place of {package}, build {build!r}")


def merger() -> str | None:
    """Return the program that merges profiles, of the compiler's own version."""
    told = subprocess.run(["rustc", "--print", "target-libdir"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = Path(told.stdout.strip()).parent / "bin" / "llvm-profdata"
    return str(found) if found.is_file() else None


def flags(more: str) -> dict[str, str]:
    """Return the environment with another of the compiler's options. It replaces those of .cargo/config.toml."""
    config = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    own = config["target"][TARGET]["rustflags"] if platform.machine() == "x86_64" else []
    return {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join([*own, more])}


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
