"""RED+Tail's queue of long flows at a constant drop probability: a map from slot to slot, and its equilibrium.

Symbols, beside those of `aqmlab.theory`:

* q: queue, or queues at which to check (packets); q0: initial queue.
* B: buffer (packets), None for no limit; steps: number of slots.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import not_negative, positive

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class SlotMap:
    """N flows with constant windows, W / (d_k + q/C) packets/s each, share one queue, sampled every S seconds.

    RED+Tail, eqs. (2) to (14). The queue moves by q+ = min(B, max(0, f(q))), with
    f(q) = q + S (sum of W C / (q + d_k C) - C).

    * C: link capacity (packets/s).
    * d: round-trip time without the queue (s), common to all flows, or of each, shape (N,).
    * N: flows.
    * W: the mean window of a flow (packets).
    * S: the slot (s); None for the round-trip time at the equilibrium.
    """

    C: float
    d: ArrayLike
    N: float
    W: float
    S: float | None = None

    def __post_init__(self) -> None:
        positive(C=self.C, d=self.d, N=self.N, W=self.W)
        if self.S is not None:
            positive(S=self.S)
        shape = np.shape(self.d)
        if shape not in ((), (1,), (self.N,)):
            raise ValueError(f"d of shape {shape}: must be one number, or N = {self.N:g} of them, one a flow")

    @cached_property
    def delays(self) -> Array:
        """Distinct round-trip times without the queue, s; shape (groups,)."""
        return np.unique(np.asarray(self.d, dtype=float))

    @cached_property
    def flows(self) -> Array:
        """Number of flows with each of them; shape (groups,)."""
        d = np.atleast_1d(np.asarray(self.d, dtype=float))
        return np.asarray(np.unique(d, return_counts=True)[1] * (self.N / d.size), dtype=float)

    @property
    def demand(self) -> float:
        """Rate of the flows at an empty queue, packets/s; eq. (8) requires at least C."""
        return float(np.sum(self.flows * self.W / self.delays))

    @cached_property
    def q_e(self) -> float:
        """The queue at which the flows' rate is the link's capacity, packets: eq. (9); ValueError if (8) fails."""
        if self.demand < self.C:
            raise ValueError(
                f"W = {self.W:g}: the flows send {self.demand:g} packets/s into an empty queue, less than "
                f"C = {self.C:g}: eq. (8) fails, there is no queue. Take more flows, a larger W (a lower P), or less C"
            )
        least, most = ((self.rtt - d) * self.C for d in (self.delays.max(), self.delays.min()))
        if most - least <= 1e-12 * abs(most):
            return max(0.0, float(most))
        return float(brentq(lambda q: self._rate(q) - self.C, max(0.0, least), most, xtol=1e-12, rtol=1e-14))

    @property
    def rtt(self) -> float:
        """N W / C, s: the round-trip time at q_e; the harmonic mean if flows differ."""
        return self.N * self.W / self.C

    @property
    def slot(self) -> float:
        """S, s."""
        return self.rtt if self.S is None else self.S

    def f(self, q: ArrayLike) -> Array:
        """Return the queue one slot later (packets), without noise and boundaries: eq. (6)."""
        not_negative(q=q)
        q = np.asarray(q, dtype=float)
        return np.asarray(q + self.slot * (self._rate(q) - self.C))

    def slope(self, q: ArrayLike) -> Array:
        """Return f', eq. (13): 1 - S sum of W C / (q + d_k C)^2."""
        not_negative(q=q)
        return np.asarray(1 - self.slot * self._sum(q, 2))

    def curvature(self, q: ArrayLike) -> Array:
        """Return f'', eq. (11): S sum of 2 W C / (q + d_k C)^3, per packet."""
        not_negative(q=q)
        return np.asarray(2 * self.slot * self._sum(q, 3))

    def contraction_limit(self) -> float:
        """Return the S below which f contracts everywhere, f'(0) > -1, eq. (10): 2 C / (W sum of d_k^-2), s."""
        return float(2 / self._sum(0.0, 2))

    def monotone_limit(self) -> float:
        """Return the S up to which f'(q_e) is not negative, and q_e therefore globally stable: Proposition 6.2.

        1 / sum of W C / (q_e + d_k C)^2, s; the round-trip time if all flows have the same.
        """
        return float(1 / self._sum(self.q_e, 2))

    def sufficient_limit(self) -> float:
        """Return an S that is at most `monotone_limit`, from the longest round-trip time alone: after Proposition 6.2.

        1 / (C/W - W C N (N - 1) / (q_e + C max d_k)^2), s, with the factors W C and C, which are missing in print.
        """
        longest = self.q_e + self.C * float(self.delays.max())
        return float(1 / (self.C / self.W - self.W * self.C * self.N * (self.N - 1) / longest**2))

    def nearer(self, q: ArrayLike) -> NDArray[np.bool_]:
        """Check the inequality that the proof of Proposition 6.2 states: ``|f(q) - q_e| <= |q - q_e|``."""
        q = np.asarray(q, dtype=float)
        return np.asarray(np.abs(self.f(q) - self.q_e) <= np.abs(q - self.q_e))

    def settles(self, q: ArrayLike) -> NDArray[np.bool_]:
        """Check the inequalities that prove Proposition 6.2: f(q) > q below q_e, and q_e <= f(q) < q above it."""
        q, q_e = np.asarray(q, dtype=float), self.q_e
        then = self.f(q)
        # f is convex with f(q_e) = q_e: violations within rounding do not count.
        slack = 1e-9 * (1 + q_e)
        below, above = then > q - slack, (then >= q_e - slack) & (then < q + slack)
        return np.asarray(np.where(q < q_e, below, above))

    def orbit(self, q0: float, steps: int, B: float | None = None) -> Array:
        """Follow the queue without noise from q0 on, eq. (4), or (5) if ``B`` is None: packets, shape (steps + 1,)."""
        not_negative(q0=q0, steps=steps)
        most = np.inf if B is None else whole_buffer(B)
        found = [float(q0)]
        for _ in range(steps):
            found.append(float(np.clip(self.f(found[-1]), 0, most)))
        return np.array(found)

    def _rate(self, q: ArrayLike) -> Array:
        """Return the total rate of the flows at a queue, packets/s."""
        return np.asarray(self._sum(q, 1))

    def _sum(self, q: ArrayLike, power: int) -> Array:
        """Return the sum of W C / (q + d_k C)^power."""
        q = np.asarray(q, dtype=float)
        total = np.zeros(q.shape)
        for flows, d in zip(self.flows, self.delays, strict=True):
            total += flows * self.W * self.C / (q + d * self.C) ** power
        return total


def whole_buffer(B: float) -> float:
    """Return a buffer; ValueError if it is smaller than a packet."""
    positive(B=B)
    if B < 1:
        raise ValueError(f"B = {B:g}: must be at least one packet")
    return float(B)
