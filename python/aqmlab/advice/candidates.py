"""The disciplines of a router on Linux or OpenWrt, with values that suit a link.

Each is behind a shaper at 95 % of the link rate: only there does the router's queue fill, and not that of the modem.
For downloads, which come through the provider's queue first, 90 and 85 % run too. The shaper counts what the link layer
adds to each packet: CAKE by its words, HTB by tc's size table, which knows the cells of ATM, but not PTM: there its
rate is 64/65. The limit of each discipline is its buffer.

Values follow the sources' own rules. CoDel's interval is a round trip of most flows, its target at least 1.5 packets
(RFC 8289, sections 4.2 and 4.4); PIE's target is 15 ms (RFC 8033), and a third of it; RED's thresholds are 10 and 30 ms
of packets, the upper three times the lower (Floyd, 1997).

``cake`` is its own shaper, with fairness among flows and without its classes of service and its filter of
acknowledgements. ``cake by host`` is fair among the hosts behind the router, whose addresses its word ``nat`` finds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from aqmlab import _core
from aqmlab.advice import devices
from aqmlab.advice.candidate import DEFAULT, Candidate
from aqmlab.advice.disciplines import (
    cake,
    codel,
    fifo,
    fq_codel,
    fq_pie,
    limit,
    memory,
    ms_word,
    pie,
    red,
    suited,
    threshold,
)
from aqmlab.advice.link import Link
from aqmlab.advice.queues import Direction, Queues
from aqmlab.scenario import Settings, catalogue, disciplines

SHARE = 0.95
"""The shaper's part of the link rate."""

LESS = (0.9, 0.85)
"""Smaller parts for downloads, which come through the provider's queue first."""

FAR_LESS = (0.7, 0.5, 0.3)
"""Those of the mean rates, for the directions of a link whose rates vary."""

PTM = 64 / 65
"""The part of a PTM link that carries packets."""

LOPSIDED = 15
"""The ratio of the rates from which the acknowledgements of a download fill the uplink, so that a filter is tried."""

EXCLUDED: Mapping[str, str] = {
    "hhf": "not among the disciplines of aqmlab",
    "sfq": "it only shares, and lets each queue fill; with --all",
    "choke, sfb": "made for flows that do not slow down; with --all",
    "dualpi2": "its gain is with L4S senders, which these loads do not have; with --all",
    "ared": "current tc cannot turn on the adaptive mode of Linux's RED; with --all",
}
"""Disciplines of Linux that are left out, with the reason."""


def shaped(rate: float, share: float = SHARE) -> float:
    """Return the rate of the shaper, in bit/s: whole kbit/s, as sqm-scripts writes them."""
    return max(math.floor(round(rate * share / 1000, 6)), 1) * 1000.0


def counted(link: Link) -> tuple[str, float]:
    """Return what HTB's size table counts of the link layer, in tc's words, and the part of the rate that is left."""
    if not link.layer:
        return "", 1.0
    found = _core.framing(link.layer)
    assert found
    overhead, raw, mpu, cells = found
    counts = overhead is not None and not raw
    words = [
        *([f"overhead {overhead}"] if counts else []),
        *([f"mpu {mpu}"] if mpu else []),
        *(["atm"] if cells == "atm" else []),
    ]
    return " ".join(words), PTM if cells == "ptm" else 1.0


def candidates(link: Link, every: bool = False) -> list[Candidate]:
    """Return the configurations to try on a link, that of the link itself first.

    Those of the link's own devices and of a router follow; with `every` also, behind the same shaper, the disciplines
    that no router has, and those of `EXCLUDED`.
    """
    found = [Candidate(DEFAULT, link.queues), *devices.candidates(link), *_routers(link)]
    if every:
        found += _others(link, {one.kernel for one in found} | {"fq", "droptail"})
    return found


def _routers(link: Link) -> Iterator[Candidate]:
    trip = suited(link.rtt)
    framing, part = counted(link)
    trips = [0.1] if math.isclose(trip, 0.1) else [0.1, trip]

    def each(
        label: str, kernel: str, queue: Callable[[float], tuple[Settings, str]], share: float = SHARE
    ) -> Candidate:
        # CAKE counts the link layer itself.
        layer, left = ("", 1.0) if kernel == "cake" else (framing, part)
        less = link.varies or {"down"}
        ways = [
            (own.rate, share if way in less else SHARE)
            for way, own in (("down", link.queues.down), ("up", link.queues.up))
        ]
        rates = [(shaped(rate * left, own), own) for rate, own in ways]
        down, up = (Direction(*queue(rate), rate, layer, own) for rate, own in rates)
        if kernel == "cake":
            down, up = _framed(link, down, ingress=True), _framed(link, up)
        return Candidate(label, Queues(down, up), kernel)

    def limited(table: Callable[[float, float], Settings], value: float) -> Callable[[float], tuple[Settings, str]]:
        return lambda rate: (table(rate, value), limit(link.rtt, rate))

    def caked(interval: float) -> Callable[[float], tuple[Settings, str]]:
        return lambda rate: (cake(rate, interval), memory(rate, interval))

    for interval in trips:
        more = "" if interval == 0.1 else f" interval {ms_word(interval)}"
        yield each(f"fq_codel{more}", "fq_codel", limited(fq_codel, interval))
    for interval in trips:
        yield each("cake" if interval == 0.1 else f"cake rtt {ms_word(interval)}", "cake", caked(interval))
    yield _by_host(each("cake by host", "cake", caked(0.1)))
    if link.varies:
        following = each("cake autorate-ingress", "cake", caked(0.1))
        down = following.queues.down
        following_down = replace(down, aqm={**down.aqm, "autorate_ingress": True})
        yield replace(following, queues=Queues(following_down, following.queues.up))
    for share in FAR_LESS if link.varies else LESS:
        for name, of in (("fq_codel", limited(fq_codel, 0.1)), ("cake", caked(0.1))):
            yield each(f"{name} at {100 * share:.0f} %", name, of, share)
    if link.queues.down.rate > LOPSIDED * link.queues.up.rate:
        filtered = each("cake ack-filter", "cake", caked(0.1))
        up = filtered.queues.up
        queues = Queues(filtered.queues.down, replace(up, aqm={**up.aqm, "ack_filter": "on"}))
        yield replace(filtered, queues=queues)
    for interval in trips:
        more = "" if interval == 0.1 else f" interval {ms_word(interval)}"
        yield each(f"codel{more}", "codel", limited(codel, interval))
    for name, table in (("fq_pie", fq_pie), ("pie", pie)):
        for target in (0.015, 0.005):
            more = "" if target == 0.015 else f" target {ms_word(target)}"
            yield each(f"{name}{more}", name, limited(table, target))
    yield each("red", "red", lambda rate: (red(rate), f"{12 * threshold(rate)} B"))
    yield each("bfifo", "bfifo", lambda rate: fifo(rate, link.rtt))


def _by_host(one: Candidate) -> Candidate:
    """Return a CAKE in which the hosts behind the router share evenly, and then the flows of each."""
    down, up = one.queues.down, one.queues.up
    queues = Queues(
        replace(down, aqm={**down.aqm, "flowmode": "dual-dsthost"}),
        replace(up, aqm={**up.aqm, "flowmode": "dual-srchost"}),
    )
    return replace(one, queues=queues)


def _others(link: Link, there: set[str | None]) -> Iterator[Candidate]:
    listed = catalogue()["aqms"]
    presets = {entry["name"]: {preset["name"] for preset in entry["presets"]} for entry in listed}
    framing, part = counted(link)
    rates = [shaped(own.rate * part) for own in (link.queues.down, link.queues.up)]
    for name in disciplines():
        if name in there:
            continue
        table = {"name": name, **({"preset": "linux"} if "linux" in presets.get(name, ()) else {})}
        yield Candidate(
            name, Queues(*(Direction(table, limit(link.rtt, rate), rate, framing, SHARE) for rate in rates))
        )


def _framed(link: Link, way: Direction, **more: bool) -> Direction:
    """Return a CAKE with the words of the link layer, and with further settings."""
    layer = {"framing": link.layer} if link.layer else {}
    return replace(way, aqm={**way.aqm, **layer, **more})
