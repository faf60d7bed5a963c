"""The published shares, and the quantities read from runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars

from aqmlab_papers import At, Evidence, PerSeed, Tolerance
from aqmlab_papers.describe.library import published
from aqmlab_papers.l4s_tests.measures import SHARE

BUFFERS = {0.5: 42, 1: 84, 2: 167, 4: 334, 8: 667}
"""The packets of each buffer by its number of bandwidth-delay products, those of 100 Mbit/s and 10 ms."""
MIDDLE = BUFFERS[2]
"""The buffer at which a flow of CUBIC takes Prague's place, and Prague's wait is judged."""
DEFAULT = 10_000
"""DualPI2's buffer, which the authors left as it was."""

SENDERS = {"cubic": "cubic", "cubic-ecn": "cubic:ecn=true", "bbr": "bbr", "bbr3": "bbr3"}
"""The flows beside Prague's."""
PRAGUES = {
    "prague": "prague",
    "fallback": "prague:classic_fallback=true",
    "cubic": "cubic",
    "older": "prague:transition=500",
}
"""The first flows: Prague, Prague with its fallback, CUBIC in its place, and Prague with an older transition."""
JITTERED = {"0.5 ms": 5e-4, "1 ms": 1e-3}
"""The longest times that a packet of BBR waits in its host, as text and in seconds."""

WAIT = (polars.col("classes.first.delay_mean") - 5e-3) * 1e3
"""The first flow's mean time in the queue (ms): without a queue a packet takes 5 ms."""

SAME = Tolerance(0.1, "", "of 26 cells that another laboratory repeated three differ by more, by up to 0.12")


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map: the flows, the queue, its buffer in BDP (0: DualPI2's own) and Prague's share.

    The first flow is ``prague``, or with its fallback ``fallback``, which another laboratory ``repeated`` and
    ``repaired``.
    """

    first: str
    second: str
    queue: str
    bdp: float
    share: float

    @property
    def experiment(self) -> str:
        """The name of the experiment that has it."""
        if not self.bdp:
            return "dualpi2"
        return "buffers" if self.first == "prague" else "fallback"

    @property
    def at(self) -> At:
        """Its point."""
        return at("prague" if self.first == "prague" else "fallback", self.second, BUFFERS.get(self.bdp, DEFAULT))

    @property
    def name(self) -> str:
        """The cell as text."""
        return f"beside {self.second}, {self.queue}" + (f", {self.bdp:g} BDP" if self.bdp else "")


def at(first: str, second: str, buffer: int) -> At:
    """Return the point of two flows and a buffer (packets)."""
    return {
        "traffic.first.tcp": PRAGUES[first],
        "traffic.second.tcp": SENDERS[second],
        "link.bottleneck.buffer": buffer,
    }


def _cells() -> Iterator[Cell]:
    """Read the heat maps; DualPI2's columns, which have one buffer, become their mean."""
    for row in published(__package__):
        shares = {bdp: float(row[f"{bdp:g}"]) for bdp in BUFFERS}
        if row["queue"] == "DualPI2":
            shares = {0.0: sum(shares.values()) / len(shares)}
        for bdp, share in shares.items():
            yield Cell(row["first"], row["second"], row["queue"], bdp, round(share, 3))


PUBLISHED = list(_cells())
"""The means of ten runs: from the files of throughputs in `fatihsarpkaya/L4S-PAM2025`, which the heat maps show, and
Hagen's from the data of `Greenscreen23/prague-fallback-experiments`."""


def repeated(evidence: Evidence, first: str, queue: str | None = None) -> list[Cell]:
    """List the cells of a first flow, and of a queue, by default of all, that the runs repeat."""
    return [
        one
        for one in PUBLISHED
        if one.first == first
        and one.queue == (queue or one.queue)
        and one.experiment in evidence
        and evidence[one.experiment].cells(one.queue, one.at)
    ]


def share(evidence: Evidence, cell: Cell) -> PerSeed:
    """Return our share for a cell."""
    return evidence[cell.experiment].per_seed(SHARE, cell.queue, cell.at)


def middle(evidence: Evidence, quantity: polars.Expr, first: str, second: str, queue: str, unit: str = "") -> PerSeed:
    """Return a quantity of two flows behind a queue with the middle buffer, or behind DualPI2."""
    name, buffer = "buffers" if first == "prague" else "instead", MIDDLE
    if queue == "DualPI2":
        name, buffer = "dualpi2", DEFAULT
    return evidence[name].per_seed(quantity, queue, at(first, second, buffer), unit=unit)
