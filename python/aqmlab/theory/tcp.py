"""The rate of TCP flows with random losses: the square-root law, Padhye's model, and the loss of a queue.

Symbols, beside those of `aqmlab.theory`:

* p: probability that a packet is lost; in Padhye's model, that it is the first loss of its round, and the rest of it
  lost.
* full: whether to use the full model, (28) and (32), instead of the common approximation, (30) and (33).
* law, rate: ``law(p, R)``, the packets per second of a flow, which falls in p; by default `padhye` with T0 = 1 s,
  otherwise for example ``functools.partial(padhye, T0=0.2, b=2, W_max=20)``; in `loss`, the rate itself (packets/s).
* load: unresponsive traffic such as UDP (packets/s), which loses the same fraction as the flows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, limit, not_negative, positive, probability

Array = NDArray[np.float64]

# A flow's rate (packets/s) as a function of its loss p and its round-trip time R.
RateFunction = Callable[[float, Array], ArrayLike]


def square_root(p: ArrayLike, R: ArrayLike, b: ArrayLike = 1, W_max: ArrayLike = inf) -> Array:
    """Return the rate of a flow in congestion avoidance that loses every (1/p)-th packet.

    Assumes a regular sawtooth between W/2 and W, in which the window grows by a packet in ``b`` round trips, and no
    time-outs.

    Packets per second: sqrt(3/(2 b p)) / R, or W_max/(R (1 + b p W_max^2/8)) where W_max is below the sawtooth's peak
    sqrt(8/(3 b p)). Mathis, Semke, Mahdavi and Ott 1997. Accurate to about 5 % below p = 0.01; above, time-outs
    dominate.
    """
    probability(p=p)
    positive(R=R, b=b)
    limit(W_max=W_max)
    p, R, b, W_max = (np.asarray(value, dtype=float) for value in (p, R, b, W_max))
    peak = np.sqrt(8 / (3 * b * p))
    w = np.minimum(W_max, peak)
    return np.asarray(np.where(W_max < peak, w / (1 + b * p * w**2 / 8), 0.75 * peak) / R)


def window(p: ArrayLike, b: ArrayLike = 1) -> Array:
    """Return the mean window of a flow that loses every (1/p)-th packet and never times out.

    Packets: sqrt(3/(2 b p)), which `square_root` sends in a round trip. LRED's eq. (6), RED+Tail's W, Mathis's law.
    """
    return square_root(p, 1.0, b)


def peak_window(p: ArrayLike, b: ArrayLike = 1) -> Array:
    """Return the mean window at which Padhye's flow loses a packet.

    E(W_u), packets; three quarters of it is the mean between losses. Padhye et al. 1998, eq. (13): the window not
    limited by the receiver.
    """
    probability(p=p)
    positive(b=b)
    p, b = np.asarray(p, dtype=float), np.asarray(b, dtype=float)
    least = (2 + b) / (3 * b)
    return np.asarray(least + np.sqrt(8 * (1 - p) / (3 * b * p) + least**2))


def times_out(p: ArrayLike, w: ArrayLike) -> Array:
    """Return the probability that a loss in a window of w packets ends in a time-out, not in three duplicate ACKs.

    It is 1 for windows up to 3 and about 3/w for small p. Padhye et al. 1998, eq. (24); Cardwell et al. 2000, eq. (17).
    """
    probability(p=p)
    positive(w=w)
    p, w = np.asarray(p, dtype=float), np.asarray(w, dtype=float)
    # expm1 computes powers of 1 - p minus 1, which would cancel for small p.
    log = np.log1p(-p)
    three, whole, others = -np.expm1(3 * log), -np.expm1(w * log), -np.expm1((w - 3) * log)
    return np.asarray(np.minimum(1, three * (1 + (1 - three) * others) / whole))


def backed_off(p: ArrayLike) -> Array:
    """Return the length of a series of time-outs relative to its first, without the factor 1/(1 - p).

    f(p) = 1 + p + 2 p^2 + 4 p^3 + ... + 32 p^6: a time-out doubles six times, up to 64. Padhye et al. 1998, eq. (29);
    Cardwell et al. 2000, eq. (19). The mean series lasts f(p) T0/(1 - p).
    """
    probability(p=p)
    p = np.asarray(p, dtype=float)
    return np.asarray(1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6)


def padhye(
    p: ArrayLike,
    R: ArrayLike,
    T0: ArrayLike = 1.0,
    b: ArrayLike = 1,
    full: bool = False,
    W_max: ArrayLike = inf,
) -> Array:
    """Return the sending rate of a Reno flow with time-outs, lost packets included.

    In packets per second. Padhye, Firoiu, Towsley and Kurose 1998: (28) and (30) without, (32) and (33) with a limit on
    the window.
    """
    probability(p=p)
    positive(R=R, T0=T0, b=b)
    limit(W_max=W_max)
    p, R, T0, b, W_max = (np.asarray(value, dtype=float) for value in (p, R, T0, b, W_max))
    if not full:
        late = T0 * np.minimum(1, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
        return np.asarray(np.minimum(W_max / R, 1 / (R * np.sqrt(2 * b * p / 3) + late)))
    w, rounds = _period(p, b, W_max)
    series = times_out(p, w) / (1 - p)
    return np.asarray(((1 - p) / p + w + series) / (R * rounds + series * T0 * backed_off(p)))


def delivered(p: ArrayLike, R: ArrayLike, T0: ArrayLike = 1.0, b: ArrayLike = 1, W_max: ArrayLike = inf) -> Array:
    """Return the delivery rate of Padhye's flow, which loses half a last round and all but one packet of a series.

    In packets per second. Padhye et al. 1998, the full model's throughput; Cardwell et al. 2000, eq. (22).
    """
    probability(p=p)
    positive(R=R, T0=T0, b=b)
    limit(W_max=W_max)
    p, R, T0, b, W_max = (np.asarray(value, dtype=float) for value in (p, R, T0, b, W_max))
    w, rounds = _period(p, b, W_max)
    late = times_out(p, w)
    return np.asarray(((1 - p) / p + w / 2 + late) / (R * rounds + late / (1 - p) * T0 * backed_off(p)))


def _period(p: Array, b: Array, W_max: Array) -> tuple[Array, Array]:
    """Return the last window between two losses and the number of rounds between them."""
    free = peak_window(p, b)
    w = np.minimum(free, W_max)
    rounds = np.where(free < W_max, b / 2 * w + 1, b / 8 * w + (1 - p) / (p * w) + 2)
    return w, rounds


def loss(rate: ArrayLike, R: ArrayLike, law: RateFunction = padhye) -> Array:
    """Return the loss at which a flow has a given rate: the p with law(p, R) = rate."""
    positive(rate=rate, R=R)

    def one(rate: float, R: float) -> float:
        return _crossing(
            lambda p: float(np.asarray(law(p, np.asarray(R)))) - rate, f"rate = {rate:g} packets/s at R = {R:g} s"
        )

    found = np.asarray(np.vectorize(one, otypes=[float])(rate, R))
    warn_of_high_loss(float(found.max()))
    return found


def equilibrium_loss(N: ArrayLike, R: ArrayLike, C: float, rate: RateFunction = padhye, load: float = 0.0) -> float:
    """Return the drop probability at which the rate sent minus the rate dropped equals the link's capacity.

    p with (1 - p) (sum of N rate(p, R) + load) = C.
    """
    positive(N=N, R=R, C=C)
    not_negative(load=load)
    N, R = np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(R, dtype=float))
    p = _crossing(
        lambda p: (1 - p) * (float(np.sum(N * np.asarray(rate(p, R)))) + load) - C,
        f"C = {C:g} packets/s and N = {N.sum():g} flows",
    )
    warn_of_high_loss(p)
    return p


def _crossing(excess: Callable[[float], float], arguments: str) -> float:
    """Find the loss at which the excess vanishes."""
    least, most = 1e-12, 1 - 1e-9
    if excess(least) < 0:
        raise ValueError(f"{arguments}: the flows cannot send as much, even without loss")
    if excess(most) > 0:
        raise ValueError(f"{arguments}: the flows send more at any loss")
    return float(brentq(excess, least, most, xtol=1e-15, rtol=1e-12))


def warn_of_high_loss(p: float) -> None:
    """Warn of a loss for which formulas of TCP's rate are not meant."""
    if p > 0.4:
        caution(f"p = {p:.3g}: formulas of TCP's rate are not valid for losses above 0.4")
