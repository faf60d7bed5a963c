"""Flows whose packets are dropped with a fixed probability: their queue, or their utilisation of the link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import positive, probability, remarks
from aqmlab.theory.tcp.rate import RateFunction, padhye, warn_of_high_loss


@dataclass(frozen=True, kw_only=True)
class FixedDrop(Answer):
    """Equilibrium of flows whose packets are dropped with a probability that does not depend on the queue.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    queue : float
        Packets waiting; 0 if the flows do not fill the link.
    utilisation : float
        Fraction of time in which the link sends.
    window : float
        Mean window of a flow (packets).
    rtt : float
        Mean round-trip time of a flow, the queue included (s).
    """

    queue: float
    utilisation: float
    window: float
    rtt: float


def equilibrium(
    N: ArrayLike, p: float, C: float, Tp: ArrayLike, rate: RateFunction = padhye, drops_carried: bool = False
) -> FixedDrop:
    """Return the queue of flows under a fixed drop probability, or the utilisation if they do not fill the link.

    Parameters
    ----------
    N : array_like
        Flows of each group; shape (groups,) or a number for all groups.
    p : float
        Probability that a packet is dropped before it enters the queue, in (0, 1).
    C : float
        Link capacity (packets/s).
    Tp : array_like
        Round-trip time (s) of each group without the queue; shape (groups,).
    rate : callable
        ``rate(p, R)`` returns the packets per second of one flow, as for `tcp.equilibrium_loss`.
    drops_carried : bool
        Whether dropped packets count as carried, as in RED+Tail's eqs. (5) to (9).

    Returns
    -------
    FixedDrop
        Queue, utilisation, window and round-trip time; a warning where formulas of TCP's rate are not meant for p.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The queue q solves (1 - p) sum of N rate(p, Tp + q/C) = C. If all groups have the same Tp and a window w that
    depends on p alone, q = (1 - p) N w - C Tp, or N w - C Tp if drops count (RED+Tail, eq. (9)). This is a fluid's
    queue: without randomness there is none unless the link is full.
    """
    positive(N=N, C=C, Tp=Tp)
    probability(p=p)
    N, Tp = np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(Tp, dtype=float))
    kept = 1.0 if drops_carried else 1 - p

    def carried(q: float) -> float:
        return kept * float(np.sum(N * np.asarray(rate(p, Tp + q / C)))) / C

    idle, most = carried(0), 1.0
    queue = 0.0
    if idle > 1:
        while carried(most) > 1:
            most *= 2
            if most > 1e15:
                raise ValueError(f"p = {p:g}: the flows send more than C = {C:g} packets/s however long the queue")
        queue = float(brentq(lambda q: carried(q) - 1, 0, most, xtol=1e-12, rtol=1e-14))
    R = Tp + queue / C
    with remarks() as warned:
        warn_of_high_loss(p)
    return FixedDrop(
        warnings=tuple(warned),
        queue=queue,
        utilisation=min(1.0, idle),
        window=float(np.average(np.asarray(rate(p, R)) * R, weights=N)),
        rtt=float(np.average(R, weights=N)),
    )
