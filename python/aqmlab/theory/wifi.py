"""Contention for a wireless medium: Bianchi's saturation throughput.

Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function", IEEE JSAC 18(3), 2000. Every
station always has a packet to send, all hear each other, and only collisions fail. A station is at one of W 2^min(i, m)
slots after i failures, and meets another in each of its slots with the same probability p, whatever its history.

Symbols, beside those of `aqmlab.theory`:

* n: stations, at least 1.
* W: slots among which a station draws its wait after a success, the smallest contention window plus 1.
* m: doublings of W up to the largest contention window.
* tau: probability that a station sends in a slot.
* p: probability that another one sends in the same slot, so that both fail.
* slot, success, collision: how long a slot lasts in which no station sends, one does, or several do (s).
* payload: bits that a successful transmission carries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import not_negative, positive, whole

Array = NDArray[np.float64]


def attempt(p: ArrayLike, W: float, m: int) -> Array:
    """Return tau of a station that fails with probability p: (7), without its pole at p = 1/2."""
    doubled = 2 * np.asarray(p, dtype=float)
    return np.asarray(2 / (1 + W + W * doubled / 2 * sum(doubled**i for i in range(m))))


def collisions(n: int, W: float, m: int) -> float:
    """Return p, the fixed point of (7) and (9): p = 1 - (1 - tau(p))^(n - 1)."""
    whole(n=n)
    positive(W=W)
    not_negative(m=m)
    if n == 1:
        return 0.0
    return float(brentq(lambda p: p - 1 + (1 - attempt(p, W, m)) ** (n - 1), 0, 1))


def throughput(n: int, W: float, m: int, *, payload: float, slot: float, success: float, collision: float) -> float:
    """Return the bits per second that all stations together carry: (13).

    A ``success`` and a ``collision`` last until the next slot may begin, with all gaps. Of an aggregate, they are what
    it takes as a whole, and the payload is that of all its packets.
    """
    positive(payload=payload, slot=slot, success=success, collision=collision)
    tau = float(attempt(collisions(n, W, m), W, m))
    idle, one = (1 - tau) ** n, n * tau * (1 - tau) ** (n - 1)
    return one * payload / (idle * slot + one * success + (1 - idle - one) * collision)
