"""What the modules of the systems share: a system, its lines, and the reason why there are none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.advice.kernel import FRAME, base

if TYPE_CHECKING:
    from aqmlab.advice.configuration import Configuration, Half

FULL = "The rate is that of full packets without the headers of the link: shorter ones leave less of its reserve."
"""A note for shapers whose count of the link's headers is not documented, or none."""


class Lacking(Exception):  # noqa: N818  an answer, not a failure
    """Raised for a discipline that a system does not have, with the reason."""


@dataclass(frozen=True)
class Lines:
    """Lines to paste, and what a reader should know of them."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Router:
    """A system: the name that users type, its title, the file of its lines, and their writer.

    `disciplines` are those of Linux that it has, and `manual` is the document whose grammar the lines have. `write`
    raises `Lacking` where the values are out of its range.
    """

    name: str
    title: str
    file: str
    disciplines: tuple[str, ...]
    manual: str
    write: Callable[[Configuration], Lines]

    def lines(self, configuration: Configuration) -> Lines:
        """Return the lines of a configuration; raise `Lacking` if the system cannot have it."""
        if configuration.kernel not in self.disciplines:
            raise Lacking(f"{self.title} has no {configuration.kernel}, only {', '.join(self.disciplines)}")
        return self.write(configuration)


def micros(half: Half, key: str) -> int:
    """Return a time of a discipline in µs."""
    return round(base(half.values[key]) * 1e6)


def octets(half: Half, key: str) -> int:
    """Return a size of a discipline in bytes."""
    return round(base(half.values[key]))


def full_packets(size: float) -> int:
    """Return how many full packets have this many bytes, at least one."""
    return max(math.ceil(size / FRAME), 1)


def weight(half: Half) -> int:
    """Return the exponent of the weight of RED's average, 2^-n, as tc derives it from ``burst``."""
    burst = half.values["burst"]
    room = burst + 1 - octets(half, "min_bytes") / octets(half, "mean_packet")
    for exponent in range(1, 32):
        part = 2.0**-exponent
        if room <= (1 - (1 - part) ** burst) / part:
            return exponent
    raise Lacking(f"no weight of the average admits a burst of {burst} packets")
