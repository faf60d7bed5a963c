"""What is needed to build and to run programs for another processor than this machine's: ARM's, on x86-64."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from release import ROOT, WORK

ARM = "aarch64-unknown-linux-gnu"
RUST = ROOT / "target" / "rust-arm64"
"""A compiler of Debian, with the standard library for ARM."""
PYTHON = WORK / "python-arm64"
"""Python of Debian for ARM, with the libraries that it needs."""
QEMU = "qemu-aarch64"
SCRIPT = Path(__file__).with_name("foreign.sh")


def lacks_std() -> bool:
    """Return whether the ordinary compiler has no standard library for ARM."""
    have = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", ARM], capture_output=True, text=True, check=False
    )
    return not Path(have.stdout.strip() or "/nowhere").is_dir()


def is_debian() -> bool:
    """Return whether packages of Debian can be fetched."""
    return shutil.which("apt-get") is not None and shutil.which("dpkg") is not None


def rust() -> dict[str, str]:
    """Return the environment in which cargo uses the compiler of Debian, if it was fetched."""
    if not RUST.exists():
        return {}
    libraries = [str(RUST / "usr/lib/x86_64-linux-gnu"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {"RUSTC": str(RUST / "usr/bin/rustc"), "LD_LIBRARY_PATH": os.pathsep.join(libraries)}


def fetch_rust() -> str:
    """Fetch the compiler if the standard library for ARM is missing; return the reason for a failure."""
    return _fetch("rust", RUST, f"rustup target add {ARM}") if lacks_std() else ""


def fetch_python() -> str:
    """Fetch Python for ARM if it is missing; return the reason for a failure."""
    return _fetch("python", PYTHON, "use a machine with Debian or Ubuntu")


def emulated(program: Path) -> list[str]:
    """Return the command that starts a program for ARM under qemu."""
    return [shutil.which(QEMU) or QEMU, "-L", str(PYTHON), str(program)]


def _fetch(what: str, folder: Path, otherwise: str) -> str:
    if folder.exists():
        return ""
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(SCRIPT), what, str(folder)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"no {what} for ARM: {done.stderr.strip()} ({otherwise})"
