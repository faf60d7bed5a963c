"""The processors that wheels are built for."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass

from release import foreign

GLIBC = (2, 17)
"""The oldest glibc on which a wheel runs: that of manylinux2014, and of Rust's standard library."""


@dataclass(frozen=True)
class Target:
    """A processor, with Linux and glibc."""

    arch: str

    @property
    def triple(self) -> str:
        """The name that Rust has for it."""
        return f"{self.arch}-unknown-linux-gnu"

    @property
    def tag(self) -> str:
        """The platform tag of its wheel."""
        return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{self.arch}"

    @property
    def native(self) -> bool:
        """Whether this machine runs its programs."""
        return self.arch == platform.machine()

    @property
    def compiler(self) -> dict[str, str]:
        """The environment that selects its compiler."""
        return {} if self.native else foreign.rust()

    def flags(self, config: Mapping[str, Mapping[str, Mapping[str, list[str]]]]) -> list[str]:
        """Return the compiler's options that a `.cargo/config.toml` has for it."""
        return config["target"].get(f'cfg(target_arch = "{self.arch}")', {}).get("rustflags", [])


def targets(wanted: str | None = None) -> list[Target]:
    """Return those that can be built here, or of these the wanted ones: names of processors.

    Raise ``SystemExit`` for others.
    """
    known = {"x86_64": ["x86_64", "aarch64"]}.get(platform.machine(), [platform.machine()])
    names = known if wanted is None else wanted.split()
    if other := set(names) - set(known):
        raise SystemExit(f"TARGETS={wanted}: {', '.join(sorted(other))} is not built here, only {' and '.join(known)}")
    return [Target(name) for name in names]


def path(*folders: object) -> str:
    """Return a PATH on which these folders come first."""
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])
