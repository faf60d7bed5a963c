"""Records the verdicts of a class event by event, for a test of its translation."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, has
from aqmlab.own.compiled import defaults
from aqmlab.own.running import no_verdict, started
from aqmlab.own.source import Declared

ARRIVALS = 2000
"""Arrivals in a recording."""

RATE, DELAY, LIMIT, USUAL = 2_000_000, 10_000_000, 60, 1000
"""The port: rate in bit/s, delay in ns, buffer in packets, usual packet in bytes."""

_LOADS = (0.7, 1.2, 1.8, 0.3, 1.05, 1.4)
"""The offered load, over the rate, of each part of a recording."""

_SIZES = (40, 250, 500, 1000, 1000, 1000, 1500)


@dataclass
class _Packet:
    size: int
    ect: bool
    flow: int
    arrived: int = 0
    sojourn_ns: int = 0
    l4s: bool = False
    udp: bool = False
    service: int = 1
    pair: int = 0

    @property
    def sojourn(self) -> float:
        return self.sojourn_ns / 1e9


@dataclass
class _Queue:
    now_ns: int = 0
    waiting: deque[_Packet] = field(default_factory=deque)
    full: bool = False

    @property
    def now(self) -> float:
        return self.now_ns / 1e9

    @property
    def packets(self) -> int:
        return len(self.waiting)

    @property
    def bytes(self) -> int:
        return sum(packet.size for packet in self.waiting)

    @property
    def delay(self) -> float:
        return self.bytes * 8.0 / RATE


class _Draws:
    """Random numbers that are noted."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._noted: list[float] = []

    def __call__(self) -> float:
        self._noted.append(self._random.random())
        return self._noted[-1]

    def taken(self) -> str:
        """Return the numbers drawn since the last call, as text."""
        text = " ".join(map(repr, self._noted))
        self._noted.clear()
        return text


def recording(declared: Declared, name: str, settings: Mapping[str, bool | str] | None = None) -> str:
    """Return the events of a queue that is overloaded and idle by turns, with the verdicts of a class: a line for each.

    `name` is that of the algorithm that translates the class, and `settings` has the parameters that are not at their
    defaults. crates/aqm/tests/ported.rs describes the lines, and plays them.
    """
    draws = _Draws(1)
    chosen = settings or {}
    made = started(declared, {**defaults(declared), **chosen}, (RATE, DELAY / 1e9, LIMIT, USUAL), draws)
    head = [
        f"# Verdicts of {declared.cls.__name__}, a class in Python whose source has the digest {declared.source}.",
        f"algorithm {name}",
        *(f"set {key} {str(value).lower()}" for key, value in chosen.items()),
        f"port {RATE} {DELAY} {LIMIT} {USUAL}",
        f"signals {' '.join(signal.name for signal in declared.signals)}".rstrip(),
    ]
    return "\n".join([*head, *_events(declared, made, draws)]) + "\n"


def _events(declared: Declared, made: AQM, draws: _Draws) -> Iterator[str]:
    step = round(float(getattr(made, "period", 0.0)) * 1e9) if has(declared.cls, "on_period") else 0
    world, queue = random.Random(2), _Queue()
    arrivals, arrives, free = 0, 1, None
    timer = step or None

    def state() -> str:
        return " ".join(f"{float(getattr(made, signal.name)):.12g}" for signal in declared.signals)

    def asked(kind: str) -> bool:
        return has(declared.cls, f"on_{kind}")

    def judged(kind: str, packet: _Packet) -> tuple[int, str]:
        verdict = getattr(made, f"on_{kind}")(packet, queue)
        if verdict is None:
            verdict = PASS
        elif isinstance(verdict, bool) or verdict not in (PASS, MARK, DROP):
            raise no_verdict(verdict)
        if verdict == MARK and not packet.ect:
            verdict = DROP
        backlog = f"{queue.packets} {queue.bytes} {int(queue.full)}"
        facts = f"{packet.size} {int(packet.ect)} {packet.flow} {backlog} {packet.sojourn_ns}"
        line = f"{kind} {queue.now_ns} {facts} | {draws.taken()} | {'PMD'[verdict]} | {state()}"
        return verdict, line

    made.on_idle(queue)
    yield f"idle 0 | {state()}"
    while arrivals < ARRIVALS:
        now = min(time for time in (timer, arrives, free) if time is not None)
        queue.now_ns, queue.full = now, False
        if now == timer:
            made.on_period(queue)
            yield f"period {now} {queue.packets} {queue.bytes} | {state()}"
            timer += step
            continue
        if now == arrives:
            load = _LOADS[arrivals * len(_LOADS) // ARRIVALS]
            arrivals += 1
            packet = _Packet(world.choice(_SIZES), world.random() < 0.5, world.randrange(20))
            queue.full = queue.packets >= LIMIT
            verdict, line = judged("enqueue", packet)
            if asked("enqueue"):
                yield line
            if verdict != DROP and not queue.full:
                packet.arrived = now
                queue.waiting.append(packet)
            mean = sum(_SIZES) / len(_SIZES) * 8e9 / RATE / load
            arrives += max(round(world.expovariate(1 / mean)), 1)
            if free is not None:
                continue
        # The link is free: it sends the next packet that is not dropped.
        queue.full, free = False, None
        while queue.waiting:
            packet = queue.waiting.popleft()
            packet.sojourn_ns = now - packet.arrived
            verdict, line = judged("dequeue", packet)
            if asked("dequeue"):
                yield line
            if verdict != DROP:
                free = now + -(-packet.size * 8_000_000_000 // RATE)
                break
        else:
            made.on_idle(queue)
            yield f"idle {now} | {state()}"
