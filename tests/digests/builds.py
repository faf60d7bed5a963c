"""The builds of tests/engines/examples/digest.rs: their requirements, build commands and start commands."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from release.foreign import ARM, rust

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Build:
    """A build of the program."""

    name: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    program: str = ""
    starter: tuple[str, ...] = ()
    needs: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> str:
        """The tools that must be installed first; empty if none."""
        lacking = [f"{tool} is missing: {how}" for tool, how in self.needs.items() if shutil.which(tool) is None]
        return "; ".join(lacking)

    @property
    def made(self) -> bool:
        """Whether it was ever built."""
        return (ROOT / self.program).exists()

    def make(self) -> list[str]:
        """Rebuild it if sources changed; return the command that starts it."""
        command = ["cargo", "build", "--quiet", "--workspace", "--example", "digest", *self.arguments]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **self.environment}, stdout=sys.stderr, check=True)
        return [*self.starter, str(ROOT / self.program)]


DEBUG = Build("debug", ("--profile", "test"), program="target/debug/examples/digest")
"""With overflow checks and assertions; its libraries are those of `cargo test`."""

V3 = Build(
    "x86-64-v3",
    ("--release", "--target-dir", "target/v3"),
    {"RUSTFLAGS": "-C llvm-args=-x86-cmov-converter=false -C target-cpu=x86-64-v3"},
    "target/v3/release/examples/digest",
)
"""With AVX2 and fused multiplication, which a build for any x86 lacks."""


def arm() -> Build:
    """Return the build for 64-bit ARM, run by qemu."""
    linker = "aarch64-linux-gnu-gcc"
    return Build(
        "aarch64",
        ("--release", "--target", ARM, "--target-dir", "target/arm64"),
        {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": linker, **rust()},
        f"target/arm64/{ARM}/release/examples/digest",
        ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"),
        {
            linker: "Debian: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
            "qemu-aarch64": "Debian: apt install qemu-user",
        },
    )
