"""The scenarios: how they are drawn, what they are as files, and smaller ones in which one of them may fail too."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import aqmlab
from aqmlab.execute.engine import PACKETS, Engine
from oracle import toml
from oracle.linux.tc import discipline

PACKETS_OF_A_RUN = 12_000
"""The packets of 1500 bytes that the bottleneck can send in a run, unless another bound of `duration` says more."""

ROUND_TRIPS = 25
"""The fewest round trips of a run."""

SHORTEST, LONGEST = 3.0, 40.0
"""Bounds of a run's duration, in seconds."""

FULL = 1500
"""Bytes of a full packet: the guest's devices add no header."""

SIZES = [100, 200, 500, 1000, FULL]
"""Bytes of datagrams."""

MOST_DATAGRAMS = 200_000
"""A second that the guest can send: at higher rates they are larger."""


@dataclass(frozen=True)
class Entry:
    """A traffic entry: its kind, its TCP in our words ("" for UDP), its direction, and the keys of its kind."""

    kind: str
    tcp: str = ""
    count: int = 1
    up: bool = False
    packet_size: int = FULL
    keys: tuple[tuple[str, str], ...] = ()

    def document(self, name: str, start: str, ends: tuple[str, str]) -> dict[str, Any]:
        """The entry in a scenario, between a host of the left side, or all, and one of the right."""
        ends = ends[::-1] if self.up else ends
        document = {"name": name, "kind": self.kind, "count": self.count, "from": ends[0], "to": ends[1]}
        document |= {"packet_size": f"{self.packet_size} B", **dict(self.keys)}
        if self.tcp:
            document["tcp"] = self.tcp
        return document if self.kind in ("short", "web") else {**document, "start": start}


@dataclass(frozen=True)
class Drawn:
    """A dumbbell: rate in Mbit/s, round trip in ms, the discipline in tc's words, traffic.

    `kernel` is true if the Linux engine has the kernel's own discipline, and false if it has ours.
    `step` is the factor by which the rate changes halfway.
    """

    rate: float
    rtt: float
    words: str
    kernel: bool
    entries: tuple[Entry, ...]
    step: float = 1.0

    @property
    def duration(self) -> float:
        """Seconds."""
        packets = PACKETS_OF_A_RUN * FULL * 8 / (self.rate * 1e6)
        return round(min(max(packets, ROUND_TRIPS * self.rtt / 1000, SHORTEST), LONGEST), 1)

    @property
    def packet_time(self) -> float:
        """Seconds that the bottleneck takes for a full packet."""
        return FULL * 8 / (self.rate * 1e6)

    @property
    def engines(self) -> tuple[Engine, Engine]:
        """Linux and ours."""
        return Engine.parse(f"linux:qdisc={self.words}" if self.kernel else "linux"), PACKETS

    @property
    def names(self) -> list[str]:
        """What results call the entries."""
        return [f"{entry.kind}{n}" for n, entry in enumerate(self.entries, 1)]

    def scenario(self) -> aqmlab.Scenario:
        return aqmlab.Scenario.parse(self.text(), "drawn")

    def text(self) -> str:
        """The scenario's file."""
        ours = discipline(self.words)
        duration = self.duration
        start = f"uniform(0 s, {min(1.0, duration / 10):g} s)"
        far = f"{self.rtt / 8:g} ms"
        dumbbell: dict[str, Any] = {
            "rate": f"{self.rate:g} Mbit/s",
            "delay": f"{self.rtt / 4:g} ms",
            "buffer": ours.buffer,
            "sender_delay": [far],
            "receiver_delay": [far],
            "access_rate": "10 Gbit/s",
            "access_buffer": "100000 packets",
        }
        if any(entry.up for entry in self.entries):
            dumbbell |= {"reverse_buffer": "200 packets"}
        if self.step != 1:
            dumbbell |= {"changes": [f"{duration / 2:g} s: {self.rate * self.step:g} Mbit/s"]}
        # The guest has a host for each TCP that a host of ours has, which CAKE can tell: so no host has two.
        own = self.words.startswith("cake")
        if own:
            dumbbell["hosts"] = len(self.entries)
        documents = [
            entry.document(name, start, (f"sender{n}", f"receiver{n}") if own else ("senders", "receivers"))
            for n, (name, entry) in enumerate(zip(self.names, self.entries, strict=True), 1)
        ]
        head = {"duration": f"{duration:g} s", "warmup": f"{duration / 5:g} s"}
        # Written inside the tables, or the keys of the top would belong to the last of them.
        tables = {"dumbbell": dumbbell, "aqm": ours.aqm}
        lines = [f"{key} = {toml.value(value)}" for key, value in head.items()]
        for table, keys in tables.items():
            lines += ["", f"[{table}]", *(f"{key} = {toml.value(value)}" for key, value in keys.items())]
        return "\n".join(lines) + "\n\n" + "\n".join(toml.entry("traffic", document) for document in documents)

    def __str__(self) -> str:
        """One line."""
        step = f", the rate times {self.step:g} halfway" if self.step != 1 else ""
        whose = "the kernel's" if self.kernel else "our"
        return f"{self.rate:g} Mbit/s, {self.rtt:g} ms, {whose} {self.words}{step}: " + ", ".join(
            " ".join(
                [
                    str(entry.count),
                    *(f"{value}" for value in (entry.tcp, entry.kind) if value),
                    *(f"{key} {value}" for key, value in entry.keys),
                    *([f"{entry.packet_size} B"] if entry.packet_size != FULL else []),
                    *(["up"] if entry.up else []),
                ]
            )
            for entry in self.entries
        )

    def smaller(self) -> Iterator["Drawn"]:
        """Scenarios with a part less, or a simpler one, those with the least left first."""
        many = len(self.entries) > 1
        for n, entry in enumerate(self.entries):
            others = self.entries[:n], self.entries[n + 1 :]
            if many:
                yield replace(self, entries=others[0] + others[1])
            simpler = [{"count": count} for count in sorted({1, entry.count // 2}) if 0 < count < entry.count]
            simpler += [{"up": False}] if entry.up else []
            simpler += [{"packet_size": FULL}] if entry.packet_size != FULL and entry.tcp else []
            for change in simpler:
                yield replace(self, entries=(*others[0], replace(entry, **change), *others[1]))  # type: ignore[arg-type]
        if self.step != 1:
            yield replace(self, step=1.0)
        if self.kernel:
            yield replace(self, kernel=False)


def draw(seed: int, number: int) -> Drawn:
    """Draw scenario `number` of a seed: it does not depend on how many are drawn."""
    random = Random(f"{seed}:{number}")
    rate, rtt = _rounded(_log(random, 1, 200)), _rounded(_log(random, 2, 300))
    kernel = random.random() < 0.5
    words = _discipline(random, rate, rtt, kernel)
    # A discipline of the kernel has a link of one rate.
    step = 1.0 if kernel or random.random() < 0.7 else random.choice([0.25, 0.5, 2.0, 4.0])
    return Drawn(rate, rtt, words, kernel, tuple(_traffic(random, rate)), step)


def _log(random: Random, least: float, most: float) -> float:
    return math.exp(random.uniform(math.log(least), math.log(most)))


def _rounded(value: float) -> float:
    """Two significant digits, as people write them."""
    return float(f"{value:.2g}")


def _traffic(random: Random, rate: float) -> list[Entry]:
    """TCP, now and then with datagrams; in one scenario of six datagrams alone, which no sender adapts to the queue."""
    if random.random() < 1 / 6:
        load, parts = random.uniform(0.9, 1.6), [random.random() for _ in range(random.choice([1, 2, 3, 5]))]
        return [_datagrams(random, load * rate * part / sum(parts)) for part in parts]
    entries = [_long(random)]
    if random.random() < 0.4:
        entries.append(replace(_long(random), up=random.random() < 0.5))
    if random.random() < 0.3:
        entries.append(_brief(random, rate))
    if random.random() < 0.3:
        entries.append(_datagrams(random, rate * (1.1 if random.random() < 0.1 else _log(random, 0.02, 0.5))))
    return entries


def _long(random: Random) -> Entry:
    congestion = random.choice(["cubic", "cubic", "reno", "bbr", "dctcp"])
    # DCTCP has ECN by its preset; the kernel's BBR does not respond to marks.
    ecn = congestion in ("cubic", "reno") and random.random() < 0.4
    tcp = "dctcp" if congestion == "dctcp" else f"linux:congestion={congestion}" + (",ecn=true" if ecn else "")
    size = random.choice([FULL, FULL, FULL, 576])
    return Entry("ftp", tcp, round(_log(random, 1, 50)), packet_size=size)


def _brief(random: Random, rate: float) -> Entry:
    """Connections that come and go, for 5 to 30 % of the link."""
    tcp = random.choice(["cubic", "cubic:ecn=true", "linux:congestion=reno"])
    size = _rounded(_log(random, 5, 200))
    share = random.uniform(0.05, 0.3)
    if random.random() < 0.5:
        arrivals = _rounded(min(200.0, share * rate * 1e3 / (8 * size)))
        return Entry("short", tcp, keys=(("arrival_rate", f"{arrivals:g} Hz"), ("size", f"pareto({size:g} kB, 1.5)")))
    keys = (("objects", 4), ("size", f"{size:g} kB"), ("think", "exponential(1 s)"))
    return Entry("web", tcp, min(50, max(1, round(share * rate * 1e3 / (32 * size)))), keys=keys)  # type: ignore[arg-type]


def _datagrams(random: Random, rate: float) -> Entry:
    """UDP of this rate on average, in Mbit/s."""
    kind = random.choice(["cbr", "poisson", "on-off"])
    least = random.choice(SIZES)
    # On for as long as off.
    peak = 2 * rate if kind == "on-off" else rate
    size = next(size for size in SIZES if size >= least and peak * 1e6 / 8 / size <= MOST_DATAGRAMS)
    keys = {"rate": f"{peak:.3g} Mbit/s"}
    if (ecn := random.choice(["none", "none", "ect0", "ect1"])) != "none":
        keys["ecn"] = ecn
    return Entry(kind, packet_size=size, keys=tuple(keys.items()))


def _discipline(random: Random, rate: float, rtt: float, kernel: bool) -> str:
    """Words of tc: a discipline, and options for about half of those that it has."""
    product = rate * 1e6 * rtt / 1000 / 8 / FULL
    limit = max(10, round(product * _log(random, 0.25, 4)))
    target = random.choice([5, 10, 15, 20])

    def maybe(*words: str) -> str:
        return random.choice(["", f" {random.choice(words)}"])

    low = random.choice([5, 10, 20, 40])
    red = f"avpkt {FULL} burst {2 * low} probability {random.choice([0.02, 0.1, 0.5])} bandwidth {rate:g}mbit"
    rounds = f" rtt {max(10, round(rtt))}ms"
    every: Mapping[str, str] = {
        "pfifo": f"pfifo limit {limit}",
        "bfifo": f"bfifo limit {limit * FULL}",
        "pfifo_head_drop": f"pfifo_head_drop limit {limit}",
        "codel": f"codel limit {limit + 100}" + maybe(f"target {target}ms", "target 2ms interval 40ms") + maybe("ecn"),
        "fq_codel": "fq_codel" + maybe("noecn") + maybe(f"target {target}ms", "flows 16"),
        "pie": f"pie limit {limit + 100}" + maybe(f"target {target}ms") + maybe("ecn"),
        "fq_pie": "fq_pie" + maybe(f"target {target}ms") + maybe("ecn"),
        "red": f"red limit {20 * low * FULL} min {low * FULL} max {3 * low * FULL} {red}" + maybe("ecn"),
        "sfb": "sfb",
        "choke": f"choke limit {20 * low} min {low} max {3 * low} {red}" + maybe("ecn"),
        "sfq": "sfq" + maybe("headdrop"),
        "cake": "cake unlimited" + maybe("besteffort") + maybe("flows", "dual-srchost") + maybe(rounds.strip()),
        "dualpi2": "dualpi2" + maybe(f"target {target}ms"),
    }
    words = every[random.choice(list(every))]
    # Of its options Debian's tc knows none.
    return "dualpi2" if kernel and words.startswith("dualpi2") else words
