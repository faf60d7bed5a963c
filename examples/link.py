"""Queue disciplines in a model in SimPy: two flows share a link of 10 Mbit/s, and one sends more than it should.

``python examples/link.py droptail codel fq_codel`` prints what each flow gets; it needs ``pip install simpy``.
"""

import random
import sys
from collections import Counter
from typing import NamedTuple

import simpy

import aqmlab


class Packet(NamedTuple):
    """A packet, as this model needs it; the queue carries any object."""

    flow: int
    sent: float
    size: int = 1500


class Link:
    """A link behind a queue. Extend `deliver` to learn what arrives."""

    def __init__(self, env: simpy.Environment, rate: float, queue: aqmlab.Queue) -> None:
        self.env, self.rate, self.queue = env, rate, queue
        self.arrival = env.event()
        self.lost: Counter[tuple[int, str]] = Counter()
        self.waits: dict[int, list[float]] = {}
        env.process(self.work())

    def send(self, packet: Packet) -> None:
        """Take a packet."""
        self.queue.enqueue(self.env.now, packet, packet.size, packet.flow)
        self.count_lost()
        self.arrival.succeed()
        self.arrival = self.env.event()

    def work(self):
        """Send packets one after another."""
        while True:
            sent = self.queue.dequeue(self.env.now)
            self.count_lost()
            if sent is None:
                until = self.queue.paused_until
                pause = [] if until is None else [self.env.timeout(max(until - self.env.now, 0))]
                yield simpy.AnyOf(self.env, [self.arrival, *pause])
            else:
                self.deliver(sent[0])
                yield self.env.timeout(sent[0].size * 8 / self.rate)

    def deliver(self, packet: Packet) -> None:
        """Note how long a packet has waited that leaves the queue."""
        self.waits.setdefault(packet.flow, []).append(self.env.now - packet.sent)

    def count_lost(self) -> None:
        """Count what the last call dropped."""
        self.lost.update((packet.flow, reason) for packet, reason in self.queue.dropped())


def poisson(env: simpy.Environment, link: Link, flow: int, rate: float, seed: int):
    """Send packets with exponential gaps, at a rate in bit/s."""
    draws = random.Random(seed)
    while True:
        yield env.timeout(draws.expovariate(rate / (8 * 1500)))
        link.send(Packet(flow, env.now))


def main(aqms: list[str]) -> None:
    """Print what each flow gets under each discipline."""
    for aqm in aqms:
        env = simpy.Environment()
        link = Link(env, 10e6, aqmlab.Queue(aqm, "10 Mbit/s", packets=200))
        for flow, rate in enumerate((11e6, 0.5e6)):
            env.process(poisson(env, link, flow, rate, seed=flow))
        env.run(until=60)
        for flow, waits in sorted(link.waits.items()):
            mean = sum(waits) / len(waits) * 1e3
            lost = sum(count for (of, _), count in link.lost.items() if of == flow)
            print(f"{aqm}: flow {flow} has {len(waits)} packets sent and {lost} lost, and waits for {mean:.1f} ms")


if __name__ == "__main__":
    main(sys.argv[1:] or ["droptail", "codel", "fq_codel"])
