"""The rate of a TCP flow that loses packets at random: the square-root law, Padhye's model, and the loss of a queue."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, positive, probability

Array = NDArray[np.float64]


def square_root(p: ArrayLike, R: ArrayLike, b: ArrayLike = 1) -> Array:
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

    Returns
    -------
    ndarray
        Packets a second: sqrt(3/(2 b p)) / R.

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
    p, R, b = (np.asarray(value, dtype=float) for value in (p, R, b))
    return np.asarray(np.sqrt(3 / (2 * b * p)) / R)


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


def padhye(p: ArrayLike, R: ArrayLike, T0: ArrayLike = 1.0, b: ArrayLike = 1, full: bool = False) -> Array:
    """Give the rate of a Reno flow that also times out.

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
        The full model, eq. (28), instead of the approximation that papers use, eq. (30).

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
    Padhye, Firoiu, Towsley and Kurose 1998, without a limit to the window.
    """
    probability(p=p)
    positive(R=R, T0=T0, b=b)
    p, R, T0, b = (np.asarray(value, dtype=float) for value in (p, R, T0, b))
    if not full:
        late = T0 * np.minimum(1, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
        return np.asarray(1 / (R * np.sqrt(2 * b * p / 3) + late))
    window = (2 + b) / (3 * b) + np.sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)
    through = 1 - p
    times_out = np.minimum(
        1, (1 - through**3) * (1 + through**3 * (1 - through ** (window - 3))) / (1 - through**window)
    )
    backed_off = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = through / p + window + times_out / through
    return np.asarray(packets / (R * (b / 2 * window + 1) + times_out * T0 * backed_off / through))


def equilibrium_loss(
    N: ArrayLike,
    R: ArrayLike,
    C: float,
    rate: Callable[[float, Array], ArrayLike] = padhye,
) -> float:
    """Give the drop probability at which what flows send, less what is dropped, is what a link carries.

    Parameters
    ----------
    N : array_like
        Flows of each group; shape (groups,) or a number for all of them.
    R : array_like
        Round-trip time (s) of each group, the queue included; shape (groups,).
    C : float
        What the link carries, packets a second.
    rate : callable
        ``rate(p, R)`` gives the packets a second of one flow; falling in ``p``. By default `padhye` with T0 = 1 s.

    Returns
    -------
    float
        p with (1 - p) times the sum of N rate(p, R) = C.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the flows cannot fill the link.
    """
    positive(N=N, R=R, C=C)
    N, R = np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(R, dtype=float))

    def excess(p: float) -> float:
        return (1 - p) * float(np.sum(N * np.asarray(rate(p, R)))) - C

    least, most = 1e-12, 1 - 1e-9
    if excess(least) < 0:
        raise ValueError(f"N = {N.sum():g} flows cannot fill C = {C:g} packets/s: the loss is nil")
    p = float(brentq(excess, least, most, xtol=1e-15, rtol=1e-12))
    if p > 0.4:
        caution(f"p = {p:.3g}: formulas of TCP's rate are not meant for losses above 0.4")
    return p


def waiting(load: ArrayLike, rate: float) -> float:
    """Give the mean number of waiting packets of Poisson streams into one queue, the one in service left out.

    Parameters
    ----------
    load : array_like
        Of each stream its bit/s and its packets' bits; shape (streams, 2). One size is M/D/1, exponentially
        distributed sizes are M/M/1.
    rate : float
        The server's bit/s.

    Returns
    -------
    float
        Pollaczek and Khinchine's L = lambda^2 E(S^2) / (2 (1 - rho)), packets.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the load is not below the rate.
    """
    positive(load=load, rate=rate)
    bits, size = np.asarray(load, dtype=float).T
    if bits.sum() >= rate:
        raise ValueError(
            f"load = {bits.sum():g} bit/s: must be below rate = {rate:g} bit/s, or the queue grows for ever"
        )
    arrivals = float(np.sum(bits / size))
    mean_square = float(np.sum(bits / size * (size / rate) ** 2)) / arrivals
    return arrivals**2 * mean_square / (2 * (1 - float(bits.sum()) / rate))
