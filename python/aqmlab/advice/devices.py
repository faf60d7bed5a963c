"""The disciplines that the devices of a wireless LAN, a cell or a cable network can have at their own queues.

# Sources
Wi-Fi: ``net/mac80211`` of Linux 7.2, whose queues of each station have FQ-CoDel with a target of 20 ms and a quantum of
300 bytes, and which has airtime fairness and airtime queue limits; a driver with a single queue has the disciplines of
tc in front of it. Cells: Irazabal and others, "Preventing RLC buffer sojourn delays in 5G", IEEE Access 9, 2021, on
CoDel and on the size of the queues of a base station, which are its vendor's. Cable: RFC 8034, by which modems of
DOCSIS 3.1 have PIE with a target of 10 ms, and Cisco's guide to Low Latency DOCSIS, by which its head end has PIE too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from aqmlab.advice.candidate import YOU, Candidate
from aqmlab.advice.disciplines import codel, fifo, fq_codel, fq_pie, limit, memory, unlimited_cake
from aqmlab.advice.queues import Queues
from aqmlab.scenario import Settings

if TYPE_CHECKING:
    from aqmlab.advice.link import Link

STATIONS, PROVIDER, MODEM = "the owner of each station", "the provider", "the maker of the modem"
"""Who can set up a discipline, besides the asking user."""

HOW: Mapping[str, Mapping[str, str]] = {
    "wifi": {
        YOU: "in the access point the lines of tc, where its driver has a single queue; for mac80211, queues of each "
        "station, a driver that has them, with TXQS among the features in iw phy, whose device needs no discipline",
        STATIONS: "the same in each station, for what it sends",
    },
    "cell": {
        PROVIDER: "in the base station, as far as its vendor has it",
        MODEM: "in the firmware of the modem or phone; the disciplines of its host are before that queue",
    },
    "cable": {
        PROVIDER: "in the modem by its configuration file, which the head end hands out (DOCSIS 3.1: PIE and its "
        "target; before: the size of its buffer), in the head end as far as its vendor has it",
    },
}
"""Where and by what means the queues of each kind's devices can be set up, by their owner."""

EXCLUDED: Mapping[str, Mapping[str, str]] = {
    "cable": {"lld": "its gain is with packets marked NQB and L4S senders, which these loads do not have"}
}
"""Disciplines of devices that are left out, with the reason."""

MAC80211: Settings = {
    "name": "fq",
    "preset": "linux",
    "quantum": "300 B",
    "aqm": "codel:preset=linux,ecn=true,target=20 ms,interval=100 ms",
}
_MAC80211_LIMIT = "8192 packets"

_DOCSIS: Settings = {"name": "pie", "preset": "docsis"}


def candidates(link: Link) -> Iterator[Candidate]:
    """Yield the configurations of a link's own devices, without any for a dumbbell, whose queues are a router's."""
    if link.medium:
        yield from {"wifi": _wifi, "cell": _cell, "cable": _cable}[link.medium.table](link)


def _changed(
    link: Link, down: _Queue | None = None, up: _Queue | None = None, device: Settings | None = None
) -> Queues:
    """Return the present queues with another discipline and buffer in one or both directions."""
    ways = []
    for present, queue in ((link.queues.down, down), (link.queues.up, up)):
        ways.append(replace(present, aqm=queue[0], buffer=queue[1]) if queue else present)
    return Queues(*ways, device=device or {})


_Queue = tuple[Settings, str]


def _wifi(link: Link) -> Iterator[Candidate]:
    assert link.medium
    rate, interval = link.queues.down.rate, 0.1
    if link.medium.resolved["queues"] == "shared":
        ample = limit(link.rtt, rate)
        for kernel, queue in (
            ("fq_codel", (fq_codel(rate, interval), ample)),
            ("cake", (unlimited_cake(interval), memory(rate, interval))),
            ("fq_pie", (fq_pie(rate, 0.015), ample)),
            ("codel", (codel(rate, interval), ample)),
            ("bfifo", fifo(rate, link.rtt)),
        ):
            yield Candidate(f"{kernel} in the access point", _changed(link, queue), kernel)
    own = (MAC80211, _MAC80211_LIMIT)
    per_station: Settings = {"queues": "station", "scheduler": "airtime", "aql": True}
    yield Candidate("mac80211 in the access point", _changed(link, own, device=per_station), None, YOU)
    yield Candidate("mac80211 in the stations", _changed(link, up=own), None, STATIONS)


def _cell(link: Link) -> Iterator[Candidate]:
    for place, owner, way in (("base station", PROVIDER, "down"), ("modem", MODEM, "up")):
        rate = getattr(link.queues, way).rate
        ample = limit(link.rtt, rate)
        for name, queue in (
            ("fq_codel", (fq_codel(rate, 0.1), ample)),
            ("codel", (codel(rate, 0.1), ample)),
            ("bfifo", fifo(rate, link.rtt)),
        ):
            queues = _changed(link, queue) if way == "down" else _changed(link, up=queue)
            yield Candidate(f"{name} in the {place}", queues, None, owner)


def _cable(link: Link) -> Iterator[Candidate]:
    own = link.queues
    down, up = ((_DOCSIS, way.buffer) for way in (own.down, own.up))
    yield Candidate("pie in modem and head end", _changed(link, down, up), None, PROVIDER)
    yield Candidate("pie in the modem", _changed(link, up=up), None, PROVIDER)
    small = fifo(own.up.rate, link.rtt)
    yield Candidate("bfifo in the modem", _changed(link, up=small), None, PROVIDER)
