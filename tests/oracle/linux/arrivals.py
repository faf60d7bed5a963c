"""Arrivals that do not react: the same packets at the same instants for the kernel's disciplines and for ours."""

from collections.abc import Callable, Sequence
from random import Random

RATE = 10e6
"""The link's rate in bit/s."""

FLOWS = 10
SIZE = 1014
"""Bytes on the wire."""

END = 30.0
"""Seconds after which nothing more is sent."""

DELIVERED, MARKED, LOST = ".Mx"
"""What can become of a packet; a fate has one of these for each, in order of sending."""

Arrival = tuple[float, int, int]
"""Seconds, bytes on the wire, flow."""


def _poisson(drawn: Random, load: float, flows: int = FLOWS) -> list[Arrival]:
    """Flows that together offer `load` of the link."""
    gap = SIZE * 8 * flows / (RATE * load)
    packets = []
    for flow in range(flows):
        t = drawn.expovariate(1 / gap)
        while t < END:
            packets.append((t, SIZE, flow))
            t += drawn.expovariate(1 / gap)
    return packets


def _cbr(drawn: Random, load: float) -> list[Arrival]:
    gap, each = SIZE * 8 * FLOWS / (RATE * load), int(END * RATE * load / SIZE / 8 / FLOWS)
    phases = [drawn.uniform(0, 0.008) for _ in range(FLOWS)]
    return [(phase + k * gap, SIZE, flow) for flow, phase in enumerate(phases) for k in range(each)]


def _bursts(drawn: Random) -> list[Arrival]:
    """0.7 of the link, and each 250 ms 60 packets of one more flow at five times the link's rate."""
    gap, every = SIZE * 8 / RATE / 5, 0.25
    packets = _poisson(drawn, 0.7, flows=9)
    for burst in range(int(END / every)):
        packets += [(every * burst + i * gap, SIZE, 9) for i in range(60)]
    return packets


PATTERNS: dict[str, Callable[[Random], list[Arrival]]] = {
    "load110": lambda drawn: _poisson(drawn, 1.1),
    "load150": lambda drawn: _poisson(drawn, 1.5),
    "cbr125": lambda drawn: _cbr(drawn, 1.25),
    "bursts": _bursts,
}


SHORT_END = 6.0
"""Seconds after which nothing more is sent in the short patterns."""


def _some(drawn: Random, load: float, sizes: tuple[int, int] = (SIZE, SIZE)) -> list[Arrival]:
    """Flows that together offer `load` of the link, with packets of sizes drawn uniformly."""
    gap = sum(sizes) / 2 * 8 * FLOWS / (RATE * load)
    packets = []
    for flow in range(FLOWS):
        t = drawn.expovariate(1 / gap)
        while t < SHORT_END:
            packets.append((t, drawn.randint(*sizes), flow))
            t += drawn.expovariate(1 / gap)
    return packets


def _together(load: float) -> list[Arrival]:
    """A packet of each flow, one just after the other, again and again."""
    every = SIZE * 8 * FLOWS / (RATE * load)
    rounds = range(int(SHORT_END / every))
    return [(every * k + 2e-6 * flow, SIZE, flow) for k in rounds for flow in range(FLOWS)]


def _in_turn(drawn: Random) -> list[Arrival]:
    """Twice the link's rate for 250 ms, and a third of it for as long."""
    both = (_some(drawn, 2.0), _some(drawn, 0.33))
    return [packet for half, packets in enumerate(both) for packet in packets if int(packet[0] / 0.25) % 2 == half]


SHORT: dict[str, Callable[[Random], list[Arrival]]] = {
    "light": lambda drawn: _some(drawn, 0.6),
    "full": lambda drawn: _some(drawn, 1.05),
    "over": lambda drawn: _some(drawn, 1.5),
    "steady": lambda drawn: [packet for packet in _cbr(drawn, 1.25) if packet[0] < SHORT_END],
    "sizes": lambda drawn: _some(drawn, 1.2, (100, 1514)),
    "small": lambda drawn: _some(drawn, 0.9, (70, 200)),
    "together": lambda _: _together(1.2),
    "in_turn": _in_turn,
}
"""For disciplines around others; some with packets of several sizes."""


def arrivals(pattern: str, seed: int) -> list[Arrival]:
    """In order of time, to a tenth of a microsecond."""
    packets = (PATTERNS | SHORT)[pattern](Random(f"{pattern}/{seed}"))
    return sorted((round(t, 7), size, flow) for t, size, flow in packets)


def by_flow(fate: str, sent: Sequence[Arrival], what: str) -> list[int]:
    """How many packets of each flow had this fate."""
    counts = [0] * FLOWS
    for (_, _, flow), each in zip(sent, fate, strict=True):
        counts[flow] += each == what
    return counts
