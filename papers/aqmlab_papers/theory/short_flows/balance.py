"""Short TCP flows beside long ones: the loss and the queue at which their combined rate is the link's capacity.

Short flows arrive as a Poisson process. Each has either data for a time drawn uniformly between two bounds, or a
given number of packets to send. The LRED paper leaves their model to later work.

Symbols, beside those of `aqmlab.theory`:

* shorts: the short flows; their round trips are those of the groups, with equal probability.
* N: long flows of each group, or of all; 0 for none.
* q0, p: the queue that an AQM holds (packets), for which the loss is solved, or the loss, for which the queue is.
* rate: ``rate(p, R)``, the sending rate (packets/s) of a long flow; by default `padhye`, the full model, with the
  time-out that the short flows' sender has when the round trip is constant.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, probability, remarks, whole
from aqmlab.theory.tcp import padhye, warn_of_high_loss
from aqmlab_papers.theory.short_flows.finish import LONGEST, completion, tail
from aqmlab_papers.theory.short_flows.lives import Sender, life

Array = NDArray[np.float64]

# Number of samples of a lifetime distribution: midpoints of equal intervals between its bounds.
_PARTS = 20
_MOST = 0.6
_LEAST = 1e-3


@dataclass(frozen=True, kw_only=True)
class Shorts:
    """Arrivals and sizes of short flows.

    * lam: arrivals per second.
    * lifetime: bounds (s) of the uniformly distributed time, from its SYN on, during which a flow has data.
    * size: packets that each flow sends; excludes ``lifetime``.
    * sender: TCP settings; by default ns-2's.
    """

    lam: float
    lifetime: tuple[float, float] | None = None
    size: int | None = None
    sender: Sender = field(default_factory=Sender)

    def __post_init__(self) -> None:
        not_negative(lam=self.lam)
        if (self.lifetime is None) == (self.size is None):
            raise ValueError(f"lifetime = {self.lifetime}, size = {self.size}: give exactly one of them")
        if self.lifetime is not None:
            positive(lifetime=self.lifetime)
            if len(self.lifetime) != 2:
                raise ValueError(f"lifetime = {self.lifetime}: must be two bounds")
            if self.lifetime[1] < self.lifetime[0]:
                raise ValueError(f"lifetime = {self.lifetime}: the greater bound must come second")
        if self.size is not None:
            whole(size=self.size)

    def ages(self) -> Array:
        """Return 20 equally likely lifetimes (s) that represent the distribution; ValueError without one."""
        if self.lifetime is None:
            raise ValueError(
                f"size = {self.size}: must be None; only with a lifetime is the size independent of losses"
            )
        least, most = self.lifetime
        return np.asarray(least + (most - least) * (np.arange(_PARTS) + 0.5) / _PARTS)

    def load(self, p: float, R: float) -> float:
        """Return the packets of one flow that pass the link. Lost packets, which are sent again, do not count.

        Data, duplicates and the SYN count.
        """
        if self.lifetime is not None:
            lived = life(p, R, self.lifetime[1], self.sender)
            at = [lived.at(age) for age in self.ages()]
            return float(np.mean(lived.sent[at] + lived.repeated[at])) + self.sender.syn
        assert self.size is not None
        # Long enough for the mean flow to have sent everything; there are few duplicates.
        lost = self.size * p
        lived = life(p, R, 6 * R + 4.5 * lost * (R + self.sender.T_min / 4), self.sender)
        return self.size + float(np.interp(self.size, lived.sent, lived.repeated)) + self.sender.syn

    def time(self, p: float, R: float) -> float | None:
        """Return the mean duration of a flow (s), from its SYN to its last ACK; None for sizes above 100 packets."""
        if self.size is not None:
            return completion(p, R, self.size, self.sender) if self.size <= LONGEST else None
        assert self.lifetime is not None
        lived = life(p, R, self.lifetime[1], self.sender)
        opened = 1 - p if self.sender.syn else 1.0
        total = 0.0
        for age in self.ages():
            now = lived.at(age)
            waits = min(1.0, float(lived.waiting[now]) / opened)
            # Sent in the last round trip by flows that do not wait for a timer.
            last = (lived.sent[now] - lived.sent[lived.at(max(0.0, age - R))]) / opened / max(1 - waits, 1e-9)
            total += opened * (age + tail(p, R, age, max(1, round(float(last))), waits, self.sender)) / _PARTS
        # A flow whose SYN was lost finds its lifetime over when the SYN is sent again, and ends with that SYN's ACK.
        late = sum(p**k * (1 - p) * self.sender.T_syn * (2**k - 1) for k in range(1, 7))
        return total + (late + (1 - opened) * R if self.sender.syn else 0.0)


@dataclass(frozen=True, kw_only=True)
class Equilibrium(Answer):
    """Equilibrium at which short and long flows together fill the link.

    * warnings: conditions of the formulas that fail here, and the consequence.
    * p: probability that a packet is lost.
    * q: queue (packets).
    * short: load of the short flows on the link (packets/s).
    * long: load of the long flows on the link (packets/s).
    * packets: packets that one short flow sends through the link.
    * completion: mean time of a short flow from its SYN to its last ACK (s); None for sizes above 100 packets.
    * active: mean number of short flows present; None likewise.
    * unopened: fraction of short flows whose first SYN is lost.
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
    """Return loss and queue of short flows beside long ones.

    Solves (1 - p) sum of N rate(p, R) + lam load(p, R) = C with R = Tp + q/C. The load of a short flow counts arriving
    packets. A size is sent completely regardless of loss; lam size must then be below C.
    """
    positive(Tp=Tp, C=C)
    not_negative(N=N)
    if (q0 is None) == (p is None):
        raise ValueError(f"q0 = {q0}, p = {p}: give exactly one of them")
    N, Tp = (np.atleast_1d(x) for x in np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(Tp, dtype=float)))
    sender = shorts.sender

    def by_model(p: float, R: Array) -> Array:
        return padhye(p, R, np.array([sender.timeout(float("inf"), r) for r in R]), full=True)

    law = rate or by_model

    def short(p: float, q: float) -> float:
        return shorts.lam * float(np.mean([shorts.load(p, r) for r in Tp + q / C])) if shorts.lam else 0.0

    def long(p: float, q: float) -> float:
        return (1 - p) * float(np.sum(N * np.asarray(law(p, Tp + q / C)))) if N.any() else 0.0

    def excess(p: float, q: float) -> float:
        return short(p, q) + long(p, q) - C

    least = shorts.lam * ((shorts.size or 0) + sender.syn)
    if least >= C:
        raise ValueError(
            f"lam = {shorts.lam:g} flows/s of {shorts.size} packets: they alone exceed C = {C:g} packets/s"
        )
    with remarks() as warned:
        with remarks():
            if q0 is None:
                p, q = _at_loss(excess, p or 0.0, C)
            else:
                not_negative(q0=q0)
                p, q = _at_queue(lambda p: excess(p, q0), lambda p: long(p, q0) - C), q0
        warn_of_high_loss(p)
        if q < 1:
            caution(f"q = {q:.3g}: the link is probably idle at times")
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
        warnings=tuple(warned),
    )


def _at_queue(excess: Callable[[float], float], alone: Callable[[float], float]) -> float:
    """Return the loss without excess. It is above that of long flows alone, if those fill the link."""
    low = float(brentq(alone, _LEAST, _MOST, rtol=1e-6)) if alone(_LEAST) > 0 > alone(_MOST) else _LEAST
    if excess(low) < -1e-6:
        raise ValueError(f"the flows cannot fill the link at this queue: the loss would be below {low:g}")
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
