"""Queues whose mean is known.

Symbols, beside those of `aqmlab.theory`:

* load: rate (bit/s) and packet size (bits) of each stream; a single size is M/D/1, exponentially distributed ones
  M/M/1.
* rate: the server's rate (bit/s).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.theory.domain import positive


def waiting(load: ArrayLike, rate: float) -> float:
    """Return the mean number of packets waiting when Poisson streams share one queue, excluding the one in service.

    Pollaczek and Khinchine's L = lambda^2 E(S^2) / (2 (1 - rho)), packets.
    """
    positive(load=load, rate=rate)
    if np.ndim(load) != 2 or np.shape(load)[1] != 2:
        raise ValueError(f"load of shape {np.shape(load)}: must be (streams, 2), each of bit/s and bits a packet")
    bits, size = np.asarray(load, dtype=float).T
    if bits.sum() >= rate:
        raise ValueError(
            f"load = {bits.sum():g} bit/s: must be below rate = {rate:g} bit/s, or the queue grows for ever"
        )
    arrivals = float(np.sum(bits / size))
    mean_square = float(np.sum(bits / size * (size / rate) ** 2)) / arrivals
    return arrivals**2 * mean_square / (2 * (1 - float(bits.sum()) / rate))
