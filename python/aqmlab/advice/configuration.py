"""The lines that set up a discipline on a router: tc, sqm-scripts of OpenWrt, and the kernel's own values.

# Sources
sqm-scripts, its functions, ``simplest.qos``, ``piece_of_cake.qos`` and ``sqm.conf``, for the options of
``/etc/config/sqm`` and for HTB's burst of a millisecond; ``netsupport.mk`` of OpenWrt, and the ``Makefile`` of its
package sqm-scripts, for the packages.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab import _core
from aqmlab.advice.kernel import Attribute, attributes, flat, words
from aqmlab.advice.queues import Direction
from aqmlab.advice.routers import ROUTERS, Lacking

BURST = 0.001
"""Seconds at its rate that HTB may send at once, and at least a packet."""

LEAST_BURST = 1600

ETHERNET = 14
"""Bytes of a packet that the device of a modem has, one of PPP not, and that words of the link layer do not count."""

FULL = 1500
"""Bytes of a full packet with its IP header."""

CELL = (48, 53)
"""Bytes of a packet that a cell of ATM carries, and those of the cell."""

PACKAGES = {
    "codel": "kmod-sched",
    "pie": "kmod-sched-pie",
    "fq_pie": "kmod-sched-fq-pie",
    "red": "kmod-sched-red",
}
"""OpenWrt's package of each discipline that the packages of `_BASE` and sqm-scripts do not bring."""

_BASE = ("tc-full", "kmod-ifb", "kmod-sched-core")

_DEVICES = "WAN={}  # {}\nIFB=ifb0  # a device to be made, for what arrives from the modem"
_REDIRECT = "matchall action mirred egress redirect dev $IFB"


@dataclass(frozen=True)
class Half:
    """One direction: the shaper's rate in bit/s, the discipline in tc's words, and the kernel's values.

    `values` and `buffer` are the discipline as it was simulated, every value filled in; those of an algorithm inside
    begin with ``aqm.``.
    """

    rate: float
    words: str
    attributes: tuple[Attribute, ...]
    share: float
    framing: str
    values: Mapping[str, Any]
    buffer: str
    header: int = ETHERNET
    """Bytes before IP's header of the packets that the shaper's device has."""

    @classmethod
    def of(cls, kernel: str, table: Any, way: Direction, header: int = ETHERNET) -> Half:
        """Write a discipline, every value of which is filled in, as that of Linux with a name."""
        # Behind a translation of addresses, the hosts at home all have the router's.
        text = re.sub(r"\bdual-\w+", r"\g<0> nat", words(kernel, table, way.buffer))
        kept = tuple(attributes(kernel, table, way.buffer))
        return cls(way.rate, text, kept, way.share, way.framing, flat(table), way.buffer, header)

    @property
    def stab(self) -> dict[str, str]:
        """The options of tc's size table, which adds to a packet with the header of its device."""
        if not self.framing:
            return {}
        found = _core.framing(self.framing)
        assert found
        overhead, raw, mpu, cells = found
        beyond = 0 if overhead is None or raw else overhead - self.header
        layer = "atm" if cells == "atm" else "ethernet"
        return {"overhead": str(beyond), "mpu": str(mpu), "linklayer": layer}

    @property
    def kbit(self) -> int:
        """The rate in kbit/s."""
        return round(self.rate / 1000)

    @property
    def payload(self) -> int:
        """The rate in kbit/s of full packets without the headers of the link, for shapers that do not count these."""
        found = _core.framing(self.framing) if self.framing else None
        overhead, raw, mpu, cells = found or (None, False, 0, None)
        size = max(FULL + (ETHERNET if overhead is None or raw else overhead), mpu)
        if cells == "atm":
            size = math.ceil(size / CELL[0]) * CELL[1]
        return math.floor(self.rate * FULL / size / 1000)

    def lines(self, device: str) -> list[str]:
        """Return the lines that shape what a device sends."""
        clear = f"tc qdisc del dev {device} root 2> /dev/null"
        if self.words.startswith("cake "):
            return [clear, f"tc qdisc add dev {device} root {self.words}"]
        stab = " ".join(("stab", *(word for pair in self.stab.items() for word in pair), "")) if self.stab else ""
        burst = max(round(self.rate * BURST / 8), LEAST_BURST)
        shaper = f"rate {self.kbit}kbit ceil {self.kbit}kbit burst {burst} cburst {burst} quantum {LEAST_BURST}"
        return [
            clear,
            f"tc qdisc add dev {device} root handle 1: {stab}htb default 10",
            f"tc class add dev {device} parent 1: classid 1:10 htb {shaper}",
            f"tc qdisc add dev {device} parent 1:10 handle 110: {self.words}",
        ]


@dataclass(frozen=True)
class Configuration:
    """A discipline of Linux for both directions of a link."""

    kernel: str
    down: Half
    up: Half
    ppp: str = ""
    """OpenWrt's device of PPP, such as ``pppoe-wan``, if the link layer has it."""

    @property
    def _device(self) -> tuple[str, str]:
        """The device to shape, and what to know of it."""
        if self.ppp:
            return self.ppp, "OpenWrt's device of PPP for the interface wan; elsewhere it may be ppp0"
        return "eth0", "the device to the modem; if that is a PPPoE device, say so by --link-layer"

    @property
    def tc(self) -> str:
        """The lines for a shell."""
        return "\n".join(
            [
                _DEVICES.format(*self._device),
                f"# up: {self.up.kbit} kbit/s, {100 * self.up.share:.0f} % of the link rate",
                *self.up.lines("$WAN"),
                f"# down: {self.down.kbit} kbit/s, {100 * self.down.share:.0f} % of the link rate",
                "tc qdisc del dev $WAN ingress 2> /dev/null",
                "ip link del $IFB 2> /dev/null",
                "ip link add $IFB type ifb",
                "ip link set $IFB up",
                "tc qdisc add dev $WAN handle ffff: ingress",
                f"tc filter add dev $WAN parent ffff: protocol all {_REDIRECT}",
                *self.down.lines("$IFB"),
            ]
        )

    @property
    def uci(self) -> str | None:
        """The section of ``/etc/config/sqm``, or None for RED: sqm-scripts try a discipline without any words first."""
        if self.kernel == "red":
            return None
        rows = {
            "enabled": "1",
            "interface": self._device[0],
            "download": str(self.down.kbit),
            "upload": str(self.up.kbit),
            "qdisc": self.kernel,
            "script": "piece_of_cake.qos" if self.kernel == "cake" else "simplest.qos",
            **self._layer(),
            "qdisc_advanced": "1",
            "ingress_ecn": "ECN",
            "egress_ecn": "ECN",
            "qdisc_really_really_advanced": "1",
        }
        for way, half in (("i", self.down), ("e", self.up)):
            remaining = half.words.split()[1:]
            for word, option in (("limit", "limit"), ("target", "target")):
                if word in remaining:
                    at = remaining.index(word)
                    rows[f"{way}{option}"] = remaining[at + 1]
                    del remaining[at : at + 2]
            if rest := " ".join(word for word in remaining if word != "ecn"):
                rows[f"{way}qdisc_opts"] = rest
        device, what = self._device
        notes = (
            "# in place of your section of this device, if there is one: two of them are two shapers",
            f"# {device}: {what}",
        )
        options = (f"option {name} '{value}'" for name, value in rows.items())
        return "\n".join(["config queue 'wan'", *(f"\t{line}" for line in (*notes, *options))])

    def _layer(self) -> dict[str, str]:
        """Return the options of the link layer; CAKE's are among its words."""
        if not (stab := self.up.stab):
            return {"linklayer": "none"}
        return {
            "linklayer": stab["linklayer"],
            "overhead": stab["overhead"],
            "linklayer_advanced": "1",
            "tcMTU": "2047",
            "tcTSIZE": "512",
            "tcMPU": stab["mpu"],
            "linklayer_adaptation_mechanism": "tc_stab",
        }

    @property
    def packages(self) -> list[str]:
        """The packages of OpenWrt that the section needs, or the lines if there is none."""
        own = PACKAGES.get(self.kernel)
        return [*(("sqm-scripts",) if self.uci else _BASE), *([own] if own else [])]

    def values(self) -> list[tuple[str, float, float, str]]:
        """Return the kernel's values: the netlink attribute, the value of each direction (down, up), and the unit."""
        pairs = zip(self.down.attributes, self.up.attributes, strict=True)
        return [(down.name, down.value, up.value, down.unit) for down, up in pairs]

    def _elsewhere(self, name: str) -> dict[str, Any]:
        """Return the lines for another router, or why it has none, as a dictionary for JSON."""
        try:
            found = ROUTERS[name].lines(self)
        except Lacking as lacking:
            return {"lacking": str(lacking)}
        return {"lines": found.text, "notes": list(found.notes)}

    def document(self) -> dict[str, Any]:
        """Return the configuration as a dictionary for JSON."""
        return {
            "kernel": self.kernel,
            "rate": {"down": self.down.rate, "up": self.up.rate},
            "words": {"down": self.down.words, "up": self.up.words},
            "tc": self.tc,
            "uci": self.uci,
            "packages": self.packages,
            "routers": {name: self._elsewhere(name) for name in ROUTERS},
            "attributes": {name: {"down": down, "up": up, "unit": unit} for name, down, up, unit in self.values()},
        }


@dataclass(frozen=True)
class AccessPoint(Configuration):
    """A discipline of Linux in front of the driver of an access point, in both of the halves."""

    @property
    def tc(self) -> str:
        """The lines for a shell."""
        return f"WLAN=wlan0  # the device of the access point\ntc qdisc replace dev $WLAN root {self.down.words}"

    @property
    def uci(self) -> None:
        """None: sqm-scripts shape, and this discipline has no shaper."""
        return None

    def _elsewhere(self, name: str) -> dict[str, Any]:
        return {"lacking": f"{ROUTERS[name].title} has no lines here for the queue of an access point"}
