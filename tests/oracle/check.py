"""How near is near enough; docs/internals/fidelity.md says why."""

from collections.abc import Iterator, Mapping

from oracle.reference import Measured, Row
from oracle.verdict import Check
from oracle.window import period

FEWEST = 0.95
"""The part of the checks that has to pass."""

ERRORS = 3.0
"""Standard errors of ns-2's mean that count as chance."""

# Relative, absolute: the larger counts.
TOLERANCES = {
    "goodput": (0.01, 0.0),
    "util": (0.0, 0.005),
    "loss": (0.05, 0.002),
    "q_mean": (0.04, 2.5),
    "q_mad": (0.12, 1.5),
    "timeouts": (0.10, 0.0),
}
OF_ONE_FLOW = {
    "goodput": (0.02, 0.0),
    "util": (0.0, 0.005),
    "q_mean": (0.04, 2.5),
    "q_mad": (0.12, 1.5),
    "drops": (0.05, 2.0),
    "period": (0.03, 0.0),
}
# ns-2's TFRC is that of RFC 3448 with changes, ours that of RFC 5348.
OF_TFRC = {
    "goodput_tfrc": (0.10, 0.0),
    "goodput_tcp": (0.10, 0.0),
    "util": (0.0, 0.02),
    "loss": (0.10, 0.002),
    "q_mean": (0.10, 2.5),
    "q_mad": (0.15, 1.5),
}


def checks(row: Row, ours: Mapping[str, float]) -> Iterator[Check]:
    tolerances = OF_TFRC if row.keys["n_tfrc"] != "0" else OF_ONE_FLOW if row.one_flow else TOLERANCES
    for metric, (relative, absolute) in tolerances.items():
        theirs = _period(row) if metric == "period" else row.metrics.get(metric)
        if theirs is None:
            continue
        tolerance = max(relative * abs(theirs.mean), absolute, ERRORS * theirs.error)
        yield Check(row.name, metric, theirs.mean, ours[metric], tolerance)


def _period(row: Row) -> Measured | None:
    length = period(row.window or [])
    return None if length is None else Measured(length)
