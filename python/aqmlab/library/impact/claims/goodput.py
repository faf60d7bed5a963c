"""Claims on goodput and loss with tail drop and RED: sections I, II, and III-A parts 1 and 2."""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    GOODPUT,
    GREEDY,
    HIT,
    MIXED,
    RED,
    SAME,
    SIGNIFICANT,
    TCP_ONLY,
    TD,
    TENTH,
    UDP_LOSS,
    At,
    Quantity,
    load,
    tcp_goodput,
    tcp_loss,
)
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

TICK = Tolerance(0.05, "Mbit/s", "the distance of two ticks on Fig. 4's axis")
LEVELS = Tolerance(0, "", "the printed axis, within which all bars are")
FIRST = Tolerance(0, "%", "the loss that max_p allows, as an exact bound")
COUNTED = Tolerance(0, "", "above 1 is said without a number")
SPARED = Tolerance(0.1, "%", "a thousandth of the time, for which no figure is printed")


def _at(runs: Runs, quantity: Quantity, label: str, at: At | None = None) -> PerSeed:
    return runs.per_seed(**quantity, label=label, at=at)


def _compared(
    runs: Runs, name: str, at: At, quantity: Quantity, one: str, other: str, better: str, tolerance: Tolerance
) -> Check:
    """Compare a quantity of two disciplines at one of the paper's experiments."""
    (check,) = runs.compare(
        **{**quantity, "name": f"{name}: {quantity['name']}"},
        subject=one,
        others=[other],
        at=at,
        better=better,
        tolerance=tolerance,
    )
    return check
