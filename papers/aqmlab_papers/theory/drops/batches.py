"""Losses of smooth and bursty packets side by side: single packets and batches at a queue that drops by its length.

Symbols are those of `aqmlab_papers.theory.drops.chain`, and:

* size: packets in a batch, each of which finds the queue with those before it that were accepted.
* share: fraction of the packets that come in batches, in (0, 1).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import positive, whole
from aqmlab_papers.theory.drops.chain import probabilities

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Batches(Answer):
    """Losses of packets that come singly and of those that come in batches.

    * warnings: conditions of the formulas that fail here, and the consequence.
    * smooth: fraction of the single packets dropped.
    * bursty: fraction of the batches' packets dropped.
    * queue_mean: mean number of packets present.
    """

    smooth: float
    bursty: float
    queue_mean: float


def batches(rho: float, d: ArrayLike, size: int, share: float) -> Batches:
    """Return the losses of single packets and of batches that share a buffer, each Poisson; services are exponential.

    The balance of the Markov chain of the number of packets present is solved directly; arrivals see its time averages.
    """
    positive(rho=rho, share=share)
    whole(size=size)
    if share >= 1:
        raise ValueError(f"share = {share:g}: must be in (0, 1)")
    d = probabilities(d)
    states = d.size
    # One arrival: it stays out with probability d(k).
    one = np.diag(d) + np.diag(1 - d[:-1], 1)
    many = np.linalg.matrix_power(one, size)
    leave = np.eye(states, k=-1)
    leave[0, 0] = 1
    rates = (
        rho * (1 - share) * (one - np.eye(states))
        + rho * share / size * (many - np.eye(states))
        + leave
        - np.eye(states)
    )
    balance = rates.T.copy()
    balance[-1] = 1
    right = np.zeros(states)
    right[-1] = 1
    found = np.linalg.solve(balance, right)
    seen, lost = found, 0.0
    for _ in range(size):
        lost += float(seen @ d) / size
        seen = seen @ one
    return Batches(smooth=float(found @ d), bursty=lost, queue_mean=float(found @ np.arange(states)))
