"""The compiled laws: where they and the headers are, what they declare, and the compiler for others."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parents[2] / "kernel"

SUFFIX = ".bpf.o"

COMPILER = "build.sh"
"""The script that compiles laws, beside the headers."""


@dataclass(frozen=True, slots=True)
class Number:
    """A signal of a law, of whose number `bits` binary digits are after the point."""

    name: str
    bits: int

    def value(self, number: int) -> float:
        """Return the value for which a whole number stands, to as many digits as it has."""
        return float(f"{number / (1 << self.bits):.9g}")


@dataclass(frozen=True)
class Object:
    """A law, compiled for the kernel."""

    path: Path

    @property
    def kind(self) -> str:
        """Its name as a queue discipline, as in ``tc qdisc add dev eth0 root aqm_lred``."""
        return f"aqm_{self.path.name.removesuffix(SUFFIX)}"

    @cached_property
    def fields(self) -> str:
        """The text of its parameters, from which `aqmlab._core.kernel_numbers` computes their numbers."""
        return self._text("params")

    @property
    def signals(self) -> list[Number]:
        """Its signals, in their order."""
        return [Number(name, int(bits)) for name, bits, *_ in (one.split(":") for one in self._text("signals").split())]

    def _text(self, what: str) -> str:
        found = re.search(rb"aqmlab " + what.encode() + rb" ([^\0]*)\0", self.path.read_bytes())
        if found is None:
            raise ValueError(f"{self.path}: not a law that was compiled with aqmlab's headers")
        return found.group(1).decode()


def headers() -> Path:
    """Return the folder of the headers: the package's, or in a checkout, ``kernel``."""
    return _PACKAGE if (_PACKAGE / "aqm.h").is_file() else _CHECKOUT


def names() -> list[str]:
    """Return the names of the laws that are compiled."""
    return sorted(path.name.removesuffix(SUFFIX) for path in _PACKAGE.glob(f"*{SUFFIX}"))


def shipped(name: str) -> Object:
    """Return the compiled law of an algorithm.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in names():
        listed = ", ".join(names())
        cure = f"must be one of {listed}" if listed else "no law is compiled; make kernel-disciplines does it"
        raise ValueError(f"{name}: {cure}, or a class in a file, FILE.py:CLASS")
    return Object(_PACKAGE / f"{name}{SUFFIX}")


def compiled(source: Path, out: Path) -> Object:
    """Compile a law for the kernel, in the folder `out`.

    Raises
    ------
    ValueError
        If there is no compiler, or it refuses the law.
    """
    command = ["bash", str(headers() / COMPILER), str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{source}: {done.stderr.strip()}")
    return Object(out / f"{source.stem}{SUFFIX}")
