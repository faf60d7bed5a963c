"""The rate of TCP flows that lose packets at random: the square-root law, Padhye's model, and the loss of a queue."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, limit, not_negative, positive, probability

Array = NDArray[np.float64]

# The packets a second of a flow by its loss p and its round-trip time R.
Law = Callable[[float, Array], ArrayLike]


def square_root(p: ArrayLike, R: ArrayLike, b: ArrayLike = 1, W_max: ArrayLike = inf) -> Array:
    """Give the rate of a flow in congestion avoidance that loses every 1/p-th packet.

    A regular sawtooth between W/2 and W, in which the window grows by a packet in ``b`` round trips. No time-outs.

    Parameters
    ----------
    p : array_like
        Probability that a packet is lost, in (0, 1).
    R : array_like
        Round-trip time (s), broadcast against ``p``.
    b : array_like
        Packets per ACK.
    W_max : array_like
        The receiver's window (packets), at least 1; infinite for none: a sawtooth with flat tops.

    Returns
    -------
    ndarray
        Packets a second: sqrt(3/(2 b p)) / R, or W_max/(R (1 + b p W_max^2/8)) where W_max is below the teeth's
        sqrt(8/(3 b p)).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Mathis, Semke, Mahdavi and Ott 1997. Good to some 5 % below p = 0.01; above, time-outs dominate.
    """
    probability(p=p)
    positive(R=R, b=b)
    limit(W_max=W_max)
    p, R, b, W_max = (np.asarray(value, dtype=float) for value in (p, R, b, W_max))
    peak = np.sqrt(8 / (3 * b * p))
    w = np.minimum(W_max, peak)
    return np.asarray(np.where(W_max < peak, w / (1 + b * p * w**2 / 8), 0.75 * peak) / R)


def irregular_square_root(p: ArrayLike, R: ArrayLike, b: ArrayLike = 1) -> Array:
    """Give the same if every packet is lost with probability p whatever became of the others.

    The teeth differ, and the long ones carry more: 1.31 takes the place of sqrt(3/2) = 1.22. Between losses w^2/2 grows
    by 1/b a packet and a loss quarters it, so that it is X/(b p) with X = sum of 4^-k E_k, the E_k exponential with
    mean 1; the rate is sqrt(2/(b p)) / (R E(X^-1/2)).

    Parameters
    ----------
    p : array_like
        Probability that a packet is lost, in (0, 1).
    R : array_like
        Round-trip time (s), broadcast against ``p``.
    b : array_like
        Packets per ACK.

    Returns
    -------
    ndarray
        Packets a second.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Ott, Kemperman and Mathis 1996. The factor sqrt(2) / E(X^-1/2) comes from Gamma(1/2) and an infinite product.
    """
    mean = np.sqrt(pi) * prod((1 - 0.5 * 4.0**-k) / (1 - 0.25 * 4.0**-k) for k in range(30))
    return np.asarray(square_root(p, R, b) * np.sqrt(4 / 3) / mean)


def window(p: ArrayLike, b: ArrayLike = 1) -> Array:
    """Give the mean window of a flow that loses every 1/p-th packet and never times out.

    Parameters
    ----------
    p : array_like
        Probability that a packet is lost, in (0, 1).
    b : array_like
        Packets per ACK, broadcast against ``p``.

    Returns
    -------
    ndarray
        Packets: sqrt(3/(2 b p)), what `square_root` sends in a round trip.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    LRED's eq. (6), RED+Tail's W, Mathis's law.
    """
    return square_root(p, 1.0, b)


def window_loss(W: ArrayLike, b: ArrayLike = 1) -> Array:
    """Give the loss at which a flow that never times out has this mean window: the inverse of `window`.

    Parameters
    ----------
    W : array_like
        Mean window (packets); of a rate it is rate times round-trip time.
    b : array_like
        Packets per ACK, broadcast against ``W``.

    Returns
    -------
    ndarray
        3/(2 b W^2); a probability only where W > sqrt(3/(2 b)).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    LRED's eq. (6) with W = R C/N. A result of 0.1 and more, a window below 4, is remarked on: time-outs rule there.
    """
    positive(W=W, b=b)
    W, b = np.asarray(W, dtype=float), np.asarray(b, dtype=float)
    p = np.asarray(3 / (2 * b * W**2))
    if np.any(p >= 0.1):
        caution(
            f"p = {p.max():.3g} by the square-root law, whose windows W = {W.min():.3g} are too small for it: "
            "time-outs rule there, use Padhye's model"
        )
    return p


def peak_window(p: ArrayLike, b: ArrayLike = 1) -> Array:
    """Give the window at which Padhye's flow loses a packet, in the mean.

    Parameters
    ----------
    p : array_like
        Probability of a packet to be the first loss of its round, in (0, 1).
    b : array_like
        Packets per ACK, broadcast against ``p``.

    Returns
    -------
    ndarray
        E(W_u), packets; three quarters of it is the mean between losses.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Padhye et al. 1998, eq. (13): the window that the receiver does not limit.
    """
    probability(p=p)
    positive(b=b)
    p, b = np.asarray(p, dtype=float), np.asarray(b, dtype=float)
    least = (2 + b) / (3 * b)
    return np.asarray(least + np.sqrt(8 * (1 - p) / (3 * b * p) + least**2))


def times_out(p: ArrayLike, w: ArrayLike) -> Array:
    """Give the probability that a loss in a window of w packets ends in a time-out, not in three duplicates.

    Parameters
    ----------
    p : array_like
        Probability of a packet to be the first loss of its round, of which all that follow are lost too; in (0, 1).
    w : array_like
        The window (packets), broadcast against ``p``.

    Returns
    -------
    ndarray
        At most 1, which it is for windows up to 3; some 3/w where p is small.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Padhye et al. 1998, eq. (24); Cardwell et al. 2000, eq. (17).
    """
    probability(p=p)
    positive(w=w)
    p, w = np.asarray(p, dtype=float), np.asarray(w, dtype=float)
    # Powers of 1 - p less 1 by expm1: of a small p little would be left.
    log = np.log1p(-p)
    three, whole, others = -np.expm1(3 * log), -np.expm1(w * log), -np.expm1((w - 3) * log)
    return np.asarray(np.minimum(1, three * (1 + (1 - three) * others) / whole))


def backed_off(p: ArrayLike) -> Array:
    """Give how much longer a series of time-outs is than its first, but for the factor 1/(1 - p).

    Parameters
    ----------
    p : array_like
        Probability that a packet is lost, in (0, 1).

    Returns
    -------
    ndarray
        f(p) = 1 + p + 2 p^2 + 4 p^3 + ... + 32 p^6: a time-out doubles six times, up to 64.

    Raises
    ------
    ValueError
        If ``p`` is out of its range.

    Notes
    -----
    Padhye et al. 1998, eq. (29); Cardwell et al. 2000, eq. (19). The mean series lasts f(p) T0/(1 - p).
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
    """Give the rate of a Reno flow that also times out, what is lost counted as sent.

    Parameters
    ----------
    p : array_like
        Probability of a packet to be the first loss of its round, of which all that follow are lost too; in (0, 1).
    R : array_like
        Round-trip time (s), broadcast against ``p``.
    T0 : array_like
        First time-out (s), which doubles up to 64 T0.
    b : array_like
        Packets per ACK.
    full : bool
        The full model, eqs. (28) and (32), instead of the approximation that papers use, eqs. (30) and (33).
    W_max : array_like
        The receiver's window (packets), at least 1; infinite for none.

    Returns
    -------
    ndarray
        Packets a second.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Padhye, Firoiu, Towsley and Kurose 1998: (28) and (30) without, (32) and (33) with a limit to the window.
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
    """Give the rate at which packets of Padhye's flow arrive: half a last round and all but one of a series are lost.

    Parameters
    ----------
    p : array_like
        Probability of a packet to be the first loss of its round, of which all that follow are lost too; in (0, 1).
    R : array_like
        Round-trip time (s), broadcast against ``p``.
    T0 : array_like
        First time-out (s), which doubles up to 64 T0.
    b : array_like
        Packets per ACK.
    W_max : array_like
        The receiver's window (packets), at least 1; infinite for none.

    Returns
    -------
    ndarray
        Packets a second.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Padhye et al. 1998, the full model's throughput; Cardwell et al. 2000, eq. (22).
    """
    probability(p=p)
    positive(R=R, T0=T0, b=b)
    limit(W_max=W_max)
    p, R, T0, b, W_max = (np.asarray(value, dtype=float) for value in (p, R, T0, b, W_max))
    w, rounds = _period(p, b, W_max)
    late = times_out(p, w)
    return np.asarray(((1 - p) / p + w / 2 + late) / (R * rounds + late / (1 - p) * T0 * backed_off(p)))


def _period(p: Array, b: Array, W_max: Array) -> tuple[Array, Array]:
    """Give the last window between two losses and how many rounds there are."""
    free = peak_window(p, b)
    w = np.minimum(free, W_max)
    rounds = np.where(free < W_max, b / 2 * w + 1, b / 8 * w + (1 - p) / (p * w) + 2)
    return w, rounds


def loss(rate: ArrayLike, R: ArrayLike, law: Law = padhye) -> Array:
    """Give the loss at which a flow has this rate: the inverse of a law.

    Parameters
    ----------
    rate : array_like
        Packets a second that the flow sends.
    R : array_like
        Round-trip time (s), broadcast against ``rate``.
    law : callable
        ``law(p, R)`` gives the packets a second; falling in ``p``. By default `padhye` with T0 = 1 s;
        ``functools.partial(padhye, b=2, W_max=20)`` is one with other parameters.

    Returns
    -------
    ndarray
        The probability p with law(p, R) = rate.

    Raises
    ------
    ValueError
        If an argument is out of its range, or no loss in (0, 1) gives the rate.
    """
    positive(rate=rate, R=R)

    def one(rate: float, R: float) -> float:
        return _crossing(
            lambda p: float(np.asarray(law(p, np.asarray(R)))) - rate, f"rate = {rate:g} packets/s at R = {R:g} s"
        )

    found = np.asarray(np.vectorize(one, otypes=[float])(rate, R))
    meant_for(float(found.max()))
    return found


def equilibrium_loss(N: ArrayLike, R: ArrayLike, C: float, rate: Law = padhye, load: float = 0.0) -> float:
    """Give the drop probability at which what is sent, less what is dropped, is what a link carries.

    Parameters
    ----------
    N : array_like
        Flows of each group; shape (groups,) or a number for all of them.
    R : array_like
        Round-trip time (s) of each group, the queue included; shape (groups,).
    C : float
        What the link carries, packets a second.
    rate : callable
        ``rate(p, R)`` gives the packets a second of one flow; falling in ``p``. By default `padhye` with T0 = 1 s;
        ``functools.partial(padhye, T0=0.2, b=2, W_max=20)`` is one with other parameters, each a number or of shape
        (groups,).
    load : float
        What others send who do not mind losses, UDP say, packets a second; they are dropped from like the flows.

    Returns
    -------
    float
        p with (1 - p) (sum of N rate(p, R) + load) = C.

    Raises
    ------
    ValueError
        If an argument is out of its range, or what is sent cannot fill the link.
    """
    positive(N=N, R=R, C=C)
    not_negative(load=load)
    N, R = np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(R, dtype=float))
    p = _crossing(
        lambda p: (1 - p) * (float(np.sum(N * np.asarray(rate(p, R)))) + load) - C,
        f"C = {C:g} packets/s and N = {N.sum():g} flows",
    )
    meant_for(p)
    return p


def _crossing(excess: Callable[[float], float], asked: str) -> float:
    """Find the loss at which too much is sent no longer."""
    least, most = 1e-12, 1 - 1e-9
    if excess(least) < 0:
        raise ValueError(f"{asked}: they cannot send so much, the loss is nil")
    if excess(most) > 0:
        raise ValueError(f"{asked}: they send more whatever the loss")
    return float(brentq(excess, least, most, xtol=1e-15, rtol=1e-12))


def meant_for(p: float) -> None:
    """Remark on a loss that formulas of TCP's rate are not meant for.

    Parameters
    ----------
    p : float
        Probability that a packet is lost.
    """
    if p > 0.4:
        caution(f"p = {p:.3g}: formulas of TCP's rate are not meant for losses above 0.4")
