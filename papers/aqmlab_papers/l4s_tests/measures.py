"""The published rows, and the quantities read from runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars

from aqmlab_papers import At, Evidence, PerSeed, Runs, Tolerance
from aqmlab_papers.describe.library import published

Pair = tuple[str, int, str, int]
"""Congestion control and round trip (ms) of the first flow, then of the second."""
Trips = Sequence[tuple[int, int]]
"""Round trips (ms) of the two flows."""

TCPS = {
    "prague": "prague:virtual_rtt=10 us",
    "prague-now": "prague",
    "cubic": "cubic:ecn=true",
    "cubic-ecn": "cubic:ecn=true",
    "cubic-noecn": "cubic",
    "reno-ecn": "linux:congestion=reno,ecn=true",
    "reno-noecn": "linux:congestion=reno",
}
"""Our TCPs by their names in the tables; `prague-now` has its present virtual round trip."""

FIRST = polars.col("classes.first.goodput")
SECOND = polars.col("classes.second.goodput")
SHARE = FIRST / (FIRST + SECOND)
"""The first flow's part of what both get."""

SAME = Tolerance(0.08, "", "each row is one run; of pairs that were run in both orders one differs by 0.10")


@dataclass(frozen=True)
class Row:
    """A row of the tables: its experiment, the discipline by its name there, the flows, their goodputs (Mbit/s)."""

    experiment: str
    qdisc: str
    flows: Pair
    goodputs: tuple[float, float]

    @property
    def queue(self) -> str:
        """The discipline without its parameters."""
        return self.qdisc.partition("(")[0]

    @property
    def label(self) -> str:
        """The label of our discipline: there is no CodelAF here, and FQ-CoDel stands for it."""
        own = self.qdisc if self.experiment == "rfc3168" else self.queue
        return "fq_codel" if own == "cnq_codel_af" else own

    @property
    def share(self) -> float:
        """The first flow's part of what both get."""
        return self.goodputs[0] / sum(self.goodputs)

    @property
    def name(self) -> str:
        """The row as text."""
        first, one, second, other = self.flows
        rate = "50" if self.experiment == "rfc3168" else self.experiment.removeprefix("fairness-")
        return f"{first} ({one} ms) beside {second} ({other} ms), {self.qdisc}, {rate} Mbit/s"


def _row(row: dict[str, str]) -> Row:
    flows = (row["cc1"], int(row["rtt1_ms"]), row["cc2"], int(row["rtt2_ms"]))
    experiment = "rfc3168" if row["scenario"] == "rfc3168" else f"fairness-{row['rate_mbit']}"
    return Row(experiment, row["qdisc"], flows, (float(row["goodput1_mbit"]), float(row["goodput2_mbit"])))


PUBLISHED = [_row(row) for row in published(__package__)]


def pair(trip: tuple[int, int], first: str, second: str) -> Pair:
    """Return the pair of two flows with round trips."""
    return first, trip[0], second, trip[1]


def points(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """Return the settings of pairs of flows, for the method ``paired``."""
    chosen = list(pairs)
    return {
        "traffic.first.tcp": [TCPS[first] for first, _, _, _ in chosen],
        "link.first.delay": [f"{one / 2:g} ms" for _, one, _, _ in chosen],
        "traffic.second.tcp": [TCPS[second] for _, _, second, _ in chosen],
        "link.second.delay": [f"{other / 2:g} ms" for _, _, _, other in chosen],
    }


def at(flows: Pair) -> At:
    """Return the point of a pair of flows."""
    first, one, second, other = flows
    return {
        "traffic.first.tcp": TCPS[first],
        "link.first.delay": one / 2e3,
        "traffic.second.tcp": TCPS[second],
        "link.second.delay": other / 2e3,
    }


def has(runs: Runs, flows: Pair) -> bool:
    """Check whether an experiment has a pair of flows: with fewer points it lacks some."""
    where = at(flows)
    return tuple(where.values()) in set(runs.frame.select(*where).iter_rows())


def share(runs: Runs, label: str, flows: Pair) -> PerSeed:
    """Return the first flow's part of what a pair of flows gets."""
    return runs.per_seed(SHARE, label, at(flows))


def repeated(evidence: Evidence, *qdiscs: str) -> list[Row]:
    """List the rows of some disciplines, by default of all, that the runs repeat."""
    return [
        row for row in PUBLISHED if row.qdisc in (qdiscs or (row.qdisc,)) and has(evidence[row.experiment], row.flows)
    ]


def shared(evidence: Evidence, row: Row) -> PerSeed:
    """Return our share for a row."""
    return share(evidence[row.experiment], row.label, row.flows)
