"""RAQM's model: periods to settle by the gain (section 2), and the equilibrium of the queue with Padhye's flows."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.measures import Q0

if TYPE_CHECKING:
    from aqmlab.theory.raqm.balance import Balance

GAINS = (0.5, 1.0, 2.0, 3.0, 3.8, 3.99)
"""Gains alpha r0 in the paper's range, 0 to 4."""
R0 = 10e6 / 8
"""The expected rate in the simulations (bytes/s)."""
STEPS = 200
"""Number of periods to follow: the length of the paper's simulations at T = 1 s."""


def periods_to_settle(*, m: float | None = None, eps: float | None = None, weight: float = 0.0) -> float:
    """Return the periods from half of r0 to within 1 % of it, NaN if more than `STEPS`."""
    from aqmlab.theory.raqm import smoothed

    taken = smoothed.steps_to_settle(m=m, eps=eps, weight=weight, most=STEPS)
    return float("nan") if taken is None else float(taken)


def stability_limit() -> float:
    """Return the least gain, to 0.01, from which a small distance to r0 no longer shrinks."""
    from aqmlab.theory.raqm import map

    gains = np.arange(0.01, 8, 0.01)
    return float(gains[np.argmax([abs(map.factor(m)) >= 1 - 1e-9 for m in gains.tolist()])])


def fastest_gain() -> float:
    """Return the gain, to 0.01, that shrinks a small distance to r0 most."""
    from aqmlab.theory.raqm import map

    gains = np.arange(0.01, 4, 0.01)
    return float(gains[np.argmin([abs(map.factor(m)) for m in gains.tolist()])])


GROUPS = {"case1": (30.0,), "case2": (210.0,), "case3": (30.0, 110.0, 210.0, 310.0, 410.0)}
"""Round-trip times without the queue (ms), each of equally many flows."""
CARRIED = 2500.0
"""Link capacity (packets/s)."""


@cache
def at_rest(case: str, flows: float) -> Balance:
    """Return the equilibrium of the model of the queue and Padhye's flows in a case."""
    from aqmlab.theory.domain import remarks
    from aqmlab.theory.raqm import balance
    from aqmlab.theory.tcp import padhye

    groups = np.array(GROUPS[case]) / 1e3
    with remarks():  # it warns that the model excludes synchronised flows; so does the table's caption
        return balance.equilibrium(flows / len(groups), groups, CARRIED, q0=Q0, Q=100, rate=partial(padhye, full=True))
