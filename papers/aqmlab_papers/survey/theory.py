"""Consequences of the survey's numbers: the loss that TCP needs, the plant (1), PI's gains."""

from functools import partial

from scipy.optimize import brentq

from aqmlab.theory import laws, loop, pi, tcp
from aqmlab_papers.survey import measures

CAPACITY = measures.RATE / 8 / measures.TCP_SIZE
"""Capacity in TCP packets per second."""
PROPAGATION = 2 * (0.010 + 2 * 0.0125)
"""Mean round-trip time (s) without queues."""
UDP = 200e3 / 8 / measures.TCP_SIZE
"""Rate of an edge node's UDP source, in TCP-sized packets per second."""
A, B, FREQUENCY = 1.643e-4, 1.628e-4, 160.0
"""PI's printed gains (per packet) and update frequency (Hz)."""
TARGET = 70.0
"""PI's target, in packets of 1000 bytes."""
FLOWS_MIN, RTT_MAX = 60, 0.180
"""For PI's gains: the paper states the round trip (s); with 60 flows and `GAINS_FOR` they follow to four digits."""
GAINS_FOR = 2500.0
"""The capacity for which PI's gains are designed (packets/s): 20 Mbit/s of 1000 bytes, not 45."""


def predicted_loss(nodes: float, min_rto: float, backlog: float = measures.BUFFER) -> float:
    """Return the fraction of TCP packets lost if Padhye's flows use the capacity that UDP leaves.

    There are three flows per edge node; ``min_rto`` is the least time-out (s), ``backlog`` the waiting bytes, by
    default a full buffer. UDP's small packets find room, and count as carried.
    """
    rtt = PROPAGATION + 8 * backlog / measures.RATE
    law = partial(tcp.padhye, T0=max(min_rto, rtt), full=True)
    return tcp.equilibrium_loss(3 * nodes, rtt, CAPACITY - nodes * UDP, law)


def predicted_nodes(min_rto: float) -> float:
    """Return the number of nodes at which Padhye's flows lose 12 %. ``min_rto`` is the least time-out (s)."""
    return float(brentq(lambda count: predicted_loss(count, min_rto) - measures.LOSS / 100, 5, 115, xtol=0.01))


def rule_gains(capacity: float = CAPACITY, rtt: float = RTT_MAX) -> tuple[float, float]:
    """Return a and b (per packet) by PI's rule, for 60 flows of 180 ms at 160 Hz, by default on the survey's link."""
    return pi.tustin(*pi.rule(FLOWS_MIN, rtt, capacity), FREQUENCY)


def printed_plant(s: complex, flows: float, rtt: float, capacity: float) -> complex:
    """Return the plant (1) as printed: R C^2/(2 N^2) / (s + 2 N/(R^2 C)) times (N/R) / (s + 1/R), in packets."""
    windows = rtt * capacity**2 / (2 * flows**2) / (s + 2 * flows / (rtt**2 * capacity))
    return windows * (flows / rtt) / (s + 1 / rtt)


def hollot(flows: float, rtt: float, capacity: float) -> loop.Plant:
    """Return Hollot's plant, from which (1) is taken, with its delay."""
    return loop.Plant(flows, rtt, capacity, eta=2.0, queue_pole=True)


def margin(a: float, b: float) -> float:
    """Return the phase margin (degrees) of PI on Hollot's plant of 60 flows and 180 ms at the survey's link."""
    return loop.Loop(hollot(FLOWS_MIN, RTT_MAX, CAPACITY), laws.pi(a, b, FREQUENCY)).margins().phase_margin_deg


def climb(p: float) -> float:
    """Return the least time that PI needs from 0 to a probability, s."""
    room = measures.BUFFER / measures.TCP_SIZE
    return float(pi.response_bound(p, A, B, FREQUENCY, TARGET, room))
