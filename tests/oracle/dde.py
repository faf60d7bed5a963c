"""The fluid model of TCP and an AQM as delay differential equations, integrated step by step in numpy.

A reference for new laws: slow, short, and with steps that end at every discontinuity. `aqmlab.fluid` is fast.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.theory.pie import factor
from oracle.delay import NEAR, Array, Equation, cubic, integrate

OfTime = Callable[[float], ArrayLike]


class Seen(NamedTuple):
    """The inputs of a law when its timer expires: time (s), queue, and packets that arrived or were dropped since 0."""

    t: float
    q: float
    arrivals: float
    drops: float


@dataclass(frozen=True)
class Timed:
    """A law with a timer: its state is constant between updates, and the probability is computed from the state.

    The first update is at t = period (s). States are never modified in place. Probabilities are clipped to [0, 1].
    """

    period: float
    start: Any
    update: Callable[[Any, Seen], Any]
    probability: Callable[[Any, float], float]


DropLaw = Timed | Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The solution at the ends of steps: times (s), windows (classes, n), queue, and the share dropped just after."""

    t: Array
    w: Array
    q: Array
    p: Array

    def bin_means(self, width: float = 1.0) -> Array:
        """Return the mean queue in each time bin.

        Packets, shape (bins,); the time after the last complete bin is ignored.
        """
        edges = np.arange(0, self.t[-1] + width * 1e-6, width)
        areas = np.concatenate([[0.0], np.cumsum((self.q[1:] + self.q[:-1]) / 2 * np.diff(self.t))])
        return np.asarray(np.diff(np.interp(edges, self.t, areas)) / width)

    def settled(self, target: float, band: float, width: float = 1.0) -> float | None:
        """Return the time from which the mean queue of each bin stays near a target until the end.

        Seconds; None if the last bin is outside the band.
        """
        outside = np.flatnonzero(np.abs(self.bin_means(width) - target) > band)
        first = 0 if len(outside) == 0 else int(outside[-1]) + 1
        return None if first * width + width > self.t[-1] + NEAR else first * width


def static(p0: float, q0: float, beta: float = 0.001) -> Callable[[float, float], float]:
    """Create LRED with an exact estimate: p = p0 + beta sqrt(p0) (q - q0).

    A law without a timer. Eq. (26) of LRED, Hc = beta sqrt(p0).
    """
    return lambda t, q: p0 + beta * sqrt(p0) * (q - q0)


def lred(q0: float, beta: float = 0.001, period: float = 1.0, M: int = 4, mw: float = 0.1) -> Timed:
    """Create LRED with its estimator: L is the smoothed loss ratio of ``M`` periods; p = L + beta sqrt(L) (q - q0).

    The law; its state is L, and the arrivals and drops at the last ``M`` updates. Eqs. (1) to (3) of LRED.
    """

    def update(state: Any, seen: Seen) -> Any:
        L, counts = state
        arrivals, drops = seen.arrivals - counts[0][0], seen.drops - counts[0][1]
        if arrivals > 0:
            L = mw * L + (1 - mw) * drops / arrivals
        return L, (*counts, (seen.arrivals, seen.drops))[-M:]

    return Timed(period, (0.0, ((0.0, 0.0),)), update, lambda state, q: state[0] + beta * sqrt(state[0]) * (q - q0))


def pi(q0: float, a: float = 1.822e-5, b: float = 1.816e-5, period: float = 1 / 170) -> Timed:
    """Create PI: p(k) = p(k-1) + a (q(k) - q0) - b (q(k-1) - q0), clipped to [0, 1] at each update.

    The law; its state is p and the previous queue. Eq. (32) of LRED.
    """

    def update(state: Any, seen: Seen) -> Any:
        return min(max(state[0] + a * (seen.q - q0) - b * (state[1] - q0), 0.0), 1.0), seen.q

    return Timed(period, (0.0, 0.0), update, lambda state, q: state[0])


def rem(q0: float, phi: float = 1.001, gamma: float = 0.001, alpha: float = 0.1, period: float = 0.002) -> Timed:
    """Create REM: the price u >= 0 grows by gamma (q(k) - (1 - alpha) q(k-1) - alpha q0), and p = 1 - phi^-u.

    The law; its state is u and the previous queue. Eqs. (35) and (36) of LRED.
    """

    def update(state: Any, seen: Seen) -> Any:
        return max(0.0, state[0] + gamma * (seen.q - (1 - alpha) * state[1] - alpha * q0)), seen.q

    return Timed(period, (0.0, 0.0), update, lambda state, q: 1 - phi ** -state[0])


def pie(target: float = 0.015, t_update: float = 0.015, alpha: float = 0.125, beta: float = 1.25, *, C: float) -> Timed:
    """Create PIE with the queue over the capacity as delay; its state is p and the delay at the last update.

    RFC 8033, sections 4.1, 4.2 and 5.5: nothing is dropped while p is below 0.2 and the delay was below half the
    target; from p = 0.1 on, a step is at most 0.02; while the delay is 0, p decays by a factor of 0.98. The burst
    allowance is left out.
    """

    def update(state: tuple[float, float], seen: Seen) -> tuple[float, float]:
        p, before = state
        delay = seen.q / C
        step = factor(p) * (alpha * (delay - target) + beta * (delay - before))
        p += min(step, 0.02) if p >= 0.1 else step
        if delay == 0 == before:
            p *= 0.98
        return min(max(p, 0.0), 1.0), delay

    def probability(state: tuple[float, float], q: float) -> float:
        p, delay = state
        return 0.0 if p < 0.2 and delay < target / 2 else p

    return Timed(t_update, (0.0, 0.0), update, probability)


class _Fluid(Equation):
    """The windows of the classes, the queue, and cumulative arrivals and drops, in this order."""

    def __init__(
        self,
        N: Callable[[float], Array],
        load: OfTime,
        Tp: Array,
        C: float,
        Q: float,
        law: DropLaw,
        eta: float,
        w: Array,
        constant: bool,
        merged: bool,
        thinned: bool,
        breaks: list[float],
        images: int,
    ) -> None:
        self.N, self.load, self.Tp, self.C, self.Q, self.eta, self.w = N, load, Tp, C, Q, eta, w
        self.per_packet = 0.0 if constant else 1 / C
        self.merged, self.thinned, self.images = merged, thinned, images
        self.breaks = breaks
        self.timed = law if isinstance(law, Timed) else None
        self.static = None if isinstance(law, Timed) else law
        self.fired = 0
        self.lost: list[float] = []  # the fraction dropped just after each step
        self.bound = 0  # 1: the queue is held at Q; -1: at 0
        self.tag = self.first = (self.timed.start if self.timed else None, 0)
        self.jumps: list[tuple[float, int]] = []  # discontinuities: time, number of loop traversals
        self.heard = [0] * len(Tp)  # number of discontinuities that have reached the flows of each class
        # The last and the next discontinuity of each class.
        self.low, self.high = np.full(len(Tp), -inf), np.full(len(Tp), inf)

    def law(self, state: Any, t: float, q: float) -> float:
        p = self.timed.probability(state, q) if self.timed else self.static(t, q) if self.static else 0.0
        return min(max(p, 0.0), 1.0)

    def arrivals(self, t: float, y: Array) -> float:
        R = self.Tp + self.per_packet * y[-3]
        return float(self.N(t) @ (y[:-3] / R)) + float(np.asarray(self.load(t)))

    def excess(self, state: Any, t: float, y: Array) -> float:
        """Return the rate entering the queue minus the link's capacity."""
        arrivals = self.arrivals(t, y)
        return (arrivals * (1 - self.law(state, t, y[-3])) if self.thinned else arrivals) - self.C

    def loss(self, tag: Any, t: float, y: Array) -> float:
        """Return the fraction dropped, by the law or by the full buffer."""
        state, bound = tag or self.first
        p = self.law(state, t, y[-3])
        if bound > 0 and (excess := self.excess(state, t, y)) > 0:
            return 1 - (1 - p) * self.C / (self.C + excess)
        return p

    def within(self, t: float, side: int) -> float:
        """Return a time just before or after a break at t, on the given side."""
        if not self.breaks:
            return t
        near = bisect_left(self.breaks, t - NEAR)
        return t + 2 * side * NEAR if near < len(self.breaks) and self.breaks[near] <= t + NEAR else t

    def slope(self, t: float, y: Array, past: Any, side: int) -> Array:
        now = self.within(t, side)
        w, q = y[:-3], y[-3]
        R = self.Tp + self.per_packet * q
        then, tags = past(t - R, self.low, self.high)
        times = np.minimum(np.maximum(t - R, self.low + 2 * NEAR), self.high - 2 * NEAR)
        here = self.N(now)
        d = np.empty_like(y)
        for i, (time, tag, values) in enumerate(zip(times, tags, then, strict=True)):
            rate = w[i] / R[i] if self.merged else values[i] / (self.Tp[i] + self.per_packet * values[-3])
            lost = self.loss(tag, time, values) if self.N(time)[i] > 0 else 0.0
            d[i] = 1 / R[i] - w[i] * rate * lost / self.eta if here[i] > 0 else 0.0
        d[-3] = 0.0 if self.bound else self.excess(self.tag[0], now, y)
        d[-2] = self.arrivals(now, y)
        d[-1] = d[-2] * self.loss(self.tag, now, y)
        return d

    def event(self, t: float, h: float, ends: tuple[Array, Array, Array, Array]) -> float:
        def heard(i: int) -> Callable[[float, Array], float]:
            """Return the time since the next discontinuity reached the flows of a class."""
            return lambda time, y: float(time - self.Tp[i] - self.per_packet * y[-3] - self.high[i])

        checks = [heard(i) for i in range(len(self.Tp)) if self.high[i] < inf]
        if self.bound:
            checks.append(lambda time, y: -self.bound * self.excess(self.tag[0], self.within(time, -1), y))
        else:
            checks += [lambda time, y: y[-3] - self.Q, lambda time, y: -y[-3]]
        return min((_root(check, t, h, ends) for check in checks if check(t + h, ends[2]) > 0), default=inf)

    def arrive(self, t: float, y: Array) -> Array:
        y, state, jumped = y.copy(), self.tag[0], inf
        for i, Tp in enumerate(self.Tp):
            while self.heard[i] < len(self.jumps):
                then, level = self.jumps[self.heard[i]]
                if then > t - Tp - self.per_packet * y[-3] + 2 * NEAR:
                    break
                self.heard[i] += 1
                jumped = min(jumped, level + 1)
        if t == 0 or any(abs(t - one) <= NEAR for one in self.breaks):
            jumped = 0
        if self.timed and t >= (self.fired + 1) * self.timed.period - NEAR:
            self.fired += 1
            state = self.timed.update(state, Seen(t, *y[-3:].tolist()))
            jumped = 0
        now = self.within(t, 1)
        y[:-3] = np.where(self.N(now) > 0, y[:-3], self.w)
        excess, tiny = self.excess(state, now, y), NEAR * self.C
        bound = 0
        if y[-3] >= self.Q - 1e-6 and excess > tiny:
            y[-3], bound = self.Q, 1
        elif y[-3] <= 1e-6 and excess < -tiny:
            y[-3], bound = 0.0, -1
        if bound != self.bound:
            jumped = 0
        if jumped <= self.images:
            self.jumps.append((t, int(jumped)))
        self.low = np.array([self.jumps[i - 1][0] if i else -inf for i in self.heard])
        self.high = np.array([self.jumps[i][0] if i < len(self.jumps) else inf for i in self.heard])
        self.bound, self.tag = bound, (state, bound)
        self.lost.append(self.loss(self.tag, now, y))
        timer = (self.fired + 1) * self.timed.period if self.timed else inf
        self.stop = min(timer, next((one for one in self.breaks if one > t + NEAR), inf))
        return y


def _root(check: Callable[[float, Array], float], t: float, h: float, ends: tuple[Array, ...]) -> float:
    """Find where a check turns positive, in a step at whose end it is positive."""
    low, high = 0.0, 1.0
    while (high - low) * h > NEAR / 1e3:
        middle = (low + high) / 2
        if check(t + middle * h, cubic(middle, h, *ends)) > 0:
            high = middle
        else:
            low = middle
    return t + high * h


def trajectory(
    N: ArrayLike | OfTime,
    Tp: ArrayLike,
    C: float,
    law: DropLaw,
    *,
    Q: float,
    end: float,
    step: float = 0.01,
    w: ArrayLike = 1.0,
    q: float = 0.0,
    load: float | OfTime = 0.0,
    breaks: Iterable[float] = (),
    constant: bool = False,
    merged: bool = False,
    thinned: bool = False,
    eta: float = 1.5,
    images: int = 1,
) -> Trajectory:
    """Integrate N TCP flows and a queue controlled by a law.

    Windows, queue and loss at the ends of all steps. LRED's eqs. (4) and (5): dw/dt = 1/R - w(t) w(t-R)/R(t-R)
    p(t-R)/eta, dq/dt = sum of N w/R - C within [0, Q]. Packets that a full buffer cannot hold also count as losses for
    the windows. Valid for windows above about 4 packets: the model has no time-outs and no slow start.
    """
    flows = N if callable(N) else lambda t: N
    shape = np.broadcast_shapes(*(np.atleast_1d(np.asarray(one)).shape for one in (flows(0.0), Tp, w)))
    round_trips, windows = (np.broadcast_to(np.asarray(one, dtype=float), shape).copy() for one in (Tp, w))
    assert step <= round_trips.min() * (1 + NEAR)

    def counts(t: float) -> Array:
        return np.broadcast_to(np.asarray(flows(t), dtype=float), shape)

    fixed = counts(0.0)
    fluid = _Fluid(
        counts if callable(N) else lambda t: fixed,
        load if callable(load) else lambda t: load,
        round_trips,
        C,
        Q,
        law,
        eta,
        windows,
        constant,
        merged,
        thinned,
        sorted(float(one) for one in breaks if one > NEAR),
        images,
    )
    t, y = integrate(fluid, [*windows, q, 0.0, 0.0], end, step)
    return Trajectory(t, y[:, :-3].T.copy(), y[:, -3].copy(), np.array(fluid.lost))
