"""How near to the kernel is near enough; docs/internals/fidelity.md says why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from oracle.linux.reference import Point
from oracle.reference import Measured
from oracle.verdict import Check

FEWEST_FIFO, FEWEST_VARIED, FEWEST_OFFLOAD, FEWEST_DISCIPLINES = 0.90, 0.85, 0.90, 0.85
"""The part of the checks that has to pass where the senders alone decide, on paths that vary, where hosts offload, and
with the kernel's disciplines."""

FEW = 2
"""Flows up to which single events are compared: of more, sums say all."""

KNOWN = {
    ("sfb_cubic_10m_40ms_n1", "util"),
    ("netem_normal5_bbr", "drops"),
    ("netem_normal5_bbr", "retransmits"),
}
"""Checks that may be far off: docs/internals/fidelity.md has the experiments, and the cause as far as it is known."""


@dataclass(frozen=True)
class Tolerance:
    """The larger counts: a part of the kernel's mean, or an amount and so many standard errors of that mean."""

    relative: float = 0.0
    absolute: float = 0.0
    errors: float = 0.0

    def around(self, theirs: Measured) -> float:
        return max(self.relative * abs(theirs.mean), self.absolute + self.errors * theirs.error)


# A few events more or less are chance, in few seeds.
_EVENTS = Tolerance(0.20, 10, errors=3)

CLOSED = {
    "util": Tolerance(absolute=0.01),
    "drops": _EVENTS,
    "q_mean": Tolerance(0.10, 1.5),
    "delay_p95": Tolerance(0.15, 2.0),
    "acks": Tolerance(0.05),
}
OF_FEW_FLOWS = {"timeouts": Tolerance(absolute=2), "retransmits": _EVENTS, "period": Tolerance(0.10)}
SHARE = Tolerance(absolute=0.05)
OPEN = {
    "lost": Tolerance(0.05, 10),
    "marked": Tolerance(0.05, 10),
    "delay_mean": Tolerance(0.05, 0.2),
    "delay_p95": Tolerance(0.05, 0.5),
}


def checks(point: Point, theirs: Mapping[str, Measured], ours: Mapping[str, Measured]) -> Iterator[Check]:
    """Compare what both have: a period is known only where windows were sampled."""
    for metric, measured in theirs.items():
        tolerance = _tolerance(point, metric)
        if tolerance and metric in ours:
            yield Check(point.name, metric, measured.mean, ours[metric].mean, tolerance.around(measured))


def _tolerance(point: Point, metric: str) -> Tolerance | None:
    if point.open_loop:
        return OPEN[metric]
    if metric.startswith("share_"):
        return SHARE
    if point.varied and metric in CLOSED:
        # Single losses and early packets decide, which differ from seed to seed.
        return replace(CLOSED[metric], errors=3)
    return CLOSED.get(metric) or (OF_FEW_FLOWS.get(metric) if point.flows <= FEW else None)
