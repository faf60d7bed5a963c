"""The laws of kernel/: their numbers, and what clang and cc make of them."""

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from oracle.linux.kernel import Missing

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "kernel"
LAWS = sorted(file.stem for file in SOURCES.glob("*.c"))


def clang() -> str:
    """A clang that knows BPF's newer instructions and tags."""
    for name in ("clang", *(f"clang-{version}" for version in range(25, 16, -1))):
        if (program := shutil.which(name)) and _version(program) >= 17:
            return program
    raise Missing("clang 17 or newer: not installed (Debian: apt install clang-19)")
