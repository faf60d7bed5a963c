"""The published numbers, and the quantities read from runs."""

import math
from dataclasses import dataclass

import polars

from aqmlab_papers import PerSeed, Runs, Tolerance
from aqmlab_papers.describe.library import published

MODES = ("flowblind", "flows", "hosts", "srchost", "dual-srchost", "dsthost", "dual-dsthost", "triple-isolate")
FILTERS = ("off", "on", "aggressive")
FLOWS = (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
QUEUES = 1024
"""The queues of CAKE and of FQ-CoDel."""
WAYS = 8
"""The queues of which CAKE can choose one for a flow."""

PAYLOAD = 1448 / 1514
"""The part of a segment on the wire that is payload, with time stamps and Ethernet's header."""

SAME = Tolerance(0.03, "", "each row is one run; four runs in one queue differ by up to 0.02, five of ours by more")


def goodput(name: str) -> polars.Expr:
    """Return the goodput of an entry of traffic (bit/s)."""
    return polars.col(f"classes.{name}.goodput")


@dataclass(frozen=True)
class Row:
    """A row of `cake-flowiso`: sources or destinations, the flow mode, the goodputs (Mbit/s) of one flow and of two."""

    two: str
    mode: str
    goodputs: tuple[float, float]

    @property
    def share(self) -> float:
        """The part of both that the one flow gets."""
        return self.goodputs[0] / sum(self.goodputs)

    @property
    def name(self) -> str:
        """The row as text."""
        return f"{self.mode}, two {self.two}"


def _row(row: dict[str, str]) -> Row:
    return Row(row["two"], row["mode"], (float(row["one_mbit"]), float(row["two_mbit"])))


PUBLISHED = [_row(row) for row in published(__package__)]

ENTRIES = ("one", "two", "three", "four")
TRIPLE = (11.9, 12.0, 12.0, 11.9)
"""The goodputs (Mbit/s) of two flows each from three sources to two destinations, in the order of `ENTRIES`."""


def share(runs: Runs, mode: str) -> PerSeed:
    """Return the part of both that the one flow gets."""
    return runs.per_seed(goodput("one") / (goodput("one") + goodput("two")), mode)


def used(runs: Runs, label: str, rate: float, *names: str) -> PerSeed:
    """Return the part of a shaper's rate (bit/s) that segments of some entries take, with their headers."""
    return runs.per_seed(polars.sum_horizontal(goodput(name) for name in names) / (rate * PAYLOAD), label)


def together(runs: Runs, label: str, count: int) -> PerSeed:
    """Return the part (%) of a number of flows that lacks a queue of its own, by the queues in use."""
    signals = {"CAKE": ("sparse", "bulk"), "FQ-CoDel": ("flows",)}[label]

    def read(frame: polars.DataFrame) -> float:
        queues = frame.filter(polars.col("t") > 1).select(
            polars.sum_horizontal(polars.col(f"{name}.mean").cast(polars.Float64) for name in signals)
        )
        return 100 * (1 - float(queues.max().item()) / count)

    return runs.from_series(label, read, {"traffic.flows.count": count}, unit="%")


def expected(count: int, ways: int) -> float:
    """Return the expected part (%) of a number of flows that lacks a queue of its own, with a choice of several."""
    sets = QUEUES // ways
    terms = (
        min(hashed, ways) * math.comb(count, hashed) * (1 / sets) ** hashed * (1 - 1 / sets) ** (count - hashed)
        for hashed in range(1, 80)
    )
    return 100 * (1 - sets * math.fsum(terms) / count)
