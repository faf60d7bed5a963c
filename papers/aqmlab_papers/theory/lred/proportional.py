"""Proportional control of TCP by its queue, section 4 of the LRED paper: its stability region, and scans of it.

The loop is the plant without the queue's pole, eq. (13): s^2 + K11 s + Kc Hc exp(-s R) = 0, K11 = 2 N/(R^2 C),
Kc = C^2/(eta N); Hc is the increase of the drop probability per packet in the queue.

Symbols, beside those of `aqmlab.theory`:

* Hc: gain of the controller (per packet), at least 0.
* claim: the property claimed; slack: the margin by which it holds at each point, not positive where it fails.
* axes, region: the values of each coordinate by name, and the grid that they span; values: a positive one for each
  point.
* sense: -1 for each axis along which the values should fall, 0 for axes to ignore; along others they should rise.
* nodes: number of points, at least 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import not_negative, positive

Array = NDArray[np.float64]
Point = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Account(Answer):
    """The result of a scan of a region.

    * warnings: empty: a scan has no validity conditions.
    * claim: the property claimed for every point.
    * holds: whether the claim holds at every point.
    * points: number of points evaluated.
    * slack: the smallest margin by which a point satisfies the claim, in the claim's terms; not positive where it
      fails.
    * worst: the point of least slack: N, R and the other scanned values.
    * counterexample: the worst point if the claim fails there, otherwise None.
    """

    claim: str
    holds: bool
    points: int
    slack: float
    worst: Point
    counterexample: Point | None


def account(claim: str, slack: ArrayLike, region: Mapping[str, ArrayLike]) -> Account:
    """Summarise a scan: whether all slacks are positive, and the point of the least."""
    slack = np.asarray(slack, dtype=float)
    where = np.unravel_index(int(np.argmin(slack)), slack.shape)
    worst = {name: float(np.broadcast_to(np.asarray(value), slack.shape)[where]) for name, value in region.items()}
    least = float(slack[where])
    holds = least > 0
    return Account(
        claim=claim, holds=holds, points=slack.size, slack=least, worst=worst, counterexample=None if holds else worst
    )


def grid(axes: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Span a region: each coordinate by name, sorted along its dimension and of length 1 along the others."""
    positive(**axes)
    lines = [np.unique(np.asarray(value, dtype=float)) for value in axes.values()]
    return dict(zip(axes, np.meshgrid(*lines, indexing="ij", sparse=True), strict=True))


def y(N: ArrayLike, R: ArrayLike, C: ArrayLike, Hc: ArrayLike, eta: float = 1.5) -> Array:
    """Return twice the square of the frequency at which the loop gain is 1: y (rad^2/s^2).

    Eq. (19): sqrt(K11^4 + 4 Kc^2 Hc^2) - K11^2, computed as 4 Kc^2 Hc^2 / (sqrt(...) + K11^2), which avoids
    cancellation.
    """
    positive(N=N, R=R, C=C, eta=eta)
    not_negative(Hc=Hc)
    N, R, C, Hc = (np.asarray(value, dtype=float) for value in (N, R, C, Hc))
    pole = (2 * N / (R**2 * C)) ** 2
    gain = 2 * C**2 / (eta * N) * Hc
    return np.asarray(gain**2 / (np.hypot(pole, gain) + pole))


def lag(N: ArrayLike, R: ArrayLike, C: ArrayLike, Hc: ArrayLike, eta: float = 1.5) -> Array:
    """Return the phase lag of the delay and TCP's pole where the loop gain is 1; the queue adds pi/2.

    w R + arctan(w/K11) (rad), w = sqrt(y/2); the loop is stable below pi/2, and its phase margin is pi/2 minus this.
    Eqs. (18), (20), (21).
    """
    w = np.sqrt(y(N, R, C, Hc, eta) / 2)
    N, R, C = (np.asarray(value, dtype=float) for value in (N, R, C))
    return np.asarray(w * R + np.arctan(w * R**2 * C / (2 * N)))


def rightmost_root(N: ArrayLike, R: ArrayLike, C: ArrayLike, Hc: ArrayLike, eta: float = 1.5) -> NDArray[np.complex128]:
    """Return the characteristic equation's rightmost root (1/s), the one above the real axis of a pair.

    Eq. (13) as a delay differential equation, with its generator collocated at 25 Chebyshev points of [-R, 0]; the
    eigenvalue is then refined by Newton's method on (13). The frequency response is not used.
    """
    positive(N=N, R=R, C=C, eta=eta)
    not_negative(Hc=Hc)
    N, R, C, Hc = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (N, R, C, Hc)))
    pole = 2 * N / (R * C)
    gain = C**2 / (eta * N) * Hc * R**2
    # In z = s R: z^2 + pole z + gain exp(-z) = 0; the state is the queue and its slope at each node.
    nodes = 25
    generator = np.zeros((*N.shape, 2 * nodes, 2 * nodes))
    generator[..., 2:, :] = np.kron(2 * chebyshev(nodes), np.eye(2))[2:]
    generator[..., 0, 1] = 1
    generator[..., 1, 1] = -pole
    generator[..., 1, -2] = -gain
    found = np.linalg.eigvals(generator)
    z = np.take_along_axis(found, np.argmax(found.real, axis=-1)[..., None], axis=-1)[..., 0]
    z = z.real + 1j * np.abs(z.imag)
    for _ in range(3):
        slope = 2 * z + pole - gain * np.exp(-z)
        step = (z**2 + pole * z + gain * np.exp(-z)) / np.where(slope == 0, 1, slope)
        z = z - np.where(np.abs(step) < 0.01, step, 0)  # a double root is not refined
    return np.asarray(z / R)


def monotony(claim: str, values: Array, region: dict[str, Array], sense: Mapping[str, int]) -> Account:
    """Scan whether positive values rise, or fall, along each axis.

    Its slack is the smallest change of the values' logarithm between neighbouring points, in the claimed direction.
    """
    slack = np.full(values.shape, np.inf)
    for axis, name in enumerate(region):
        sign = sense.get(name, 1)
        if sign == 0:
            continue
        if values.shape[axis] < 2:
            raise ValueError(f"{name} = {region[name].item():g} alone: a scan along {name} needs at least two values")
        change = sign * np.diff(np.log(values), axis=axis)
        here = [slice(None)] * values.ndim
        here[axis] = slice(0, -1)
        slack[tuple(here)] = np.minimum(slack[tuple(here)], change)
    return account(claim, slack, region)


def check_boundary(N: ArrayLike, R: ArrayLike, C: float, Hc: ArrayLike, eta: float = 1.5) -> Account:
    """Scan whether eq. (21) separates stable loops from others: Lemmas 1 to 4 for a gain that is the same for all.

    Its slack is ``|w R + arctan(w/K11) - pi/2|`` (rad), negative where the rightmost root is on the wrong side.
    """
    region = grid({"N": N, "R": R, "Hc": Hc})
    distance = np.pi / 2 - lag(**region, C=C, eta=eta)
    root = rightmost_root(**region, C=C, eta=eta).real
    return account("the loop is stable just where w R + arctan(w/K11) < pi/2", -distance * np.sign(root), region)


def check_theorem1(N: ArrayLike, R: ArrayLike, C: float, Hc: ArrayLike, eta: float = 1.5) -> Account:
    """Scan Theorem 1: stability at the fewest flows, the longest round trip and the largest gain implies it everywhere.

    Its slack is the distance of the rightmost root to the left of the imaginary axis (1/s).
    """
    region = grid({"N": N, "R": R, "Hc": Hc})
    return account("the loop is stable", -rightmost_root(**region, C=C, eta=eta).real, region)


def chebyshev(nodes: int) -> Array:
    """Return the differentiation matrix at Chebyshev points of [-1, 1], from 1 down to -1."""
    i = np.arange(nodes)
    x = np.cos(np.pi * i / (nodes - 1))
    weight = np.where((i == 0) | (i == nodes - 1), 2.0, 1.0) * (-1.0) ** i
    matrix = np.outer(weight, 1 / weight) / (x[:, None] - x + np.eye(nodes))
    return np.asarray(matrix - np.diag(matrix.sum(axis=1)))
