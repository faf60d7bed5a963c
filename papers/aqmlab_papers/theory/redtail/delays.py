"""RED+Tail: the short flows' delay, files and windows, and predictions for the long flows' queue.

Symbols, beside those of `aqmlab.theory`:

* q1: the first queue; minth1, maxth1: its thresholds (packets; all quantities of a queue may also be in bytes).
* C1min, C1max: least rate while there is a queue, and largest, C by default (packets/s).
* x: file size (bytes); K, a: the shortest file and the shape of the Pareto distribution, whose mean is K a / (a - 1).

>>> from aqmlab_papers.theory import redtail
>>> round(redtail.design(C=750, d=0.064, N=20, P=0.014).q_e, 1)
159.0
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, probability, remarks
from aqmlab.theory.tcp import window as tcp_window
from aqmlab_papers.theory.redtail.slots import Slots

Array = NDArray[np.float64]

BUFFER = 800
"""The default buffer (packets); the paper does not state its buffer."""

_LINK, _SEGMENT = 750.0, 8000.0
"""Section V's link (packets/s), and its packet size (bits)."""


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """Prediction for RED+Tail's queue of long flows at a constant drop probability.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    window : float
        Mean window of a flow (packets).
    q_e : float
        Queue at the equilibrium (packets).
    rtt : float
        Round-trip time at the equilibrium (s); the harmonic mean if flows differ.
    sd_linear : float or None
        Standard deviation of the queue by the linear approximation (packets); None if the equilibrium is not stable.
    sd_chain : float
        Standard deviation of the queue by the Markov chain (packets).
    mean_chain : float
        Mean queue by the Markov chain (packets).
    mean_shift : float or None
        Distance of the mean above q_e, to second order (packets).
    quantile_05 : float
        5 % quantile of the queue over slots, by the Markov chain (packets).
    quantile_50 : float
        Median of the queue over slots, by the Markov chain (packets).
    quantile_95 : float
        95 % quantile of the queue over slots, by the Markov chain (packets).
    sigma : float
        Standard deviation of a flow's rate from slot to slot (packets/s).
    S : float
        The slot (s).
    derivative : float
        f'(q_e); at 0 the queue varies least for its noise.
    stable : bool
        Whether q_e is stable.
    S_monotone : float
        The longest slot with f'(q_e) >= 0, hence with global stability (Proposition 6.2) (s).
    S_stable : float
        The slot from which q_e is not even locally stable (s).
    S_contraction : float
        The slot below which f contracts everywhere (eq. 10, Propositions 6.1 and 6.3) (s).
    """

    window: float
    q_e: float
    rtt: float
    sd_linear: float | None
    sd_chain: float
    mean_chain: float
    mean_shift: float | None
    quantile_05: float
    quantile_50: float
    quantile_95: float
    sigma: float
    S: float
    derivative: float
    stable: bool
    S_monotone: float
    S_stable: float
    S_contraction: float


def design(
    *,
    C: float,
    d: ArrayLike,
    N: float,
    P: float | None = None,
    W: float | None = None,
    sigma: float | None = None,
    B: float = BUFFER,
    S: float | None = None,
) -> Design:
    """Predict the queue of RED+Tail's long flows.

    The answer has their window, queue and round-trip time, the spread of the queue, and its stability.

    Parameters
    ----------
    C : float
        Link capacity (packets/s).
    d : array_like
        Round-trip time without the queue (s), common to all flows, or of each, shape (N,).
    N : float
        Flows.
    P : float or None
        The drop probability that the thresholds keep; W then follows from the square-root law.
    W : float or None
        The mean window of a flow (packets); replaces that from ``P``.
    sigma : float or None
        Standard deviation of a flow's rate in a slot (packets/s); None for `paper_sigma`.
    B : float
        The buffer (packets).
    S : float or None
        The slot (s); None for the round-trip time at the equilibrium.

    Returns
    -------
    Design
        Equilibrium, spread and stability, with warnings.

    Raises
    ------
    ValueError
        If an argument is out of range, neither ``P`` nor ``W`` is given, or the flows cannot fill the link.

    Notes
    -----
    RED+Tail, section VI. Drops are assumed to be independent of the queue. Where RED's control loop oscillates, or
    holds the queue tightly, the spread differs.
    """
    with remarks() as warned:
        if P is not None:
            probability(P=P)
        if W is None:
            if P is None:
                raise ValueError("P and W are missing: give the drop probability P or the mean window W")
            W = float(tcp_window(P))
            if P > 0.05:
                caution(
                    f"P = {P:.3g} is above 0.05: time-outs dominate, windows are smaller than by the square-root law; "
                    "give W, for example Padhye's"
                )
        if sigma is None:
            positive(N=N)
            sigma = paper_sigma(N)
            if N not in (20, 40) or abs(C / _LINK - 1) > 1e-9:
                caution(
                    f"sigma = {sigma:.4g} packets/s was measured in the paper with {20 if N <= 30 else 40} flows on a "
                    f"link of 750 packets/s, not with N = {N:g} on C = {C:g}: measure it for this link"
                )
        slots = Slots(C=C, d=d, N=N, W=W, S=S)
        derivative = float(slots.slope(slots.q_e))
        chain = slots.chain(sigma, B)
        linear, shift = slots.linear_sd(sigma), slots.mean_shift(sigma)
        spread = min(linear, chain.sd)
        if -1 < derivative < -0.9:
            caution(
                f"f'(q_e) = {derivative:.4g}: S = {slots.slot:.4g} s is close to the limit of stability, "
                f"{2 * slots.monotone_limit():.4g} s, where the chain is valid and the linear approximation is not"
            )
        if slots.q_e + 4 * spread > B:
            caution(
                f"q_e + 4 sd = {slots.q_e + 4 * spread:.4g} packets is above B = {B:g}: the buffer overflows, and "
                "not all drops are the algorithm's; the chain includes B, the linear approximation does not"
            )
        if slots.q_e < 4 * spread:
            caution(
                f"q_e - 4 sd = {slots.q_e - 4 * spread:.4g} packets is below 0: the queue runs empty at times; the "
                "chain includes this, the linear approximation does not"
            )
    low, middle, high = chain.quantile([0.05, 0.5, 0.95])
    return Design(
        window=slots.W,
        q_e=slots.q_e,
        rtt=slots.rtt,
        sd_linear=linear if isfinite(linear) else None,
        sd_chain=chain.sd,
        mean_chain=chain.mean,
        mean_shift=shift if isfinite(shift) else None,
        quantile_05=float(low),
        quantile_50=float(middle),
        quantile_95=float(high),
        sigma=sigma,
        S=slots.slot,
        derivative=derivative,
        stable=isfinite(linear),
        S_monotone=slots.monotone_limit(),
        S_stable=2 * slots.monotone_limit(),
        S_contraction=slots.contraction_limit(),
        warnings=tuple(warned),
    )


def paper_sigma(N: float) -> float:
    """Return the standard deviation of a flow's rate as measured in the paper (packets/s of 1000 bytes), section VI-B.

    Up to 30 flows what it reports for 20, 77021 bit/s; above, what it reports for 40, 128490 bit/s.
    """
    positive(N=N)
    return (77021 if N <= 30 else 128490) / _SEGMENT


def first_rate(
    q1: ArrayLike, maxth1: float, C: float, minth1: float = 0.0, C1min: float = 0.0, C1max: float | None = None
) -> Array:
    """Return the service rate of the first queue: C1 (packets/s); 0 where ``q1`` is 0.

    The second queue receives C - C1. Section III and eq. (1): max(C1min, min(C q1 / maxth1, C1max)).
    """
    not_negative(q1=q1, minth1=minth1, C1min=C1min)
    positive(maxth1=maxth1, C=C)
    if minth1 > maxth1:
        raise ValueError(f"minth1 = {minth1:g}: must not be above maxth1 = {maxth1:g}")
    most = C if C1max is None else C1max
    if not C1min <= most <= C:
        raise ValueError(f"C1min = {C1min:g}, C1max = {most:g}: must be in order, and at most C = {C:g}")
    q1 = np.asarray(q1, dtype=float)
    shared = np.clip(C * q1 / maxth1, C1min, most)
    return np.asarray(np.where(q1 == 0, 0.0, np.where(q1 < minth1, C1min, shared)))


def longer_than(x: ArrayLike, K: float = 2300.0, a: float = 1.3) -> Array:
    """Return the fraction of files longer than x, by the paper's K and a of section II: min(1, (K/x)^a)."""
    positive(x=x, K=K, a=a)
    return np.asarray(np.minimum(1.0, (K / np.asarray(x, dtype=float)) ** a))
