"""What a release needs of the machine: `python -m release.tools` lists all that is missing, and how to get it.

Any Python runs this: it comes before `make setup`.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from release import ROOT, foreign


@dataclass(frozen=True)
class Lack:
    """A tool that is missing: the part of a release that it is for, empty if for all, and how to get it."""

    tool: str
    part: str
    remedy: str


GUIDED = "the layout by a profile"
FOREIGN = "the wheel for ARM"
FOREIGN_RUN = "running the wheel for ARM"
OFFLINE = "installing without a network"
PLAYGROUND = "the playground"
KERNEL = "the queue disciplines for the kernel"


def lacks() -> list[Lack]:
    """Return what is missing on this machine."""
    found = []
    for tool, package in {"git": "git", "cargo": "rustup (https://rustup.rs)", "cc": "build-essential"}.items():
        if shutil.which(tool) is None:
            found.append(Lack(tool, "", f"install {package}"))
    if shutil.which("cargo") is not None and merger() is None:
        found.append(Lack("llvm-profdata of the compiler's version", GUIDED, "rustup component add llvm-tools"))
    if platform.machine() == "x86_64":
        if not (foreign.RUST.exists() or foreign.is_debian()) and foreign.lacks_std():
            remedy = f"rustup target add {foreign.ARM}"
            found.append(Lack("Rust's standard library for ARM", FOREIGN, remedy))
        if shutil.which(foreign.QEMU) is None:
            found.append(Lack(foreign.QEMU, FOREIGN_RUN, "apt install qemu-user"))
        if not (foreign.PYTHON.exists() or foreign.is_debian()):
            found.append(Lack("Python for ARM", FOREIGN_RUN, "use a machine with Debian, whose packages are fetched"))
    if shutil.which("unshare") is None:
        found.append(Lack("unshare", OFFLINE, "apt install util-linux"))
    for tool, part, script in (
        ("a toolchain for JavaScript", PLAYGROUND, "js/scripts/wasm.sh"),
        ("a compiler for BPF", KERNEL, "kernel/build.sh"),
    ):
        ready = subprocess.run([ROOT / script, "--ready"], capture_output=True, text=True, check=False)
        if ready.returncode != 0:
            found.append(Lack(tool, part, ready.stderr.strip()))
    return found


def merger() -> Path | None:
    """Return the program that merges profiles, of the compiler's own version; None if it is not installed."""
    told = subprocess.run(["rustc", "--print", "target-libdir"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = Path(told.stdout.strip()).parent / "bin" / "llvm-profdata"
    return found if found.is_file() else None


def main() -> int:
    """Print what is missing; return 1 if nothing can be made without it."""
    missing = lacks()
    for lack in missing:
        without = f"without it, {lack.part} is left out" if lack.part else "nothing can be made without it"
        print(f"missing: {lack.tool}: {lack.remedy}; {without}")
    return 1 if any(not lack.part for lack in missing) else 0


if __name__ == "__main__":
    sys.exit(main())
