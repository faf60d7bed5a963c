"""A router's files as the rules see them: which queue each direction goes through, and at which rate."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aqmlab import _core
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.link import rate_of, round_trips
from aqmlab.audit.findings import Change, Queue
from aqmlab.foreign import ways
from aqmlab.foreign.model import Class, Filter, Place, Qdisc, Section, State

SHARE = 0.95
"""The part of the link rate that a shaper should have."""

WAN = re.compile(r"(pppoe-|ppp\d|wan|wwan|dsl\d|ptm\d|nas\d|atm\d|rmnet|usb\d)")
LAN = re.compile(r"(br-|lan|lo$|wlan|phy\d|ra\d|docker|veth|tun|tap|wg)")
IFB = re.compile(r"ifb")
ETHERNET = ways.ETHERNET

MULTI = ("mq", "mqprio", "multiq")
"""Disciplines that have one inside for each queue of the device."""

CLASSES = ("htb", "hfsc")
"""Disciplines whose rate is in their classes, which the files may lack."""

SQM = {"down": "download", "up": "upload"}
"""The option of sqm that is the rate of a direction."""

OTHER = {"down": "up", "up": "down"}


def count(statistics: Mapping[str, Any] | None, *names: str) -> int:
    """Return the sum of counters; those that are missing are 0."""
    return sum(int((statistics or {}).get(name, 0)) for name in names)


def marks(qdisc: Qdisc) -> int:
    """Return how many packets a discipline has marked."""
    own = count(qdisc.statistics, "ecn_mark", "marked", "ecn_marks", "step_marks")
    return own + sum(count(tin, "ecn_mark") for tin in (qdisc.statistics or {}).get("tins", ()))


@dataclass(frozen=True)
class Given:
    """What the files lack: the rates of the link in bit/s, its longest round trip in s, its layer in tc's words.

    `shortest` is the shortest round trip, if that is another.
    """

    down: float | None = None
    up: float | None = None
    rtt: float | None = None
    layer: str = ""
    shortest: float | None = None

    @classmethod
    def of(cls, down: str | None, up: str | None, rtt: str | None, layer: str) -> Given:
        """Read the texts of options; raise `BadLink` for one that is none."""
        if layer and _core.framing(layer) is None:
            raise BadLink(
                "--link-layer", f"{layer}: must be tc's words for CAKE: docsis, pppoe-ptm, 'atm overhead 44', …"
            )
        shortest, longest = (None, None) if rtt is None else round_trips(rtt)
        return cls(
            None if down is None else rate_of("--down", down),
            None if up is None else rate_of("--up", up),
            longest,
            layer,
            shortest,
        )

    def rate(self, way: str) -> float | None:
        """Return the rate of a direction."""
        return self.down if way == "down" else self.up


@dataclass(frozen=True)
class Lane:
    """What one direction goes through on one device: the discipline at its root, and the rate of its shaper.

    `assumed` names the reason for the direction, if that is a guess.
    """

    device: str
    way: str
    root: Qdisc
    rate: float | None
    place: Place
    assumed: tuple[str, ...] = ()


class Router:
    """The state of a router, and its link as far as it is given."""

    def __init__(self, state: State, given: Given) -> None:
        self.state = state
        self.given = given

    @cached_property
    def devices(self) -> list[str]:
        """The devices of Linux that have a discipline."""
        return [each for each in self.state.devices_with_queues() if not each.startswith("pipe ")]

    @cached_property
    def ingress(self) -> dict[str, Qdisc]:
        """The ingress discipline of each device that has one."""
        return {each.device: each for each in self.state.qdiscs if each.is_ingress}

    @cached_property
    def sqm(self) -> list[Section]:
        """The sections of ``/etc/config/sqm``."""
        return [each for each in self.state.sections if each.kind == "sqm.queue"]

    def section(self, device: str) -> Section | None:
        """Return the section of sqm that is for a device or for the IFB of one."""
        owner = self.owner(device) if IFB.match(device) else device
        return next((each for each in self.sqm if self.real(each.options.get("interface", "")) == owner), None)

    def real(self, interface: str) -> str:
        """Return the device of an interface of OpenWrt's network: sqm is given the one or the other."""
        devices = self.devices
        if interface in devices:
            return interface
        for each in self.state.sections:
            if each.kind == "network.interface" and each.name == interface:
                if each.options.get("proto", "").startswith(("pppo", "ppp")):
                    return f"{each.options['proto']}-{interface}"
                return each.options.get("device", each.options.get("ifname", interface))
        return interface

    def owner(self, ifb: str) -> str:
        """Return the device whose incoming packets an IFB shapes: by a filter, or by the name that tools give it."""
        for device in self.ingress | dict.fromkeys(each.device for each in self.state.filters):
            if self.state.ingress_of(device) == ifb:
                return device
        bare = re.sub(r"^ifb(4|-)", "", ifb)
        devices = self.devices
        return next((each for each in devices if each != ifb and bare != ifb and each.startswith(bare)), "")

    def ifbs(self) -> list[str]:
        """Return the devices that stand for what comes in."""
        targets = {each.redirect for each in self.state.filters if each.redirect}
        return [each for each in self.devices if IFB.match(each) or each in targets]

    def wan(self) -> tuple[str, str] | None:
        """Return the device to the link, and how it is known; None if it is not.

        A tool's section, an IFB or a filter names it; otherwise its own name shows it, or that it is the only one.
        """
        ifbs = self.ifbs()
        devices = [each for each in self.devices if each not in ifbs]
        for section in self.sqm:
            device = self.real(section.options.get("interface", ""))
            if section.options.get("enabled") == "1" and device in devices:
                return device, ""
        for device in [*(self.owner(each) for each in ifbs), *self.ingress]:
            if device in devices and not LAN.match(device):
                return device, ""
        for section in sections(self, "network.interface"):
            if section.name.startswith("wan") and self.real(section.name) in devices:
                return self.real(section.name), ""
        named = [each for each in devices if WAN.match(each)]
        if named:
            return named[0], f"{named[0]} is taken for the device to the link, by its name"
        real = [each for each in devices if not LAN.match(each) and self.queued(each)]
        if len(real) == 1:
            return real[0], f"{real[0]} is taken for the device to the link: it is the only one with a queue"
        return None

    def every_root(self) -> list[Qdisc]:
        """Return the discipline at the root of each device."""
        return [root for each in self.devices if (root := self.state.root(each)) is not None]

    def queued(self, device: str) -> bool:
        """Whether a device has a queue at all."""
        root = self.state.root(device)
        return root is not None and root.kind != "noqueue"

    @cached_property
    def lanes(self) -> list[Lane]:
        """The devices with a queue, each with the direction that goes through it."""
        ifbs, wan, found = self.ifbs(), self.wan(), []
        for device in self.devices:
            root = self.state.root(device)
            if root is None or root.kind == "noqueue":
                continue
            rate, place = self.shaped(root)
            if device in ifbs:
                found.append(Lane(device, "down", root, rate, place))
            elif LAN.match(device):
                if rate is not None:
                    said = f"{device} is taken for the side of the home, where downloads leave the router"
                    found.append(Lane(device, "down", root, rate, place, (said,)))
            elif wan and device == wan[0]:
                found.append(Lane(device, "up", root, rate, place, (wan[1],) if wan[1] else ()))
            elif rate is not None:
                said = f"{device} is taken for a device to a link, where uploads leave the router"
                found.append(Lane(device, "up", root, rate, place, (said,)))
        return found

    def shapers(self, way: str = "") -> list[Lane]:
        """Return those that shape, in one direction or in both."""
        return [each for each in self.lanes if each.rate is not None and way in ("", each.way)]

    def shaped(self, root: Qdisc) -> tuple[float | None, Place]:
        """Return the rate at which a discipline shapes, and where it stands; None if it does not."""
        own = root.options
        if root.kind in ("cake", "cake_mq"):
            return own.get("bandwidth"), root.place
        if root.kind in ("tbf", "netem"):
            return own.get("rate"), root.place
        if root.kind in MULTI:
            inside = [each.options["bandwidth"] for each in self.state.below(root) if "bandwidth" in each.options]
            inside += [each.options["rate"] for each in self.state.below(root) if each.kind == "tbf"]
            return (math.fsum(inside) if inside else None), root.place
        tops = [each for each in self.classes(root) if each.parent in ("", "root", root.handle)]
        # A class of HTB at the top has nobody to borrow from: its rate counts, not its ceiling.
        rates = [each.options.get("rate") if root.kind == "htb" else self._upper(each) for each in tops]
        known = [each for each in rates if each]
        shapes = known if root.kind == "htb" or len(known) == len(tops) else []
        return (math.fsum(shapes), tops[0].place) if shapes else (None, root.place)

    def _upper(self, one: Class) -> float | None:
        """Return the upper limit of a class of HFSC, its own or that of all inside; None if it sends what it can."""
        if own := one.options.get("ul.m2"):
            return float(own)
        classes = self.state.classes_of(one.device, one.discipline)
        inside = [self._upper(each) for each in classes if each.parent == one.identity]
        known = [each for each in inside if each]
        return math.fsum(known) if known and len(known) == len(inside) else None

    def classes(self, root: Qdisc) -> list[Class]:
        """Return the classes of a discipline."""
        return self.state.classes_of(root.device, root.handle) if root.handle else []

    def leaves(self, root: Qdisc) -> list[Qdisc]:
        """Return the disciplines that hold packets: those inside, or the one itself."""
        inside = [each for each in self.state.below(root) if not any(self.state.below(each))]
        return inside or [root]

    def held(self, lane: Lane) -> tuple[int | None, int | None]:
        """Return how often a lane has held packets back, and how many it has sent; None where nothing counts it."""
        chain: list[Qdisc | Class] = [lane.root, *self.state.below(lane.root), *self.classes(lane.root)]
        counters = [each.statistics or {} for each in chain]
        held = [int(each["overlimits"]) for each in counters if "overlimits" in each]
        return max(held, default=None), counters[0].get("packets")

    def filters(self, device: str) -> list[Filter]:
        """Return the filters on what comes in at a device that send it on to another device."""
        marks = ("ffff:", "ingress", "clsact")
        return [
            each
            for each in self.state.filters
            if each.device == device and each.redirect and each.parent.startswith(marks)
        ]

    def link_rate(self, way: str) -> tuple[float | None, tuple[str, ...]]:
        """Return the rate of the link in a direction, as given or by its shaper's rate, and the assumptions."""
        if (rate := self.given.rate(way)) is not None:
            return rate, ()
        shapers = self.shapers(way)
        if shapers and shapers[0].rate:
            rate = shapers[0].rate / SHARE
            return rate, (f"the link is {shown(rate)} {way}, so that the shaper is {SHARE:.0%} of it: give --{way}",)
        return None, ()

    def change(
        self,
        lane: Lane,
        mended: Mapping[str, Any],
        leaf: Qdisc | None = None,
        rates: tuple[float | None, float | None] | None = None,
    ) -> Change:
        """Return a change of options of a lane's queue, or of a leaf of it, or of the rate before it.

        An option that is None goes. Without a leaf it is the one through which most went.
        """
        one = leaf or max(self.leaves(lane.root), key=lambda each: count(each.statistics, "bytes"))
        own = {name: value for name, value in {**one.options, **mended}.items() if value is not None}
        before, after = rates or (lane.rate, lane.rate)
        framing = self.counted(lane)
        present = Queue(one.kind, one.options, before, framing, one.shown)
        return Change(lane.way, present, Queue(one.kind, own, after, framing, one.shown))

    def header(self, device: str) -> int:
        """Return the bytes before the header of IP that the queue of a device counts: none on one of PPP."""
        return ways.header(self.state, device)

    def counted(self, lane: Lane) -> str:
        """Return what a size table counts, in tc's words for CAKE, which counts from the IP header on."""
        stab = lane.root.stab
        if not stab:
            return ""
        base = self.header(lane.device)
        words = ["atm" if stab.get("linklayer") in ("atm", "adsl") else "noatm"]
        words += ["overhead", f"{int(stab.get('overhead', 0)) + base}"]
        return " ".join([*words, *(["mpu", f"{int(stab['mpu'])}"] if stab.get("mpu") else [])])

    @staticmethod
    def unshaped(way: str) -> Change:
        """Return the change from nothing that shapes to what `aqmlab advise` would."""
        return Change(way, Queue("pfifo", {"limit": 1000}, None))


def kbit(section: Section, option: str) -> float:
    """Return a rate of sqm in bit/s; 0 if it is none, as sqm takes a whole number of kbit/s alone."""
    text = section.options.get(option, "")
    return float(text) * 1000 if text.isdecimal() else 0.0


def shown(rate: float) -> str:
    """Write a rate."""
    scale, unit = next(((s, u) for s, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s")) if rate >= s), (1e3, "kbit/s"))
    return f"{rate / scale:.4g} {unit}"


def sections(router: Router, kind: str) -> Iterator[Section]:
    """Yield the sections of a kind."""
    return (each for each in router.state.sections if each.kind == kind)
