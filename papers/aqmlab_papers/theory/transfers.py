"""Duration of a short transfer: slow start without loss, and with loss the model of Cardwell, Savage and Anderson.

Symbols, beside those of `aqmlab.theory`:

* packets: size of the file (packets); tau: time to transmit one (s).
* R: round-trip time (s) without transmission: an ACK arrives R after its packet has left.
* w1: initial window (packets); W_max: limit on outstanding packets, infinite for none.
* round_trips: those added to the data's, for SYNs, a request and the last ACK.
* p, p_back: probability that a packet, or the answer to a SYN, is lost, below 1/2 for `cardwell`.
* Ts: first time-out of a SYN (s).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import limit, not_negative, positive, probability, whole
from aqmlab.theory.tcp import backed_off, delivered, times_out

Array = NDArray[np.float64]


def slow_start(packets: int, R: float, tau: float, w1: int = 1, W_max: float = inf) -> Array:
    """Return when each packet of a transfer has left the link, if none is lost and every ACK releases two.

    In seconds since the start; shape (packets,).
    """
    whole(packets=packets, w1=w1)
    positive(R=R, tau=tau)
    limit(W_max=W_max)
    left = np.empty(packets)
    busy, acked = 0.0, 0
    for k in range(packets):
        # The ACK that releases packet k: after m ACKs w1 + 2 m packets are allowed, at most m + W_max.
        while k >= min(w1 + 2 * acked, acked + W_max):
            acked += 1
        allowed = left[acked - 1] + R if acked else 0.0
        busy = max(busy, allowed) + tau
        left[k] = busy
    return left


def loss_free(packets: ArrayLike, R: float, tau: float, round_trips: float = 2.0, w1: int = 1) -> Array:
    """Return the duration of a transfer without loss (s): RED+Tail's Table I, first column.

    The last packet of `slow_start`, half a round trip until it arrives, and ``round_trips``.
    """
    not_negative(round_trips=round_trips)
    whole(packets=packets)
    sizes = np.asarray(packets, dtype=int)
    left = slow_start(int(sizes.max()), R, tau, w1)
    return np.asarray(left[sizes - 1] + (0.5 + round_trips) * R)


def any_lost(packets: ArrayLike, p: ArrayLike) -> Array:
    """Return the probability that at least one of several packets is lost, eq. (16): 1 - (1 - p)^packets."""
    positive(packets=packets)
    probability(p=p)
    packets, p = np.asarray(packets, dtype=float), np.asarray(p, dtype=float)
    return np.asarray(-np.expm1(packets * np.log1p(-p)))


@dataclass(frozen=True, kw_only=True)
class Latency:
    """The mean time of a transfer and its parts, each of the broadcast shape of sizes and losses.

    * handshake: time until the connection is open (s).
    * slow_start: first slow start, until its loss or the end (s).
    * first_loss: recovery from the loss that ends slow start (s).
    * avoidance: the remaining time, at the rate of a long flow (s).
    * round_trips: the additional round trips (s).
    * packets: packets sent in slow start.
    * window: window at the end of slow start (packets).
    """

    handshake: Array
    slow_start: Array
    first_loss: Array
    avoidance: Array
    round_trips: Array
    packets: Array
    window: Array

    @property
    def total(self) -> Array:
        """The sum of all parts, s."""
        return self.handshake + self.slow_start + self.first_loss + self.avoidance + self.round_trips


def cardwell(
    packets: ArrayLike,
    p: ArrayLike,
    R: ArrayLike,
    Ts: float = 3.0,
    T0: float = 1.0,
    b: float = 1,
    w1: float = 1,
    W_max: float = inf,
    p_back: ArrayLike = 0.0,
    round_trips: float = 0.0,
) -> Latency:
    """Return the mean time of a transfer with losses, by the model of Cardwell, Savage and Anderson, INFOCOM 2000.

    Handshake eq. (4), packets of slow start (5), its last window (11), its time (15), the first loss (16) to (20), the
    rest (21) to (24), without the wait for a delayed first ACK of (25). A window of any size takes a round trip.
    """
    positive(packets=packets, R=R, Ts=Ts, T0=T0, b=b, w1=w1)
    limit(W_max=W_max)
    not_negative(p_back=p_back, round_trips=round_trips)
    probability(p=p)
    d, p, R, back = np.broadcast_arrays(
        *(np.asarray(value, dtype=float) for value in (packets, p, R, np.asarray(p_back)))
    )
    for name, value in (("p", p), ("p_back", back)):
        if np.any(value >= 0.5):
            raise ValueError(f"{name} = {value.max():g}: must be below 1/2, or a SYN's doubled time-outs have no mean")
    lossy = any_lost(d, p)
    first = lossy * (1 - p) / p + 1
    growth = 1 + 1 / b
    window = first * (growth - 1) / growth + w1 / growth
    rounds = np.log1p(first * (growth - 1) / w1) / np.log(growth)
    if np.isfinite(W_max):
        capped = np.log(W_max / w1) / np.log(growth) + 1 + (first - (growth * W_max - w1) / (growth - 1)) / W_max
        rounds = np.where(window > W_max, capped, rounds)
        window = np.minimum(window, W_max)
    late = times_out(p, window)
    return Latency(
        handshake=R + Ts * ((1 - back) / (1 - 2 * back) + (1 - p) / (1 - 2 * p) - 2),
        slow_start=R * rounds,
        first_loss=lossy * (late * backed_off(p) * T0 / (1 - p) + (1 - late) * R),
        avoidance=np.maximum(0.0, d - first) / delivered(p, R, T0, b, W_max),
        round_trips=round_trips * R,
        packets=first,
        window=window,
    )
