"""LRED's law: the measured loss ratio and its estimate.

Symbols, beside those of `aqmlab.theory`:

* drops, arrivals: packets in each period, arrivals with the dropped ones; shape (periods,).
* M: periods that a measurement covers; fewer at the start.
* ratios: l(k), shape (periods,); at NaN (no arrivals) the estimate is kept.
* m_w: weight of the previous estimate, in [0, 1); L0: initial estimate, in [0, 1].

>>> smoothed(loss_ratio([100, 130], [2500, 2600]))
array([0.036     , 0.04418824])
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import not_negative

Array = NDArray[np.float64]


def loss_ratio(drops: ArrayLike, arrivals: ArrayLike, M: int = 4) -> Array:
    """Return the loss ratio l(k) over the last M periods, for each period; NaN where nothing arrived in them.

    Eq. (1), by the pseudocode: sum of N_d(k - i) over sum of N_a(k - i), i = 0..M - 1; shape (periods,).
    """
    not_negative(drops=drops, arrivals=arrivals)
    drops, arrivals = np.asarray(drops, dtype=float), np.asarray(arrivals, dtype=float)
    if drops.ndim != 1 or drops.shape != arrivals.shape:
        raise ValueError(f"drops of shape {drops.shape}, arrivals of {arrivals.shape}: must be lists of equal length")
    if M < 1:
        raise ValueError(f"M = {M}: must be at least 1")
    if np.any(drops > arrivals):
        worst = int(np.argmax(drops - arrivals))
        raise ValueError(
            f"drops = {drops[worst]:g} of {arrivals[worst]:g} arrivals in period {worst}: must not exceed the arrivals"
        )
    dropped, arrived = (np.convolve(value, np.ones(M))[: len(drops)] for value in (drops, arrivals))
    return np.asarray(np.divide(dropped, arrived, out=np.full(len(drops), np.nan), where=arrived > 0))


def smoothed(ratios: ArrayLike, m_w: float = 0.1, L0: float = 0.0) -> Array:
    """Return LRED's estimate after each period, eq. (2): L(k) = m_w L(k - 1) + (1 - m_w) l(k); shape (periods,)."""
    ratios = np.asarray(ratios, dtype=float)
    not_negative(ratios=np.nan_to_num(ratios), m_w=m_w, L0=L0)
    if m_w >= 1:
        raise ValueError(f"m_w = {m_w:g}: must be below 1")
    if L0 > 1 or np.any(ratios > 1):
        raise ValueError("a loss ratio above 1: must be in [0, 1]")
    found, L = np.empty(ratios.shape), L0
    for k, ratio in enumerate(ratios):
        L = L if np.isnan(ratio) else m_w * L + (1 - m_w) * ratio
        found[k] = L
    return found
