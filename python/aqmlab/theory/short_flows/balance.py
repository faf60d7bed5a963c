"""Short TCP flows beside long ones: the loss and the queue at which both together are what the link carries.

Short flows come as a Poisson process, and each either has data for a time that is drawn evenly between two bounds or
has so many packets to send. The LRED paper leaves their model to later work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, probability, remarks, whole
from aqmlab.theory.short_flows.finish import LONGEST, completion, tail
from aqmlab.theory.short_flows.lives import Sender, life
from aqmlab.theory.tcp import meant_for, padhye

Array = NDArray[np.float64]

# Lifetimes at which a law between two bounds is sampled, in the middle of as many parts.
_PARTS = 20
_MOST = 0.6
_LEAST = 1e-3


@dataclass(frozen=True, kw_only=True)
class Shorts:
    """Say what short flows come and what they have to send.

    Parameters
    ----------
    lam : float
        Arrivals a second.
    lifetime : tuple of float, optional
        The bounds between which the time is drawn for which a flow has data (s), from its SYN on.
    size : int, optional
        Packets that each has to send, instead.
    sender : Sender
        How their TCP is set; ns-2's by default.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not one of lifetime and size is given.
    """

    lam: float
    lifetime: tuple[float, float] | None = None
    size: int | None = None
    sender: Sender = field(default_factory=Sender)

    def __post_init__(self) -> None:
        not_negative(lam=self.lam)
        if (self.lifetime is None) == (self.size is None):
            raise ValueError(f"lifetime = {self.lifetime}, size = {self.size}: give one of the two")
        if self.lifetime is not None:
            positive(lifetime=self.lifetime)
            if len(self.lifetime) != 2:
                raise ValueError(f"lifetime = {self.lifetime}: must be two bounds")
            if self.lifetime[1] < self.lifetime[0]:
                raise ValueError(f"lifetime = {self.lifetime}: the greater bound must come second")
        if self.size is not None:
            whole(size=self.size)

    def ages(self) -> Array:
        """Give lifetimes that stand for all, as likely each.

        Returns
        -------
        ndarray
            Seconds; shape (20,).

        Raises
        ------
        ValueError
            If the flows have a size.
        """
        if self.lifetime is None:
            raise ValueError(f"size = {self.size}: only flows with a lifetime have it whatever is lost")
        least, most = self.lifetime
        return np.asarray(least + (most - least) * (np.arange(_PARTS) + 0.5) / _PARTS)

    def load(self, p: float, R: float) -> float:
        """Give what one flow brings to the link, losses left out, which are sent again.

        Parameters
        ----------
        p : float
            Probability that a packet is lost.
        R : float
            Round-trip time (s).

        Returns
        -------
        float
            Packets that pass the link: the data, what arrives twice, the SYN.

        Raises
        ------
        ValueError
            If an argument is out of its range.
        """
        if self.lifetime is not None:
            lived = life(p, R, self.lifetime[1], self.sender)
            at = [lived.at(age) for age in self.ages()]
            return float(np.mean(lived.sent[at] + lived.repeated[at])) + self.sender.syn
        assert self.size is not None
        # Long enough for the mean flow to have sent it all; what arrives twice is little.
        lost = self.size * p
        lived = life(p, R, 6 * R + 4.5 * lost * (R + self.sender.T_min / 4), self.sender)
        return self.size + float(np.interp(self.size, lived.sent, lived.repeated)) + self.sender.syn

    def time(self, p: float, R: float) -> float | None:
        """Give how long a flow is there, from its SYN to its last ACK.

        Parameters
        ----------
        p : float
            Probability that a packet is lost.
        R : float
            Round-trip time (s).

        Returns
        -------
        float or None
            Mean time (s); none of more than 100 packets.

        Raises
        ------
        ValueError
            If an argument is out of its range.
        """
        if self.size is not None:
            return completion(p, R, self.size, self.sender) if self.size <= LONGEST else None
        assert self.lifetime is not None
        lived = life(p, R, self.lifetime[1], self.sender)
        opened = 1 - p if self.sender.syn else 1.0
        total = 0.0
        for age in self.ages():
            now = lived.at(age)
            waits = min(1.0, float(lived.waiting[now]) / opened)
            # Those that do not wait have sent this in the last round trip.
            last = (lived.sent[now] - lived.sent[lived.at(max(0.0, age - R))]) / opened / max(1 - waits, 1e-9)
            total += opened * (age + tail(p, R, age, max(1, round(float(last))), waits, self.sender)) / _PARTS
        # Whose SYN was lost finds its time over when it is sent again, and is done with the ACK of that.
        late = sum(p**k * (1 - p) * self.sender.T_syn * (2**k - 1) for k in range(1, 7))
        return total + (late + (1 - opened) * R if self.sender.syn else 0.0)


@dataclass(frozen=True, kw_only=True)
class Equilibrium(Answer):
    """Where short and long flows together are what the link carries.

    Parameters
    ----------
    warnings : tuple of str
        Which conditions of the formulas fail here, and what that means.
    p : float
        Probability that a packet is lost.
    q : float
        Queue, packets.
    short : float
        What short flows bring to the link, packets a second.
    long : float
        What long flows bring to the link, packets a second.
    packets : float
        What one short flow brings to the link, packets.
    completion : float or None
        Mean time of a short flow from its SYN to its last ACK (s); none of more than 100 packets.
    active : float or None
        Mean number of short flows that are there; none likewise.
    unopened : float
        Share of the short flows whose first SYN is lost.
    """

    p: float
    q: float
    short: float
    long: float
    packets: float
    completion: float | None
    active: float | None
    unopened: float


def equilibrium(
    shorts: Shorts,
    N: ArrayLike,
    Tp: ArrayLike,
    C: float,
    q0: float | None = None,
    p: float | None = None,
    rate: Callable[[float, Array], ArrayLike] | None = None,
) -> Equilibrium:
    """Give loss and queue of short flows beside long ones.

    Parameters
    ----------
    shorts : Shorts
        The short flows; they have the round trips of the groups, each as often.
    N : array_like
        Long flows of each group; shape (groups,) or a number for all of them. 0 for none.
    Tp : array_like
        Round-trip time (s) of each group without the queue; shape (groups,).
    C : float
        What the link carries, packets a second.
    q0 : float, optional
        The queue that an AQM holds, packets: the loss is looked for.
    p : float, optional
        The loss, if that is given instead: the queue is looked for.
    rate : callable, optional
        ``rate(p, R)`` gives the packets a second that a long flow sends; by default `padhye`, the full model, with the
        time-out that the short flows' sender has when the round trip does not vary.

    Returns
    -------
    Equilibrium
        The answer, a warning in it where losses are above what the models are meant for.

    Raises
    ------
    ValueError
        If an argument is out of its range, the flows cannot fill the link, or short flows of a size alone overload it.

    Notes
    -----
    (1 - p) sum of N rate(p, R) + lam load(p, R) = C with R = Tp + q/C. A short flow's load is what arrives of it: all
    that it sends arrives in the end, so that p counts only in how far it gets in its lifetime; a size is sent whatever
    is lost, and then lam size must be below C.
    """
    positive(Tp=Tp, C=C)
    not_negative(N=N)
    if (q0 is None) == (p is None):
        raise ValueError(f"q0 = {q0}, p = {p}: give one of the two")
    N, Tp = (np.atleast_1d(x) for x in np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(Tp, dtype=float)))
    sender = shorts.sender

    def own(p: float, R: Array) -> Array:
        return padhye(p, R, np.array([sender.timeout(float("inf"), r) for r in R]), full=True)

    law = rate or own

    def short(p: float, q: float) -> float:
        return shorts.lam * float(np.mean([shorts.load(p, r) for r in Tp + q / C])) if shorts.lam else 0.0

    def long(p: float, q: float) -> float:
        return (1 - p) * float(np.sum(N * np.asarray(law(p, Tp + q / C)))) if N.any() else 0.0

    def excess(p: float, q: float) -> float:
        return short(p, q) + long(p, q) - C

    least = shorts.lam * ((shorts.size or 0) + sender.syn)
    if least >= C:
        raise ValueError(
            f"lam = {shorts.lam:g} flows/s of {shorts.size} packets: they alone are more than C = {C:g} packets/s"
        )
    with remarks() as told:
        with remarks():
            if q0 is None:
                p, q = _at_loss(excess, p or 0.0, C)
            else:
                not_negative(q0=q0)
                p, q = _at_queue(lambda p: excess(p, q0), lambda p: long(p, q0) - C), q0
        meant_for(p)
        if q < 1:
            caution(f"q = {q:.3g}: the link is hardly busy all the time")
        with remarks():
            brought = short(p, q)
            times = [time for r in Tp + q / C if (time := shorts.time(p, r)) is not None]
    time = float(np.mean(times)) if times else None
    return Equilibrium(
        p=p,
        q=q,
        short=brought,
        long=C - brought,
        packets=brought / shorts.lam if shorts.lam else 0.0,
        completion=time,
        active=None if time is None else shorts.lam * time,
        unopened=p if sender.syn else 0.0,
        warnings=tuple(told),
    )


def transient(shorts: Shorts, p: float, R: float, t: ArrayLike) -> tuple[Array, Array]:
    """Give how short flows fill up from nothing, at a loss that stays as it is.

    Parameters
    ----------
    shorts : Shorts
        The short flows, with a lifetime.
    p : float
        Probability that a packet is lost.
    R : float
        Round-trip time (s), the queue included.
    t : array_like
        Seconds since the first may come; shape (times,).

    Returns
    -------
    tuple of ndarray
        Flows that have data, and packets a second that they bring to the link; each of shape (times,).

    Raises
    ------
    ValueError
        If an argument is out of its range, or the flows have a size.

    Notes
    -----
    M/G/infinity: lam E(min(T, t)) flows, and lam E(n(min(T, t))) packets a second, n what a flow has brought by an age.
    """
    probability(p=p)
    positive(R=R)
    not_negative(t=t)
    ages = np.minimum(shorts.ages()[:, None], np.atleast_1d(np.asarray(t, dtype=float)))
    lived = life(p, R, float(shorts.ages()[-1]), shorts.sender)
    clock = lived.step * np.arange(lived.sent.size)
    brought = np.interp(ages, clock, lived.sent + lived.repeated) + shorts.sender.syn * (ages > 0)
    return np.asarray(shorts.lam * ages.mean(axis=0)), np.asarray(shorts.lam * brought.mean(axis=0))


def _at_queue(excess: Callable[[float], float], alone: Callable[[float], float]) -> float:
    """Give the loss at which nothing is in excess: above that of long flows alone, if those fill the link."""
    low = float(brentq(alone, _LEAST, _MOST, rtol=1e-6)) if alone(_LEAST) > 0 > alone(_MOST) else _LEAST
    if excess(low) < -1e-6:
        raise ValueError(f"the flows cannot fill the link with such a queue: the loss is below {low:g}")
    high = low
    while excess(high) > 0:
        if high > _MOST:
            raise ValueError(f"the flows overload the link even at a loss of {_MOST:g}")
        low, high = high, 1.5 * high
    return float(brentq(excess, low, high, xtol=1e-5, rtol=1e-4)) if high > low else low


def _at_loss(excess: Callable[[float, float], float], p: float, C: float) -> tuple[float, float]:
    probability(p=p)
    if excess(p, 0) < 0:
        raise ValueError(f"the flows cannot fill the link at a loss of p = {p:g}: there is no queue")
    longest = C  # a second of waiting
    while excess(p, longest) > 0:
        longest *= 2
        if longest > 1000 * C:
            raise ValueError(f"the flows overload the link at a loss of p = {p:g}, however long the queue")
    return p, float(brentq(lambda q: excess(p, q), 0, longest, xtol=1e-4, rtol=1e-6))
