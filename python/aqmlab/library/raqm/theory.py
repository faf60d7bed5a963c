"""RAQM's model: the procedures of figure 1, periods to settle by the gain, and the rest with Padhye's flows."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.measures import Q0, Array

if TYPE_CHECKING:
    from aqmlab.theory.raqm.balance import Balance

GAINS = (0.5, 1.0, 2.0, 3.0, 3.8, 3.99)
"""Gains alpha r0 in the paper's range, 0 to 4."""
R0 = 10e6 / 8
"""The expected rate in the simulations (bytes/s)."""
STEPS = 200
"""Number of periods to follow: the length of the paper's simulations at T = 1 s."""


def followed(arrivals: Array, *, eps: float = 0.9, weight: float = 0.1) -> Array:
    """Return p_k at the end of each second by figure 1, from the packets that arrived in each half second."""
    from aqmlab.theory import raqm
    from aqmlab.theory.raqm import map

    found, p = [], 2e-4
    rates = raqm.rate_estimate(500 * arrivals[: len(arrivals) // 2 * 2].reshape(-1, 2).sum(axis=1), 1.0, weight)
    for k, rate in enumerate(rates.tolist()):
        x = rate / R0
        bound = min(float(map.c(x)), 20.0) if 0 < x < 2 else 4.0
        alpha = (2.0 if k == 0 else eps * bound) / R0
        p = max(float(raqm.next_probability(p, rate, R0, alpha)), 1e-6)
        found.append(p)
    return np.array(found)


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
