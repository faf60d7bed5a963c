"""TCP flows and their shared queue as a linear plant from a drop probability to a queue length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import caution, not_negative, positive, probability
from aqmlab.theory.python_control import python_control

if TYPE_CHECKING:
    from control import TransferFunction

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class OperatingPoint:
    """The equilibrium of equal flows, and the constants of the model linearised there.

    Parameters
    ----------
    w0 : float or ndarray
        Window of a flow (packets).
    p0 : float or ndarray
        Drop probability.
    K11 : float or ndarray
        Decay rate of a window deviation, 1/s: 2 N / (R^2 C).
    K12 : float or ndarray
        Decrease of a window's growth per unit of drop probability, packets/s: R C^2 / (eta N^2).
    K21 : float or ndarray
        Rate change per packet of window, 1/s: N / R.
    Kc : float or ndarray
        K12 K21 = C^2 / (eta N), packets/s^2.
    """

    w0: Any
    p0: Any
    K11: Any
    K12: Any
    K21: Any
    Kc: Any


def operating_point(N: ArrayLike, R: ArrayLike, C: ArrayLike, eta: ArrayLike = 1.5) -> OperatingPoint:
    """Return the equilibrium of equal flows, and the constants of the linear model.

    LRED, eqs. (6) to (8) and (13). w0 = R C / N, p0 = eta / w0^2. The model has no time-outs: above p0 of about 0.1,
    that is for windows below 4, p0 is too large; for windows below sqrt(eta) it is not a probability. Both cause
    warnings.
    """
    positive(N=N, R=R, C=C, eta=eta)
    n, r, c, e = (np.asarray(value, dtype=float) for value in (N, R, C, eta))
    w0 = r * c / n
    p0 = e / w0**2
    _judge(w0, p0)
    K12, K21 = r * c**2 / (e * n**2), n / r
    return OperatingPoint(
        *(_plain(value) for value in (w0, p0, 2 / (r * w0), K12 + 0 * w0, K21 + 0 * w0, c**2 / (e * n) + 0 * w0))
    )


class Plant:
    """The linearised effect of the drop probability on the queue: LRED's plant or Hollot's.

    A call returns the response from dp to dq at s, with its delay and without its negative sign. For equal flows it is

        K12 K21 e^(-sR) / ((s + K11) (s + 1/R))

    with the queue's pole at -1/R, or at 0 without it. If w(t) and w(t-R) are not merged, (K11/2) (1 + e^(-sR)) takes
    the place of K11, and with the queue's pole K11/(2R) (1 - e^(-sR)) is added to the denominator: a growing queue
    slows windows down at once, and with them the drops a round trip later. For several classes the response is the sum,
    with the queue's pole at sum of x_i / R_i over C, where x_i are the rates of the classes.

    Parameters
    ----------
    N : array_like
        Flows, of each class if there are several; shape (classes,).
    R : array_like
        Round-trip time (s) of each class, the queue included; shape (classes,).
    C : float
        Capacity (packets/s).
    eta : array_like
        3/(2b) of each class, b packets per ACK.
    queue_pole : bool
        Whether the queue has a pole, R = Tp + q/C (Hollot); otherwise R is constant and the queue an integrator (LRED).
    merged : bool
        Whether w(t-R) is approximated by w(t), and R(t-R) by R(t), as LRED and Hollot do. Otherwise the response is
        the complete linear part of the fluid model.
    load : float
        Unresponsive traffic (packets/s), below ``C``; the flows use the remaining capacity.
    p0 : float
        The drop probability at the equilibrium, if a better value than that of (6) is available. Where time-outs make
        it smaller, flows respond more strongly to its changes, K12 = 1 / (p0 R).
    pace : array_like
        How fast windows of each class move, relative to (4): 1/b for flows whose window grows by 1/b a round trip, and
        shrinks at a loss as any other's, where (4) with ``eta`` = 3/(2b) has windows that shrink b times as much.

    Raises
    ------
    ValueError
        If an argument is not positive and finite.

    Notes
    -----
    LRED, eqs. (7) to (13); Hollot, Misra, Towsley and Gong 2001, eq. (6). A given ``p0`` is our rule of thumb: a
    relative change of p0 has the effect that it has by (6).
    """

    def __init__(
        self,
        N: ArrayLike,
        R: ArrayLike,
        C: float,
        eta: ArrayLike = 1.5,
        queue_pole: bool = False,
        merged: bool = True,
        load: float = 0.0,
        p0: float | None = None,
        pace: ArrayLike = 1.0,
    ) -> None:
        positive(N=N, R=R, C=C, eta=eta, pace=pace)
        self.N, self.R, self.eta, moves = np.broadcast_arrays(
            *(np.atleast_1d(np.asarray(value, dtype=float)) for value in (N, R, eta, pace))
        )
        if self.N.ndim > 1:
            raise ValueError(f"N, R and eta have {self.N.ndim} dimensions: give a number for each class")
        self.C = float(C)
        self.queue_pole, self.merged = queue_pole, merged
        unit = float(np.sum(self.N * np.sqrt(self.eta) / self.R))
        by_windows = (unit / _left(C, load)) ** 2
        self.w = np.sqrt(self.eta / by_windows)
        if p0 is None:
            _judge(self.w, np.asarray(by_windows))
        else:
            probability(p0=p0)
        self.p0 = by_windows if p0 is None else float(p0)
        self.K11 = moves * 2 / (self.R * self.w)
        self.K = moves * self.N / (self.R**2 * self.p0)
        """K12 K21 of each class."""
        self.pole = float(np.sum(self.N * self.w / self.R**2)) / self.C if queue_pole else 0.0
        """The negated pole of the queue (1/s)."""
        self.heard = moves * self.N / (self.R**3 * self.C) * (queue_pole and not merged)
        """The effect on each class's windows of the difference between R(t) and R(t-R) (1/s^2)."""

    @property
    def delay(self) -> float:
        """The longest round-trip time (s)."""
        return float(self.R.max())

    def __call__(self, s: Any) -> Any:
        """Return the response from dp to dq, without its negative sign.

        Parameters
        ----------
        s : complex or array_like
            Frequency (rad/s).

        Returns
        -------
        complex or ndarray
            The response (packets), of the shape of ``s``.
        """
        s = np.asarray(s, dtype=complex)
        total: Complex = np.zeros(s.shape, dtype=complex)
        queue = s + self.pole
        for K, K11, R, heard in zip(self.K, self.K11, self.R, self.heard, strict=True):
            late = np.exp(-s * R)
            window = s + (K11 if self.merged else K11 / 2 * (1 + late))
            total = total + K * late / window
            queue = queue + heard * (1 - late) / window
        return (total / queue)[()]

    def transfer_function(self, pade: int | None = None) -> TransferFunction:
        """Return the plant as a transfer function of python-control.

        Parameters
        ----------
        pade : int
            Order of the rational approximation of each delay; None to omit the delay.

        Returns
        -------
        control.TransferFunction
            The transfer function from dp to dq, without its negative sign.

        Raises
        ------
        ValueError
            If the order is not positive, or if delays are omitted for a plant that has several or is not merged.
        ImportError
            If control is not installed; ``pip install 'aqmlab[theory]'`` installs it.
        """
        control = python_control()
        if pade is None and (len(self.R) > 1 or not self.merged):
            raise ValueError("this plant is not a rational function times one delay: give the order of pade")
        if pade is not None and pade < 1:
            raise ValueError(f"pade = {pade}: must be at least 1")
        total: Any = np.zeros(1)
        slowed: Any = np.zeros(1)
        windows: Any = np.ones(1)  # product of the classes' denominators, common to both sums
        for K, K11, R, heard in zip(self.K, self.K11, self.R, self.heard, strict=True):
            above, below = (np.ones(1), np.ones(1)) if pade is None else control.pade(R, pade)
            above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
            window = np.polymul([1.0, K11], below)
            if not self.merged:
                window = np.polyadd(np.polymul([1.0, K11 / 2], below), K11 / 2 * above)
            total = np.polyadd(np.polymul(total, window), np.polymul(K * above, windows))
            slowed = np.polyadd(np.polymul(slowed, window), np.polymul(heard * np.polysub(below, above), windows))
            windows = np.polymul(windows, window)
        return control.tf(total, np.polyadd(np.polymul([1.0, self.pole], windows), slowed))


def _left(C: float, load: float) -> float:
    """Return the capacity that unresponsive traffic leaves on a link."""
    not_negative(load=load)
    if load >= C:
        raise ValueError(
            f"load = {load:g} packets/s: must be below C = {C:g} packets/s, or no capacity is left for the flows"
        )
    return float(C) - load


def _judge(w: Array, p: Array) -> None:
    """Warn of windows and losses for which the model is not meant."""
    if np.any(p >= 1):
        caution(
            f"p0 = {np.max(p):.3g} of eq. (6) is not a probability: a window of {np.min(w):.3g} packets is too small"
        )
    elif np.any(w < 2):
        caution(f"a window of {np.min(w):.3g} packets: below 2, flows time out more than they recover; eq. (6) fails")


def _plain(value: Array) -> Any:
    return float(value) if np.ndim(value) == 0 else value
