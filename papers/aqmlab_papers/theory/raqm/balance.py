"""RAQM's equilibrium: since bytes are conserved, a full link with losses cannot have the expected rate.

Symbols, beside those of `aqmlab.theory`:

* load: arrival rate over the link's capacity; r0: expected rate (packets/s), C by default.
* p_k: drop probability of the rate law, in [0, 1]; p_min: its floor, in (0, 1).
* rate: ``rate(p, R)``, the packets per second of one flow; by default `padhye` with T0 = 1 s.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, positive
from aqmlab.theory.tcp import padhye

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Balance:
    """The equilibrium of RAQM and many flows.

    * regime: ``unclipped``: p_k is between its bounds, and the flows send r0; U = (1 - l) r0 / C. ``clipped``: p_k = 1
      and the flows send more; q = l q0. ``idle``: p_k is at its floor and the flows send less.
    * p_k: drop probability of the rate law.
    * q: mean number of waiting packets at an arrival.
    * U: utilisation.
    * loss: loss ratio l: all drops divided by all arrivals.
    * load: rate of the flows divided by the link's capacity: U = (1 - l) load.
    """

    regime: str
    p_k: float
    q: float
    U: float
    loss: float
    load: float


def stationary_queue(load: float, p_k: float, q0: float, Q: int) -> tuple[float, float, float]:
    """Return loss, mean number of waiting packets and utilisation in the queue-dependent mode at constant p_k.

    A birth-death chain: Poisson arrivals and exponential service; an arrival that finds q packets waiting is dropped
    with probability min(1, p_k q / q0).
    """
    positive(load=load, q0=q0, Q=Q)
    if not 0 <= p_k <= 1:
        raise ValueError(f"p_k = {p_k:g}: must be in [0, 1]")
    waiting = np.maximum(np.arange(-1, Q + 1, dtype=float), 0)
    drop = np.minimum(1, p_k * waiting / q0)
    drop[-1] = 1
    with np.errstate(divide="ignore"):
        weight = np.concatenate([[0.0], np.cumsum(np.log(load * (1 - drop[:-1])))])
    share = np.exp(weight - weight.max())
    share /= share.sum()
    return float(share @ drop), float(share @ waiting), float(1 - share[0])


def equilibrium(
    N: ArrayLike,
    Tp: ArrayLike,
    C: float,
    *,
    q0: float = 50,
    Q: int = 100,
    r0: float | None = None,
    p_min: float = 1e-6,
    rate: Callable[[float, Array], ArrayLike] = padhye,
) -> Balance:
    """Return the equilibrium of RAQM's queue-dependent mode and long-lived flows.

    p_k is constant where the flows send r0, by (3), or at a bound. The flows send ``rate`` at the loss and the queue of
    `stationary_queue`. Ours: the paper puts the queue at q0. The model excludes synchronised flows.
    """
    positive(N=N, Tp=Tp, C=C, q0=q0, Q=Q)
    r0 = C if r0 is None else r0
    positive(r0=r0)
    if not 0 < p_min < 1:
        raise ValueError(f"p_min = {p_min:g}: must be in (0, 1)")
    at_rest = _at_rest(N, Tp, C, q0, Q, rate)

    def drift(log_p: float) -> float:
        return at_rest(exp(log_p))[0] - r0 / C

    if drift(0.0) >= 0:
        regime, p_k = "clipped", 1.0
    elif drift(log(p_min)) <= 0:
        regime, p_k = "idle", p_min
        caution(
            f"the flows send less than r0 even at p_k = {p_min:g}: RAQM is a drop-tail queue, whose flows lose packets "
            "together; the model of the queue does not describe that"
        )
    else:
        regime, p_k = "unclipped", exp(float(brentq(drift, log(p_min), 0.0, xtol=1e-12)))
    load, loss, queue, used = at_rest(p_k)
    return Balance(regime=regime, p_k=p_k, q=queue, U=used, loss=loss, load=load)


def _at_rest(
    N: ArrayLike, Tp: ArrayLike, C: float, q0: float, Q: int, rate: Callable[[float, Array], ArrayLike]
) -> Callable[[float], tuple[float, float, float, float]]:
    """Return load, loss, queue and utilisation by p_k, where the flows' rate and the loss it causes are consistent."""
    flows, round_trips = np.broadcast_arrays(np.asarray(N, dtype=float), np.asarray(Tp, dtype=float))

    def sent(loss: float, queue: float) -> float:
        R = round_trips + queue / C
        return float(np.sum(flows * np.asarray(rate(min(max(loss, 1e-12), 1 - 1e-9), R)))) / C

    def at_rest(p_k: float) -> tuple[float, float, float, float]:
        def excess(load: float) -> float:
            loss, queue, _ = stationary_queue(load, p_k, q0, Q)
            return sent(loss, queue) - load

        # A higher load raises loss and queue, which lower the flows' rate: there is one crossing.
        load = float(brentq(excess, 1e-6, max(2.0, 2 * sent(1e-12, 0.0)), xtol=1e-13))
        return load, *stationary_queue(load, p_k, q0, Q)

    return at_rest
