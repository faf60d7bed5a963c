"""RAQM's model: the procedures of figure 1, periods to settle by the gain, and the rest with Padhye's flows."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab_papers.raqm.measures import Q0, Array
from aqmlab_papers.theory import raqm
from aqmlab_papers.theory.raqm import map, smoothed

if TYPE_CHECKING:
    import polars

    from aqmlab_papers.theory.raqm.balance import Balance

GAINS = (0.5, 1.0, 2.0, 3.0, 3.8, 3.99)
"""Gains alpha r0 in the paper's range, 0 to 4."""
R0 = 10e6 / 8
"""The expected rate in the simulations (bytes/s)."""
STEPS = 200
"""Number of periods to follow: the length of the paper's simulations at T = 1 s."""


FOLLOWED = 50.0
"""The time (s) from which runs are followed by figure 1: before, packets of 40 bytes open the connections, which is
tried again after 3, 9, 21 and 45 s if they are lost.
"""


def followed(frame: polars.DataFrame, *, eps: float = 0.9, weight: float = 0.1) -> tuple[Array, Array, Array]:
    """Follow lines 1 to 5 of figure 1 by the arrivals of a run, from its rate and p_k at `FOLLOWED` on.

    Return the times (s) at which p_k changes, p_k, and that of the run.
    """
    after = frame.filter(frame["t"] >= FOLLOWED - 1e-9)
    p, r = float(after["p_1.mean"][0]), float(after["r.mean"][0]) * R0
    arrivals, theirs = (after[name].to_numpy()[: len(after) // 2 * 2] for name in ("arrivals", "p_1.mean"))
    found = []
    for rate in raqm.rate_estimate(500 * arrivals.reshape(-1, 2).sum(axis=1), 1.0, weight, r).tolist():
        x = rate / R0
        alpha = eps * (min(float(map.c(x)), 20.0) if 0 < x < 2 else 4.0) / R0
        p = max(float(raqm.next_probability(p, rate, R0, alpha)), 1e-6)
        found.append(p)
    times = FOLLOWED + 1 + np.arange(len(found) - 1, dtype=float)
    return times, np.array(found[:-1], dtype=float), theirs[3::2].astype(float)


def periods_to_settle(
    *, m: float | None = None, eps: float | None = None, weight: float = 0.0, most: int = STEPS
) -> float:
    """Return the periods from half of r0 to within 1 % of it, NaN if more than ``most``."""
    taken = smoothed.steps_to_settle(m=m, eps=eps, weight=weight, most=most)
    return float("nan") if taken is None else float(taken)


def stability_limit() -> float:
    """Return the least gain, to 0.01, from which a small distance to r0 no longer shrinks."""
    gains = np.arange(0.01, 8, 0.01)
    return float(gains[np.argmax([abs(map.factor(m)) >= 1 - 1e-9 for m in gains.tolist()])])


def fastest_gain() -> float:
    """Return the gain, to 0.01, that shrinks a small distance to r0 most."""
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
    from aqmlab.theory.tcp import padhye
    from aqmlab_papers.theory.raqm import balance

    groups = np.array(GROUPS[case]) / 1e3
    with remarks():  # it warns that the model excludes synchronised flows; so does the table's caption
        return balance.equilibrium(flows / len(groups), groups, CARRIED, q0=Q0, Q=100, rate=partial(padhye, full=True))
