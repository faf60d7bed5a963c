"""What the survey's numbers say by themselves: the loss that TCP needs, the plant (1), PI's gains."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from aqmlab.library.survey import measures
from aqmlab.papers import Curve, Evidence
from aqmlab.theory import laws, loop, pi, tcp

CAPACITY = measures.RATE / 8 / measures.TCP_SIZE
"""Packets of TCP a second."""
PROPAGATION = 2 * (0.010 + 2 * 0.0125)
"""Mean round-trip time (s) without queues."""
UDP = 200e3 / 8 / measures.TCP_SIZE
"""What the UDP source of an edge node sends, in packets of TCP's size a second."""
A, B, FREQUENCY = 1.643e-4, 1.628e-4, 160.0
"""PI's gains (per packet) and updates a second, as printed."""
TARGET = 70.0
"""Of PI, packets of 1000 bytes."""
FLOWS_MIN, RTT_MAX = 60, 0.180
"""What PI's gains are for: the paper says the second; with the first, and `GAINS_FOR`, they follow to four digits."""
GAINS_FOR = 2500.0
"""The packets a second that PI's gains are for: 20 Mbit/s of 1000 bytes, not 45."""


def predicted_loss(nodes: float, min_rto: float, backlog: float = measures.BUFFER) -> float:
    """Give the loss at which Padhye's flows take what UDP leaves of the link.

    Parameters
    ----------
    nodes : float
        Edge nodes, with three flows each.
    min_rto : float
        The least time-out, s.
    backlog : float
        Bytes that wait; by default a full buffer.

    Returns
    -------
    float
        The share of TCP's packets that is lost. UDP's small packets find room, so that they count as carried.
    """
    rtt = PROPAGATION + 8 * backlog / measures.RATE
    law = partial(tcp.padhye, T0=max(min_rto, rtt), full=True)
    return tcp.equilibrium_loss(3 * nodes, rtt, CAPACITY - nodes * UDP, law)


def rule_gains(capacity: float = CAPACITY) -> tuple[float, float]:
    """Give the gains that PI's rule has.

    Parameters
    ----------
    capacity : float
        Packets a second; by default those of the survey's link.

    Returns
    -------
    tuple of float
        a and b, per packet, for 60 flows of 180 ms at 160 Hz.
    """
    return pi.tustin(*pi.rule(FLOWS_MIN, RTT_MAX, capacity), FREQUENCY)


def printed_plant(s: complex, flows: float, rtt: float, capacity: float) -> complex:
    """Give the plant (1), as the survey prints it.

    Parameters
    ----------
    s : complex
        Where, rad/s.
    flows : float
        Flows.
    rtt : float
        Round-trip time, s.
    capacity : float
        Packets a second.

    Returns
    -------
    complex
        Packets: R C^2/(2 N^2) / (s + 2 N/(R^2 C)) times (N/R) / (s + 1/R).
    """
    windows = rtt * capacity**2 / (2 * flows**2) / (s + 2 * flows / (rtt**2 * capacity))
    return windows * (flows / rtt) / (s + 1 / rtt)


def hollot(flows: float, rtt: float, capacity: float) -> loop.Plant:
    """Give the plant that (1) is taken from.

    Parameters
    ----------
    flows : float
        Flows.
    rtt : float
        Round-trip time, s.
    capacity : float
        Packets a second.

    Returns
    -------
    Plant
        Hollot's, with its delay.
    """
    return loop.Plant(flows, rtt, capacity, eta=2.0, queue_pole=True)


def margin(a: float, b: float) -> float:
    """Give the phase margin of PI on Hollot's plant of 60 flows and 180 ms at the survey's link.

    Parameters
    ----------
    a : float
        Gain, per packet.
    b : float
        Gain, per packet.

    Returns
    -------
    float
        Degrees; negative if the loop is unstable.
    """
    return loop.Loop(hollot(FLOWS_MIN, RTT_MAX, CAPACITY), laws.pi(a, b, FREQUENCY)).margins().phase_margin_deg


def bode(evidence: Evidence) -> Iterator[Curve]:
    """Draw the open loop's gain and phase: the plant (1) as printed and with its delay, and PI's gains on it."""
    w = np.logspace(-1, np.log10(30), 200)
    s = 1j * w
    plant = hollot(FLOWS_MIN, RTT_MAX, CAPACITY)
    printed = laws.pi(A, B, FREQUENCY)
    cases = {
        "(1) as printed, printed gains": np.array([printed_plant(one, FLOWS_MIN, RTT_MAX, CAPACITY) for one in s])
        * printed(s),
        "with its delay, printed gains": plant(s) * printed(s),
        "with its delay, the rule's gains": plant(s) * laws.pi(*rule_gains(), FREQUENCY)(s),
    }
    for name, response in cases.items():
        yield Curve("a", name, w, 20 * np.log10(np.abs(response)))
        yield Curve("b", name, w, np.degrees(np.unwrap(np.angle(response))))
