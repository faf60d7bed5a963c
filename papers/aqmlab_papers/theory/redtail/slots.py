"""RED+Tail's queue of long flows with noise: simulation, linear approximation and Markov chain.

Symbols, beside those of `aqmlab.theory`:

* sigma: standard deviation of a flow's rate in a slot (packets/s).
* q, B: queue and buffer (packets), of which a fraction is ignored.
* steps, queues: slots to simulate, and queues in parallel, each with independent noise; seed: its seed.
* printed: whether to round down, as eq. (19) does, a difference of half a packet; by default to the nearest integer.
* arrivals: packets of each flow that arrived in each bin, shape (flows, bins); step: width of a bin (s).
* S: the slot (s), rounded to whole bins, at least one.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import caution, not_negative, positive, whole
from aqmlab_papers.theory.redtail.markov import Stationary, band, settled
from aqmlab_papers.theory.redtail.slot_map import SlotMap, whole_buffer

Array = NDArray[np.float64]


class Slots(SlotMap):
    """The flows of `SlotMap` with noise: q+ = min(B, max(0, f(q) + xi)), xi normal with variance N S^2 sigma^2.

    RED+Tail, eqs. (2) to (21).
    """

    def simulate(self, sigma: float, B: float, steps: int, seed: int, queues: int = 1) -> Array:
        """Simulate queues with noise from q_e on, eq. (15): packets after each slot, shape (steps, queues)."""
        whole(steps=steps, queues=queues)
        noise = np.random.default_rng(seed).normal(0, self.noise(sigma), (steps, queues))
        most = whole_buffer(B)
        q = np.full(queues, min(self.q_e, most))
        for place in range(steps):
            q = np.clip(self.f(q) + noise[place], 0, most)
            noise[place] = q
        return noise

    def noise(self, sigma: float) -> float:
        """Return the standard deviation of xi, the effect of noise on the queue in a slot: sqrt(N) S sigma, packets.

        Eq. (7). The paper's text has the variance N S sigma^2; (21) follows only with S^2.
        """
        positive(sigma=sigma)
        packets = float(np.sqrt(self.N)) * self.slot * sigma
        if packets > 1e9:
            raise ValueError(
                f"S = {self.slot:g} s, sigma = {sigma:g} packets/s: noise of {packets:.3g} packets a slot, must be at "
                "most 1e9; take a shorter slot or less noise"
            )
        return packets

    def linear_sd(self, sigma: float) -> float:
        """Return the standard deviation of the queue about q_e if f were linear: eqs. (20) and (21).

        ``sqrt(N) S sigma / sqrt(1 - f'(q_e)^2)``, packets; infinite from ``|f'(q_e)| = 1`` on.
        """
        left = 1 - float(self.slope(self.q_e)) ** 2
        if left < 1e-12:
            caution(
                f"S = {self.slot:.4g} s is not below {2 * self.monotone_limit():.4g} s: |f'(q_e)| >= 1, the "
                "equilibrium is not stable, and the linear approximation has no stationary distribution"
            )
            return float(np.inf)
        return self.noise(sigma) / float(np.sqrt(left))

    def mean_shift(self, sigma: float) -> float:
        """Return the distance of the mean above q_e, to second order: f''(q_e) Var / (2 (1 - f'(q_e))), packets.

        With `linear_sd`'s variance, and infinite where that is. Ours: f is convex, so that noise raises the mean.
        """
        q_e = self.q_e
        return float(self.curvature(q_e) * self.linear_sd(sigma) ** 2 / (2 * (1 - self.slope(q_e))))

    def density(self, q: ArrayLike, sigma: float) -> Array:
        """Return the Gaussian density of the linear approximation (1/packet)."""
        sd = self.linear_sd(sigma)
        z = (np.asarray(q, dtype=float) - self.q_e) / sd
        return np.asarray(np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * sd))

    def chain(self, sigma: float, B: float, printed: bool = False) -> Stationary:
        """Return the stationary distribution of the queue on {0, ..., B}: eqs. (17) to (19)."""
        noise, states = self.noise(sigma), whole_buffer(B) // 1 + 1
        band(states, noise)
        return settled(self.f(np.arange(states)), noise, printed)


def rate_deviation(arrivals: ArrayLike, step: float, S: float) -> float:
    """Estimate sigma, the standard deviation of a flow's rate from slot to slot: that of E in eq. (3) (packets/s).

    The root of the mean over flows of the variance over slots.
    """
    not_negative(arrivals=arrivals)
    positive(step=step, S=S)
    counts = np.atleast_2d(np.asarray(arrivals, dtype=float))
    bins = max(1, round(S / step))
    slots = counts.shape[1] // bins
    if slots < 2:
        raise ValueError(f"arrivals of {counts.shape[1]} bins of {step:g} s: must be at least two slots of {S:g} s")
    rates = counts[:, : slots * bins].reshape(len(counts), slots, bins).sum(axis=2) / (bins * step)
    return float(np.sqrt(rates.var(axis=1).mean()))
