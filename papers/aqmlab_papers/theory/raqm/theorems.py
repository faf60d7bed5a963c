"""Numerical checks of RAQM's Theorem 1: a scan of its condition, and the change of its V.

Symbols, beside those of `aqmlab.theory`:

* x: r / r0, in (0, 2) but not 1 for the scan; by default 98 of them.
* m: gains, alpha r0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import caution, positive
from aqmlab_papers.theory.raqm.map import c, step

Array = NDArray[np.float64]


def v_difference(x: ArrayLike, m: ArrayLike) -> Array:
    """Return the change of V in a step, eqs. (7), (8), (10): (V_(k+1) - V_k) / r0^2 = (x' - x)(x' + x - 2)."""
    after = step(x, m)
    x = np.asarray(x, dtype=float)
    return np.asarray((after - x) * (after + x - 2))


@dataclass(frozen=True, kw_only=True)
class Theorem1:
    """Result of a scan of Theorem 1 over rates and gains.

    * decreases: whether V falls in the next step; shape (gains, rates).
    * below: whether the gain is below c(x), the bound at the rate; the same shape. The theorem holds where the two
      agree.
    * misled: where V falls in the next step although r0 is unstable at this gain, 4 < m < c(x); the same shape.
    """

    decreases: NDArray[np.bool_]
    below: NDArray[np.bool_]
    misled: NDArray[np.bool_]

    @property
    def holds(self) -> bool:
        """Whether V falls exactly where the gain is below the bound."""
        return bool(np.all(self.decreases == self.below))


def theorem_1(m: ArrayLike, x: ArrayLike | None = None) -> Theorem1:
    """Scan Theorem 1, stable iff 0 < alpha < alpha^: whether V falls exactly where the gain is below the bound.

    Warns of gains from 4 on: r0 is then unstable, wherever V may fall at first.
    """
    x = np.delete(np.linspace(0.02, 1.98, 99), 49) if x is None else np.asarray(x, dtype=float)
    positive(m=m)
    gains = np.atleast_1d(np.asarray(m, dtype=float))[:, None]
    bound = c(x)[None, :]
    if np.any(x == 1):
        raise ValueError(f"x = {x}: must not be 1, where V is 0")
    falls = v_difference(x[None, :], gains) < 0
    misled = falls & (gains > 4)
    if misled.any():
        caution("V falls now at some rates although alpha r0 > 4: the rate ends in a cycle, not at r0")
    return Theorem1(decreases=falls, below=gains < bound, misled=misled)
