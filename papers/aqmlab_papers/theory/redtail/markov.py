"""Stationary distribution of an integer queue with Gaussian steps, from sparse transitions.

Symbols, beside those of `aqmlab.theory`:

* mean: mean next queue from each state (packets); shape (B + 1,).
* sd: standard deviation of a step xi (packets); at least 0.3, or integer states do not resolve it.
* printed: whether state j is [j, j + 1) packets, as in print, instead of [j - 1/2, j + 1/2).
* states: their number; T: transition matrix with one recurrent class, shape (B + 1, B + 1).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import eigs, splu
from scipy.special import ndtr

from aqmlab.theory.domain import caution, not_negative, positive, probability

Array = NDArray[np.float64]

REACH = 8.3
"""Range of a step in standard deviations; the probability beyond it is below 1e-16."""

_BLOCK = 512
"""Number of rows computed at a time, which limits temporary memory."""

_MOST = 50_000_000
"""Maximum number of entries in a matrix, about 1.3 GB during construction."""

_NARROW = 100
"""Maximum number of entries per row for which the system is solved by elimination."""

_FIRST = 200
"""Number of steps after which the likeliest state, from any start, is a reliable reference."""


@dataclass(frozen=True, eq=False)
class Stationary:
    """The stationary distribution of a queue on {0, ..., B}.

    * probability: probability of each state; shape (B + 1,), sum 1.
    * residual: the largest component of pi T - pi.
    * printed: whether state j stands for [j, j + 1) packets, as in eq. (19), instead of [j - 1/2, j + 1/2).
    """

    probability: Array
    residual: float
    printed: bool = False

    @property
    def q(self) -> Array:
        """The states, packets; shape (B + 1,)."""
        return np.arange(self.probability.size, dtype=float)

    @property
    def mean(self) -> float:
        """The mean of the states, packets."""
        return float(self.probability @ self.q)

    @property
    def sd(self) -> float:
        """Their standard deviation, packets."""
        return float(np.sqrt(self.probability @ (self.q - self.mean) ** 2))

    def quantile(self, p: ArrayLike) -> Array:
        """Return quantiles (packets), with each state's probability spread evenly over its interval."""
        probability(p=p)
        edges = np.append(self.q, self.q[-1] + 1) - (0 if self.printed else 0.5)
        below = np.concatenate([[0.0], np.cumsum(self.probability)])
        return np.asarray(np.clip(np.interp(np.asarray(p, dtype=float), below, edges), 0, self.q[-1]))


def transitions(mean: ArrayLike, sd: float, printed: bool = False) -> csr_array:
    """Return the transition matrix of z+ = the state of min(B, max(0, mean(z) + xi)), xi normal: RED+Tail, eq. (19).

    Shape (B + 1, B + 1), rows with sum 1; each has about 17 ``sd`` entries, all those above 1e-16.
    """
    mean = np.asarray(mean, dtype=float)
    if mean.ndim != 1 or mean.size < 2:
        raise ValueError(f"mean of shape {mean.shape}: must be of one dimension, with at least two states")
    if not np.all(np.isfinite(mean)):
        raise ValueError("mean: must be finite")
    top = mean.size - 1
    offset = 0.0 if printed else 0.5
    width = band(top + 1, sd)
    first = np.clip(np.floor(mean + offset - REACH * sd), 0, top + 1 - width).astype(np.int32)
    data = np.empty((top + 1, width))
    columns = np.empty((top + 1, width), dtype=np.int32)
    for start in range(0, top + 1, _BLOCK):
        rows = slice(start, start + _BLOCK)
        columns[rows] = first[rows, None] + np.arange(width, dtype=np.int32)
        # The probability beyond the first and last edges belongs to the boundary states, or is negligible.
        inner = ndtr((columns[rows, 1:] - offset - mean[rows, None]) / sd)
        data[rows] = np.diff(inner, axis=1, prepend=0.0, append=1.0)
    found = csr_array(
        (data.ravel(), columns.ravel(), np.arange(0, data.size + 1, width)), shape=(top + 1, top + 1), copy=False
    )
    found.data[found.data < 1e-16] = 0
    found.eliminate_zeros()
    return found


def band(states: float, sd: float) -> int:
    """Return the number of states that a step can reach."""
    positive(sd=sd)
    width = min(states, np.ceil(2 * REACH * sd) + 3)
    if states * width > _MOST:
        raise ValueError(
            f"B = {states - 1:g}: {states:g} states with {width:g} successors each, must be at most {_MOST:g} in all; "
            "take a shorter buffer"
        )
    return int(width)


def stationary(T: csr_array, printed: bool = False) -> Stationary:
    """Return the distribution pi with pi T = pi: RED+Tail, eq. (18).

    Narrow bands, of queues that move little in a step, are solved by elimination. Wide bands would fill in; there the
    spectrum has a gap, and Arnoldi's method needs few products of ``T`` with a vector.
    """
    n = T.shape[0]
    not_negative(T=T.data)
    if T.shape != (n, n) or np.max(np.abs(T.sum(axis=1) - 1)) > 1e-9:
        raise ValueError(f"T of shape {T.shape}: must be square, with rows whose sum is 1")
    pi = np.ones(n)
    if T.nnz <= _NARROW * n:
        # Expressed relative to one state, which is visited often.
        for _ in range(_FIRST):
            pi = T.T @ pi
        often = int(np.argmax(pi))
        pi[often] = 1
        others = np.delete(np.arange(n), often)
        rest = T[others]
        system = csc_array((eye_array(len(others)) - rest[:, others]).T)
        pi[others] = splu(system).solve(T[[often]].toarray()[0, others])
    else:
        # Largest real part, not largest modulus: for long S the queue alternates, and an eigenvalue is near -1.
        _, vectors = eigs(T.T, k=1, which="LR", v0=T.T @ pi, maxiter=50 * n)
        pi = vectors[:, 0].real / vectors[:, 0].real.sum()
    pi = np.maximum(pi, 0) / np.maximum(pi, 0).sum()
    residual = float(np.max(np.abs(T.T @ pi - pi)))
    if residual > 1e-9:
        raise ValueError(f"T: no stationary distribution found; the best one changes by {residual:.2g}")
    return Stationary(pi, residual, printed)


def settled(mean: ArrayLike, sd: float, printed: bool = False) -> Stationary:
    """Return the stationary distribution of z+ = the state of min(B, max(0, mean(z) + xi)), xi normal.

    RED+Tail, eqs. (17) to (19). Rounding to integers adds a variance of 1/12 to that of each step.
    """
    positive(sd=sd)
    if sd < 0.3:
        raise ValueError(
            f"sd = {sd:g} packets a step: must be at least 0.3, or whole packets do not resolve it; "
            "take a longer slot or more noise"
        )
    if sd < 2:
        caution(
            f"steps of sd {sd:.3g} packets are rounded to whole ones: the chain's sd is some {4.2 / sd**2:.2g} % large"
        )
    return stationary(transitions(mean, sd, printed), printed)
